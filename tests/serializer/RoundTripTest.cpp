// SPDX-License-Identifier: Apache-2.0
// Networks through files: tensor infos of all kinds, constants, overrides, nested networks, states, custom operators,
// the bundled models before and after optimization.
#include "Files.hpp"
#include "harness/DeviceBackend.hpp"
#include "harness/FakeBackend.hpp"

#include <tenon/backend/ICustomOperator.hpp>
#include <tenon/parsers/ITfLiteParser.hpp>

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace tenon::test::round_trip_test
{

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

INetworkPtr ParseTfLite(const char* path)
{
    return ITfLiteParser::Create()->CreateNetworkFromBinaryFile(path);
}

/// The outputs of a loaded network, one after the other, for inputs filled with a pattern.
std::vector<uint8_t> RunPattern(IRuntime& runtime, IOptimizedNetworkPtr network, const IDeserializer& bindings)
{
    NetworkId id = 0;
    runtime.LoadNetwork(id, std::move(network));
    std::vector<Bytes> memory;
    InputTensors inputs;
    for (const std::string& name : bindings.GetNetworkInputNames())
    {
        const auto [binding, declared] = bindings.GetNetworkInputBindingInfo(0, name);
        TensorInfo info = runtime.GetInputTensorInfo(id, binding);
        EXPECT_FALSE(info.IsConstant());
        info.SetConstant();
        EXPECT_EQ(info, declared);
        memory.emplace_back(info.GetNumBytes());
        for (size_t i = 0; i < memory.back().size(); ++i)
        {
            memory.back()[i] = static_cast<uint8_t>(i * 37 % 61);
        }
        inputs.emplace_back(binding, ConstTensor(info, memory.back().data()));
    }
    Bytes result;
    runtime.EnqueueWorkload(id, inputs,
                            [&](LayerBindingId, const TensorInfo& info)
                            {
                                result.resize(info.GetNumBytes());
                                return result.data();
                            });
    return result;
}

/// A file in the temporary folder that is gone at the end.
class TempFile
{
public:
    explicit TempFile(const Bytes& bytes)
        : m_Path(std::filesystem::temp_directory_path() / ("tenon_serializer_" + std::to_string(getpid()) + ".tenon"))
    {
        std::ofstream(m_Path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    ~TempFile() { std::filesystem::remove(m_Path); }
    const char* Path() const { return m_Path.c_str(); }

private:
    std::string m_Path;
};

} // namespace

TEST(SerializedNetwork, KeepsTensorInfosOfAllKinds)
{
    TensorInfo perAxis({4, 2}, DataType::QSymmS8, std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f}, 0);
    TensorInfo shifted = perAxis;
    shifted.SetQuantizationOffsets({0, -1, 2, 3});
    TensorInfo constant({3}, DataType::QSymmS4, 0.5f, 0);
    constant.SetConstant();
    TensorInfo onlyOffset({1}, DataType::QAsymmU8, 0.0f, 5);
    TensorInfo oneScale({1, 2}, DataType::QSymmS8, std::vector<float>{0.5f}, 1);
    TensorInfo withoutDimension({2}, DataType::QSymmS8);
    withoutDimension.SetQuantizationScales({0.5f, 0.25f});
    TensorInfo blocks({4, 2}, DataType::QSymmS4, std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f}, 0);
    blocks.SetQuantizationBlockSize(2);
    TensorInfo shiftedBlocks = blocks;
    shiftedBlocks.SetQuantizationOffsets({0, -1, 2, 3});
    TensorInfo emptyBlocks({0, 2}, DataType::QSymmS8, std::vector<float>(), 0);
    emptyBlocks.SetQuantizationBlockSize(3);
    TensorInfo otherEmptyBlocks = emptyBlocks;
    otherEmptyBlocks.SetQuantizationBlockSize(4);
    Network network({});
    LayerBindingId id = 0;
    for (const TensorInfo& info :
         {perAxis, shifted, constant, onlyOffset, oneScale, withoutDimension, blocks, shiftedBlocks, blocks,
          emptyBlocks, otherEmptyBlocks, TensorInfo(),
          TensorInfo(TensorShape(Dimensionality::Scalar), DataType::Complex64),
          TensorInfo(TensorShape(Dimensionality::Specified), DataType::Float16),
          TensorInfo(TensorShape(8, false), DataType::BFloat16),
          TensorInfo(TensorShape({0, 4294967295U, 7}, {true, true, false}), DataType::Unsigned64)})
    {
        AddInput(network, id++, info);
    }
    ExpectSameGraph(network.GetGraph(), GraphOf(Read(Serialized(network))));
}

