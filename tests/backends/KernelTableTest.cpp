// SPDX-License-Identifier: Apache-2.0
// Support and workloads derived from a kernel table: reasons name the type or scale that does not fit, packed weights
// reach the kernel and outlive the workload, and further rows run the shapes that the first one declines.
#include "backends/common/KernelTable.hpp"

#include "common/KernelName.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tenon::backends::kernel_table_test
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
    return args.m_Name != nullptr ? Prepared::Declined("it has a name") : PrepareWrite(args, packed);
}

Prepared Decline(const ReshapeArgs&, const PackedWeights*)
{
    return Prepared::Declined("its windows are large");
}

Prepared DeclineToo(const ReshapeArgs&, const PackedWeights*)
{
    return Prepared::Declined("its rows are long");
}

/// Leaves no gaps between pixels.
Prepared PrepareDense(const ReshapeArgs& args, const PackedWeights* packed)
{
    return args.m_OutputPitch != 0 ? Prepared::Declined("it leaves no gaps") : PrepareWrite(args, packed);
}

SupportResult FuseRelu(const LayerView&, const ActivationDescriptor& activation)
{
    return activation.m_Function == ActivationFunction::ReLu
               ? SupportResult::Yes()
               : SupportResult::No(SupportCode::UnsupportedParameters, "it is no ReLu");
}

/// Writes 7 into output 0.
Prepared PrepareSeven(const ReshapeArgs&, const PackedWeights*)
{
    return Prepared([](const ExecuteArgs& args) { *args.GetOutput<int>(0) = 7; }, 64);
}

/// Adds 1 to the result of the reference, which stays part of it. Leaves layers with a name to the reference.
Prepared RefineNameless(const ReshapeArgs& args, const PackedWeights*, Prepared& reference)
{
    if (args.m_Name != nullptr)
    {
        return Prepared::Declined("it has a name");
    }
    return Prepared(
        [run = std::move(reference.m_Run)](const ExecuteArgs& execute)
        {
            run(execute);
            ++*execute.GetOutput<int>(0);
        },
        reference.m_ScratchBytes + 64);
}

const Kernel exactTile = {.m_Name = "TestTile", .m_Types = SameRows, .m_Prepare = PrepareSeven, .m_Check = RefuseNamed};
const Kernel fastTile = {.m_Name = "TestFastTile",
                         .m_Types = SameRows,
                         .m_WritesPitched = true,
                         .m_Reference = &exactTile,
                         .m_Refine = RefineNameless};
/// One of its own in front of the same reference.
const Kernel namelessTile = {
    .m_Name = "TestNamelessTile", .m_Types = SameRows, .m_Prepare = PrepareNameless, .m_Reference = &exactTile};

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
    static const Kernel wide = {
        .m_Name = "TestWide", .m_Types = Rows, .m_Prepare = Decline, .m_Pack = PackFirstConstant, .m_Fuse = FuseRelu};
    static const Kernel plain = {
        .m_Name = "TestPlain", .m_Types = Rows, .m_Prepare = PrepareSeven, .m_Check = RefuseNamed};
    static const Kernel fusing = {.m_Name = "TestFusing",
                                  .m_Types = Rows,
                                  .m_Prepare = PrepareWrite,
                                  .m_Pack = PackFirstConstant,
                                  .m_Fuse = FuseRelu};
    static const Kernel longRows = {.m_Name = "TestLong", .m_Types = Rows, .m_Prepare = DeclineToo};
    static const Kernel dense = {
        .m_Name = "TestDense", .m_Types = SameRows, .m_Prepare = PrepareDense, .m_WritesPitched = true};
    static const Kernel pitched = {
        .m_Name = "TestPitched", .m_Types = FastRows, .m_Prepare = PrepareWrite, .m_WritesPitched = true};
    static const Kernel closed = {.m_Name = "TestClosed", .m_Types = SameRows, .m_Prepare = PrepareWrite};
    static const Kernel* const volumes[] = {&wide, &plain, &fusing};
    static const Kernel* const declining[] = {&wide, &longRows};
    static const Kernel* const pools[] = {&dense, &closed, &pitched, &closed};
    static const Kernel* const tiles[] = {&fastTile, &exactTile};
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
    case LayerType::Convolution3d: return volumes;
    case LayerType::DepthwiseConvolution2d: return declining;
    case LayerType::Pooling2d: return pools;
    case LayerType::Tile: return tiles;
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
        view.m_Descriptor =
            m_Type == LayerType::Convolution3d ? static_cast<const BaseDescriptor*>(&m_Volume) : &m_Descriptor;
        view.m_Inputs = m_Pointers;
        view.m_Outputs = {&m_OutputPointer, 1};
        view.m_ConstantData = m_Constants;
        return view;
    }

    std::vector<const TensorInfo*> m_Pointers;
    std::vector<const void*> m_Constants;

