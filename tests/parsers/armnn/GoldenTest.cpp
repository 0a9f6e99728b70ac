// SPDX-License-Identifier: Apache-2.0
// Committed .armnn files, one for each kind of layer and each version of the format's features: each is the network
// that INetwork's methods make of the same layer, and gives its results.
#include "ArmnnFile.hpp"
#include "ArmnnRun.hpp"
#include "Cases.hpp"
#include "graph/Network.hpp"
#include "parsers/armnn/Layers.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace tenon::test::armnn_golden_test
{

namespace
{

class GoldenArmnn : public testing::TestWithParam<ArmnnCase>
{
};

const Graph& GraphOf(const INetwork& network)
{
    return static_cast<const Network&>(network).GetGraph();
}

} // namespace

TEST_P(GoldenArmnn, IsTheNetworkThatINetworkBuilds)
{
    const CaseNetwork wanted(GetParam());
    const INetworkPtr got = ReadArmnn(ReadGolden(GetParam().m_Name));
    EXPECT_EQ(Describe(*got), Describe(*wanted.m_Network));
    const Graph& left = GraphOf(*wanted.m_Network);
    const Graph& right = GraphOf(*got);
    ASSERT_EQ(left.Size(), right.Size());
    for (size_t i = 0; i < left.Size(); ++i)
    {
        const Layer& a = *left.Layers()[i];
        const Layer& b = *right.Layers()[i];
        EXPECT_EQ(a.GetNumInputSlots(), b.GetNumInputSlots()) << a.Describe();
        for (unsigned int k = 0; k < a.NumInputs() && k < b.NumInputs(); ++k)
        {
            ASSERT_EQ(a.Input(k).IsTensorInfoOverridden(), b.Input(k).IsTensorInfoOverridden()) << a.Describe();
            EXPECT_TRUE(a.Input(k).GetConnectedOutputSlot() == nullptr ||
                        a.Input(k).GetTensorInfo() == b.Input(k).GetTensorInfo())
                << a.Describe();
        }
        ASSERT_EQ(a.GetConstant() == nullptr, b.GetConstant() == nullptr);
        if (a.GetConstant() != nullptr)
        {
            const ConstTensor& constant = a.GetConstant()->m_Tensor;
            ASSERT_EQ(constant.GetInfo(), b.GetConstant()->m_Tensor.GetInfo()) << a.Describe();
            EXPECT_EQ(std::memcmp(constant.GetMemoryArea(), b.GetConstant()->m_Tensor.GetMemoryArea(),
                                  constant.GetNumBytes()),
                      0)
                << a.Describe();
            EXPECT_NE(b.GetConstant()->m_Owner, nullptr) << a.Describe();
        }
    }
}

TEST_P(GoldenArmnn, GivesTheResultsThatINetworksLayerGives)
{
    const CaseNetwork wanted(GetParam());
    const INetworkPtr got = ReadArmnn(ReadGolden(GetParam().m_Name));
    if (!GetParam().m_Runs)
    {
        EXPECT_EQ(MessageOf<UnimplementedException>([&] { RunNetwork(*got); }),
                  MessageOf<UnimplementedException>([&] { RunNetwork(*wanted.m_Network); }));
        return;
    }
    const Results results = RunNetwork(*got);
    EXPECT_EQ(results, RunNetwork(*wanted.m_Network));
    EXPECT_EQ(results.size(), GetParam().m_Outputs.size());
}

INSTANTIATE_TEST_SUITE_P(All, GoldenArmnn, testing::ValuesIn(ArmnnCases()),
                         [](const auto& tested) { return tested.param.m_Name; });

TEST(GoldenArmnnFiles, EachKindOfLayerHasARowAndAFile)
{
    std::set<std::string> kinds;
    for (const arm_nn::schema::Layer kind : arm_nn::schema::EnumValuesLayer())
    {
        if (kind != arm_nn::schema::Layer::NONE)
        {
            const std::string name = EnumNameLayer(kind);
            kinds.insert(name.substr(0, name.size() - std::string("Layer").size()));
        }
    }
    std::set<std::string> rows;
    for (const arm_nn::LayerRow& row : arm_nn::GetRows())
    {
        rows.emplace(row.m_Name);
    }
    EXPECT_EQ(rows, kinds);
    std::set<std::string> tested = {"Input", "Output"}; // each file has them
    for (const ArmnnCase& each : ArmnnCases())
    {
        tested.insert(each.m_Name.substr(0, each.m_Name.find('_')));
    }
    EXPECT_EQ(tested, kinds);
}

TEST(GoldenArmnnFiles, EachKindIsInTheDocument)
{
    std::ifstream file("docs/armnn.md");
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const std::string files = text.substr(std::min(text.find("\n## Files\n"), text.size()));
    for (const arm_nn::LayerRow& row : arm_nn::GetRows())
    {
        EXPECT_THAT(files, testing::HasSubstr("\n| `" + std::string(row.m_Name) + "` | `"));
    }
}

TEST(GoldenArmnnFiles, EachFileIsTested)
{
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator("tests/golden/armnn"))
    {
        files.insert(entry.path().stem().string());
        EXPECT_LE(entry.file_size(), 4096u) << entry.path();
    }
    std::set<std::string> tested;
    for (const ArmnnCase& each : ArmnnCases())
    {
        tested.insert(each.m_Name);
    }
    EXPECT_EQ(files, tested);
}