// The scales of blocks are many: they are stored once for all infos that share them, and shared again when read.
TEST(SerializedNetwork, StoresScalesOfBlocksOnce)
{
    TensorInfo info({100, 320}, DataType::QSymmS4, std::vector<float>(1000, 0.5f), 1);
    info.SetQuantizationBlockSize(32);
    Network network({});
    for (LayerBindingId id = 0; id < 5; ++id)
    {
        AddInput(network, id, info);
    }
    const Bytes file = Serialized(network);
    EXPECT_LT(file.size(), 8000u);
    const INetworkPtr read = Read(file);
    const auto& layers = GraphOf(read).Layers();
    EXPECT_EQ(layers[4]->Output(0).GetTensorInfo().ViewQuantizationScales().data(),
              layers[0]->Output(0).GetTensorInfo().ViewQuantizationScales().data());
}

TEST(SerializedNetwork, StoresSharedConstantsOnceAndNeedsTheirMemoryNoMore)
{
    auto values = std::make_unique<std::vector<float>>(Ramp(1000));
    Network network({});
    const ConstTensor tensor(TensorInfo({1000}, DataType::Float32, 0.0f, 0, true), values->data());
    for (const char* name : {"a", "b", "c"})
    {
        network.AddConstantLayer(tensor, name);
    }
    network.AddConstantLayer(ConstTensor(TensorInfo({0}, DataType::Float32, 0.0f, 0, true), nullptr), "empty");
    const ISerializerPtr serializer = ISerializer::Create();
    serializer->Serialize(network);
    values.reset();
    std::ostringstream stream;
    serializer->SaveSerializedToStream(stream);
    EXPECT_LT(stream.str().size(), 6000u);
    std::istringstream in(stream.str());
    const INetworkPtr read = IDeserializer::Create()->CreateNetworkFromBinary(in);
    const Graph& graph = GraphOf(read);
    const auto* data = static_cast<const float*>(graph.Layers()[2]->GetConstant()->m_Tensor.GetMemoryArea());
    EXPECT_EQ(data[999], 999.0f);
    EXPECT_EQ(graph.Layers()[0]->GetConstant()->m_Tensor.GetMemoryArea(), data);
    EXPECT_EQ(graph.Layers()[3]->GetConstant()->m_Tensor.GetNumBytes(), 0u);
}

TEST(SerializedNetwork, KeepsOverridesHintsOptionsAndOwnConstants)
{
    NetworkOptions options{BackendOptions("CpuAcc", {{"Flag", true},
                                                     {"Int", -4},
                                                     {"Unsigned", 4U},
                                                     {"Float", 0.5f},
                                                     {"Text", "x"},
                                                     {"NoText", ""},
                                                     {"IntAsText", BackendOptions::Var(12, "12")},
                                                     {"BoolAsText", BackendOptions::Var(true, "true")},
                                                     {"TextOfInt", "12"},
                                                     {"TextOfBool", "true"},
                                                     {"Quoted", "\"x\""},
                                                     {"SaveCachedNetwork", true},
                                                     {"CachedNetworkFilePath", "of this machine"}})};
    Network network(options);
    IConnectableLayer* input = AddInput(network, 3, FloatInfo({1, 2, 2, 1}), "in");
    const std::vector<float> ones(1, 1.0f);
    const ConstTensor one(TensorInfo({1}, DataType::Float32, 0.0f, 0, true), ones.data());
    IConnectableLayer* layer =
        network.AddBatchNormalizationLayer(BatchNormalizationDescriptor(), one, one, one, one, "n");
    layer->BackendSelectionHint(Optional<BackendId>("CpuRef"));
    Connect(input, layer);
    layer->GetInputSlot(0).SetTensorInfo(TensorInfo({1, 2, 2, 1}, DataType::Signed32));
    Connect(layer, network.AddOutputLayer(-9, nullptr));
    const INetworkPtr read = Read(Serialized(network));
    ExpectSameGraph(network.GetGraph(), GraphOf(read));
    const NetworkOptions& kept = static_cast<const Network&>(*read).GetOptions();
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].GetBackendId(), BackendId("CpuAcc"));
    ASSERT_EQ(kept[0].GetOptionCount(), 11u) << "a file chooses none to be written";
    for (size_t i = 0; i < 11; ++i)
    {
        const BackendOptions::BackendOption& option = kept[0].GetOption(i);
        const BackendOptions::Var& given = options[0].GetOption(i).GetValue();
        EXPECT_EQ(option.GetName(), options[0].GetOption(i).GetName());
        EXPECT_EQ(option.GetValue(), given) << option.GetName();
        EXPECT_EQ(option.GetValue().IsInt(), given.IsInt()) << option.GetName();
        EXPECT_EQ(option.GetValue().IsBool(), given.IsBool()) << option.GetName();
        EXPECT_EQ(option.GetValue().IsString(), given.IsString()) << option.GetName();
    }
    EXPECT_EQ(GraphOf(read).Layers()[1]->GetConstantTensorsByRef().size(), 4u);
}

