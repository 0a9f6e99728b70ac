// SPDX-License-Identifier: Apache-2.0
// Kernel rows of Float16 and BFloat16 layers without weights: the Float32 kernel of the operator on converted data, out
// = round16(kernelF32(float(in))). Elementwise functions of BFloat16 and some pools have loops of their own.
#include "backends/cpu/elementwise/Map.hpp"
#include "backends/cpu/elementwise/UnaryFloat.hpp"
#include "backends/cpu/half/ChunksF16.hpp"
#include "backends/cpu/half/ConversionsF16.hpp"
#include "backends/cpu/pool/PoolVectors.hpp"

#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <vector>

namespace tenon::cpu
{

#define TENON_KERNEL(type, name) extern const backends::Kernel Cpu##name##Kernel;
#include "backends/cpu/Kernels.def"

namespace
{

constexpr backends::TypeRow F16Types[] = {backends::SameType(backends::F16Types)};

/// A view of the layer with Float32 in place of its 16-bit type.
class WideLayer
{
public:
    explicit WideLayer(const LayerView& layer)
        : m_View(layer), m_Inputs(layer.m_Inputs), m_Outputs(layer.m_Outputs),
          m_Constants(ref::WithoutWidened(layer.m_ConstantData, m_Inputs))
    {
        m_View.m_Inputs = m_Inputs.Get();
        m_View.m_Outputs = m_Outputs.Get();
        m_View.m_ConstantData = m_Constants;
    }

    const LayerView& View() const { return m_View; }

private:
    LayerView m_View;
    ref::WideInfos m_Inputs;
    ref::WideInfos m_Outputs;
    std::vector<const void*> m_Constants;
};

template <const backends::Kernel& KernelF32>
SupportResult Check(const LayerView& layer)
{
    const DataType type = layer.GetInput(0).GetDataType();
    for (const TensorInfo* info : layer.m_Inputs)
    {
        const bool isReal = info != nullptr &&
                            (info->GetDataType() == DataType::Float32 || backends::F16Types.Has(info->GetDataType()));
        if (isReal && info->GetDataType() != type)
        {
            return SupportResult::No(SupportCode::UnsupportedType, "its inputs are of different types");
        }
    }
    return backends::AskKernel(KernelF32, WideLayer(layer).View());
}

/// The Float32 kernel's workload, or that of its reference kernel; only the name of the latter is kept.
template <const backends::Kernel& KernelF32>
backends::Prepared PrepareInner(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    backends::Prepared prepared = KernelF32.PrepareOrReference(args, packed);
    prepared.m_KernelName = prepared.m_Declined == nullptr ? nullptr : prepared.m_KernelName;
    return prepared;
}

template <const backends::Kernel& KernelF32>
backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return ref::PrepareF16AsF32(args, PrepareInner<KernelF32>, nullptr, VectorConversionsF16);
}

/// Elementwise functions: no dimension stays whole.
unsigned int CountNone(const ReshapeArgs&)
{
    return 0;
}

/// The dimensions from the axis on stay whole.
template <typename Descriptor>
unsigned int CountFromAxis(const ReshapeArgs& args)
{
    const int axis = args.GetDescriptor<Descriptor>().m_Axis;
    const unsigned int rank = args.GetOutput(0).GetNumDimensions();
    return axis < 0 ? static_cast<unsigned int>(-axis) : rank - static_cast<unsigned int>(axis);
}

/// NHWC: the last dimension, channels, stays whole, as the parameters have one element for each channel.
unsigned int CountChannels(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<BatchNormalizationDescriptor>();
    return descriptor.m_DataLayout == DataLayout::NHWC ? 1 : args.GetOutput(0).GetNumDimensions();
}

/// `CountWhole`: the number of last dimensions that chunks do not cut.
template <const backends::Kernel& KernelF32, unsigned int (*CountWhole)(const ReshapeArgs&)>
backends::Prepared PrepareChunks(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return PrepareChunksF16(args, CountWhole(args), PrepareInner<KernelF32>, VectorConversionsF16);
}

/// Some pools have loops of their own for 16-bit types.
backends::Prepared PreparePool(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto algorithm = args.GetDescriptor<Pooling2dDescriptor>().m_PoolType;
    const bool hasLoop = ChoosePool(args.GetOutput(0).GetDataType(), algorithm) != nullptr;
    if (args.m_OutputPitch == 0)
    {
        return hasLoop ? PrepareInner<CpuPooling2dKernel>(args, packed) : Prepare<CpuPooling2dKernel>(args, packed);
    }
    backends::Prepared pitched =
        hasLoop ? CpuPooling2dKernel.Prepare(args, packed)
                : backends::Prepared::Declined("it has no loop of halves, which alone leaves gaps between pixels");
    pitched.m_KernelName = nullptr;
    return pitched;
}

/// Unary functions of BFloat16 have loops of their own.
backends::Prepared MakeBf16(const ReshapeArgs& args, FloatFunction function, float a, float b)
{
    return MakeMap<uint16_t, uint16_t>(
        args, [loop = FindUnaryLoopBf16(function), a, b](const uint16_t* in, uint16_t* out, size_t count)
        { loop(in, out, count, a, b); });
}

bool IsBf16(const ReshapeArgs& args)
{
    return args.GetOutput(0).GetDataType() == DataType::BFloat16;
}

backends::Prepared PrepareActivation(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const auto& descriptor = args.GetDescriptor<ActivationDescriptor>();
    return IsBf16(args) ? MakeBf16(args, ToFunction(descriptor), descriptor.m_A, descriptor.m_B)
                        : PrepareChunks<CpuActivationKernel, CountNone>(args, packed);
}

backends::Prepared PrepareUnary(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    const UnaryOperation operation = args.GetDescriptor<ElementwiseUnaryDescriptor>().m_Operation;
    return IsBf16(args) ? MakeBf16(args, *ToFunction(operation), 0.0f, 0.0f)
                        : PrepareChunks<CpuElementwiseUnaryKernel, CountNone>(args, packed);
}

backends::Prepared PrepareBinary(const ReshapeArgs& args, const backends::PackedWeights* packed)
{
    return IsBf16(args) ? PrepareInner<CpuElementwiseBinaryKernel>(args, packed)
                        : PrepareChunks<CpuElementwiseBinaryKernel, CountNone>(args, packed);
}

template <const backends::Kernel& KernelF32>
SupportResult Fuse(const LayerView& layer, const ActivationDescriptor& activation)
{
    return KernelF32.m_Fuse(WideLayer(layer).View(), activation);
}

} // namespace

