// SPDX-License-Identifier: Apache-2.0
// Layers of Float16, and of BFloat16 where the processor does not multiply it, with constant weights: the kernels of
// Float32 run them, with weights that are packed as floats, on bands of the data that are floats for as long as they
// are in the cache.
#include "backends/cpu/kernels/HalfBands.hpp"
#include "backends/cpu/kernels/HalfLoops.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/HalfAsFloat.hpp"
#include "common/OneThread.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::cpu
{

#define TENON_KERNEL(type, name) extern const backends::Kernel Cpu##name##Kernel;
#include "backends/cpu/Kernels.def"

namespace
{

constexpr unsigned int Weights = 1; // inputs
constexpr unsigned int Bias = 2;

constexpr backends::TypeSet BiasOf(DataType type)
{
    return {type, DataType::Float32};
}

constexpr backends::TypeRow WeightedTypes[] = {
    backends::Types({DataType::Float16, DataType::Float16, BiasOf(DataType::Float16)}, DataType::Float16),
    backends::Types({DataType::BFloat16, DataType::BFloat16, BiasOf(DataType::BFloat16)}, DataType::BFloat16)};

/// The layer with Float32 in place of its half type. Packing reads the weights as they are.
class FloatView
{
public:
    enum class WeightsAs
    {
        Floats,
        Stored
    };

    FloatView(const LayerView& layer, WeightsAs weights, const float* bias = nullptr)
        : m_View(layer), m_Inputs(layer.m_Inputs), m_Outputs(layer.m_Outputs), m_InputPointers(m_Inputs.Get()),
          m_Constants(layer.m_ConstantData.begin(), layer.m_ConstantData.end())
    {
        if (weights == WeightsAs::Stored)
        {
            m_InputPointers[Weights] = layer.m_Inputs[Weights];
        }
        if (bias != nullptr)
        {
            m_Constants[Bias] = bias;
        }
        m_View.m_Inputs = m_InputPointers;
        m_View.m_Outputs = m_Outputs.Get();
        m_View.m_ConstantData = m_Constants;
    }

    const LayerView& View() const { return m_View; }

private:
    LayerView m_View;
    ref::WideInfos m_Inputs;
    ref::WideInfos m_Outputs;
    std::vector<const TensorInfo*> m_InputPointers;
    std::vector<const void*> m_Constants;
};

/// What the kernel of Float32 packed, and the bias in its type.
class WeightedPack final : public backends::PackedWeights
{
public:
    WeightedPack(const backends::Kernel& kernel, const LayerView& layer, backends::PackedStore& store)
    {
        const void* const bias = layer.GetConstantData(Bias);
        if (bias != nullptr && backends::HalfTypes.Has(layer.GetInput(Bias).GetDataType()))
        {
            const TensorInfo& info = layer.GetInput(Bias);
            m_Bias.resize(info.GetNumElements());
            OneThread thread;
            VectorHalfLoops.m_Widen(thread, bias, info.GetDataType(), m_Bias.size(), m_Bias.data());
        }
        m_Weights = kernel.m_Pack(FloatView(layer, FloatView::WeightsAs::Stored, GetBias()).View(), store);
    }

    bool RefersToConstants() const override { return m_Weights->RefersToConstants(); }
    const backends::PackedWeights* GetWeights() const { return m_Weights.get(); }
    /// Null where it is not constant, or of Float32, or there is none.
    const float* GetBias() const { return m_Bias.empty() ? nullptr : m_Bias.data(); }

private:
    std::vector<float> m_Bias;
    std::unique_ptr<backends::PackedWeights> m_Weights;
};

/// With the input's and the output's rows as elements of their last dimension, whose other dimensions are ones but for
/// one.
TensorShape RowsShape(unsigned int rank, size_t rows, size_t elements)
{
    std::vector<unsigned int> sizes(std::max(rank, 2U), 1);
    sizes[sizes.size() - 2] = static_cast<unsigned int>(rows);
    sizes.back() = static_cast<unsigned int>(elements);
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

/// Of rows of a matrix that are independent of each other.
BandShape CutRows(const ReshapeArgs& args, size_t depth, size_t columns)
{
    BandShape shape;
    if (depth == 0 || columns == 0 || args.GetInput(0).GetNumElements() % depth != 0 ||
        args.GetInput(0).GetNumElements() / depth * columns != args.GetOutput(0).GetNumElements())
    {
        return shape;
    }
    shape.m_Rows = shape.m_InputRows = args.GetInput(0).GetNumElements() / depth;
    shape.m_RowElements = columns;
    shape.m_InputRowElements = depth;
    return shape;
}

/// How layers of a type are cut: not at all.
template <LayerType OfType>
struct WholeLayer
{
    static constexpr LayerType Type = OfType;
    static BandShape GetShape(const ReshapeArgs&) { return {}; }
    static bool AreRows(const ReshapeArgs&) { return false; }
    static std::shared_ptr<const BaseDescriptor> GetDescriptor(const ReshapeArgs&, const Band&) { return nullptr; }
};

/// Rows of images, or pixels, where they are what windows see.
template <LayerType OfType, typename Descriptor>
struct ImageLayer
{
    static constexpr LayerType Type = OfType;
    static bool AreRows(const ReshapeArgs& args)
    {
        const auto& d = args.GetDescriptor<Descriptor>();
        const TensorShape& weights = args.GetInput(Weights).GetShape();
        return weights[1] == 1 && weights[2] == 1 && d.m_StrideX == 1 && d.m_StrideY == 1 && d.m_PadTop == 0 &&
               d.m_PadBottom == 0 && d.m_PadLeft == 0 && d.m_PadRight == 0;
    }

    static BandShape GetShape(const ReshapeArgs& args)
    {
        const TensorShape& input = args.GetInput(0).GetShape();
        const TensorShape& output = args.GetOutput(0).GetShape();
        const TensorShape& weights = args.GetInput(Weights).GetShape();
        if (input.GetNumDimensions() != 4 || output.GetNumDimensions() != 4 || output.GetNumElements() == 0 ||
            input[0] != output[0])
        {
            return {};
        }
        if (AreRows(args))
        {
            return CutRows(args, input[3], output[3]);
        }
        const auto& d = args.GetDescriptor<Descriptor>();
        const uint64_t padded = uint64_t{input[1]} + d.m_PadTop + d.m_PadBottom;
        const uint64_t height = uint64_t{weights[1] - 1} * d.m_DilationY + 1;
        if (padded < height || (padded - height) / d.m_StrideY + 1 != output[1])
        {
            return {};
        }
        BandShape shape;
        shape.m_Images = output[0];
        shape.m_Rows = output[1];
        shape.m_InputRows = input[1];
        shape.m_RowElements = size_t{output[2]} * output[3];
        shape.m_InputRowElements = size_t{input[2]} * input[3];
        shape.m_Windows = {weights[1], d.m_StrideY, d.m_DilationY, d.m_PadTop};
        return shape;
    }

    static std::shared_ptr<const BaseDescriptor> GetDescriptor(const ReshapeArgs& args, const Band& band)
    {
        auto descriptor = std::make_shared<Descriptor>(args.GetDescriptor<Descriptor>());
        descriptor->m_PadTop = static_cast<uint32_t>(band.m_PadTop);
        descriptor->m_PadBottom = static_cast<uint32_t>(band.m_PadBottom);
        return descriptor;
    }
};

struct ConnectedLayer : WholeLayer<LayerType::FullyConnected>
{
    static bool AreRows(const ReshapeArgs&) { return true; }
    static BandShape GetShape(const ReshapeArgs& args)
    {
        const bool isTransposed = args.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
        const TensorShape& weights = args.GetInput(Weights).GetShape();
        return CutRows(args, weights[isTransposed ? 1 : 0], weights[isTransposed ? 0 : 1]);
    }
};

/// Of x and one constant matrix.
struct MatMulLayer : WholeLayer<LayerType::BatchMatMul>
{
    static bool AreRows(const ReshapeArgs&) { return true; }
    static BandShape GetShape(const ReshapeArgs& args)
    {
        const auto last = [](const TensorShape& shape) { return shape[shape.GetNumDimensions() - 1]; };
        return args.GetOutput(0).GetNumElements() == 0
                   ? BandShape()
                   : CutRows(args, last(args.GetInput(0).GetShape()), last(args.GetOutput(0).GetShape()));
    }
};

/// The layer in Float32, of a band or as a whole.
template <typename Layer>
backends::Prepared PrepareFloats(const ReshapeArgs& args, const backends::Kernel& kernel,
                                 const backends::PackedWeights* packed, const BandShape& shape, const Band* band)
{
    const ref::WideInfos inputs(args.m_Inputs);
    const ref::WideInfos outputs(args.m_Outputs);
    const std::vector<const void*> constants = ref::WithoutWidened(args.m_ConstantData, inputs);
    std::vector<const TensorInfo*> inputPointers = inputs.Get();
    const TensorInfo* outputPointer = outputs.Get()[0];
    ReshapeArgs wide = args;
    std::shared_ptr<const BaseDescriptor> descriptor;
    TensorInfo input = *inputPointers[0];
    TensorInfo output = *outputPointer;
    if (band != nullptr)
    {
        const TensorShape& whole = input.GetShape();
        const TensorShape& wholeOutput = output.GetShape();
        if (Layer::AreRows(args))
        {
            input.SetShape(RowsShape(whole.GetNumDimensions(), band->m_InputRows, shape.m_InputRowElements));
            output.SetShape(RowsShape(wholeOutput.GetNumDimensions(), band->m_Rows, shape.m_RowElements));
        }
        else
        {
            input.SetShape({1, static_cast<unsigned int>(band->m_InputRows), whole[2], whole[3]});
            output.SetShape({1, static_cast<unsigned int>(band->m_Rows), wholeOutput[2], wholeOutput[3]});
            descriptor = Layer::GetDescriptor(args, *band);
            wide.m_Descriptor = descriptor.get();
        }
        inputPointers[0] = &input;
        outputPointer = &output;
    }
    wide.m_Inputs = inputPointers;
    wide.m_Outputs = {&outputPointer, 1};
    wide.m_ConstantData = constants;
    return kernel.m_Prepare(wide, packed);
}

template <const backends::Kernel& OfFloats, typename Layer>
backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& pack = static_cast<const WeightedPack&>(*packed);
    const size_t outputs = args.GetOutput(0).GetNumElements();
    if (outputs == 0)
    {
        PrepareFloats<Layer>(args, OfFloats, pack.GetWeights(), {}, nullptr); // checks the shapes
        return [](const ExecuteArgs&) {};
    }
    BandShape shape = Layer::GetShape(args);
    const TensorShape& output = args.GetOutput(0).GetShape();
    shape.m_Multiplications = static_cast<double>(outputs / output[output.GetNumDimensions() - 1]) *
                              static_cast<double>(args.GetInput(Weights).GetNumElements());
    auto bands = std::make_shared<const HalfBands>(
        args, shape, pack.GetBias(),
        [&](const Band* band) { return PrepareFloats<Layer>(args, OfFloats, pack.GetWeights(), shape, band); });
    if (bands->GetKernelName() != nullptr)
    {
        return ref::FindKernel(Layer::Type)->Prepare(args, nullptr); // as floats, it would read weights that are none
    }
    return PrepareBands(std::move(bands), args);
}

template <const backends::Kernel& OfFloats>
SupportResult Check(const LayerView& layer)
{
    return OfFloats.m_Check(FloatView(layer, FloatView::WeightsAs::Floats).View());
}

template <const backends::Kernel& OfFloats>
std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<WeightedPack>(OfFloats, layer, store);
}

/// A kernel that runs the one of Float32.
template <const backends::Kernel& OfFloats, typename Layer>
constexpr backends::Kernel MakeKernel(const char* name)
{
    return {name, WeightedTypes, Prepare<OfFloats, Layer>, Check<OfFloats>, Pack<OfFloats>, nullptr, nullptr, false};
}

template <const backends::Kernel& OfFloats, typename Layer>
constexpr backends::Kernel MakeFusing(const char* name, bool isFastMath = false)
{
    backends::Kernel kernel = MakeKernel<OfFloats, Layer>(name);
    kernel.m_Fuse = backends::FuseClamp;
    kernel.m_IsFastMath = isFastMath;
    return kernel;
}

using Image = ImageLayer<LayerType::Convolution2d, Convolution2dDescriptor>;
using Depthwise = ImageLayer<LayerType::DepthwiseConvolution2d, DepthwiseConvolution2dDescriptor>;
using Transposed = WholeLayer<LayerType::TransposeConvolution2d>;
using Volume = WholeLayer<LayerType::Convolution3d>;

} // namespace