TEST(SerializedNetwork, NewGuidsAreNoneOfThoseRead)
{
    Network network({});
    Layer& input = network.EditGraph().AddLayer(LayerType::Input, nullptr, "in", LayerGuid(uint64_t{1} << 40));
    input.Output(0).SetTensorInfo(FloatInfo({1}));
    EXPECT_EQ(GraphOf(Read(Serialized(network))).Layers()[0]->GetGuid(), input.GetGuid());
    EXPECT_GT(uint64_t{NewGuid()}, uint64_t{1} << 40);
}

TEST(SerializedNetwork, BindingsAreFoundByNamesThatAreUnique)
{
    Network network({});
    for (const auto& [id, name] : {std::pair(4, "x"), std::pair(2, "x"), std::pair(7, "")})
    {
        Connect(AddInput(network, id, FloatInfo({2}), name), network.AddOutputLayer(id + 1, name));
    }
    const IDeserializerPtr deserializer = IDeserializer::Create();
    deserializer->CreateNetworkFromBinary(Serialized(network));
    EXPECT_THAT(deserializer->GetNetworkInputNames(), ElementsAre("x", "x_1", "input_7"));
    EXPECT_THAT(deserializer->GetNetworkOutputNames(), ElementsAre("x", "x_1", "output_8"));
    EXPECT_EQ(deserializer->GetNetworkInputBindingInfo(0, "x_1").first, 2);
    EXPECT_EQ(deserializer->GetNetworkOutputBindingInfo(0, "output_8").second, FloatInfo({2}));
    EXPECT_THAT(MessageOf<ParseException>([&] { deserializer->GetNetworkInputBindingInfo(0, "y"); }),
                AllOf(HasSubstr("no input 'y'"), HasSubstr("'x_1'")));
}

TEST(SerializedNetwork, BindingsTellWhatMemoryToGive)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* const abs =
        network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(UnaryOperation::Abs), "abs");
    Connect(AddInput(*network, 0, FloatInfo({2, 3}), "in"), abs);
    abs->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape({0, 3}, {false, true}), DataType::Float32));
    Connect(abs, network->AddOutputLayer(0, "out"));
    const IDeserializerPtr deserializer = IDeserializer::Create();
    deserializer->CreateNetworkFromBinary(Serialized(*network));
    TensorInfo input = FloatInfo({2, 3});
    input.SetConstant();
    EXPECT_EQ(deserializer->GetNetworkInputBindingInfo(0, "in").second, input);
    EXPECT_EQ(deserializer->GetNetworkOutputBindingInfo(0, "out").second, FloatInfo({2, 3}));
}