#define TENON_KERNEL_F16(name)                                                                                         \
    extern const backends::Kernel Cpu##name##F16Kernel = {"Cpu" #name "F16", F16Types, Prepare<Cpu##name##Kernel>,     \
                                                          Check<Cpu##name##Kernel>}

#define TENON_CHUNKED_KERNEL_F16(name, countWhole)                                                                     \
    extern const backends::Kernel Cpu##name##F16Kernel = {                                                             \
        "Cpu" #name "F16", F16Types, PrepareChunks<Cpu##name##Kernel, countWhole>, Check<Cpu##name##Kernel>}

extern const backends::Kernel CpuActivationF16Kernel = {"CpuActivationF16", F16Types, PrepareActivation,
                                                        Check<CpuActivationKernel>};
TENON_KERNEL_F16(Attention);
TENON_KERNEL_F16(BatchMatMul);
TENON_CHUNKED_KERNEL_F16(BatchNormalization, CountChannels);
extern const backends::Kernel CpuElementwiseUnaryF16Kernel = {"CpuElementwiseUnaryF16", F16Types, PrepareUnary,
                                                              Check<CpuElementwiseUnaryKernel>};
TENON_KERNEL_F16(InstanceNormalization);
TENON_KERNEL_F16(Interpolate);
TENON_KERNEL_F16(L2Normalization);
TENON_CHUNKED_KERNEL_F16(LayerNormalization, CountFromAxis<LayerNormalizationDescriptor>);
TENON_CHUNKED_KERNEL_F16(LogSoftmax, CountFromAxis<LogSoftmaxDescriptor>);
TENON_KERNEL_F16(Mean);
extern const backends::Kernel CpuPooling2dF16Kernel = {.m_Name = "CpuPooling2dF16",
                                                       .m_Types = F16Types,
                                                       .m_Prepare = PreparePool,
                                                       .m_Check = Check<CpuPooling2dKernel>,
                                                       .m_WritesPitched = true};
TENON_KERNEL_F16(PoolingNd);
TENON_CHUNKED_KERNEL_F16(Prelu, CountNone);
TENON_KERNEL_F16(Reduce);
TENON_KERNEL_F16(Resize);
TENON_CHUNKED_KERNEL_F16(Softmax, CountFromAxis<SoftmaxDescriptor>);

extern const backends::Kernel CpuElementwiseBinaryF16Kernel = {
    "CpuElementwiseBinaryF16",         F16Types, PrepareBinary,
    Check<CpuElementwiseBinaryKernel>, nullptr,  Fuse<CpuElementwiseBinaryKernel>};

} // namespace tenon::cpu
