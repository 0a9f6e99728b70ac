// SPDX-License-Identifier: Apache-2.0
// Dynamic backends: what the loader takes and refuses, and networks that run on plugins.
#include "backends/plugin/CStructs.hpp"
#include "common/Attributes.hpp"
#include "common/OptionText.hpp"
#include "graph/OpSchema.hpp"
#include "harness/Networks.hpp"
#include "harness/WarningRecorder.hpp"

#include <tenon/backend/BackendRegistry.hpp>
#include <tenon/backend/plugin.h>
#include <tenon/serializer/IDeserializer.hpp>
#include <tenon/serializer/ISerializer.hpp>

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace tenon::test::plugin_test
{

namespace
{

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string Plugins = TENON_TEST_PLUGINS;

IRuntimePtr MakeRuntime(const std::string& path, const std::vector<BackendOptions>& options = {})
{
    IRuntime::CreationOptions creation;
    creation.m_DynamicBackendsPath = path;
    creation.m_BackendOptions = options;
    return IRuntime::Create(creation);
}

/// A folder for one test.
class Folder
{
public:
    Folder() : m_Path(std::filesystem::temp_directory_path() / ("tenon_plugins_" + std::to_string(getpid())))
    {
        std::filesystem::create_directory(m_Path);
    }
    ~Folder() { std::filesystem::remove_all(m_Path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    std::filesystem::path operator/(const char* name) const { return m_Path / name; }
    std::string ToString() const { return m_Path.string(); }

private:
    std::filesystem::path m_Path;
};

} // namespace

TEST(Plugin, EveryBadOneIsRefusedWithItsReason)
{
    const IRuntimePtr runtime = MakeRuntime(Plugins + "/bad");
    const std::map<std::string, std::string> reasons = {
        {"armnn_form", "for Arm NN's interface"}, // this program has libtenon.a
        {"create_fails", "backend_create failed"},
        {"create_gives_null", "gave null"},
        {"id_of_cpuref", "CpuRef"},
        {"no_entry", "exports no tenon_plugin_get_table"},
        {"no_execute", "no shaped_execute"},
        {"null_table", "gives no table"},
        {"truncated", "no model_create"},
        {"wrong_major", "version 2.2 of plugin.h"},
    };
    const std::vector<DynamicBackendReport>& reports = runtime->GetDynamicBackendReports();
    ASSERT_EQ(reports.size(), reasons.size());
    auto expected = reasons.begin();
    for (const DynamicBackendReport& report : reports)
    {
        EXPECT_THAT(report.m_Path, HasSubstr(expected->first + "_backend.so")) << "reports come in order of names";
        EXPECT_FALSE(report.m_IsLoaded) << report.m_Path;
        EXPECT_THAT(report.m_Reason, HasSubstr(expected->second)) << report.m_Path;
        ++expected;
    }
    EXPECT_EQ(runtime->GetDeviceSpec().GetSupportedBackends().size(), 2u) << "CpuRef and CpuAcc";
}

TEST(Plugin, FilesThatAreNoLibrariesAreReported)
{
    const Folder folder;
    std::ofstream(folder / "text_backend.so") << "no library";
    std::ofstream(folder / "README.md") << "no backend";
    for (const char* name : {"y_backend.so5", "y_backend.so.", "y_backend.so.1.", "y_backend.so.a", "_backend.so"})
    {
        std::ofstream(folder / name) << "no name of a backend";
    }
    std::filesystem::create_symlink(Plugins + "/cpuref/cpuref_backend.so", folder / "x_backend.so");
    std::filesystem::create_symlink(Plugins + "/cpuref/cpuref_backend.so", folder / "x_backend.so.1.2");
    const IRuntimePtr runtime = MakeRuntime(folder.ToString());
    const auto& reports = runtime->GetDynamicBackendReports();
    ASSERT_EQ(reports.size(), 9u);
    EXPECT_THAT(reports[0].m_Reason, HasSubstr("its name is not that of a backend")) << "README.md";
    EXPECT_THAT(reports[1].m_Reason, HasSubstr("its name is not that of a backend")) << "nothing before _backend.so";
    EXPECT_THAT(reports[2].m_Reason, HasSubstr("cannot be loaded"));
    EXPECT_TRUE(reports[3].m_IsLoaded) << reports[3].m_Reason;
    EXPECT_EQ(reports[3].m_BackendId, BackendId("CpuRefPlugin"));
    EXPECT_THAT(reports[4].m_Reason, HasSubstr("same file"));
    for (size_t i = 5; i < reports.size(); ++i)
    {
        EXPECT_THAT(reports[i].m_Reason, HasSubstr("its name is not that of a backend")) << reports[i].m_Path;
    }
}

TEST(Plugin, AFolderThatIsNotThereIsRefused)
{
    EXPECT_THROW(MakeRuntime("/there/is/no/such/folder"), FileNotFoundException);
}

TEST(Plugin, OptionsOfBackendsThatWereNotLoadedHaveNoEffect)
{
    const auto load = [](const std::string& path, const char* backend)
    {
        const WarningRecorder warnings;
        const IRuntimePtr runtime = MakeRuntime(path, {BackendOptions(backend, {{"Speed", 3}})});
        EXPECT_EQ(runtime->GetDeviceSpec().GetSupportedBackends().count(backend), 0u);
        return warnings.Get();
    };
    EXPECT_THAT(
        load(Plugins + "/bad", "CpuRefPlugin"),
        Contains(AllOf(HasSubstr("options for backend 'CpuRefPlugin' have no effect"), HasSubstr("Not loaded:"))));
    // The plugin knows no such option, so it is not there.
    EXPECT_THAT(load(Plugins + "/device", "TestDevice"),
                Contains(AllOf(HasSubstr("options for backend 'TestDevice' have no effect"), HasSubstr("Speed"))));
}

TEST(Plugin, ASingleFileIsAPathToo)
{
    const IRuntimePtr runtime = MakeRuntime(Plugins + "/cpuref/cpuref_backend.so");
    EXPECT_EQ(runtime->GetDeviceSpec().GetSupportedBackends().count("CpuRefPlugin"), 1u);
}

TEST(Plugin, RunsANetworkAndStaysLoadedAsLongAsItIsUsed)
{
    std::shared_ptr<const IBackend> backend;
    {
        const IRuntimePtr runtime = MakeRuntime(Plugins + "/cpuref");
        const INetworkPtr network = MakeChain(3, FloatInfo({4}));
        const NetworkId id = Load(*runtime, *network, {"CpuRefPlugin"});
        EXPECT_EQ(RunFloat(*runtime, id, {4}, {-1, 2, -3, 4}), (std::vector<float>{1, 2, 3, 4}));
        EXPECT_EQ(RunFloat(*runtime, id, {2}, {-1, 2}), (std::vector<float>{1, 2})) << "other shapes reshape workloads";
        backend = runtime->GetDeviceSpec().GetBackendRegistry().Find("CpuRefPlugin");
    }
    EXPECT_EQ(backend->GetId(), BackendId("CpuRefPlugin"));
    EXPECT_NE(backend->GetLayerSupport({}), nullptr);
}

TEST(Plugin, CapabilitiesCrossTheTable)
{
    const IRuntimePtr runtime = MakeRuntime(Plugins + "/cpuref");
    const BackendRegistry& registry = runtime->GetDeviceSpec().GetBackendRegistry();
    const BackendCapabilities direct = registry.Get("CpuRef").GetCapabilities();
    const BackendCapabilities through = registry.Get("CpuRefPlugin").GetCapabilities();
    ASSERT_EQ(direct.GetOptionCount(), through.GetOptionCount());
    for (size_t i = 0; i < direct.GetOptionCount(); ++i)
    {
        EXPECT_EQ(direct.GetOption(i).GetName(), through.GetOption(i).GetName());
        EXPECT_EQ(direct.GetOption(i).GetValue(), through.GetOption(i).GetValue());
    }
}

/// add -> relu -> add ... on whatever backends take them; both inputs go into each addition.
static INetworkPtr MakeAdditions(unsigned int count, const TensorInfo& info)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* first = AddInput(*network, 0, info, "first");
    IConnectableLayer* last = AddInput(*network, 1, info, "second");
    for (unsigned int i = 0; i < count; ++i)
    {
        IConnectableLayer* add = network->AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(BinaryOperation::Add),
                                                                    ("add" + std::to_string(i)).c_str());
        Connect(first, add, 0);
        Connect(last, add, 1);
        last = i % 2 == 0 ? network->AddActivationLayer(ActivationDescriptor(ActivationFunction::ReLu), "relu")
                          : network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Neg), "neg");
        Connect(add, last);
    }
    Connect(last, network->AddOutputLayer(0));
    return network;
}

