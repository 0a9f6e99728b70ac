// SPDX-License-Identifier: Apache-2.0
// Support and workloads derived from a kernel table: reasons name what does not fit, packed weights reach the kernel
// and outlive the workload.
#include "backends/common/KernelTable.hpp"

#include "common/KernelName.hpp"

#include <tenon/Exceptions.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tenon::backends
{

namespace
{

constexpr TypeRow Rows[] = {
    Types({DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32),
    Types({DataType::QAsymmU8, DataType::QAsymmU8, {DataType::Signed32, DataType::Signed64}}, DataType::QAsymmU8),
    Types({DataType::QAsymmU8, DataType::QSymmS8, DataType::Signed32}, DataType::QSymmS16),
};
constexpr TypeRow ScaledRows[] = {
    WithScales(Types({DataType::Float32}, {DataType::Float32, DataType::QAsymmU8, DataType::QSymmS8}), {Scales::Any},
               Scales::PerSlice),
    PerTensor(Types({{DataType::QAsymmU8, DataType::QSymmS8, DataType::Signed32}}, DataType::QAsymmU8)),
};
constexpr TypeRow FastRows[] = {SameType(DataType::Float32)};
constexpr TypeRow SameRows[] = {SameType({DataType::Float32, DataType::Signed32}, 2)};

struct Packed final : PackedWeights
{
    explicit Packed(int value) : m_Value(value) {}
    int m_Value;
};

SupportResult RefuseNamed(const LayerView& layer)
{
    return layer.GetName() == "bad" ? SupportResult::No(SupportCode::UnsupportedParameters, "its name is bad")
                                    : SupportResult::Yes();
}

std::unique_ptr<PackedWeights> PackFirstConstant(const LayerView& layer, backends::PackedStore&)
{
    return layer.IsConstant(1) ? std::make_unique<Packed>(*static_cast<const int*>(layer.m_ConstantData[1])) : nullptr;
}

/// Writes the packed value.
Prepared PrepareWrite(const ReshapeArgs&, const PackedWeights* packed)
{
    const auto run = [packed](const ExecuteArgs& args)
    { *args.GetOutput<int>(0) = packed == nullptr ? -1 : static_cast<const Packed*>(packed)->m_Value; };
    return Prepared(run, 192);
}

const Kernel completeFloor = {"TestFloor", SameRows, PrepareWrite};

/// Leaves layers with a name to another kernel.
Prepared PrepareNameless(const ReshapeArgs& args, const PackedWeights* packed)
{
    return args.m_Name != nullptr ? completeFloor.Prepare(args, nullptr) : PrepareWrite(args, packed);
}

SupportResult RefuseMachine()
{
    return SupportResult::No(SupportCode::UnsupportedParameters, "the machine is too old");
}

std::span<const Kernel* const> Find(LayerType type)
{
    static const Kernel absent = {"TestModernFloor", SameRows, PrepareWrite, nullptr, nullptr, nullptr, RefuseMachine};
    static const Kernel floor = {"TestFastFloor", FastRows, PrepareNameless};
    static const Kernel* const floors[] = {&absent, &floor, &completeFloor};
    static const Kernel convolution = {"TestConvolution2d", Rows, PrepareWrite, RefuseNamed, PackFirstConstant};
    static const Kernel binary = {"TestBinary", SameRows, PrepareWrite};
    static const Kernel quantize = {"TestQuantize", ScaledRows, PrepareWrite};
    static const Kernel custom = {"TestCustom", SameRows, PrepareWrite};
    static const Kernel fast = {"TestFastActivation", FastRows, PrepareWrite, RefuseNamed};
    static const Kernel complete = {"TestActivation", SameRows, PrepareWrite};
    static const Kernel* const convolutions[] = {&convolution};
    static const Kernel* const binaries[] = {&binary};
    static const Kernel* const quantizes[] = {&quantize};
    static const Kernel* const customs[] = {&custom};
    static const Kernel* const activations[] = {&fast, &complete};
    switch (type)
    {
    case LayerType::Convolution2d: return convolutions;
    case LayerType::ElementwiseBinary: return binaries;
    case LayerType::Quantize: return quantizes;
    case LayerType::Custom: return customs;
    case LayerType::Activation: return activations;
    case LayerType::Floor: return floors;
    default: return {};
    }
}

/// A layer of these types.
class Layer
{
public:
    Layer(LayerType type, std::vector<DataType> inputs, DataType output, std::string name = "layer")
        : m_Type(type), m_Output(TensorShape({1}), output), m_Name(std::move(name))
    {
        for (DataType dataType : inputs)
        {
            m_Inputs.emplace_back(TensorShape({1}), dataType);
        }
        for (const TensorInfo& input : m_Inputs)
        {
            m_Pointers.push_back(&input);
        }
        m_Constants.resize(m_Inputs.size());
    }

    LayerView View() const
    {
        LayerView view;
        view.m_Type = m_Type;
        view.m_Name = &m_Name;
        view.m_Descriptor = &m_Descriptor;
        view.m_Inputs = m_Pointers;
        view.m_Outputs = {&m_OutputPointer, 1};
        view.m_ConstantData = m_Constants;
        return view;
    }

    std::vector<const TensorInfo*> m_Pointers;
    std::vector<const void*> m_Constants;

private:
    LayerType m_Type;
    Convolution2dDescriptor m_Descriptor; ///< of all types here, whose kernels do not look at it
    std::vector<TensorInfo> m_Inputs;
    TensorInfo m_Output;
    const TensorInfo* m_OutputPointer = &m_Output;
    std::string m_Name;
};

SupportResult Ask(const Layer& layer)
{
    return MakeTableLayerSupport(Find)->IsLayerSupported(layer.View());
}

void ExpectRefused(const Layer& layer, SupportCode code, const std::string& reason)
{
    const SupportResult result = Ask(layer);
    EXPECT_EQ(static_cast<int>(result.m_Code), static_cast<int>(code));
    EXPECT_EQ(result.m_Reason, reason);
}

} // namespace

TEST(KernelTable, TakesWhatARowLists)
{
    using D = DataType;
    constexpr LayerType type = LayerType::Convolution2d;
    EXPECT_TRUE(Ask({type, {D::Float32, D::Float32, D::Float32}, D::Float32}));
    EXPECT_TRUE(Ask({type, {D::QAsymmU8, D::QAsymmU8, D::Signed64}, D::QAsymmU8}));
    EXPECT_TRUE(Ask({type, {D::QAsymmU8, D::QSymmS8, D::Signed32}, D::QSymmS16}));
    EXPECT_TRUE(Ask({type, {D::QAsymmU8, D::QSymmS8}, D::QSymmS16})) << "fewer inputs than listed";
    EXPECT_TRUE(Ask({type, {D::Float32, D::Float32, D::Float32, D::Boolean, D::Boolean}, D::Float32})) << "more inputs";
    EXPECT_TRUE(Ask({LayerType::ElementwiseBinary, {D::Signed32, D::Signed32}, D::Signed32}));

    Layer optional(type, {D::Float32, D::Float32, D::Signed8}, D::Float32);
    optional.m_Pointers[2] = nullptr;
    EXPECT_TRUE(Ask(optional)) << "an input that is not connected";
}

TEST(KernelTable, SaysWhatDoesNotFit)
{
    using D = DataType;
    constexpr LayerType type = LayerType::Convolution2d;
    ExpectRefused({LayerType::Softmax, {D::Float32}, D::Float32}, SupportCode::UnknownLayer,
                  "has no kernel for Softmax layers");
    ExpectRefused({type, {D::Float64, D::Float32, D::Float32}, D::Float32}, SupportCode::UnsupportedType,
                  "does not run Convolution2d with input 0 of type Float64: it takes Float32 or QAsymmU8");
    ExpectRefused({type, {D::QAsymmU8, D::Float32, D::Signed32}, D::QAsymmU8}, SupportCode::UnsupportedType,
                  "does not run Convolution2d with input 1 of type Float32: it takes QAsymmU8 or QSymmS8 there "
                  "beside input 0 QAsymmU8");
    ExpectRefused({type, {D::QAsymmU8, D::QSymmS8, D::Signed32}, D::QAsymmU8}, SupportCode::UnsupportedType,
                  "does not run Convolution2d with output 0 of type QAsymmU8: it takes QSymmS16 there beside "
                  "input 0 QAsymmU8, input 1 QSymmS8, input 2 Signed32");
    ExpectRefused({LayerType::ElementwiseBinary, {D::Signed32, D::Float32}, D::Signed32}, SupportCode::UnsupportedType,
                  "does not run ElementwiseBinary with input 1 of type Float32: it takes Signed32 there beside "
                  "input 0 Signed32");
    ExpectRefused({type, {D::Float32, D::Float32, D::Float32}, D::Float32, "bad"}, SupportCode::UnsupportedParameters,
                  "does not run this Convolution2d: its name is bad");
}

TEST(KernelTable, RefusesScalesThatTheFirstFittingRowDoesNotTake)
{
    const auto ask = [](const TensorInfo& input, const TensorInfo& output)
    {
        Layer layer(LayerType::Quantize, {input.GetDataType()}, output.GetDataType());
        LayerView view = layer.View();
        const TensorInfo* const inputs[] = {&input};
        const TensorInfo* const outputs[] = {&output};
        view.m_Inputs = {inputs, 1};
        view.m_Outputs = {outputs, 1};
        return MakeTableLayerSupport(Find)->IsLayerSupported(view);
    };
    const auto bytes = [](float scale, int32_t zeroPoint)
    { return TensorInfo({3}, DataType::QAsymmU8, scale, zeroPoint); };
    const TensorInfo floats({3}, DataType::Float32);
    const TensorInfo sums({3}, DataType::Signed32);
    const std::vector<float> scales = {1, 2, 3};
    const TensorInfo slices({3}, DataType::QSymmS8, scales, 0);
    EXPECT_TRUE(ask(bytes(0.5f, 255), bytes(2.0f, 0)));
    EXPECT_TRUE(ask(floats, floats)) << "a type that carries no scale";
    EXPECT_TRUE(ask(floats, slices));
    EXPECT_TRUE(ask(floats, TensorInfo(TensorShape(Dimensionality::NotSpecified), DataType::QSymmS8, scales, 5)))
        << "a shape that only the run knows";

    const auto expectRefused = [&](const TensorInfo& input, const TensorInfo& output, const std::string& reason)
    {
        const SupportResult result = ask(input, output);
        EXPECT_EQ(result.m_Code, SupportCode::UnsupportedParameters);
        EXPECT_NE(result.m_Reason.find(reason), std::string::npos) << result.m_Reason;
    };
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float scale : {0.0f, -1.0f, infinity, std::nanf("")})
    {
        expectRefused(bytes(scale, 0), bytes(1.0f, 0), "does not run this Quantize: input 0");
        expectRefused(floats, bytes(scale, 0), "positive and finite");
    }
    expectRefused(bytes(1.0f, 0), bytes(1.0f, 256), "zero point 256");
    expectRefused(slices, bytes(1.0f, 0), "scale per channel");
    expectRefused(sums, bytes(1.0f, 0), "positive and finite");
    expectRefused(floats, TensorInfo({4}, DataType::QSymmS8, scales, 0), "no quantization dimension");
    expectRefused(floats, TensorInfo({3}, DataType::QSymmS8, scales, 1), "no quantization dimension");
    expectRefused(floats, TensorInfo({3}, DataType::QSymmS8, std::vector<float>{1, 0, 3}, 0), "positive and finite");
}

TEST(KernelTable, MakesWorkloadsOfItsKernels)
{
    const std::unique_ptr<IWorkloadFactory> factory = MakeTableWorkloadFactory("Test", Find);
    EXPECT_EQ(factory->GetBackendId(), BackendId("Test"));
    Layer layer(LayerType::Convolution2d, {DataType::Float32, DataType::Float32}, DataType::Float32);
    const int weight = 42;
    layer.m_Constants[1] = &weight;
    std::unique_ptr<IWorkload> workload = factory->CreateWorkload(layer.View());
    EXPECT_STREQ(workload->GetName(), "TestConvolution2d");

    const std::unique_ptr<IShapedWorkload> shaped = workload->Reshape({});
    workload.reset(); // shaped workloads keep the packed weights alive
    EXPECT_EQ(shaped->GetScratchBytes(), 192U);
    int result = 0;
    void* outputs[] = {&result};
    ExecuteArgs args;
    args.m_Outputs = {outputs, 1};
    shaped->Execute(args);
    EXPECT_EQ(result, 42);

    layer.m_Constants[1] = nullptr;
    factory->CreateWorkload(layer.View())->Reshape({})->Execute(args);
    EXPECT_EQ(result, -1);

    const Layer unknown(LayerType::Softmax, {DataType::Float32}, DataType::Float32);
    EXPECT_THROW(factory->CreateWorkload(unknown.View()), UnimplementedException);
}

TEST(KernelTable, TheFirstKernelThatTakesALayerRunsIt)
{
    using D = DataType;
    const std::unique_ptr<IWorkloadFactory> factory = MakeTableWorkloadFactory("Test", Find);
    const auto nameOf = [&](const Layer& layer)
    {
        EXPECT_TRUE(Ask(layer));
        return std::string(factory->CreateWorkload(layer.View())->GetName());
    };
    constexpr LayerType type = LayerType::Activation;
    EXPECT_EQ(nameOf({type, {D::Float32}, D::Float32}), "TestFastActivation");
    EXPECT_EQ(nameOf({type, {D::Signed32}, D::Signed32}), "TestActivation") << "a type that the fast one does not take";
    EXPECT_EQ(nameOf({type, {D::Float32}, D::Float32, "bad"}), "TestActivation") << "what its check refuses";
    ExpectRefused({type, {D::Boolean}, D::Boolean}, SupportCode::UnsupportedType,
                  "does not run Activation with input 0 of type Boolean: it takes Float32 or Signed32");
}

TEST(KernelTable, AShapedWorkloadNamesTheKernelThatRunsIt)
{
    const Layer layer(LayerType::Floor, {DataType::Float32}, DataType::Float32);
    const auto workload = MakeTableWorkloadFactory("Test", Find)->CreateWorkload(layer.View());
    EXPECT_STREQ(workload->GetName(), "TestFastFloor") << "the machine does not have what the first one needs";
    ReshapeArgs args;
    EXPECT_STREQ(GetKernelName(*workload, *workload->Reshape(args)), "TestFastFloor");
    const std::string name = "layer";
    args.m_Name = &name;
    EXPECT_STREQ(GetKernelName(*workload, *workload->Reshape(args)), "TestFloor");
}

TEST(KernelTable, EqualLayersShareTheirPackedWeights)
{
    // PackFirstConstant reads the constant when it packs: what it gave before the change shows what was shared.
    const std::unique_ptr<IWorkloadFactory> factory = MakeTableWorkloadFactory("Test", Find);
    int weight = 1;
    const auto value = [&](DataType type, const int* constant)
    {
        Layer layer(LayerType::Convolution2d, {type, type}, type);
        layer.m_Constants[1] = constant;
        int result = 0;
        void* outputs[] = {&result};
        ExecuteArgs args;
        args.m_Outputs = {outputs, 1};
        factory->CreateWorkload(layer.View())->Reshape({})->Execute(args);
        return result;
    };
    EXPECT_EQ(value(DataType::Float32, &weight), 1);
    weight = 2;
    EXPECT_EQ(value(DataType::Float32, &weight), 1) << "an equal layer";
    EXPECT_EQ(value(DataType::QAsymmU8, &weight), 2) << "one of other types";
    const int other = 3;
    EXPECT_EQ(value(DataType::Float32, &other), 3) << "one of another constant";
}

TEST(KernelTable, RunsNothingWhereAllOutputsAreEmpty)
{
    const std::unique_ptr<IWorkloadFactory> factory = MakeTableWorkloadFactory("Test", Find);
    const auto runs = [&](LayerType type, std::vector<TensorInfo> outputs)
    {
        const Layer layer(type, {DataType::Float32, DataType::Float32}, DataType::Float32);
        std::vector<const TensorInfo*> pointers;
        for (const TensorInfo& info : outputs)
        {
            pointers.push_back(&info);
        }
        ReshapeArgs reshape;
        reshape.m_Outputs = pointers;
        const auto shaped = factory->CreateWorkload(layer.View())->Reshape(reshape);
        int result = 0;
        void* memory[] = {&result};
        ExecuteArgs args;
        args.m_Outputs = {memory, 1};
        shaped->Execute(args);
        EXPECT_EQ(shaped->GetScratchBytes() != 0, result != 0);
        return result != 0;
    };
    constexpr unsigned int Large = 2147483647;
    const TensorInfo empty({1, Large, Large, 0}, DataType::Float32);
    const TensorInfo one({1}, DataType::Float32);
    EXPECT_FALSE(runs(LayerType::Convolution2d, {empty}));
    EXPECT_FALSE(runs(LayerType::Convolution2d, {empty, empty}));
    EXPECT_TRUE(runs(LayerType::Convolution2d, {empty, one}));
    EXPECT_TRUE(runs(LayerType::Convolution2d, {TensorInfo(TensorShape(2, false), DataType::Float32)})) << "late";
    EXPECT_TRUE(runs(LayerType::Custom, {empty})) << "it may have an effect";
    EXPECT_TRUE(runs(LayerType::Custom, {}));
}

} // namespace tenon::backends
