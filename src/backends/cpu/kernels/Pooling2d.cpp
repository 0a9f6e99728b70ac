// SPDX-License-Identifier: Apache-2.0
// Pooling2d of CpuAcc: windows of NHWC float and 8-bit data, vectorized over channels. Averages of bytes round as the
// reference kernel's: half away from zero.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/kernels/PoolVectors.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow PoolTypes[] = {
    backends::SameType({DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8})};

SupportResult CheckPool(const LayerView& layer)
{
    return ref::FindKernel(LayerType::Pooling2d)->m_Check(layer);
}

PoolFunction ChooseFunction(DataType type, PoolingAlgorithm algorithm)
{
    const PoolFunctions& functions = GetPoolFunctions();
    const auto index = static_cast<size_t>(algorithm);
    switch (type)
    {
    case DataType::QAsymmU8: return functions.m_Unsigned[index];
    case DataType::QAsymmS8: return functions.m_Signed[index];
    default: return functions.m_Float[index];
    }
}

/// A layer at known shapes. One unit of its loop is some channels of one row of output pixels.
class Pool
{
public:
    Pool(const ReshapeArgs& args, const Pooling2dDescriptor& d)
        : m_Function(ChooseFunction(args.GetInput(0).GetDataType(), d.m_PoolType)),
          m_ElementBytes(GetDataTypeSize(args.GetInput(0).GetDataType())), m_PadAfterY(d.m_PadBottom),
          m_PadAfterX(d.m_PadRight), m_CountPadding(d.m_PaddingMethod == PaddingMethod::IgnoreValue)
    {
        const TensorInfo& info = args.GetInput(0);
        const TensorShape& input = info.GetShape();
        const TensorShape& output = args.GetOutput(0).GetShape();
        m_Channels = input[3];
        m_Y = {input[1], output[1], d.m_PoolHeight, d.m_StrideY, 1, d.m_PadTop};
        m_X = {input[2], output[2], d.m_PoolWidth, d.m_StrideX, 1, d.m_PadLeft};
        m_ZeroPoint = info.IsQuantized() ? info.GetQuantizationOffset() : 0;
        m_Rows = input[0] * m_Y.m_Output;
        // Where there are few rows, channels are split too, at cache lines.
        constexpr size_t FewRows = 8;
        m_Blocks = m_Rows < FewRows ? std::clamp<size_t>(m_Channels * m_ElementBytes / LineBytes, 1, FewRows) : 1;
        m_Grain = GetGrain(m_X.m_Output * std::min(m_X.m_Kernel, m_X.m_Input) * std::min(m_Y.m_Kernel, m_Y.m_Input) *
                           m_Channels * m_ElementBytes / m_Blocks);
    }

    void operator()(const ExecuteArgs& run) const
    {
        RunRanges(*run.m_Parallel, m_Rows * m_Blocks, m_Grain,
                  [&](size_t begin, size_t end)
                  {
                      for (size_t unit = begin; unit < end; ++unit)
                      {
                          RunUnit(run.GetInput<std::byte>(0), run.GetOutput<std::byte>(0), unit / m_Blocks,
                                  GetPart(m_Channels, m_Blocks, unit % m_Blocks, LineBytes / m_ElementBytes));
                      }
                  });
    }

private:
    static constexpr size_t LineBytes = 64;

    static size_t PaddedTaps(const ref::WindowAxis& axis, int64_t origin, int64_t padAfter)
    {
        const int64_t end =
            std::min(origin + static_cast<int64_t>(axis.m_Kernel), static_cast<int64_t>(axis.m_Input) + padAfter);
        return static_cast<size_t>(std::max<int64_t>(0, end - origin));
    }

    void RunUnit(const std::byte* in, std::byte* out, size_t row, const Part& channels) const
    {
        const size_t batch = row / m_Y.m_Output;
        const int64_t originY = m_Y.Origin(row % m_Y.m_Output);
        const size_t firstY = m_Y.FirstTap(originY);
        const size_t pixelBytes = m_Channels * m_ElementBytes;
        PoolWindow window;
        window.m_Rows = m_Y.EndTap(originY) - firstY;
        window.m_RowStride = m_X.m_Input * m_Channels;
        window.m_PixelStride = m_Channels;
        const size_t beginY = window.m_Rows == 0 ? 0 : static_cast<size_t>(originY + static_cast<int64_t>(firstY));
        in += (batch * m_Y.m_Input + beginY) * m_X.m_Input * pixelBytes + channels.m_Begin * m_ElementBytes;
        out += row * m_X.m_Output * pixelBytes + channels.m_Begin * m_ElementBytes;
        const size_t count = channels.m_End - channels.m_Begin;
        for (size_t x = 0; x < m_X.m_Output; ++x, out += pixelBytes)
        {
            const int64_t originX = m_X.Origin(x);
            const size_t firstX = m_X.FirstTap(originX);
            window.m_Columns = m_X.EndTap(originX) - firstX;
            const size_t inside = window.m_Rows * window.m_Columns;
            if (inside == 0)
            {
                // Nothing but padding: real zeros.
                std::memset(out, m_ZeroPoint, count * m_ElementBytes);
                continue;
            }
            window.m_Divisor =
                m_CountPadding ? PaddedTaps(m_Y, originY, m_PadAfterY) * PaddedTaps(m_X, originX, m_PadAfterX) : inside;
            window.m_Padding = static_cast<int32_t>(window.m_Divisor - inside) * m_ZeroPoint;
            window.m_First = in + static_cast<size_t>(originX + static_cast<int64_t>(firstX)) * pixelBytes;
            m_Function(window, count, out);
        }
    }

    PoolFunction m_Function;
    size_t m_ElementBytes;
    int64_t m_PadAfterY;
    int64_t m_PadAfterX;
    bool m_CountPadding;
    ref::WindowAxis m_Y;
    ref::WindowAxis m_X;
    size_t m_Channels = 0;
    int32_t m_ZeroPoint = 0;
    size_t m_Rows = 0;   ///< of all output images
    size_t m_Blocks = 1; ///< of channels
    size_t m_Grain = 1;
};

backends::Prepared PreparePool(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<Pooling2dDescriptor>();
    backends::Prepared reference = ref::FindKernel(LayerType::Pooling2d)->m_Prepare(args, nullptr); // checks shapes
    // Bytes summed over larger windows leave the integers that floats hold exactly.
    constexpr uint64_t MostTaps = 65000;
    const bool isLarge = uint64_t{descriptor.m_PoolHeight} * descriptor.m_PoolWidth > MostTaps;
    if ((isLarge && args.GetInput(0).IsQuantized()) || args.GetOutput(0).GetNumElements() == 0)
    {
        return reference;
    }
    return Pool(args, descriptor);
}

} // namespace

extern const backends::Kernel CpuPooling2dKernel = {"CpuPooling2d", PoolTypes, PreparePool, CheckPool};

} // namespace tenon::cpu