static std::vector<float> RunBoth(IRuntime& runtime, NetworkId id, const TensorShape& shape)
{
    const std::vector<float> a = Ramp(shape.GetNumElements(), -5.0f, 0.75f);
    const std::vector<float> b = Ramp(shape.GetNumElements(), 3.0f, -0.5f);
    const TensorInfo info(shape, DataType::Float32, 0.0f, 0, true);
    std::vector<float> result(shape.GetNumElements());
    const TensorInfo out(shape, DataType::Float32);
    runtime.EnqueueWorkload(id, {{0, ConstTensor(info, a.data())}, {1, ConstTensor(info, b.data())}},
                            {{0, Tensor(out, result.data())}});
    return result;
}

TEST(Plugin, NetworksSplitOverADeviceGiveTheSameResults)
{
    const IRuntimePtr runtime = MakeRuntime(Plugins + "/device");
    const INetworkPtr network = MakeAdditions(7, FloatInfo({3, 5}));
    auto split = Optimize(*network, {"TestDevice", "CpuAcc", "CpuRef"}, runtime->GetDeviceSpec());
    std::set<std::string> used;
    for (const LayerAssignment& layer : split->GetAssignment())
    {
        used.insert(layer.m_Backend.Get());
    }
    EXPECT_EQ(used.count("TestDevice") + used.count("CpuAcc"), 2u) << "Neg is none of the device's";
    NetworkId onDevice = 0;
    runtime->LoadNetwork(onDevice, std::move(split));
    const NetworkId onHost = Load(*runtime, *network, {"CpuRef"});
    for (int run = 0; run < 20; ++run)
    {
        const TensorShape shape({3, 5U + static_cast<unsigned int>(run % 3)});
        ASSERT_EQ(RunBoth(*runtime, onDevice, shape), RunBoth(*runtime, onHost, shape)) << "run " << run;
    }
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
    {
        threads.emplace_back(
            [&]
            {
                for (int run = 0; run < 10; ++run)
                {
                    EXPECT_EQ(RunBoth(*runtime, onDevice, {3, 5}), RunBoth(*runtime, onHost, {3, 5}));
                }
            });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
}

TEST(Plugin, WhatFailsLateOnADeviceIsReportedAndTheNetworkRunsOn)
{
    const IRuntimePtr runtime =
        MakeRuntime(Plugins + "/device", {BackendOptions("TestDevice", {{"FailingLayer", "add2"}})});
    const INetworkPtr failing = MakeAdditions(4, FloatInfo({2, 2}));
    const NetworkId id = Load(*runtime, *failing, {"TestDevice", "CpuRef"});
    for (int run = 0; run < 3; ++run)
    {
        try
        {
            RunBoth(*runtime, id, {2, 2});
            FAIL() << "the device lost its way";
        }
        catch (const RuntimeException& error)
        {
            EXPECT_THAT(error.what(), AllOf(HasSubstr("TestDevice"), HasSubstr("lost its way")));
        }
    }
    const INetworkPtr sound = MakeAdditions(2, FloatInfo({2, 2}));
    const NetworkId other = Load(*runtime, *sound, {"TestDevice", "CpuRef"});
    EXPECT_EQ(RunBoth(*runtime, other, {2, 2}), RunBoth(*runtime, Load(*runtime, *sound, {"CpuRef"}), {2, 2}));
}

#ifdef TENON_SAMPLE_PLUGIN
/// conv -> relu6 -> conv -> relu, with a softmax behind, which SampleNpu does not know.
static INetworkPtr MakeConvolutions()
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* last = AddInput(*network, 0, FloatInfo({1, 6, 6, 3}));
    unsigned int channels = 3;
    for (const unsigned int outputs : {4U, 5U})
    {
        Convolution2dDescriptor descriptor;
        descriptor.m_DataLayout = DataLayout::NHWC;
        descriptor.m_BiasEnabled = true;
        descriptor.m_PaddingScheme = outputs == 4U ? PaddingScheme::Same : PaddingScheme::Valid;
        descriptor.m_StrideX = outputs == 4U ? 1 : 2;
        IConnectableLayer* conv =
            network->AddConvolution2dLayer(descriptor, ("conv" + std::to_string(outputs)).c_str());
        const auto constant = [&](const TensorShape& shape, float step)
        {
            auto values = std::make_shared<std::vector<float>>(Ramp(shape.GetNumElements(), -0.7f, step));
            return network->AddConstantLayer(
                ConstTensor(TensorInfo(shape, DataType::Float32, 0.0f, 0, true), values->data()), values);
        };
        Connect(last, conv);
        Connect(constant({outputs, 3, 3, channels}, 0.013f), conv, 1);
        Connect(constant({outputs}, 0.2f), conv, 2);
        last = network->AddActivationLayer(
            ActivationDescriptor(outputs == 4U ? ActivationFunction::BoundedReLu : ActivationFunction::ReLu, 6.0f,
                                 0.0f),
            "relu");
        Connect(conv, last);
        channels = outputs;
    }
    IConnectableLayer* softmax = network->AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
    Connect(last, softmax);
    Connect(softmax, network->AddOutputLayer(0));
    return network;
}