extern constinit const backends::Kernel CpuBatchMatMulConstantHalvesKernel =
    MakeKernel<CpuBatchMatMulConstantF32Kernel, MatMulLayer>("CpuBatchMatMulConstantHalves");
extern constinit const backends::Kernel CpuConvolution2dWinogradHalvesKernel =
    MakeFusing<CpuConvolution2dWinogradKernel, Image>("CpuConvolution2dWinogradHalves", true);
extern constinit const backends::Kernel CpuConvolution2dGroupsHalvesKernel =
    MakeFusing<CpuConvolution2dGroupsF32Kernel, Image>("CpuConvolution2dGroupsHalves");
extern constinit const backends::Kernel CpuConvolution2dHalvesKernel =
    MakeFusing<CpuConvolution2dF32Kernel, Image>("CpuConvolution2dHalves");
extern constinit const backends::Kernel CpuConvolution3dHalvesKernel =
    MakeFusing<CpuConvolution3dF32Kernel, Volume>("CpuConvolution3dHalves");
extern constinit const backends::Kernel CpuDepthwiseConvolution2dHalvesKernel =
    MakeFusing<CpuDepthwiseConvolution2dF32Kernel, Depthwise>("CpuDepthwiseConvolution2dHalves");
extern constinit const backends::Kernel CpuFullyConnectedHalvesKernel =
    MakeFusing<CpuFullyConnectedF32Kernel, ConnectedLayer>("CpuFullyConnectedHalves");
extern constinit const backends::Kernel CpuTransposeConvolution2dHalvesKernel =
    MakeFusing<CpuTransposeConvolution2dF32Kernel, Transposed>("CpuTransposeConvolution2dHalves");

} // namespace tenon::cpu
