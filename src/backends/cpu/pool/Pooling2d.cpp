// SPDX-License-Identifier: Apache-2.0
// Kernel row of Pooling2d: windows of NHWC float, 8-bit and 16-bit data, with vectors along channels.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/pool/PoolVectors.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow PoolTypes[] = {
    backends::SameType({DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16})};

} // namespace

PoolFunction ChoosePool(DataType type, PoolingAlgorithm algorithm)
{
    const PoolFunctions& functions = GetPoolFunctions();
    const auto index = static_cast<size_t>(algorithm);
    switch (type)
    {
    case DataType::QAsymmU8: return functions.m_Uint8[index];
    case DataType::QAsymmS8: return functions.m_Int8[index];
    case DataType::QSymmS16: return functions.m_Int16[index];
    case DataType::BFloat16: return functions.m_Bf16[index];
    case DataType::Float16: return functions.m_F16[index];
    default: return functions.m_F32[index];
    }
}

namespace
{

/// The part of an axis inside each window, for each output element.
std::vector<PoolSpan> MakeSpans(const ref::WindowAxis& axis, int64_t padAfter, bool countPadding)
{
    std::vector<PoolSpan> spans;
    for (size_t i = 0; i < axis.m_Output; ++i)
    {
        const int64_t origin = axis.Origin(i);
        const size_t first = axis.FirstTap(origin);
        const int64_t paddedEnd =
            std::min(origin + static_cast<int64_t>(axis.m_Kernel), static_cast<int64_t>(axis.m_Input) + padAfter);
        PoolSpan span;
        span.m_Count = axis.EndTap(origin) - first;
        span.m_First = span.m_Count == 0 ? 0 : static_cast<size_t>(origin + static_cast<int64_t>(first));
        span.m_Divisor = countPadding ? static_cast<size_t>(std::max<int64_t>(0, paddedEnd - origin)) : span.m_Count;
        spans.push_back(span);
    }
    return spans;
}

/// The range of windows that are equal in size and distance, around the middle one.
struct UniformWindows
{
    IndexRange m_Part;
    size_t m_Stride = 0;
};

UniformWindows FindUniformWindows(const std::vector<PoolSpan>& spans)
{
    if (spans.size() < 2)
    {
        return {};
    }
    const size_t middle = (spans.size() - 1) / 2;
    const PoolSpan& like = spans[middle];
    const size_t stride = spans[middle + 1].m_First - like.m_First;
    const auto isAlike = [&like](const PoolSpan& span)
    { return span.m_Count == like.m_Count && span.m_Divisor == like.m_Divisor; };
    UniformWindows uniform = {{middle, middle + 1}, stride};
    IndexRange& part = uniform.m_Part;
    while (part.m_Begin > 0 && isAlike(spans[part.m_Begin - 1]) &&
           spans[part.m_Begin].m_First - spans[part.m_Begin - 1].m_First == stride)
    {
        --part.m_Begin;
    }
    while (part.m_End < spans.size() && isAlike(spans[part.m_End]) &&
           spans[part.m_End].m_First - spans[part.m_End - 1].m_First == stride)
    {
        ++part.m_End;
    }
    return uniform;
}

/// A layer of known shapes, whose type and algorithm have a function. A unit of its loop is some channels of some
/// output pixels of one row.
class Pool
{
public:
    Pool(const ReshapeArgs& args, const Pooling2dDescriptor& d)
        : m_Function(ChoosePool(args.GetInput(0).GetDataType(), d.m_PoolType)),
          m_ElementBytes(GetDataTypeSize(args.GetInput(0).GetDataType()))
    {
        const TensorInfo& info = args.GetInput(0);
        const TensorShape& input = info.GetShape();
        const TensorShape& output = args.GetOutput(0).GetShape();
        const bool countPadding = d.m_PaddingMethod == PaddingMethod::IgnoreValue;
        m_Height = input[1];
        m_Width = input[2];
        m_Channels = input[3];
        m_OutputPitch = args.m_OutputPitch != 0 ? args.m_OutputPitch : m_Channels;
        m_Y = MakeSpans({input[1], output[1], d.m_PoolHeight, d.m_StrideY, 1, d.m_PadTop}, d.m_PadBottom, countPadding);
        m_X = MakeSpans({input[2], output[2], d.m_PoolWidth, d.m_StrideX, 1, d.m_PadLeft}, d.m_PadRight, countPadding);
        if (m_Width == 1 && m_X.size() == 1)
        {
            // In memory an image of one column is like an image of one row, whose windows one call computes.
            std::swap(m_Height, m_Width);
            m_Y.swap(m_X);
        }
        m_Uniform = FindUniformWindows(m_X);
        if (info.IsQuantized())
        {
            m_Input = ref::GetTensorQuantization(info);
            m_Output = ref::GetTensorQuantization(args.GetOutput(0));
            m_RoundsHalfToEven = d.m_Requantization == RequantizationMode::FloatHalfEven;
        }
        m_Rows = input[0] * m_Y.size();
        m_RowCost = m_X.size() * std::min<size_t>(d.m_PoolWidth, input[2]) *
                    std::min<size_t>(d.m_PoolHeight, input[1]) * m_Channels * m_ElementBytes;
        // If rows are few and there are threads for it, their windows or channels are split, too.
        constexpr size_t FewRows = 8;
        constexpr size_t TaskWindows = 16;
        constexpr size_t TaskBytes = 256;
        if (m_Rows < FewRows)
        {
            m_Segments = std::clamp<size_t>(m_X.size() / TaskWindows, 1, FewRows);
            m_Blocks = m_Segments > 1 ? 1 : std::clamp<size_t>(m_Channels * m_ElementBytes / TaskBytes, 1, FewRows);
        }
    }