TEST(SerializedNetwork, NestedNetworksAndStatesGiveTheSame)
{
    const auto branch = [](UnaryOperation operation)
    {
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* unary = network->AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation), "unary");
        Connect(AddInput(*network, 0, FloatInfo({2})), unary);
        Connect(unary, network->AddOutputLayer(0));
        return network;
    };
    const INetworkPtr outer = branch(UnaryOperation::Neg);
    const INetworkPtr inner = branch(UnaryOperation::Exp);
    const auto add = [&](INetwork& network, IConnectableLayer* condition, IConnectableLayer* data, const INetwork& a,
                         const INetwork& b)
    {
        IConnectableLayer* layer = network.AddIfLayer(a, b, "if");
        Connect(condition, layer, 0);
        Connect(data, layer, 1);
        return layer;
    };
    // An If within an If, on what a state holds.
    INetworkPtr middle = INetwork::Create();
    {
        const auto truth = std::make_shared<uint8_t>(uint8_t{1});
        IConnectableLayer* condition = middle->AddConstantLayer(
            ConstTensor(TensorInfo({1}, DataType::Boolean, 0.0f, 0, true), truth.get()), truth, "truth");
        Connect(add(*middle, condition, AddInput(*middle, 0, FloatInfo({2})), *inner, *outer),
                middle->AddOutputLayer(0));
    }
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* condition = AddInput(*network, 0, TensorInfo({1}, DataType::Boolean), "condition");
    IConnectableLayer* state = network->AddReadStateLayer(StateDescriptor("sum"), "read");
    state->GetOutputSlot(0).SetTensorInfo(FloatInfo({2}));
    IConnectableLayer* chosen = add(*network, condition, state, *middle, *outer);
    IConnectableLayer* write = network->AddWriteStateLayer(StateDescriptor("sum"), "write");
    Connect(chosen, write);
    Connect(chosen, network->AddOutputLayer(0, "out"));

    const Bytes file = Serialized(*network);
    const INetworkPtr read = Read(file);
    ExpectSameGraph(GraphOf(network), GraphOf(read));
    const IRuntimePtr runtime = IRuntime::Create({});
    const IOptimizedNetworkPtr optimized = Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec());
    const Bytes optimizedFile = Serialized(*optimized);
    const IOptimizedNetworkPtr optimizedRead = ReadOptimized(optimizedFile, *runtime);
    ExpectSameGraph(GraphOf(optimized), GraphOf(optimizedRead));

    const auto run = [&](IOptimizedNetworkPtr loaded)
    {
        NetworkId id = 0;
        runtime->LoadNetwork(id, std::move(loaded));
        std::vector<float> out(2);
        for (const uint8_t truth : Bytes{1, 0, 1})
        {
            runtime->EnqueueWorkload(id, {{0, ConstTensor(TensorInfo({1}, DataType::Boolean, 0.0f, 0, true), &truth)}},
                                     {{0, Tensor(FloatInfo({2}), out.data())}});
        }
        return out;
    };
    const std::vector<float> wanted = run(Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()));
    EXPECT_FLOAT_EQ(wanted[0], std::exp(-std::exp(0.0f)));
    EXPECT_EQ(run(Optimize(*read, {"CpuRef"}, runtime->GetDeviceSpec())), wanted);
    EXPECT_EQ(run(ReadOptimized(optimizedFile, *runtime)), wanted);
}

TEST(SerializedNetwork, BundledModelsGiveTheSameBytes)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    for (const char* path : {"samples/digits/digits_int8.tflite", "samples/digits/digits_float.tflite"})
    {
        SCOPED_TRACE(path);
        const INetworkPtr network = ParseTfLite(path);
        const std::vector<BackendId> backends{"CpuAcc", "CpuRef"};
        OptimizerOptionsOpaque options;
        options.AddModelOption(BackendOptions("CpuAcc", {{"NumberOfThreads", 1U}}));
        options.SetProfilingEnabled(true);
        const TempFile file(Serialized(*network));
        const IDeserializerPtr deserializer = IDeserializer::Create();
        EXPECT_FALSE(deserializer->IsOptimizedFile(file.Path()));
        EXPECT_FALSE(deserializer->IsOptimizedBinary(Serialized(*network)));
        const INetworkPtr read = deserializer->CreateNetworkFromBinaryFile(file.Path());
        ExpectSameGraph(GraphOf(network), GraphOf(read));
        const auto optimize = [&](const INetwork& source)
        { return Optimize(source, backends, runtime->GetDeviceSpec(), options); };
        const IOptimizedNetworkPtr optimized = optimize(*network);
        const Bytes wanted = RunPattern(*runtime, optimize(*network), *deserializer);
        EXPECT_EQ(RunPattern(*runtime, optimize(*read), *deserializer), wanted);

        const TempFile optimizedFile(Serialized(*optimized));
        EXPECT_TRUE(deserializer->IsOptimizedFile(optimizedFile.Path()));
        EXPECT_TRUE(deserializer->IsOptimizedBinary(Serialized(*optimized)));
        EXPECT_THROW(deserializer->IsOptimizedBinary({}), ParseException);
        IOptimizedNetworkPtr optimizedRead =
            deserializer->CreateOptimizedNetworkFromBinaryFile(optimizedFile.Path(), runtime->GetDeviceSpec());
        ExpectSameGraph(GraphOf(optimized), GraphOf(optimizedRead));
        const auto& kept = static_cast<const OptimizedNetwork&>(*optimizedRead);
        ASSERT_EQ(kept.GetModelOptions().size(), 1u);
        EXPECT_EQ(kept.GetModelOptions()[0].GetOption(0).GetValue(), BackendOptions::Var(1U));
        EXPECT_TRUE(kept.GetOptions().GetProfilingEnabled());
        EXPECT_FALSE(kept.GetOptions().GetDebugEnabled());
        EXPECT_EQ(optimizedRead->GetAssignment().size(), optimized->GetAssignment().size());
        EXPECT_EQ(RunPattern(*runtime, std::move(optimizedRead), *deserializer), wanted);
    }
}