TEST(SamplePlugin, CompilesAChainIntoOneLayer)
{
    const IRuntimePtr runtime = MakeRuntime(Plugins + "/sample");
    const INetworkPtr network = MakeConvolutions();
    auto optimized = Optimize(*network, {"SampleNpu", "CpuRef"}, runtime->GetDeviceSpec());
    std::vector<LayerType> types;
    for (const LayerAssignment& layer : optimized->GetAssignment())
    {
        if (layer.m_Type != LayerType::Constant)
        {
            types.push_back(layer.m_Type);
        }
    }
    EXPECT_THAT(types, ElementsAre(LayerType::Input, LayerType::PreCompiled, LayerType::Softmax, LayerType::Output));

    // Written to a file and read again, the compiled chain is still there.
    ISerializerPtr serializer = ISerializer::Create();
    serializer->Serialize(*optimized);
    std::stringstream file;
    serializer->SaveSerializedToStream(file);
    IDeserializerPtr deserializer = IDeserializer::Create();
    NetworkId fromFile = 0;
    runtime->LoadNetwork(fromFile, deserializer->CreateOptimizedNetworkFromBinary(file, runtime->GetDeviceSpec()));
    NetworkId direct = 0;
    runtime->LoadNetwork(direct, std::move(optimized));
    const NetworkId reference = Load(*runtime, *network, {"CpuRef"});

    const std::vector<float> input = Ramp(108, -2.0f, 0.04f);
    const std::vector<float> want = RunFloat(*runtime, reference, {1, 6, 6, 3}, input);
    const std::vector<float> got = RunFloat(*runtime, direct, {1, 6, 6, 3}, input);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
    {
        EXPECT_NEAR(got[i], want[i], 1e-5f);
    }
    EXPECT_EQ(RunFloat(*runtime, fromFile, {1, 6, 6, 3}, input), got);
    EXPECT_THROW(RunFloat(*runtime, direct, {2, 6, 6, 3}, Ramp(216)), LayerValidationException)
        << "what is compiled holds for the shapes that it was compiled for";
}

