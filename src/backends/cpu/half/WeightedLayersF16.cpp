// SPDX-License-Identifier: Apache-2.0
// Kernel rows of Float16 layers with constant weights, and of BFloat16 ones where the processor has no bf16 dot
// products: the Float32 kernel packs the weights as floats and runs row blocks (RowBlocksF16).
#include "backends/cpu/half/ConversionsF16.hpp"
#include "backends/cpu/half/RowBlocksF16.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "common/OneThread.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tenon::cpu
{

#define TENON_KERNEL(type, name) extern const backends::Kernel Cpu##name##Kernel;
#include "backends/cpu/Kernels.def"

namespace
{

constexpr unsigned int Weights = 1; // indices of inputs
constexpr unsigned int Bias = 2;

constexpr backends::TypeSet BiasOf(DataType type)
{
    return {type, DataType::Float32};
}

constexpr backends::TypeRow WeightedTypes[] = {
    backends::Types({DataType::Float16, DataType::Float16, BiasOf(DataType::Float16)}, DataType::Float16),
    backends::Types({DataType::BFloat16, DataType::BFloat16, BiasOf(DataType::BFloat16)}, DataType::BFloat16)};

constexpr backends::TypeRow MatrixTypes[] = {backends::SameType(backends::F16Types, 2)};

/// A view of the layer with Float32 in place of its 16-bit type. Packing reads the weights in their own type.
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

/// The weights that the Float32 kernel packed, and the bias as floats.
class WeightedPack final : public backends::PackedWeights
{
public:
    WeightedPack(const backends::Kernel& kernel, const LayerView& layer, backends::PackedStore& store)
    {
        const void* const bias = layer.GetConstantData(Bias);
        if (bias != nullptr && backends::F16Types.Has(layer.GetInput(Bias).GetDataType()))
        {
            const TensorInfo& info = layer.GetInput(Bias);
            m_Bias.resize(info.GetNumElements());
            OneThread thread;
            VectorConversionsF16.m_Widen(thread, bias, info.GetDataType(), m_Bias.size(), m_Bias.data());
        }
        m_Weights = kernel.m_Pack(FloatView(layer, FloatView::WeightsAs::Stored, GetBias()).View(), store);
    }

    bool RefersToConstants() const override { return m_Weights->RefersToConstants(); }
    const backends::PackedWeights* GetWeights() const { return m_Weights.get(); }
    /// Null if the bias is not constant, is Float32 already, or there is none.
    const float* GetBias() const { return m_Bias.empty() ? nullptr : m_Bias.data(); }

private:
    std::vector<float> m_Bias;
    std::unique_ptr<backends::PackedWeights> m_Weights;
};

/// The shape [1, ..., 1, rows, elements] of this rank.
TensorShape MakeRowsShape(unsigned int rank, size_t rows, size_t elements)
{
    std::vector<unsigned int> sizes(std::max(rank, 2U), 1);
    sizes[sizes.size() - 2] = static_cast<unsigned int>(rows);
    sizes.back() = static_cast<unsigned int>(elements);
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

/// The rows of a matrix, which are independent of each other.
LayerRows MakeLayerRows(const ReshapeArgs& args, size_t depth, size_t columns)
{
    LayerRows shape;
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

/// How layers of a type are cut. Each class has
///   GetShape(args): the rows to cut; no rows where shapes do not fit together (the kernel reports it);
///   IsMatrix(args): whether these are rows of a matrix, and not of an image;
///   GetDescriptor(args, block): the descriptor of a block of an image.
/// This class: layers that are not cut.
struct WholeLayer
{
    static LayerRows GetShape(const ReshapeArgs&) { return {}; }
    static bool IsMatrix(const ReshapeArgs&) { return false; }
    static std::shared_ptr<const BaseDescriptor> GetDescriptor(const ReshapeArgs&, const RowBlock&) { return nullptr; }
};

/// Rows of images; of 1x1 convolutions the pixels, which are rows of a matrix.
template <typename Descriptor>
struct ImageLayer
{
    static bool IsMatrix(const ReshapeArgs& args)
    {
        const auto& d = args.GetDescriptor<Descriptor>();
        const TensorShape& weights = args.GetInput(1).GetShape();
        return weights[1] == 1 && weights[2] == 1 && d.m_StrideX == 1 && d.m_StrideY == 1 && d.m_PadTop == 0 &&
               d.m_PadBottom == 0 && d.m_PadLeft == 0 && d.m_PadRight == 0;
    }

    static LayerRows GetShape(const ReshapeArgs& args)
    {
        const TensorShape& input = args.GetInput(0).GetShape();
        const TensorShape& output = args.GetOutput(0).GetShape();
        const TensorShape& weights = args.GetInput(1).GetShape();
        if (input.GetNumDimensions() != 4 || output.GetNumDimensions() != 4 || output.GetNumElements() == 0 ||
            input[0] != output[0])
        {
            return {};
        }
        if (IsMatrix(args))
        {
            const bool isSameSize = input[1] == output[1] && input[2] == output[2];
            return !isSameSize ? LayerRows() : MakeLayerRows(args, input[3], output[3]);
        }
        const auto& d = args.GetDescriptor<Descriptor>();
        const uint64_t padded = uint64_t{input[1]} + d.m_PadTop + d.m_PadBottom;
        const uint64_t height = uint64_t{weights[1] - 1} * d.m_DilationY + 1;
        if (padded < height || (padded - height) / d.m_StrideY + 1 != output[1])
        {
            return {};
        }
        LayerRows shape;
        shape.m_Images = output[0];
        shape.m_Rows = output[1];
        shape.m_InputRows = input[1];
        shape.m_RowElements = size_t{output[2]} * output[3];
        shape.m_InputRowElements = size_t{input[2]} * input[3];
        shape.m_Windows = {weights[1], d.m_StrideY, d.m_DilationY, d.m_PadTop};
        return shape;
    }

    static std::shared_ptr<const BaseDescriptor> GetDescriptor(const ReshapeArgs& args, const RowBlock& block)
    {
        auto descriptor = std::make_shared<Descriptor>(args.GetDescriptor<Descriptor>());
        descriptor->m_PadTop = static_cast<uint32_t>(block.m_PadTop);
        descriptor->m_PadBottom = static_cast<uint32_t>(block.m_PadBottom);
        return descriptor;
    }
};

struct ConnectedLayer : WholeLayer
{
    static bool IsMatrix(const ReshapeArgs&) { return true; }
    static LayerRows GetShape(const ReshapeArgs& args)
    {
        const bool isTransposed = args.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
        const TensorShape& weights = args.GetInput(1).GetShape();
        return MakeLayerRows(args, weights[isTransposed ? 1 : 0], weights[isTransposed ? 0 : 1]);
    }
};

/// BatchMatMul by one constant matrix: rows of x.
struct MatMulLayer : WholeLayer
{
    static bool IsMatrix(const ReshapeArgs&) { return true; }
    static LayerRows GetShape(const ReshapeArgs& args)
    {
        const auto last = [](const TensorShape& shape) { return shape[shape.GetNumDimensions() - 1]; };
        return args.GetOutput(0).GetNumElements() == 0
                   ? LayerRows()
                   : MakeLayerRows(args, last(args.GetInput(0).GetShape()), last(args.GetOutput(0).GetShape()));
    }
};

/// The Float32 workload of a block, or of the whole layer.
template <typename Layer>
backends::Prepared PrepareFloats(const ReshapeArgs& args, const backends::Kernel& kernel,
                                 const backends::PackedWeights* packed, const LayerRows& shape, const RowBlock* block)
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
    if (block != nullptr)
    {
        const TensorShape& whole = input.GetShape();
        const TensorShape& wholeOutput = output.GetShape();
        if (Layer::IsMatrix(args))
        {
            input.SetShape(MakeRowsShape(whole.GetNumDimensions(), block->m_InputRows, shape.m_InputRowElements));
            output.SetShape(MakeRowsShape(wholeOutput.GetNumDimensions(), block->m_Rows, shape.m_RowElements));
        }
        else
        {
            input.SetShape({1, static_cast<unsigned int>(block->m_InputRows), whole[2], whole[3]});
            output.SetShape({1, static_cast<unsigned int>(block->m_Rows), wholeOutput[2], wholeOutput[3]});
            descriptor = Layer::GetDescriptor(args, *block);
            wide.m_Descriptor = descriptor.get();
        }
        inputPointers[0] = &input;
        outputPointer = &output;
        wide.m_MaxThreads = 1;
    }
    wide.m_Inputs = inputPointers;
    wide.m_Outputs = {&outputPointer, 1};
    wide.m_ConstantData = constants;
    return kernel.Prepare(wide, packed);
}

template <const backends::Kernel& KernelF32, typename Layer>
backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& pack = static_cast<const WeightedPack&>(*packed);
    const size_t outputs = args.GetOutput(0).GetNumElements();
    if (outputs == 0)
    {
        const backends::Prepared floats = PrepareFloats<Layer>(args, KernelF32, pack.GetWeights(), {}, nullptr);
        return floats.IsDeclined() ? backends::Prepared::Declined(floats.m_Declined)
                                   : backends::Prepared([](const ExecuteArgs&) {});
    }
    LayerRows shape = Layer::GetShape(args);
    const TensorShape& output = args.GetOutput(0).GetShape();
    shape.m_Multiplications = static_cast<double>(outputs / output[output.GetNumDimensions() - 1]) *
                              static_cast<double>(args.GetInput(Weights).GetNumElements());
    auto blocks = std::make_shared<const RowBlocksF16>(
        args, shape, pack.GetBias(),
        [&](const RowBlock* block) { return PrepareFloats<Layer>(args, KernelF32, pack.GetWeights(), shape, block); });
    if (blocks->GetDeclined() != nullptr)
    {
        return backends::Prepared::Declined(blocks->GetDeclined());
    }
    return PrepareRowBlocks(std::move(blocks), args);
}

template <const backends::Kernel& KernelF32>
SupportResult Check(const LayerView& layer)
{
    return KernelF32.m_Check(FloatView(layer, FloatView::WeightsAs::Floats).View());
}

template <const backends::Kernel& KernelF32>
std::unique_ptr<backends::PackedWeights> Pack(const LayerView& layer, backends::PackedStore& store)
{
    return std::make_unique<WeightedPack>(KernelF32, layer, store);
}

/// The kernel row of a 16-bit layer that the Float32 kernel runs.
template <const backends::Kernel& KernelF32, typename Layer>
constexpr backends::Kernel MakeKernel(const char* name, std::span<const backends::TypeRow> types,
                                      const backends::Kernel* reference = nullptr)
{
    return {.m_Name = name,
            .m_Types = types,
            .m_Prepare = Prepare<KernelF32, Layer>,
            .m_Check = Check<KernelF32>,
            .m_Pack = Pack<KernelF32>,
            .m_Reference = reference};
}

template <const backends::Kernel& KernelF32, typename Layer>
constexpr backends::Kernel MakeFusing(const char* name)
{
    backends::Kernel kernel = MakeKernel<KernelF32, Layer>(name, WeightedTypes);
    kernel.m_Fuse = backends::FuseClamp;
    return kernel;
}

using Image = ImageLayer<Convolution2dDescriptor>;
using Depthwise = ImageLayer<DepthwiseConvolution2dDescriptor>;

} // namespace

extern constinit const backends::Kernel CpuBatchMatMulConstantF16Kernel =
    MakeKernel<CpuBatchMatMulConstantF32Kernel, MatMulLayer>("CpuBatchMatMulConstantF16", MatrixTypes,
                                                             &ref::RefBatchMatMulKernel);
extern constinit const backends::Kernel CpuConvolution2dGroupsF16Kernel =
    MakeFusing<CpuConvolution2dGroupsF32Kernel, Image>("CpuConvolution2dGroupsF16");
extern constinit const backends::Kernel CpuConvolution2dF16Kernel =
    MakeFusing<CpuConvolution2dF32Kernel, Image>("CpuConvolution2dF16");
extern constinit const backends::Kernel CpuConvolution3dF16Kernel =
    MakeFusing<CpuConvolution3dF32Kernel, WholeLayer>("CpuConvolution3dF16");
extern constinit const backends::Kernel CpuDepthwiseConvolution2dF16Kernel =
    MakeFusing<CpuDepthwiseConvolution2dF32Kernel, Depthwise>("CpuDepthwiseConvolution2dF16");
extern constinit const backends::Kernel CpuFullyConnectedF16Kernel =
    MakeFusing<CpuFullyConnectedF32Kernel, ConnectedLayer>("CpuFullyConnectedF16");
extern constinit const backends::Kernel CpuTransposeConvolution2dF16Kernel =
    MakeFusing<CpuTransposeConvolution2dF32Kernel, WholeLayer>("CpuTransposeConvolution2dF16");

} // namespace tenon::cpu