TEST(SerializedNetwork, ReadOnesHaveNewShapesAtARunAsWell)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeChain(3, FloatInfo({2}));
    NetworkId id = 0;
    runtime->LoadNetwork(
        id, ReadOptimized(Serialized(*Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec())), *runtime));
    EXPECT_THAT(RunFloat(*runtime, id, {3}, {-1.0f, 2.0f, -3.0f}), ElementsAre(1.0f, 2.0f, 3.0f));
}

TEST(SerializedNetwork, DeclaredSizesOfAnOutputAreKept)
{
    const INetworkPtr network = INetwork::Create();
    IConnectableLayer* fill = network->AddFillLayer(FillDescriptor(7.0f), "fill");
    Connect(AddInput(*network, 0, TensorInfo({2}, DataType::Signed32)), fill);
    fill->GetOutputSlot(0).SetTensorInfo(FloatInfo({2, 3}));
    Connect(fill, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    NetworkId id = 0;
    runtime->LoadNetwork(
        id, ReadOptimized(Serialized(*Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec())), *runtime));
    EXPECT_EQ(runtime->GetOutputTensorInfo(id, 0).GetShape(), TensorShape({2, 3}));
}

TEST(SerializedNetwork, MalformedNetworksAreNotWritten)
{
    INetworkPtr network = INetwork::Create();
    network->AddFloorLayer("floor");
    EXPECT_THAT(MessageOf<LayerValidationException>([&] { Serialized(*network); }), HasSubstr("'floor'"));
    std::ostringstream stream;
    EXPECT_THROW(ISerializer::Create()->SaveSerializedToStream(stream), InvalidArgumentException);
    const ISerializerPtr serializer = ISerializer::Create();
    serializer->Serialize(*MakeChain(1, FloatInfo({1})));
    stream.setstate(std::ios::badbit);
    EXPECT_FALSE(serializer->SaveSerializedToStream(stream));
}

TEST(SerializedNetwork, CompiledBlobsAreRefused)
{
    INetworkPtr network = INetwork::Create();
    network->AddPrecompiledLayer(
        PreCompiledDescriptor(0, 1),
        CompiledBlobPtr(new int(1), [](const void* blob) { delete static_cast<const int*>(blob); }), EmptyOptional(),
        "compiled");
    EXPECT_THAT(MessageOf<UnimplementedException>([&] { Serialized(*network); }),
                AllOf(HasSubstr("'compiled'"), HasSubstr("blob")));
}

namespace
{

class NamedOperator final : public ICustomOperator
{
public:
    const char* GetName() const override { return "Named"; }
    std::vector<TensorShape> InferOutputShapes(const CustomShapeArgs&) const override { return {{1}}; }
    SupportResult IsSupported(const LayerView&) const override { return SupportResult::Yes(); }
    std::unique_ptr<IWorkload> CreateWorkload(const LayerView&) const override { return nullptr; }
};

} // namespace

TEST(SerializedNetwork, CustomOperatorsComeBackByName)
{
    CustomDescriptor descriptor;
    descriptor.m_Name = "InTheModel";
    descriptor.m_NumOutputs = 1;
    descriptor.m_Options = {9, 8};
    descriptor.m_Operator = std::make_shared<NamedOperator>();
    INetworkPtr network = INetwork::Create();
    network->AddCustomLayer(descriptor, "own");
    const Bytes file = Serialized(*network);
    EXPECT_THAT(MessageOf<UnimplementedException>([&] { Read(file); }),
                AllOf(HasSubstr("'own'"), HasSubstr("'Named'"), HasSubstr("m_CustomOperators")));
    IDeserializer::DeserializerOptions options;
    options.m_CustomOperators = {std::make_shared<NamedOperator>()};
    const INetworkPtr read = Read(file, options);
    const auto& kept = GraphOf(read).Layers()[0]->Descriptor<CustomDescriptor>();
    EXPECT_EQ(kept.m_Operator, options.m_CustomOperators[0]);
    EXPECT_EQ(kept, descriptor);
}