private:
    LayerType m_Type;
    Convolution2dDescriptor m_Descriptor; ///< of types whose kernels do not look at it, and pack nothing
    Convolution3dDescriptor m_Volume;
    std::vector<TensorInfo> m_Inputs;
    TensorInfo m_Output;
    const TensorInfo* m_OutputPointer = &m_Output;
    std::string m_Name;
};

SupportResult Ask(const Layer& layer)
{
    return MakeTableLayerSupport(Find)->IsLayerSupported(layer.View());
}

/// Of the layer as it is.
ReshapeArgs ArgsOf(const Layer& layer)
{
    const LayerView view = layer.View();
    ReshapeArgs args;
    args.m_Descriptor = view.m_Descriptor;
    args.m_Inputs = view.m_Inputs;
    args.m_Outputs = view.m_Outputs;
    args.m_ConstantData = view.m_ConstantData;
    args.m_Name = view.m_Name;
    return args;
}

/// The number that the workload writes.
int RunOf(const IShapedWorkload& shaped)
{
    int result = 0;
    void* outputs[] = {&result};
    ExecuteArgs args;
    args.m_Outputs = {outputs, 1};
    shaped.Execute(args);
    return result;
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
    ReshapeArgs args = ArgsOf(layer);
    args.m_Name = nullptr;
    const auto fast = workload->Reshape(args);
    EXPECT_STREQ(GetKernelName(*workload, *fast), "TestFastFloor");
    EXPECT_EQ(fast->GetFusion().m_Declined, nullptr);
    const auto exact = workload->Reshape(ArgsOf(layer));
    EXPECT_STREQ(GetKernelName(*workload, *exact), "TestFloor");
    EXPECT_STREQ(exact->GetFusion().m_Declined, "TestFastFloor: it has a name");
}

TEST(KernelTable, ARowThatRunsAfterADeclineGetsItsWeightsPacked)
{
    Layer layer(LayerType::Convolution3d, {DataType::Float32, DataType::Float32}, DataType::Float32, "bad");
    const int weight = 42;
    layer.m_Constants[1] = &weight;
    const auto workload = MakeTableWorkloadFactory("Test", Find)->CreateWorkload(layer.View());
    auto shaped = workload->Reshape(ArgsOf(layer));
    EXPECT_STREQ(GetKernelName(*workload, *shaped), "TestFusing") << "the check of TestPlain refuses the layer";
    EXPECT_STREQ(shaped->GetFusion().m_Declined, "TestWide: its windows are large");
    EXPECT_EQ(RunOf(*shaped), 42);

    const Layer other(LayerType::Convolution3d, {DataType::Float32, DataType::Float32}, DataType::Float32);
    EXPECT_EQ(RunOf(*MakeTableWorkloadFactory("Test", Find)->CreateWorkload(other.View())->Reshape(ArgsOf(other))), 7);
}

TEST(KernelTable, ARowThatRunsAfterADeclineAppliesTheFusedActivation)
{
    Layer layer(LayerType::Convolution3d, {DataType::Float32, DataType::Float32}, DataType::Float32);
    const int weight = 42;
    layer.m_Constants[1] = &weight;
    ActivationDescriptor activation;
    activation.m_Function = ActivationFunction::ReLu;
    LayerView view = layer.View();
    view.m_FusedActivation = &activation;
    const auto workload = MakeTableWorkloadFactory("Test", Find)->CreateWorkload(view);
    ReshapeArgs args = ArgsOf(layer);
    args.m_FusedActivation = &activation;
    const auto shaped = workload->Reshape(args);
    EXPECT_STREQ(GetKernelName(*workload, *shaped), "TestFusing+Activation") << "TestPlain applies none";
    EXPECT_EQ(RunOf(*shaped), 42);
}

TEST(KernelTable, AnErrorNamesEachRowThatDeclines)
{
    const Layer layer(LayerType::DepthwiseConvolution2d, {DataType::Float32, DataType::Float32}, DataType::Float32);
    const auto workload = MakeTableWorkloadFactory("Test", Find)->CreateWorkload(layer.View());
    try
    {
        workload->Reshape(ArgsOf(layer));
        FAIL() << "no row runs it";
    }
    catch (const LayerValidationException& e)
    {
        EXPECT_NE(std::string(e.what()).find("no kernel runs DepthwiseConvolution2d with these shapes (TestWide: its "
                                             "windows are large; TestLong: its rows are long)"),
                  std::string::npos)
            << e.what();
    }
}