TEST(SamplePlugin, WhatOneRuntimesBackendCompiledIsNothingToAnother)
{
    const IRuntimePtr maker = MakeRuntime(Plugins + "/sample");
    const IRuntimePtr other = MakeRuntime(Plugins + "/sample");
    const INetworkPtr network = MakeConvolutions();
    NetworkId id = 0;
    EXPECT_THROW(other->LoadNetwork(id, Optimize(*network, {"SampleNpu", "CpuRef"}, maker->GetDeviceSpec())),
                 BackendUnavailableException);
    // Bytes may travel.
    ISerializerPtr serializer = ISerializer::Create();
    serializer->Serialize(*Optimize(*network, {"SampleNpu", "CpuRef"}, maker->GetDeviceSpec()));
    std::stringstream file;
    serializer->SaveSerializedToStream(file);
    other->LoadNetwork(id, IDeserializer::Create()->CreateOptimizedNetworkFromBinary(file, other->GetDeviceSpec()));
    EXPECT_EQ(RunFloat(*other, id, {1, 6, 6, 3}, Ramp(108)).size(), 40u);
}
#endif

TEST(Attributes, EveryDescriptorComesBack)
{
    for (size_t i = 0; i < NumLayerTypes; ++i)
    {
        const auto type = static_cast<LayerType>(i);
        const OpSchema& schema = GetSchema(type);
        const auto empty = FromAttributes(type, {});
        const std::vector<Attribute> attributes = ToAttributes(type, *empty);
        EXPECT_TRUE(schema.m_Equal(*FromAttributes(type, attributes), *empty)) << schema.m_Name;
    }
    PadDescriptor pad({{1, 2}, {3, 4}}, -1.5f);
    ViewsDescriptor views(2, 3);
    views.SetViewOriginCoord(1, 2, 7);
    views.SetViewSize(0, 1, 9);
    ReshapeDescriptor reshape(TensorShape({2, 3}, {true, false}));
    TransposeDescriptor transpose(PermutationVector({2, 0, 1}));
    RecurrentSequenceDescriptor recurrent;
    recurrent.m_Activations = {RecurrentActivation::Softplus, RecurrentActivation::Relu};
    const std::pair<LayerType, const BaseDescriptor*> filled[] = {{LayerType::Pad, &pad},
                                                                  {LayerType::RecurrentSequence, &recurrent},
                                                                  {LayerType::Splitter, &views},
                                                                  {LayerType::Reshape, &reshape},
                                                                  {LayerType::Transpose, &transpose}};
    for (const auto& [type, descriptor] : filled)
    {
        EXPECT_TRUE(GetSchema(type).m_Equal(*FromAttributes(type, ToAttributes(type, *descriptor)), *descriptor))
            << GetSchema(type).m_Name;
    }
}

