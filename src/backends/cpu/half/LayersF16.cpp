// SPDX-License-Identifier: Apache-2.0
// Kernel rows of Float16 and BFloat16 layers without weights: the Float32 kernel of the operator on converted data, out
// = round16(kernelF32(float(in))). Elementwise functions of BFloat16 and some pools have loops of their own.
// Layers that can be cut are converted and run in chunks.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/elementwise/Map.hpp"
#include "backends/cpu/elementwise/UnaryFloat.hpp"
#include "backends/cpu/half/ConversionsF16.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/pool/PoolVectors.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/F16AsF32.hpp"
#include "common/OneThread.hpp"

#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::cpu
{

#define TENON_KERNEL(type, name) extern const backends::Kernel Cpu##name##Kernel;
#include "backends/cpu/Kernels.def"

namespace
{

using backends::Scratch;
using ref::CountElements;

constexpr size_t MaxInputs = 6; // largest number of inputs of a layer that is cut
/// Elements of a chunk of the output: as floats, with one input of that size, a first-level cache of 32 KiB.
constexpr size_t ChunkElements = 4096;

/// The output's dimensions [m_Begin, m_End) are read as one, which is cut into chunks of m_Rows indices.
struct Chunking
{
    unsigned int m_Begin = 0;
    unsigned int m_End = 0;
    size_t m_Indices = 1;
    size_t m_Rows = 1;
    size_t m_RowElements = 1; ///< elements of the output for each index
};

/// An input or the output.
struct Tensor
{
    TensorShape m_Shape;            ///< padded by leading ones to the rank of the output
    unsigned int m_LeadingOnes = 0; ///< number of leading ones
    size_t m_RowElements = 0;       ///< elements for each index of the cut dimensions; 0: broadcast along them
    size_t m_ChunkElements = 0;
    size_t m_Floats = 0;                                      ///< offset in the scratch memory of a task
    std::array<size_t, MaxNumOfTensorDimensions> m_Strides{}; ///< elements, by dimension before the cut ones
};

/// An input of this shape; none if it cannot be broadcast to the first `last` dimensions of the output.
std::optional<Tensor> FitShape(const TensorShape& shape, const TensorShape& output, unsigned int last)
{
    const unsigned int rank = output.GetNumDimensions();
    if (shape.GetNumDimensions() > rank)
    {
        return std::nullopt;
    }
    std::vector<unsigned int> sizes(rank, 1);
    const unsigned int missing = rank - shape.GetNumDimensions();
    for (unsigned int i = missing; i < rank; ++i)
    {
        sizes[i] = shape[i - missing];
        if (i < last && sizes[i] != 1 && sizes[i] != output[i])
        {
            return std::nullopt;
        }
    }
    Tensor tensor;
    tensor.m_Shape = TensorShape(rank, sizes.data());
    tensor.m_LeadingOnes = missing;
    return tensor;
}

/// Cuts along the first dimension whose indices are small enough, together with the preceding dimensions along which
/// each input is broadcast, or not, as it is along the first one.
Chunking ChooseChunking(const TensorShape& output, unsigned int last, const std::vector<Tensor>& inputs)
{
    Chunking cut;
    cut.m_End = last;
    while (cut.m_End > 1 && CountElements(output, cut.m_End - 1, output.GetNumDimensions()) <= ChunkElements)
    {
        --cut.m_End;
    }
    cut.m_Begin = cut.m_End - 1;
    const auto along = [&](const Tensor& input, unsigned int dimension)
    { return input.m_Shape[dimension] == output[dimension]; };
    while (cut.m_Begin > 0 && std::all_of(inputs.begin(), inputs.end(),
                                          [&](const Tensor& input)
                                          { return along(input, cut.m_Begin - 1) == along(input, cut.m_End - 1); }))
    {
        --cut.m_Begin;
    }
    cut.m_Indices = CountElements(output, cut.m_Begin, cut.m_End);
    cut.m_RowElements = CountElements(output, cut.m_End, output.GetNumDimensions());
    cut.m_Rows = std::clamp<size_t>(ChunkElements / std::max<size_t>(cut.m_RowElements, 1), 1, cut.m_Indices);
    return cut;
}

/// Sets the sizes and strides of a tensor's chunks, and reserves their scratch memory.
void LayOut(Tensor& tensor, const TensorShape& output, const Chunking& cut, Scratch& task)
{
    const TensorShape& shape = tensor.m_Shape;
    const size_t rest = CountElements(shape, cut.m_End, shape.GetNumDimensions());
    const size_t indices = CountElements(shape, cut.m_Begin, cut.m_End);
    tensor.m_RowElements = indices == cut.m_Indices ? rest : 0;
    tensor.m_ChunkElements = tensor.m_RowElements != 0 ? rest * cut.m_Rows : rest;
    tensor.m_Floats = task.Add<float>(tensor.m_ChunkElements);
    size_t step = indices * rest;
    for (unsigned int i = cut.m_Begin; i-- > 0;)
    {
        tensor.m_Strides[i] = shape[i] == 1 && output[i] != 1 ? 0 : step;
        step *= shape[i];
    }
}

/// The shape of a chunk of `rows` indices, with the rank of the tensor.
TensorShape MakeChunkShape(const Tensor& tensor, const Chunking& cut, size_t rows)
{
    std::vector<unsigned int> sizes;
    for (unsigned int i = tensor.m_LeadingOnes; i < tensor.m_Shape.GetNumDimensions(); ++i)
    {
        const bool isCut = i + 1 == cut.m_End && tensor.m_RowElements != 0;
        sizes.push_back(i >= cut.m_End ? tensor.m_Shape[i] : isCut ? static_cast<unsigned int>(rows) : 1);
    }
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

/// A layer in chunks of ChunkElements elements of the output, which stay in the first-level cache as floats.
class ChunksF16
{
public:
    using Prepare = backends::Prepared (*)(const ReshapeArgs&, const backends::PackedWeights*);

    ChunksF16(const ReshapeArgs& args, unsigned int last, std::vector<Tensor> inputs, Prepare prepare,
              const ref::F16Loops& loops)
        : m_Type(args.GetOutput(0).GetDataType()), m_Loops(&loops), m_OutputShape(args.GetOutput(0).GetShape()),
          m_Chunking(ChooseChunking(m_OutputShape, last, inputs)), m_Inputs(std::move(inputs))
    {
        Scratch task;
        m_Output.m_Shape = m_OutputShape;
        LayOut(m_Output, m_OutputShape, m_Chunking, task);
        for (Tensor& input : m_Inputs)
        {
            LayOut(input, m_OutputShape, m_Chunking, task);
        }
        size_t inner = 0;
        const size_t left = m_Chunking.m_Indices % m_Chunking.m_Rows;
        for (const size_t rows : {m_Chunking.m_Rows, left})
        {
            backends::Prepared prepared = rows == 0 ? backends::Prepared() : PrepareRows(args, rows, prepare);
            inner = std::max(inner, prepared.m_ScratchBytes);
            m_Name = rows == 0 ? m_Name : prepared.m_KernelName;
            m_Declined = m_Declined != nullptr ? m_Declined : prepared.m_Declined;
            m_Run[rows == left ? 1 : 0] = std::move(prepared.m_Run);
        }
        m_InnerOffset = task.Add<std::byte>(inner);
        m_TaskBytes = task.GetBytes();
        const size_t chunkBytes = m_Output.m_ChunkElements * sizeof(float) * (1 + m_Inputs.size());
        m_Tasks = std::min(GetMaxTasks(args.m_MaxThreads), DivideUp(CountChunks(), GetGrain(chunkBytes)));
        m_Scratch.AddPerTask(task, m_Tasks);
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }
    const char* GetKernelName() const { return m_Name; }
    const char* GetDeclined() const { return m_Declined; }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t tasks = std::min<size_t>(m_Tasks, args.m_Parallel->GetNumThreads());
        RunTasks(*args.m_Parallel, tasks,
                 [&](size_t index)
                 {
                     RunTask(args, GetTaskRange(CountChunks(), tasks, index),
                             static_cast<std::byte*>(args.m_Scratch) + index * m_TaskBytes);
                 });
    }

private:
    size_t CountChunksOfRun() const { return DivideUp(m_Chunking.m_Indices, m_Chunking.m_Rows); }
    size_t CountChunks() const { return CountElements(m_OutputShape, 0, m_Chunking.m_Begin) * CountChunksOfRun(); }

    backends::Prepared PrepareRows(const ReshapeArgs& args, size_t rows, Prepare prepare) const
    {
        std::vector<TensorInfo> infos;
        infos.reserve(m_Inputs.size() + 1);
        std::vector<const TensorInfo*> inputs;
        for (const Tensor& input : m_Inputs)
        {
            inputs.push_back(&infos.emplace_back(MakeChunkShape(input, m_Chunking, rows), DataType::Float32));
        }
        const TensorInfo* const output =
            &infos.emplace_back(MakeChunkShape(m_Output, m_Chunking, rows), DataType::Float32);
        const std::vector<const void*> constants(m_Inputs.size(), nullptr); // constants are not converted yet
        ReshapeArgs chunk = args;
        chunk.m_Inputs = inputs;
        chunk.m_Outputs = {&output, 1};
        chunk.m_ConstantData = constants;
        chunk.m_MaxThreads = 1;
        return prepare(chunk, nullptr);
    }

    size_t FindOffset(const Tensor& tensor, size_t chunk) const
    {
        size_t offset = chunk % CountChunksOfRun() * m_Chunking.m_Rows * tensor.m_RowElements;
        size_t rest = chunk / CountChunksOfRun();
        for (unsigned int i = m_Chunking.m_Begin; i-- > 0;)
        {
            offset += rest % m_OutputShape[i] * tensor.m_Strides[i];
            rest /= m_OutputShape[i];
        }
        return offset;
    }

    void RunTask(const ExecuteArgs& args, const IndexRange& chunks, std::byte* scratch) const
    {
        OneThread thread;
        std::array<const void*, MaxInputs> inputs{};
        std::array<size_t, MaxInputs> converted{};
        converted.fill(SIZE_MAX);
        for (size_t i = 0; i < m_Inputs.size(); ++i)
        {
            inputs[i] = Scratch::At<float>(scratch, m_Inputs[i].m_Floats);
        }
        void* const output = Scratch::At<float>(scratch, m_Output.m_Floats);
        ExecuteArgs run = args;
        run.m_Inputs = {inputs.data(), m_Inputs.size()};
        run.m_Outputs = {&output, 1};
        run.m_Scratch = scratch + m_InnerOffset;
        run.m_Parallel = &thread;
        for (size_t chunk = chunks.m_Begin; chunk < chunks.m_End; ++chunk)
        {
            const size_t first = chunk % CountChunksOfRun() * m_Chunking.m_Rows;
            const size_t rows = std::min(m_Chunking.m_Rows, m_Chunking.m_Indices - first);
            for (size_t i = 0; i < m_Inputs.size(); ++i)
            {
                const Tensor& input = m_Inputs[i];
                const size_t offset = FindOffset(input, chunk);
                if (offset != converted[i])
                {
                    const size_t count = input.m_RowElements != 0 ? rows * input.m_RowElements : input.m_ChunkElements;
                    m_Loops->m_Widen(thread, args.GetInput<uint16_t>(i) + offset, m_Type, count,
                                     Scratch::At<float>(scratch, input.m_Floats));
                    converted[i] = offset;
                }
            }
            m_Run[rows == m_Chunking.m_Rows ? 0 : 1](run);
            m_Loops->m_Narrow(thread, static_cast<const float*>(output), m_Type, rows * m_Chunking.m_RowElements,
                              args.GetOutput<uint16_t>(0) + FindOffset(m_Output, chunk));
        }
    }

    DataType m_Type;
    const ref::F16Loops* m_Loops;
    TensorShape m_OutputShape;
    Chunking m_Chunking;
    std::vector<Tensor> m_Inputs;
    Tensor m_Output;
    std::array<backends::Executor, 2> m_Run; ///< for whole chunks, and for the last chunk of a run
    const char* m_Name = nullptr;            ///< see Prepared::m_KernelName
    const char* m_Declined = nullptr;        ///< see Prepared::m_Declined
    size_t m_InnerOffset = 0;
    size_t m_TaskBytes = 0;
    size_t m_Tasks = 1;
    Scratch m_Scratch;
};

/// Runs the Float32 kernel of `prepare` chunk by chunk, between conversions from and to the 16-bit type of all tensors.
/// A chunk is a range of output indices along one or several dimensions before the last `whole` ones: a layer of its
/// own, with the same range of each input that is not broadcast along it. Layers that cannot be cut are converted as a
/// whole. `prepare` must not decline.
backends::Prepared PrepareChunksF16(const ReshapeArgs& args, unsigned int whole,
                                    backends::Prepared (*prepare)(const ReshapeArgs&, const backends::PackedWeights*),
                                    const ref::F16Loops& loops)
{
    const TensorInfo& output = args.GetOutput(0);
    const unsigned int rank = output.GetNumDimensions();
    bool isCut = args.m_Outputs.size() == 1 && args.m_Inputs.size() <= MaxInputs && rank > whole &&
                 output.GetNumElements() > ChunkElements;
    std::vector<Tensor> inputs;
    for (size_t i = 0; isCut && i < args.m_Inputs.size(); ++i)
    {
        isCut = args.HasInput(i) && args.GetInput(i).GetDataType() == output.GetDataType();
        auto input = isCut ? FitShape(args.GetInput(i).GetShape(), output.GetShape(), rank - whole) : std::nullopt;
        isCut = input.has_value();
        if (isCut)
        {
            inputs.push_back(std::move(*input));
        }
    }
    if (!isCut)
    {
        return ref::PrepareF16AsF32(args, prepare, nullptr, loops);
    }
    ChunksF16 chunks(args, rank - whole, std::move(inputs), prepare, loops);
    const size_t bytes = chunks.GetScratchBytes();
    const char* const name = chunks.GetKernelName();
    const char* const declined = chunks.GetDeclined();
    backends::Prepared prepared(std::move(chunks), bytes);
    prepared.m_KernelName = name;
    prepared.m_Declined = declined;
    return prepared;
}

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
