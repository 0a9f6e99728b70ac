// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax of CpuAcc along the last axis: floats, and quantized softmaxes with the reference kernel's
// numbers.
// A row of bytes needs one division only: for each difference to its largest element there is one result, so that the
// results are made as a table first.
#include "backends/common/FixedPoint.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/kernels/SoftmaxShorts.hpp"
#include "backends/cpu/kernels/SoftmaxVectors.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/AxisRows.hpp"
#include "backends/reference/kernels/SoftmaxPowers.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow SoftmaxTypes[] = {
    backends::SameType(DataType::Float32),
    backends::WithScales(backends::SameType({DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16}),
                         {backends::Scales::PerTensor}, backends::Scales::Any)};
constexpr backends::TypeRow LogSoftmaxTypes[] = {backends::SameType(DataType::Float32)};

/// What an element costs, in bytes moved at the speed of memory.
constexpr size_t FloatCost = 16;
constexpr size_t ByteCost = 8;
constexpr size_t ShortCost = 16;

Prepared MakeFloat(const ref::AxisRows& rows, float beta, SoftmaxFunction function)
{
    return [rows, beta, function](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * FloatCost),
                  [&](size_t begin, size_t end)
                  {
                      const size_t first = begin * rows.m_Depth;
                      function(run.GetInput<float>(0) + first, end - begin, rows.m_Depth, beta,
                               run.GetOutput<float>(0) + first);
                  });
    };
}

/// Bytes are taken as unsigned ones: int8 with the top bit flipped.
class ByteSoftmax
{
public:
    ByteSoftmax(float beta, float scale, bool isSigned) : m_Flip(isSigned ? 0x80 : 0)
    {
        const std::array<backends::Fixed<0>, 256> powers = ref::MakeSoftmaxPowers(beta, scale);
        for (size_t i = 0; i < powers.size(); ++i)
        {
            m_Tables.m_Powers[i] = static_cast<uint32_t>(powers[i].m_Raw);
            m_Tables.m_Summands[i] = static_cast<uint32_t>(backends::Rescale<SumIntegerBits>(powers[i]).m_Raw);
        }
    }

    void Row(const uint8_t* in, size_t depth, uint8_t* out) const
    {
        // Results for all differences are made faster than those for more elements than a few.
        constexpr size_t Few = 32;
        if (depth < Few)
        {
            RowOfFew(in, depth, out);
            return;
        }
        const ByteRange range = m_Functions->m_FindRange(in, depth, m_Flip);
        const uint32_t most = range.m_Max;
        const Factor factor = FindFactor(in, depth, most);
        if (factor.m_Shift > 31) // nothing is left of any power
        {
            std::fill_n(out, depth, m_Flip);
            return;
        }
        uint8_t results[256]; // by the difference to the largest byte
        m_Functions->m_ScalePowers(m_Tables.m_Powers, size_t{most} - range.m_Min + 1, factor.m_Scale, factor.m_Shift,
                                   m_Flip, results);
        for (size_t i = 0; i < depth; ++i)
        {
            out[i] = results[most - Read(in, i)];
        }
    }

private:
    static constexpr int SumIntegerBits = 12;

    /// One over the sum of a row's powers: m_Scale / 2^31, to be shifted.
    struct Factor
    {
        uint32_t m_Scale = 0;
        int m_Shift = 0;
    };

    uint32_t Read(const uint8_t* in, size_t i) const { return static_cast<uint8_t>(in[i] ^ m_Flip); }

    Factor FindFactor(const uint8_t* in, size_t depth, uint32_t most) const
    {
        uint64_t sum = 0;
        for (size_t i = 0; i < depth; ++i)
        {
            sum += m_Tables.m_Summands[most - Read(in, i)];
        }
        const auto sumRaw = static_cast<int32_t>(std::min<uint64_t>(sum, std::numeric_limits<int32_t>::max()));
        const backends::FixedReciprocal reciprocal = backends::GetReciprocal(sumRaw, SumIntegerBits);
        return {static_cast<uint32_t>(reciprocal.m_Scale.m_Raw), reciprocal.m_BitsOverUnit + 31 - 8};
    }

