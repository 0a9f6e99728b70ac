// SPDX-License-Identifier: Apache-2.0
// .armnn files that say what Arm NN never writes: each is refused with a text that says what and where. tests/fuzz
// bends files blindly.
#include "ArmnnFile.hpp"
#include "ArmnnRun.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

namespace tenon::test::hostile_armnn_test
{

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace
{

namespace schema = armnn_schema;

std::string Refusal(const Bytes& bytes, const IDeserializer::DeserializerOptions& options = {})
{
    return MessageOf<ParseException>([&] { ReadArmnn(bytes, options); });
}

/// The text that refuses a file of tests/golden/armnn that was changed.
std::string Refusal(const char* name, const std::function<void(ArmnnTree& tree)>& change,
                    const IDeserializer::DeserializerOptions& options = {})
{
    const std::unique_ptr<ArmnnTree> tree = Unpack(ReadGolden(name));
    change(*tree);
    return Refusal(Pack(*tree), options);
}

/// The first tensor info of an Input layer.
schema::TensorInfoT& InputInfo(ArmnnTree& tree, size_t place = 0)
{
    return *LayerAt<schema::InputLayerT>(tree, place).base->base->outputSlots.at(0)->tensorInfo;
}

} // namespace

TEST(HostileArmnn, ChangedFilesAreFilesWithoutAChange)
{
    EXPECT_EQ(Refusal("Lstm_coupled", [](ArmnnTree&) {}), "no exception");
}

TEST(HostileArmnn, FilesThatAreNone)
{
    const std::string none = "and no .armnn file, or one that is corrupt or cut short";
    EXPECT_THAT(Refusal(Bytes()), HasSubstr(none));
    EXPECT_THAT(Refusal(Bytes(100, 0)), HasSubstr(none));
    EXPECT_THAT(Refusal("Abs", [](ArmnnTree& tree) { tree.layers.clear(); }), HasSubstr(none));
    Bytes whole = ReadGolden("Abs");
    whole.resize(whole.size() / 2);
    EXPECT_THAT(Refusal(whole), HasSubstr("corrupt or cut short"));
    ArmnnTree empty;
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(schema::SerializedGraph::Pack(builder, &empty), "ARMN");
    EXPECT_THAT(Refusal(Bytes(builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize())),
                HasSubstr("the file has no layers"));
}

TEST(HostileArmnn, FilesThatAreTooLargeForTheFormat)
{
    const std::string path = testing::TempDir() + "large.armnn";
    std::ofstream(path, std::ios::binary).write("\x10\0\0\0ARMN", 8);
    std::error_code error;
    std::filesystem::resize_file(path, std::uintmax_t{1} << 31, error);
    if (error || sizeof(void*) < sizeof(uint64_t))
    {
        std::filesystem::remove(path);
        GTEST_SKIP() << "no sparse files of that size, or no addresses for them: " << error.message();
    }
    IDeserializer::DeserializerOptions options;
    options.m_Limits.m_MaxFileBytes = uint64_t{1} << 40;
    const auto read = [&] { IDeserializer::Create(options)->CreateNetworkFromBinaryFile(path.c_str()); };
    EXPECT_THAT(MessageOf<ParseException>(read), HasSubstr("has 2147483648 bytes; files of Arm NN"));
    std::filesystem::remove(path);
}

TEST(HostileArmnn, KindsThatAreNotKnownAreListedTogether)
{
    Bytes file = ReadGolden("Subtraction");
    const auto& layers = *schema::GetSerializedGraph(file.data())->layers();
    uint8_t kind = 90;
    for (const unsigned int place : {2U, 1U})
    {
        const auto* const layer = reinterpret_cast<const flatbuffers::Table*>(layers.Get(place));
        const uint8_t* const type = layer->GetAddressOf(schema::AnyLayer::VT_LAYER_TYPE);
        file[static_cast<size_t>(type - file.data())] = kind--;
    }
    EXPECT_THAT(MessageOf<UnimplementedException>([&] { ReadArmnn(file); }), HasSubstr("have: number 89, number 90;"));
    EXPECT_THAT(Refusal("Abs", [](ArmnnTree& tree) { tree.layers[1]->layer.Reset(); }),
                HasSubstr("layer 1 has no content"));
}

TEST(HostileArmnn, Versions)
{
    EXPECT_THAT(Refusal("Abs", [](ArmnnTree& tree) { tree.featureVersions->weightsLayoutScheme = 2; }),
                HasSubstr("weightsLayoutScheme 2; versions up to 1 are read"));
    EXPECT_THAT(Refusal("Abs", [](ArmnnTree& tree) { tree.featureVersions->bindingIdsScheme = 2; }),
                HasSubstr("bindingIdsScheme 2"));
    EXPECT_THAT(Refusal("Abs", [](ArmnnTree& tree) { tree.featureVersions->constantTensorsAsInputs = 2; }),
                HasSubstr("constantTensorsAsInputs 2"));
}

TEST(HostileArmnn, InputsAndOutputsOfTheNetwork)
{
    EXPECT_THAT(Refusal("Abs", [](ArmnnTree& tree) { tree.inputIds = {11}; }),
                HasSubstr("inputIds has the binding id 11 in place 0, which no such layer has"));
    EXPECT_THAT(Refusal("Subtraction",
                        [](ArmnnTree& tree) {
                            tree.inputIds = {10, 10};
                        }),
                HasSubstr("the binding id 10 in place 1, which stands there twice"));
    EXPECT_THAT(Refusal("Subtraction", [](ArmnnTree& tree) { tree.inputIds = {10}; }),
                AllOf(HasSubstr("layer 1 'in1' (Input)"), HasSubstr("inputIds does not list it")));
    EXPECT_THAT(Refusal("Abs", [](ArmnnTree& tree) { tree.outputIds.clear(); }),
                AllOf(HasSubstr("layer 2 'out0' (Output)"), HasSubstr("outputIds does not list it")));
    EXPECT_THAT(Refusal("Subtraction",
                        [](ArmnnTree& tree) { LayerAt<schema::InputLayerT>(tree, 1).base->layerBindingId = 10; }),
                HasSubstr("another layer has binding id 10, too"));
    EXPECT_THAT(Refusal("Activation_old", [](ArmnnTree& tree) { tree.outputIds = {20}; }),
                HasSubstr("outputIds has the index 20 in place 0, which no such layer has"))
        << "old files list layers by their indices";
}

TEST(HostileArmnn, Connections)
{
    const auto input = [](ArmnnTree& tree, size_t slot) -> schema::InputSlotT&
    { return *LayerAt<schema::SubtractionLayerT>(tree, 2).base->inputSlots.at(slot); };
    const auto connect = [&](size_t slot, uint32_t layer, uint32_t output)
    {
        return [=](ArmnnTree& tree)
        { input(tree, slot).connection = std::make_unique<schema::Connection>(layer, output); };
    };
    EXPECT_THAT(Refusal("Subtraction", connect(1, 2, 0)),
                AllOf(HasSubstr("layer 2 'layer' (Subtraction)"), HasSubstr("a cycle of layers")));
    EXPECT_THAT(Refusal("Subtraction", connect(1, 7, 0)), HasSubstr("input 1 takes from output 0 of layer 7, which"));
    EXPECT_THAT(Refusal("Subtraction", connect(0, 0, 1)), HasSubstr("input 0 takes from output 1 of layer 0, which"));
    EXPECT_THAT(Refusal("Subtraction", connect(0, 3, 0)), HasSubstr("of layer 3, which does not exist"))
        << "an Output layer has no outputs";
    EXPECT_THAT(Refusal("Subtraction", [&](ArmnnTree& tree) { input(tree, 0).connection.reset(); }),
                HasSubstr("input 0 is not connected"));
    EXPECT_THAT(Refusal("Subtraction", [&](ArmnnTree& tree) { input(tree, 1).index = 0; }),
                AllOf(HasSubstr("layer 2 'layer' (Subtraction)"),
                      HasSubstr("input 1 of its list has the index 0, which another one has")));
    EXPECT_THAT(Refusal("Subtraction", [&](ArmnnTree& tree) { input(tree, 0).index = UINT32_MAX; }),
                HasSubstr("input 0 of its list has the index 4294967295, but the list has 2"));
    EXPECT_THAT(Refusal("Subtraction", [](ArmnnTree& tree)
                        { LayerAt<schema::SubtractionLayerT>(tree, 2).base->outputSlots[0]->index = 3; }),
                HasSubstr("output 0 of its list has the index 3, but the list has 1"));
    EXPECT_THAT(Refusal("Subtraction", [](ArmnnTree& tree)
                        { LayerAt<schema::SubtractionLayerT>(tree, 2).base->inputSlots.pop_back(); }),
                HasSubstr("it has 1 inputs, should have 2"));
    EXPECT_THAT(Refusal("Subtraction",
                        [](ArmnnTree& tree)
                        {
                            auto& outputs = LayerAt<schema::SubtractionLayerT>(tree, 2).base->outputSlots;
                            outputs.push_back(std::make_unique<schema::OutputSlotT>());
                            outputs.back()->index = 1;
                        }),
                HasSubstr("it has 2 outputs, should have 1"));
    EXPECT_THAT(
        Refusal("Subtraction", [](ArmnnTree& tree) { LayerAt<schema::SubtractionLayerT>(tree, 2).base->index = 0; }),
        HasSubstr("another layer has the same index"));
    EXPECT_THAT(
        Refusal("Subtraction", [](ArmnnTree& tree) { LayerAt<schema::SubtractionLayerT>(tree, 2).base.reset(); }),
        HasSubstr("it has no base"));
    EXPECT_THAT(Refusal("Subtraction", [](ArmnnTree& tree) { LayerAt<schema::InputLayerT>(tree, 1).base.reset(); }),
                AllOf(HasSubstr("layer 1 '' (Input)"), HasSubstr("it has no base")));
}

TEST(HostileArmnn, Tensors)
{
    const auto change = [](const std::function<void(schema::TensorInfoT & info)>& apply)
    { return Refusal("Dequantize", [&](ArmnnTree& tree) { apply(InputInfo(tree)); }); };
    EXPECT_THAT(change([](auto& info) { info.dataType = static_cast<schema::DataType>(50); }),
                AllOf(HasSubstr("layer 0 'in0' (Input): output 0"), HasSubstr("element type 50")));
    EXPECT_THAT(change([](auto& info) { info.dimensions.assign(9, 1); }), HasSubstr("a shape of rank 9"));
    EXPECT_THAT(change([](auto& info) { info.dimensionSpecificity = {true}; }), HasSubstr("2 sizes and 1 flags"));
    EXPECT_THAT(change([](auto& info) { info.dimensionality = 3; }), HasSubstr("dimensionality 3"));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_THAT(change([&](auto& info) { info.quantizationScale = nan; }), HasSubstr("not a finite number"));
    EXPECT_THAT(change([&](auto& info) { info.quantizationScales = {1.0f, nan}; }), HasSubstr("not a finite number"));
    EXPECT_THAT(change(
                    [](auto& info) {
                        info.dimensions = {UINT32_MAX, UINT32_MAX};
                    }),
                HasSubstr("layer 0 'in0' (Input)"));
    IDeserializer::DeserializerOptions small;
    small.m_Limits.m_MaxTensorBytes = 5;
    EXPECT_THAT(Refusal(
                    "Dequantize", [](ArmnnTree&) {}, small),
                HasSubstr("Limits::m_MaxTensorBytes"));
    small = {};
    small.m_Limits.m_MaxLayers = 2;
    EXPECT_THAT(Refusal(
                    "Dequantize", [](ArmnnTree&) {}, small),
                HasSubstr("Limits::m_MaxLayers"));
    small.m_Limits.m_MaxLayers = 4; // two layers more hold weights and bias
    EXPECT_THAT(Refusal(
                    "FullyConnected_old", [](ArmnnTree&) {}, small),
                HasSubstr("Limits::m_MaxLayers"));
    small = {};
    small.m_Limits.m_MaxRank = 1;
    EXPECT_THAT(Refusal(
                    "Dequantize", [](ArmnnTree&) {}, small),
                HasSubstr("Limits::m_MaxRank"));
}

TEST(HostileArmnn, Constants)
{
    const auto constant = [](ArmnnTree& tree) -> schema::ConstTensorT&
    { return *LayerAt<schema::ConstantLayerT>(tree, 0).input; };
    EXPECT_THAT(Refusal("Constant", [&](ArmnnTree& tree) { constant(tree).data.AsIntData()->data.pop_back(); }),
                AllOf(HasSubstr("layer 0 'layer' (Constant): input"), HasSubstr("20 bytes are no values of")));
    EXPECT_THAT(Refusal("Constant", [&](ArmnnTree& tree) { constant(tree).data.Reset(); }),
                HasSubstr("the values are of kind 0"));
    EXPECT_THAT(Refusal("Constant", [&](ArmnnTree& tree) { constant(tree).info.reset(); }),
                HasSubstr("no tensor info"));
    EXPECT_THAT(
        Refusal("Constant", [&](ArmnnTree& tree)
                { LayerAt<schema::ConstantLayerT>(tree, 0).base->outputSlots[0]->tensorInfo->dimensions = {7}; }),
        HasSubstr("its output is Float32 [7]"));
    EXPECT_THAT(Refusal("Constant", [](ArmnnTree& tree) { LayerAt<schema::ConstantLayerT>(tree, 0).input.reset(); }),
                HasSubstr("has no input, but needs it"));
    EXPECT_THAT(
        Refusal("Lstm", [](ArmnnTree& tree) { LayerAt<schema::LstmLayerT>(tree, 3).inputParams->cellBias.reset(); }),
        AllOf(HasSubstr("layer 3 'layer' (Lstm)"), HasSubstr("has no cellBias, but needs it")));
    EXPECT_THAT(Refusal("QuantizedLstm",
                        [](ArmnnTree& tree) { LayerAt<schema::QuantizedLstmLayerT>(tree, 3).inputParams.reset(); }),
                HasSubstr("has no inputToInputWeights"));
}

TEST(HostileArmnn, Weights)
{
    EXPECT_THAT(Refusal("Convolution2d_old",
                        [](ArmnnTree& tree) { LayerAt<schema::Convolution2dLayerT>(tree, 1).weights.reset(); }),
                HasSubstr("has no weights, but needs it"));
    EXPECT_THAT(Refusal("FullyConnected",
                        [](ArmnnTree& tree)
                        {
                            const auto old = Unpack(ReadGolden("FullyConnected_old"));
                            LayerAt<schema::FullyConnectedLayerT>(tree, 3).weights =
                                std::move(LayerAt<schema::FullyConnectedLayerT>(*old, 1).weights);
                        }),
                HasSubstr("holds weights itself, but has 3 inputs"));
    const auto depthwise = [](const std::function<void(schema::ConstTensorT & weights)>& change)
    {
        return Refusal("DepthwiseConvolution2d_scales_old", [&](ArmnnTree& tree)
                       { change(*LayerAt<schema::DepthwiseConvolution2dLayerT>(tree, 1).weights); });
    };
    EXPECT_THAT(depthwise([](auto& weights) { weights.info->dimensions = {4, 9}; }), HasSubstr("should have rank 4"));
    EXPECT_THAT(depthwise(
                    [](auto& weights) {
                        weights.info->quantizationScales = {1.0f, 2.0f, 3.0f};
                    }),
                HasSubstr("3 scales do not fit the 4 channels"));
    EXPECT_THAT(depthwise(
                    [](auto& weights)
                    {
                        weights.info->dimensions = {UINT32_MAX, UINT32_MAX, 0, 1};
                        weights.data.AsByteData()->data.clear();
                    }),
                HasSubstr("have no elements"));
}

TEST(HostileArmnn, LongNamesAreCutBetweenCharacters)
{
    const auto refusalOf = [](const std::string& name)
    {
        return Refusal("Activation",
                       [&](ArmnnTree& tree)
                       {
                           auto& layer = LayerAt<schema::ActivationLayerT>(tree, 1);
                           layer.base->layerName = name;
                           layer.descriptor.reset();
                       });
    };
    const std::string a(98, 'a');
    EXPECT_THAT(refusalOf(a + "ö"), HasSubstr("layer 1 '" + a + "ö' (Activation)")) << "100 bytes are kept whole";
    EXPECT_THAT(refusalOf(a + "bcd"), HasSubstr("layer 1 '" + a + "bc' (Activation)"));
    EXPECT_THAT(refusalOf(a + "bö"), HasSubstr("layer 1 '" + a + "b' (Activation)"));
    EXPECT_THAT(refusalOf(a + "€"), HasSubstr("layer 1 '" + a + "' (Activation)"));
    EXPECT_THAT(refusalOf("b" + a + "😀"), HasSubstr("layer 1 'b" + a + "' (Activation)"));
}

TEST(HostileArmnn, Fields)
{
    EXPECT_THAT(
        Refusal("Activation", [](ArmnnTree& tree) { LayerAt<schema::ActivationLayerT>(tree, 1).descriptor.reset(); }),
        AllOf(HasSubstr("layer 1 'layer' (Activation)"), HasSubstr("has no descriptor")));
    EXPECT_THAT(Refusal("Activation",
                        [](ArmnnTree& tree)
                        {
                            LayerAt<schema::ActivationLayerT>(tree, 1).descriptor->activationFunction =
                                static_cast<schema::ActivationFunction>(77);
                        }),
                HasSubstr("field activationFunction is 77"));
    const auto concat = [](const std::function<void(schema::OriginsDescriptorT & origins)>& change)
    { return Refusal("Concat", [&](ArmnnTree& tree) { change(*LayerAt<schema::ConcatLayerT>(tree, 2).descriptor); }); };
    EXPECT_THAT(concat([](auto& origins) { origins.numViews = UINT32_MAX; }),
                HasSubstr("has 2 inputs, but field numViews asks for 4294967295"));
    EXPECT_THAT(concat([](auto& origins) { origins.numDimensions = 3; }),
                HasSubstr("field viewOrigins has 4 numbers, but numViews and numDimensions ask for 6"));
    EXPECT_THAT(concat([](auto& origins) { origins.numDimensions = 90; }), HasSubstr("'layer' (Concat)"));
    EXPECT_THAT(concat([](auto& origins) { origins.viewOrigins[1]->data.push_back(1); }),
                HasSubstr("the lists in field viewOrigins are not of one length"));
    EXPECT_THAT(Refusal("Splitter",
                        [](ArmnnTree& tree) { LayerAt<schema::SplitterLayerT>(tree, 1).descriptor->origins.reset(); }),
                HasSubstr("has no origins"));
    EXPECT_THAT(Refusal("Splitter", [](ArmnnTree& tree)
                        { LayerAt<schema::SplitterLayerT>(tree, 1).descriptor->viewSizes.pop_back(); }),
                HasSubstr("field viewSizes has 2 numbers"));
    EXPECT_THAT(
        Refusal("Pad", [](ArmnnTree& tree) { LayerAt<schema::PadLayerT>(tree, 1).descriptor->padList.pop_back(); }),
        HasSubstr("field padList has 5 numbers, which are not in pairs"));
    EXPECT_THAT(Refusal("Permute",
                        [](ArmnnTree& tree) {
                            LayerAt<schema::PermuteLayerT>(tree, 1).descriptor->dimMappings = {0, 0, 1};
                        }),
                HasSubstr("is no permutation"));
    EXPECT_THAT(Refusal("Reshape", [](ArmnnTree& tree)
                        { LayerAt<schema::ReshapeLayerT>(tree, 1).descriptor->targetShape.assign(9, 1); }),
                HasSubstr("layer 1 'layer' (Reshape)"));
    EXPECT_THAT(Refusal("StandIn", [](ArmnnTree& tree)
                        { LayerAt<schema::StandInLayerT>(tree, 2).descriptor->numOutputs = 1U << 30; }),
                HasSubstr("has 1 outputs, but field numOutputs asks for 1073741824"));
    EXPECT_THAT(
        Refusal("Stack", [](ArmnnTree& tree) { LayerAt<schema::StackLayerT>(tree, 2).descriptor->numInputs = 3; }),
        HasSubstr("has 2 inputs, but field numInputs asks for 3"));
}

TEST(HostileArmnn, RefusalsOfFilesNameThem)
{
    const auto read = [] { IDeserializer::Create()->CreateNetworkFromBinaryFile("tests/golden/make_armnn.py"); };
    EXPECT_THAT(MessageOf<ParseException>(read),
                AllOf(HasSubstr("model 'tests/golden/make_armnn.py'"), Not(HasSubstr("layer"))));
}

} // namespace tenon::test::hostile_armnn_test