TEST(Attributes, TakeNamesOfEnumeratorsAndIntegersForFloats)
{
    const auto make = [](LayerType type, std::vector<Attribute> attributes)
    { return FromAttributes(type, std::move(attributes)); };
    const auto activation = make(
        LayerType::Activation,
        {{"Function", std::string("HardSwish")}, {"A", std::vector<int64_t>{6}}, {"B", std::vector<double>{-0.5}}});
    const auto& filled = static_cast<const ActivationDescriptor&>(*activation);
    EXPECT_EQ(filled.m_Function, ActivationFunction::HardSwish);
    EXPECT_EQ(filled.m_A, 6.0f);
    EXPECT_EQ(filled.m_B, -0.5f);
    const auto convolution =
        make(LayerType::Convolution2d, {{"DataLayout", std::string("NHWC")}}); // numbers begin at 1
    EXPECT_EQ(static_cast<const Convolution2dDescriptor&>(*convolution).m_DataLayout, DataLayout::NHWC);
    const auto number = make(LayerType::Convolution2d, {{"DataLayout", std::vector<int64_t>{2}}});
    EXPECT_EQ(static_cast<const Convolution2dDescriptor&>(*number).m_DataLayout, DataLayout::NHWC);
}

TEST(Attributes, RefuseNamesThatAreNone)
{
    const auto refusal = [](AttributeValue value) -> std::string
    {
        try
        {
            FromAttributes(LayerType::Resize, {{"Method", std::move(value)}});
        }
        catch (const InvalidArgumentException& error)
        {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(refusal(std::string("Cubic")),
              "attribute 'Method' cannot be 'Cubic'; its values are Bilinear, NearestNeighbor");
    EXPECT_EQ(refusal(std::string()), "attribute 'Method' cannot be ''; its values are Bilinear, NearestNeighbor");
    EXPECT_EQ(refusal(std::vector<double>{1.0}), "attribute 'Method' must hold an enumerator's name or number");
    EXPECT_EQ(refusal(std::vector<int64_t>{2}),
              "attribute 'Method' cannot be 2; its values are Bilinear, NearestNeighbor");
    EXPECT_EQ(refusal(std::vector<int64_t>{-1}),
              "attribute 'Method' cannot be -1; its values are Bilinear, NearestNeighbor");
    EXPECT_THAT(refusal(std::vector<int64_t>{0, 1}), testing::HasSubstr("has 2 values"));
}

TEST(Attributes, TakeListsOfEnumerators)
{
    const auto make = [](AttributeValue value)
    {
        const auto made = FromAttributes(LayerType::RecurrentSequence, {{"Activations", std::move(value)}});
        return static_cast<const RecurrentSequenceDescriptor&>(*made).m_Activations;
    };
    using enum RecurrentActivation;
    EXPECT_EQ(make(std::string("HardSigmoid,Tanh")), (std::vector<RecurrentActivation>{HardSigmoid, Tanh}));
    EXPECT_EQ(make(std::vector<int64_t>{7, 1}), (std::vector<RecurrentActivation>{HardSigmoid, Tanh}));
    EXPECT_TRUE(make(std::string()).empty());
    EXPECT_TRUE(make(std::vector<int64_t>{}).empty());
    for (const AttributeValue& value :
         {AttributeValue(std::string("Tanh,Gelu")), AttributeValue(std::string("Tanh,,Relu")),
          AttributeValue(std::vector<int64_t>{0, 11}), AttributeValue(std::vector<int64_t>{-1}),
          AttributeValue(std::vector<double>{1.0})})
    {
        EXPECT_THROW(make(value), InvalidArgumentException);
    }
}

TEST(Attributes, RefuseWhatDoesNotFit)
{
    const auto make = [](Attribute attribute) { return FromAttributes(LayerType::Softmax, {std::move(attribute)}); };
    EXPECT_THROW(make({"NoSuchField", std::vector<int64_t>{1}}), InvalidArgumentException);
    EXPECT_THROW(make({"Axis", std::string("1")}), InvalidArgumentException);
    EXPECT_THROW(make({"Axis", std::vector<double>{1.0}}), InvalidArgumentException);
    EXPECT_THROW(make({"Beta", std::string("1")}), InvalidArgumentException);
    EXPECT_THROW(make({"Beta", std::vector<int64_t>{1, 2}}), InvalidArgumentException);
    EXPECT_THROW(make({"Axis", std::vector<int64_t>{1, 2}}), InvalidArgumentException);
    EXPECT_THROW(make({"Axis", std::vector<int64_t>{int64_t{1} << 40}}), InvalidArgumentException);
    EXPECT_THROW(
        FromAttributes(LayerType::Softmax, {{"Axis", std::vector<int64_t>{1}}, {"Axis", std::vector<int64_t>{1}}}),
        InvalidArgumentException);
}

TEST(PluginOptions, ThatAreTextsComeAsWhatTheyRead)
{
    const BackendOptions options("Npu", {{"Truth", OptionFromText("false")},
                                         {"Whole", OptionFromText("12")},
                                         {"Large", OptionFromText("4294967295")},
                                         {"Real", OptionFromText("1.5")},
                                         {"Text", OptionFromText("1.5s")},
                                         {"Name", OptionFromText("007")},
                                         {"Minus", OptionFromText("-0")},
                                         {"Quoted", OptionFromText("\"12\"")},
                                         {"Quote", OptionFromText("\"")}});
    const std::vector<Attribute> attributes = plugin::OptionAttributes({options}, "Npu");
    const AttributeValue expected[] = {false,
                                       std::vector<int64_t>{12},
                                       std::vector<int64_t>{4294967295},
                                       std::vector<double>{1.5},
                                       std::string("1.5s"),
                                       std::string("007"),
                                       std::string("-0"),
                                       std::string("12"),
                                       std::string("\"")};
    ASSERT_EQ(attributes.size(), std::size(expected));
    for (size_t i = 0; i < attributes.size(); ++i)
    {
        EXPECT_TRUE(attributes[i].m_Value == expected[i]) << attributes[i].m_Name;
    }
    // A backend in C++ on the other side asks for the type that it expects.
    const plugin::CAttributes c(attributes);
    const auto taken = plugin::ToOptions(c.Get(), c.Size());
    ASSERT_EQ(taken.size(), std::size(expected));
    EXPECT_EQ(taken[0].GetValue().AsString(), "false");
    EXPECT_EQ(taken[1].GetValue().AsString(), "12");
    EXPECT_EQ(taken[1].GetValue().AsFloat(), 12.0f);
    EXPECT_EQ(taken[2].GetValue().AsString(), "4294967295");
    EXPECT_EQ(taken[3].GetValue().AsFloat(), 1.5f);
    EXPECT_FALSE(taken[5].GetValue().IsInt());
}

} // namespace tenon::test::plugin_test