TEST(GoldenArmnnFiles, BindingsAreTheIdsInTheFile)
{
    for (const char* name : {"Subtraction", "Subtraction_turned"})
    {
        const IDeserializerPtr deserializer = IDeserializer::Create();
        const INetworkPtr network = deserializer->CreateNetworkFromBinary(ReadGolden(name));
        std::vector<std::string> inputs = {"in0", "in1"};
        if (std::string(name) == "Subtraction_turned")
        {
            std::reverse(inputs.begin(), inputs.end());
        }
        EXPECT_EQ(deserializer->GetNetworkInputNames(), inputs) << name;
        EXPECT_EQ(deserializer->GetNetworkOutputNames(), std::vector<std::string>{"out0"}) << name;
        const BindingPointInfo input = deserializer->GetNetworkInputBindingInfo(0, "in1");
        EXPECT_EQ(input.first, 11) << name;
        EXPECT_EQ(input.second.GetShape(), TensorShape({1, 3})) << name;
        EXPECT_TRUE(input.second.IsConstant()) << name;
        EXPECT_EQ(deserializer->GetNetworkOutputBindingInfo(0, "out0").first, 20) << name;
    }
    const IDeserializerPtr old = IDeserializer::Create();
    const INetworkPtr network = old->CreateNetworkFromBinary(ReadGolden("Activation_old"));
    EXPECT_EQ(old->GetNetworkInputBindingInfo(0, "in0").first, 10) << "the layer's id, whatever the list holds";
    EXPECT_EQ(old->GetNetworkInputBindingInfo(0, "in0").second.GetDataType(), DataType::QAsymmU8);
}

/// Releases in between wrote layers with their weights in them, though they knew weights as layers.
TEST(GoldenArmnnFiles, WeightsInLayersAreReadOfLaterVersions)
{
    for (const char* name : {"Convolution2d_old", "FullyConnected_old"})
    {
        const std::unique_ptr<ArmnnTree> tree = Unpack(ReadGolden(name));
        tree->featureVersions = std::make_unique<armnn_schema::FeatureCompatibilityVersionsT>();
        tree->featureVersions->bindingIdsScheme = 1;
        tree->featureVersions->weightsLayoutScheme = 1;
        tree->featureVersions->constantTensorsAsInputs = 1;
        tree->inputIds = {10};
        tree->outputIds = {20};
        const INetworkPtr network = ReadArmnn(Pack(*tree));
        EXPECT_EQ(Describe(*network), Describe(*ReadArmnn(ReadGolden(name)))) << name;
    }
}

/// Subtraction_slots.armnn has inputs in another order than that of their numbers; these are outputs.
TEST(GoldenArmnnFiles, OutputsMayStandInAnyOrder)
{
    const std::unique_ptr<ArmnnTree> tree = Unpack(ReadGolden("Splitter"));
    auto& outputs = LayerAt<armnn_schema::SplitterLayerT>(*tree, 1).base->outputSlots;
    ASSERT_EQ(outputs.size(), 2u);
    std::reverse(outputs.begin(), outputs.end());
    EXPECT_EQ(Describe(*ReadArmnn(Pack(*tree))), Describe(*ReadArmnn(ReadGolden("Splitter"))));
}