    void operator()(const ExecuteArgs& run) const
    {
        const bool isSplit = run.m_Parallel->GetNumThreads() > 1;
        const size_t blocks = isSplit ? m_Blocks : 1;
        const size_t segments = isSplit ? m_Segments : 1;
        const size_t units = blocks * segments; // units of a row
        RunRanges(*run.m_Parallel, m_Rows * units, GetGrain(m_RowCost / units),
                  [&](size_t begin, size_t end)
                  {
                      constexpr size_t LineBytes = 64;
                      for (size_t unit = begin; unit < end; ++unit)
                      {
                          RunUnit(run, unit / units, GetTaskRange(m_X.size(), segments, unit % units / blocks),
                                  GetTaskRange(m_Channels, blocks, unit % blocks, LineBytes / m_ElementBytes));
                      }
                  });
    }

private:
    void RunUnit(const ExecuteArgs& run, size_t outputRow, const IndexRange& windows, const IndexRange& channels) const
    {
        PoolRow row;
        row.m_Y = m_Y[outputRow % m_Y.size()];
        const size_t inputRow = outputRow / m_Y.size() * m_Height + row.m_Y.m_First;
        row.m_In = run.GetInput<std::byte>(0) + (inputRow * m_Width * m_Channels + channels.m_Begin) * m_ElementBytes;
        row.m_RowStride = m_Width * m_Channels;
        row.m_PixelStride = m_Channels;
        row.m_X = m_X.data() + windows.m_Begin;
        row.m_Windows = windows.m_End - windows.m_Begin;
        const auto find = [&windows](size_t window)
        { return std::clamp(window, windows.m_Begin, windows.m_End) - windows.m_Begin; };
        row.m_Uniform = {find(m_Uniform.m_Part.m_Begin), find(m_Uniform.m_Part.m_End)};
        row.m_UniformStride = m_Uniform.m_Stride;
        row.m_Channels = channels.m_End - channels.m_Begin;
        row.m_Input = m_Input;
        row.m_Output = m_Output;
        row.m_RoundsHalfToEven = m_RoundsHalfToEven;
        const size_t pixel = outputRow * m_X.size() + windows.m_Begin;
        row.m_Out = run.GetOutput<std::byte>(0) + (pixel * m_OutputPitch + channels.m_Begin) * m_ElementBytes;
        row.m_OutPixelStride = m_OutputPitch;
        m_Function(row);
    }

    PoolFunction m_Function;
    size_t m_ElementBytes;
    size_t m_Height = 0; ///< height of the input
    size_t m_Width = 0;
    size_t m_Channels = 0;
    size_t m_OutputPitch = 0; ///< elements
    std::vector<PoolSpan> m_Y;
    std::vector<PoolSpan> m_X;
    UniformWindows m_Uniform;
    ref::TensorQuantization m_Input;
    ref::TensorQuantization m_Output;
    bool m_RoundsHalfToEven = false;
    size_t m_Rows = 0;     ///< rows of all output images
    size_t m_RowCost = 0;  ///< bytes that a row of windows reads
    size_t m_Segments = 1; ///< ranges of windows of a row, for threads
    size_t m_Blocks = 1;   ///< ranges of channels, for threads
};

/// The number of integers in a window whose sum the functions rescale exactly.
uint64_t GetMaxTaps(DataType type, RequantizationMode mode)
{
    constexpr uint64_t MaxTaps = 8000; // of quotients
    // Sums of differences from the zero point stay below 2^30.
    return mode == RequantizationMode::FloatHalfEven ? (uint64_t{1} << 30) >> (8 * GetDataTypeSize(type)) : MaxTaps;
}

backends::Prepared RefinePool(const ReshapeArgs& args, const backends::PackedWeights*, backends::Prepared&)
{
    const auto& descriptor = args.GetDescriptor<Pooling2dDescriptor>();
    // Very long axes need tables larger than their data.
    constexpr unsigned int MaxAxisLength = 1 << 16;
    const TensorInfo& input = args.GetInput(0);
    const TensorShape& output = args.GetOutput(0).GetShape();
    const bool isLarge = input.IsQuantized() && uint64_t{descriptor.m_PoolHeight} * descriptor.m_PoolWidth >
                                                    GetMaxTaps(input.GetDataType(), descriptor.m_Requantization);
    if (isLarge || output.GetNumElements() == 0 || std::max(output[1], output[2]) > MaxAxisLength)
    {
        return backends::Prepared::Declined(
            "it is empty, its windows hold too many integers, or its axes are very long");
    }
    return Pool(args, descriptor);
}

} // namespace

extern const backends::Kernel CpuPooling2dKernel = {.m_Name = "CpuPooling2d",
                                                    .m_Types = PoolTypes,
                                                    .m_RoundsHalfToEven = true,
                                                    .m_WritesPitched = true,
                                                    .m_Reference = &ref::RefPooling2dKernel,
                                                    .m_Refine = RefinePool};

} // namespace tenon::cpu