TEST(SerializedOptimized, BackendsMustBeThereAndTakeTheirLayers)
{
    IRuntime::CreationOptions creation;
    creation.m_Backends = {std::make_shared<FakeBackend>("Mine", std::set{LayerType::ElementwiseUnary})};
    const IRuntimePtr writing = IRuntime::Create(creation);
    const INetworkPtr network = MakeChain(2, FloatInfo({2}));
    const Bytes file = Serialized(*Optimize(*network, {"Mine"}, writing->GetDeviceSpec()));
    NetworkId id = 0;
    writing->LoadNetwork(id, ReadOptimized(file, *writing));
    EXPECT_THAT(RunFloat(*writing, id, {2}, {-1.0f, 2.0f}), ElementsAre(1.0f, 2.0f));

    const IRuntimePtr without = IRuntime::Create({});
    EXPECT_THAT(MessageOf<BackendUnavailableException>([&] { ReadOptimized(file, *without); }),
                AllOf(HasSubstr("layer 1 'abs'"), HasSubstr("'Mine'"), HasSubstr("CpuRef")));
    creation.m_Backends = {std::make_shared<FakeBackend>("Mine", std::set{LayerType::Floor})};
    const IRuntimePtr other = IRuntime::Create(creation);
    EXPECT_THAT(MessageOf<UnimplementedException>([&] { ReadOptimized(file, *other); }),
                AllOf(HasSubstr("layer 1 'abs'"), HasSubstr("not in the fake's list")));
    DeviceOptions options;
    options.m_Id = "Mine";
    options.m_Takes = {LayerType::ElementwiseUnary};
    creation.m_Backends = {std::make_shared<DeviceBackend>(options)};
    const IRuntimePtr device = IRuntime::Create(creation);
    EXPECT_THAT(MessageOf<GraphValidationException>([&] { device->LoadNetwork(id, ReadOptimized(file, *device)); }),
                AllOf(HasSubstr("DeviceMemory"), HasSubstr("optimize the network")));
    const Bytes copied = Serialized(*Optimize(*network, {"Mine"}, device->GetDeviceSpec()));
    EXPECT_EQ(GraphOf(ReadOptimized(copied, *device)).Size(), 6u);
}

TEST(SerializedOptimized, SlotsOfParametersThatTheOptimizerResolvedAreLeftOut)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const std::vector<int32_t> mappings = {1, 0};
    INetworkPtr network = INetwork::Create();
    TransposeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    IConnectableLayer* transpose = network->AddTransposeLayer(descriptor, "turn");
    Connect(AddInput(*network, 0, FloatInfo({2, 2})), transpose);
    const ConstTensor tensor(TensorInfo({2}, DataType::Signed32, 0.0f, 0, true), mappings.data());
    Connect(network->AddConstantLayer(tensor, "mappings"), transpose, 1);
    Connect(transpose, network->AddOutputLayer(0));
    NetworkId id = 0;
    runtime->LoadNetwork(
        id, ReadOptimized(Serialized(*Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec())), *runtime));
    EXPECT_THAT(RunFloat(*runtime, id, {2, 2}, {1.0f, 2.0f, 3.0f, 4.0f}), ElementsAre(1.0f, 3.0f, 2.0f, 4.0f));
}

TEST(SerializedOptimized, IsNoNetworkToOptimizeAndTheOtherWayRound)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const INetworkPtr network = MakeChain(1, FloatInfo({2}));
    const Bytes plain = Serialized(*network);
    const Bytes optimized = Serialized(*Optimize(*network, {"CpuRef"}, runtime->GetDeviceSpec()));
    EXPECT_THAT(MessageOf<ParseException>([&] { Read(optimized); }), HasSubstr("CreateOptimizedNetworkFromBinary"));
    EXPECT_THAT(MessageOf<ParseException>([&] { ReadOptimized(plain, *runtime); }),
                HasSubstr("CreateNetworkFromBinary"));
}

} // namespace tenon::test::round_trip_test