/// What a constant's output declares counts, as in Arm NN, and not the info of its values.
TEST(GoldenArmnnFiles, ConstantsAreWhatTheirOutputsDeclare)
{
    const std::unique_ptr<ArmnnTree> tree = Unpack(ReadGolden("Constant_64"));
    auto& constant = LayerAt<armnn_schema::ConstantLayerT>(*tree, 0);
    constant.input->info->quantizationScale = 0.25f;
    constant.input->info->quantizationOffset = 3;
    auto& output = *constant.base->outputSlots.at(0)->tensorInfo;
    output.dimensions = {3, 2};
    output.quantizationScale = 0.5f;
    Results wanted = RunNetwork(*ReadArmnn(ReadGolden("Constant_64")));
    wanted.at(20).first = TensorInfo({3, 2}, DataType::Signed64, 0.5f, 0, true);
    EXPECT_EQ(RunNetwork(*ReadArmnn(Pack(*tree))), wanted);
}

/// Depthwise convolutions take constants of old files turned, all other layers take them as they are.
TEST(GoldenArmnnFiles, OldConstantsMayBeMoreThanDepthwiseWeights)
{
    const Bytes golden = ReadGolden("DepthwiseConvolution2d_constant_old");
    const std::unique_ptr<ArmnnTree> tree = Unpack(golden);
    const uint32_t weights = LayerAt<armnn_schema::ConstantLayerT>(*tree, 1).base->index;
    const Bytes values = [&]
    {
        const auto& stored = LayerAt<armnn_schema::ConstantLayerT>(*tree, 1).input->data.AsIntData()->data;
        Bytes bytes(stored.size() * sizeof(stored[0]));
        std::memcpy(bytes.data(), stored.data(), bytes.size());
        return bytes;
    }();
    auto another = std::make_unique<armnn_schema::AnyLayerT>(*tree->layers.back());
    tree->layers.push_back(std::move(another));
    auto& output = *LayerAt<armnn_schema::OutputLayerT>(*tree, tree->layers.size() - 1).base;
    output.layerBindingId = 21;
    output.base->index = 77;
    *output.base->inputSlots.at(0)->connection = armnn_schema::Connection(weights, 0);
    tree->outputIds.push_back(77);
    const INetworkPtr network = ReadArmnn(Pack(*tree));
    const Results results = RunNetwork(*network);
    const Results wanted = RunNetwork(*ReadArmnn(golden));
    EXPECT_EQ(results.at(20), wanted.at(20));
    EXPECT_EQ(results.at(21).first.GetShape(), TensorShape({2, 2, 3, 3}));
    EXPECT_EQ(results.at(21).second, values);
}

TEST(GoldenArmnnFiles, NoneHoldsAnOptimizedNetwork)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const IDeserializerPtr deserializer = IDeserializer::Create();
    for (const char* name : {"Abs", "Activation_without_identifier", "Convolution2d_without_identifier"})
    {
        EXPECT_FALSE(deserializer->IsOptimizedBinary(ReadGolden(name)));
        EXPECT_FALSE(deserializer->IsOptimizedFile(("tests/golden/armnn/" + std::string(name) + ".armnn").c_str()));
        const auto read = [&]
        { deserializer->CreateOptimizedNetworkFromBinary(ReadGolden(name), runtime->GetDeviceSpec()); };
        EXPECT_THAT(MessageOf<ParseException>(read), testing::HasSubstr("not optimized"));
    }
}

TEST(GoldenArmnnFiles, ConstantsOutliveTheDeserializer)
{
    for (const char* name : {"BatchNormalization", "DepthwiseConvolution2d_old", "Lstm", "FullyConnected"})
    {
        const std::string path = "tests/golden/armnn/" + std::string(name) + ".armnn";
        const INetworkPtr mapped = IDeserializer::Create()->CreateNetworkFromBinaryFile(path.c_str());
        EXPECT_EQ(RunNetwork(*mapped), RunNetwork(*ReadArmnn(ReadGolden(name)))) << name;
    }
}

} // namespace tenon::test::armnn_golden_test