    void RowOfFew(const uint8_t* in, size_t depth, uint8_t* out) const
    {
        uint32_t most = 0;
        for (size_t i = 0; i < depth; ++i)
        {
            most = std::max(most, Read(in, i));
        }
        const Factor factor = FindFactor(in, depth, most);
        for (size_t i = 0; i < depth; ++i)
        {
            const uint64_t power = m_Tables.m_Powers[most - Read(in, i)];
            const uint64_t product = (power * factor.m_Scale + (uint64_t{1} << 30)) >> 31;
            const uint64_t fraction =
                factor.m_Shift > 31 ? 0 : (product + (uint64_t{1} << (factor.m_Shift - 1))) >> factor.m_Shift;
            out[i] = static_cast<uint8_t>(std::min<uint64_t>(fraction, 255) ^ m_Flip);
        }
    }

    SoftmaxTables m_Tables;
    uint8_t m_Flip;
    const SoftmaxFunctions* m_Functions = &GetSoftmaxFunctions();
};

Prepared MakeBytes(const ref::AxisRows& rows, float beta, const TensorInfo& input)
{
    const auto softmax = std::make_shared<const ByteSoftmax>(beta, ref::GetTensorQuantization(input).m_Scale,
                                                             input.GetDataType() == DataType::QAsymmS8);
    return [rows, softmax](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * ByteCost),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t row = begin; row < end; ++row)
                      {
                          const size_t first = row * rows.m_Depth;
                          softmax->Row(run.GetInput<uint8_t>(0) + first, rows.m_Depth,
                                       run.GetOutput<uint8_t>(0) + first);
                      }
                  });
    };
}

Prepared MakeShorts(const ref::AxisRows& rows, float beta, const TensorInfo& input)
{
    const auto softmax = std::make_shared<const ref::ShortSoftmax>(beta, input.GetQuantizationScale());
    return [rows, softmax, function = FindShortSoftmax()](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * ShortCost),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t row = begin; row < end; ++row)
                      {
                          const size_t first = row * rows.m_Depth;
                          function(*softmax, run.GetInput<int16_t>(0) + first, rows.m_Depth,
                                   run.GetOutput<int16_t>(0) + first);
                      }
                  });
    };
}

/// Whether its rows are of the kind that is sped up; rows along other axes are the reference kernel's.
bool IsFast(const ref::AxisRows& rows, float beta)
{
    return rows.m_Step == 1 && rows.m_Depth != 0 && beta > 0.0f;
}

Prepared PrepareSoftmax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SoftmaxDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const ref::AxisRows rows(input.GetShape(), descriptor.m_Axis);
    if (!IsFast(rows, descriptor.m_Beta))
    {
        return ref::FindKernel(LayerType::Softmax)->Prepare(args, nullptr);
    }
    switch (input.GetDataType())
    {
    case DataType::Float32: return MakeFloat(rows, descriptor.m_Beta, GetSoftmaxFunctions().m_Softmax);
    case DataType::QSymmS16: return MakeShorts(rows, descriptor.m_Beta, input);
    default: return MakeBytes(rows, descriptor.m_Beta, input);
    }
}

Prepared PrepareLogSoftmax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<LogSoftmaxDescriptor>();
    const ref::AxisRows rows(args.GetInput(0).GetShape(), descriptor.m_Axis);
    return IsFast(rows, descriptor.m_Beta) ? MakeFloat(rows, descriptor.m_Beta, GetSoftmaxFunctions().m_LogSoftmax)
                                           : ref::FindKernel(LayerType::LogSoftmax)->Prepare(args, nullptr);
}

SupportResult CheckSoftmax(const LayerView& layer)
{
    return ref::FindKernel(LayerType::Softmax)->m_Check(layer);
}

} // namespace

extern const backends::Kernel CpuSoftmaxKernel = {"CpuSoftmax", SoftmaxTypes, PrepareSoftmax, CheckSoftmax};
extern const backends::Kernel CpuLogSoftmaxKernel = {"CpuLogSoftmax", LogSoftmaxTypes, PrepareLogSoftmax};

} // namespace tenon::cpu