TEST(KernelTable, APitchReachesTheRowsThatWriteWithOne)
{
    const auto make = [](DataType type)
    {
        const Layer layer(LayerType::Pooling2d, {type}, type);
        const auto workload = MakeTableWorkloadFactory("Test", Find)->CreateWorkload(layer.View());
        ReshapeArgs args = ArgsOf(layer);
        const auto dense = workload->Reshape(args);
        EXPECT_STREQ(dense->GetFusion().m_KernelName, "TestDense");
        EXPECT_TRUE(dense->GetFusion().m_WritesPitched);
        args.m_OutputPitch = 3;
        return workload->Reshape(args);
    };
    const auto pitched = make(DataType::Float32);
    ASSERT_NE(pitched, nullptr);
    EXPECT_STREQ(pitched->GetFusion().m_KernelName, "TestPitched") << "TestClosed writes with none";
    EXPECT_STREQ(pitched->GetFusion().m_Declined, "TestDense: it leaves no gaps");
    EXPECT_EQ(make(DataType::Signed32), nullptr) << "a type that TestPitched does not take";

    const Layer binary(LayerType::ElementwiseBinary, {DataType::Float32, DataType::Float32}, DataType::Float32);
    const auto workload = MakeTableWorkloadFactory("Test", Find)->CreateWorkload(binary.View());
    ReshapeArgs args = ArgsOf(binary);
    EXPECT_FALSE(workload->Reshape(args)->GetFusion().m_WritesPitched);
    args.m_OutputPitch = 3;
    EXPECT_EQ(workload->Reshape(args), nullptr);
}

TEST(KernelTable, TheReferenceRunsShapesThatItsRefinementDeclines)
{
    const Layer layer(LayerType::Tile, {DataType::Float32}, DataType::Float32);
    const auto workload = MakeTableWorkloadFactory("Test", Find)->CreateWorkload(layer.View());
    ReshapeArgs args = ArgsOf(layer);
    const auto exact = workload->Reshape(args);
    EXPECT_STREQ(GetKernelName(*workload, *exact), "TestTile");
    EXPECT_STREQ(exact->GetFusion().m_Declined, "TestFastTile: it has a name");
    EXPECT_FALSE(exact->GetFusion().m_WritesPitched);
    EXPECT_EQ(exact->GetScratchBytes(), 64U);
    EXPECT_EQ(RunOf(*exact), 7);
    args.m_OutputPitch = 3;
    EXPECT_EQ(workload->Reshape(args), nullptr) << "the reference leaves no gaps";

    args.m_Name = nullptr;
    const auto fast = workload->Reshape(args);
    ASSERT_NE(fast, nullptr);
    EXPECT_STREQ(GetKernelName(*workload, *fast), "TestFastTile");
    EXPECT_EQ(fast->GetFusion().m_Declined, nullptr);
    EXPECT_TRUE(fast->GetFusion().m_WritesPitched);
    EXPECT_EQ(fast->GetScratchBytes(), 128U);
    EXPECT_EQ(RunOf(*fast), 8);
}

TEST(KernelTable, TheCheckOfTheReferenceIsThatOfItsRefinement)
{
    const Layer layer(LayerType::Tile, {DataType::Float32}, DataType::Float32, "bad");
    const SupportResult result = AskKernel(fastTile, layer.View());
    EXPECT_EQ(result.m_Code, SupportCode::UnsupportedParameters);
    EXPECT_EQ(result.m_Reason, "does not run this Tile: its name is bad");
    EXPECT_TRUE(AskKernel(fastTile, Layer(LayerType::Tile, {DataType::Float32}, DataType::Float32).View()));
}

TEST(KernelTable, PiecesOfALayerAreRunByTheReferenceWhereTheKernelDeclines)
{
    const std::string name = "layer";
    ReshapeArgs named;
    named.m_Name = &name;
    for (const Kernel* const kernel : {&fastTile, &namelessTile})
    {
        const Prepared own = kernel->PrepareOrReference({}, nullptr);
        EXPECT_STREQ(own.m_KernelName, kernel->m_Name);
        EXPECT_EQ(own.m_Declined, nullptr);
        const Prepared other = kernel->PrepareOrReference(named, nullptr);
        EXPECT_STREQ(other.m_KernelName, "TestTile");
        EXPECT_STREQ(other.m_Declined, "it has a name");
        EXPECT_EQ(other.m_ScratchBytes, 64U);
        EXPECT_FALSE(other.IsDeclined());
    }
    EXPECT_TRUE(namelessTile.Prepare(named, nullptr).IsDeclined());
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

} // namespace tenon::backends::kernel_table_test
