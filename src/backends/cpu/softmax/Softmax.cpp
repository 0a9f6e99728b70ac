// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax: the kernel rows, and the loops of floats and int16. Quantized tensors, along the last axis,
// are bit for bit as the reference kernel; 8 bits are in SoftmaxInt8.
//     y = exp(beta * (x - max)) / sum, or beta * (x - max) - log(sum)
// of floats along rows (elements side by side) or columns (elements `step` apart). Rows of at most MaxTransposedDepth
// elements go a vector of rows at a time, a row in each lane; longer ones in blocks of rows (reduce/RowBlocks.hpp). The
// elements after the last whole vector of a row are computed in a vector that ends where the row does and overlaps the
// one before.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/reduce/RowBlocks.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/cpu/softmax/SoftmaxInt8.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/AxisRows.hpp"
#include "backends/reference/kernels/SoftmaxTablesInt16.hpp"

#include <tenon/descriptors/Normalization.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>

// Compiled once: simd/Foreach.hpp includes this file again for each target.
#ifndef TENON_SOFTMAX_TYPES
#define TENON_SOFTMAX_TYPES
namespace tenon::cpu
{

namespace
{

/// Softmax or LogSoftmax of rows of `depth` floats (1 or more). beta > 0.
using SoftmaxFunction = void (*)(const float* in, size_t rows, size_t depth, float beta, float* out);

/// The same for `columns` neighbouring columns, whose elements lie `step` floats apart.
using SoftmaxColumnsFunction = void (*)(const float* in, size_t columns, size_t depth, size_t step, float beta,
                                        float* out);

struct SoftmaxFunctions
{
    static constexpr size_t MaxTransposedDepth = 24; ///< longest rows that are computed a vector of rows at a time

    SoftmaxFunction m_Softmax = nullptr;
    SoftmaxFunction m_LogSoftmax = nullptr;
    SoftmaxColumnsFunction m_SoftmaxColumns = nullptr;
    SoftmaxColumnsFunction m_LogSoftmaxColumns = nullptr;
};

/// Softmax of a row of int16: exp by an interpolated table, an int64 sum, a fixed-point reciprocal. Computes a row of
/// `depth` elements (1 or more). `out` may be `in`.
using SoftmaxFunctionInt16 = void (*)(const ref::SoftmaxTablesInt16& softmax, const int16_t* in, size_t depth,
                                      int16_t* out);

} // namespace

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/softmax/Softmax.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/BlockedSumF32-inl.hpp"
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/F32-inl.hpp"
#include "backends/cpu/simd/Int16-inl.hpp"
#include "backends/cpu/simd/Math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// The maximum of a row of one vector or more. A row with NaN may have any result: the exponential of NaN is NaN, and
/// so is the sum.
float FindMax(const float* in, size_t depth)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    VecF32 maxima = hn::LoadU(d, in + depth - lanes);
    VecF32 others = maxima; // two accumulators hide the latency of comparisons
    size_t i = 0;
    for (; i + 2 * lanes <= depth; i += 2 * lanes)
    {
        maxima = hn::Max(maxima, hn::LoadU(d, in + i));
        others = hn::Max(others, hn::LoadU(d, in + i + lanes));
    }
    maxima = i + lanes <= depth ? hn::Max(maxima, hn::LoadU(d, in + i)) : maxima;
    return hn::GetLane(hn::MaxOfLanes(d, hn::Max(maxima, others)));
}

/// Returns the sum of exp((in - max) * beta), and writes these numbers if Store is true.
template <bool Store>
float SumExps(const float* in, size_t depth, float max, float beta, float* out)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    // A long row is summed in blocks, and the blocks in double precision. The last block is longer.
    const size_t part = 2 * lanes * SumBlock;
    if (depth >= 2 * part)
    {
        double total = 0.0;
        for (size_t first = 0; first < depth;)
        {
            const size_t some = depth - first >= 2 * part ? part : depth - first;
            total += static_cast<double>(SumExps<Store>(in + first, some, max, beta, Store ? out + first : nullptr));
            first += some;
        }
        return static_cast<float>(total);
    }
    const VecF32 maxima = hn::Set(d, max);
    const VecF32 factor = hn::Set(d, beta);
    const VecF32 end = hn::LoadU(d, in + depth - lanes); // read before `out` overwrites it
    const auto expValue = [&](VecF32 x, float* to) HWY_ATTR
    {
        const VecF32 y = ExpUpTo88(d, hn::Mul(hn::Sub(x, maxima), factor));
        if constexpr (Store)
        {
            hn::StoreU(y, d, to);
        }
        return y;
    };
    VecF32 sum = hn::Zero(d);
    VecF32 others = sum;
    size_t i = 0;
    for (; i + 2 * lanes <= depth; i += 2 * lanes)
    {
        const VecF32 x = hn::LoadU(d, in + i);
        const VecF32 next = hn::LoadU(d, in + i + lanes);
        sum = hn::Add(sum, expValue(x, out + i));
        others = hn::Add(others, expValue(next, out + i + lanes));
    }
    if (i + lanes <= depth)
    {
        sum = hn::Add(sum, expValue(hn::LoadU(d, in + i), out + i));
        i += lanes;
    }
    if (i != depth)
    {
        // The last vector overlaps the one before it: lanes that are in both are not added again.
        const VecF32 y = expValue(end, out + depth - lanes);
        others = hn::Add(others, hn::IfThenZeroElse(hn::FirstN(d, i + lanes - depth), y));
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, others)));
}

void ScaleRow(float* row, size_t depth, float factor)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    const VecF32 factors = hn::Set(d, factor);
    const VecF32 end = hn::Mul(hn::LoadU(d, row + depth - lanes), factors);
    for (size_t i = 0; i + lanes <= depth; i += lanes)
    {
        hn::StoreU(hn::Mul(hn::LoadU(d, row + i), factors), d, row + i);
    }
    hn::StoreU(end, d, row + depth - lanes);
}

void SoftmaxRows(const float* in, size_t rows, size_t depth, float beta, float* out)
{
    const size_t block = CountRowsOfBlock(depth);
    for (size_t first = 0; first < rows; first += block, in += block * depth, out += block * depth)
    {
        const size_t some = std::min(block, rows - first);
        float factors[MaxRowsOfBlock];
        for (size_t i = 0; i < some; ++i)
        {
            factors[i] = FindMax(in + i * depth, depth);
        }
        for (size_t i = 0; i < some; ++i)
        {
            factors[i] = 1.0f / SumExps<true>(in + i * depth, depth, factors[i], beta, out + i * depth);
        }
        for (size_t i = 0; i < some; ++i)
        {
            ScaleRow(out + i * depth, depth, factors[i]);
        }
    }
}

void LogSoftmaxRow(const float* in, size_t depth, float beta, float* out)
{
    const float max = FindMax(in, depth);
    const float logSum = std::log(SumExps<false>(in, depth, max, beta, nullptr));
    Cover<float>(depth,
                 [=](auto d, size_t i)
                 {
                     const auto scaled = hn::Mul(hn::Sub(hn::LoadU(d, in + i), hn::Set(d, max)), hn::Set(d, beta));
                     hn::StoreU(hn::Sub(scaled, hn::Set(d, logSum)), d, out + i);
                 });
}

/// Computes up to a vector of rows, transposed: element i of all rows is one vector.
template <bool IsLog>
void TransposedRows(const float* in, size_t rows, size_t depth, float beta, float* out)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    HWY_ALIGN float elements[SoftmaxFunctions::MaxTransposedDepth * HWY_LANES(float)];
    const VecF32 factor = hn::Set(d, beta);
    for (size_t first = 0; first < rows; first += lanes, in += lanes * depth, out += lanes * depth)
    {
        const size_t count = std::min(lanes, rows - first);
        for (size_t row = 0; row < lanes; ++row)
        {
            const float* from = in + std::min(row, count - 1) * depth;
            for (size_t i = 0; i < depth; ++i)
            {
                elements[i * lanes + row] = from[i];
            }
        }
        VecF32 maxima = hn::Load(d, elements);
        for (size_t i = 1; i < depth; ++i)
        {
            maxima = hn::Max(maxima, hn::Load(d, elements + i * lanes));
        }
        VecF32 sum = hn::Zero(d);
        for (size_t i = 0; i < depth; ++i)
        {
            const VecF32 x = hn::Mul(hn::Sub(hn::Load(d, elements + i * lanes), maxima), factor);
            const VecF32 expValue = ExpUpTo88(d, x);
            sum = hn::Add(sum, expValue);
            hn::Store(IsLog ? x : expValue, d, elements + i * lanes);
        }
        const VecF32 last = IsLog ? LogOf(d, sum) : hn::Div(hn::Set(d, 1.0f), sum);
        for (size_t i = 0; i < depth; ++i)
        {
            const VecF32 x = hn::Load(d, elements + i * lanes);
            hn::Store(IsLog ? hn::Sub(x, last) : hn::Mul(x, last), d, elements + i * lanes);
        }
        for (size_t row = 0; row < count; ++row)
        {
            for (size_t i = 0; i < depth; ++i)
            {
                out[row * depth + i] = elements[i * lanes + row];
            }
        }
    }
}

template <bool IsLog>
void Rows(const float* in, size_t rows, size_t depth, float beta, float* out)
{
    if (depth <= SoftmaxFunctions::MaxTransposedDepth)
    {
        TransposedRows<IsLog>(in, rows, depth, beta, out);
        return;
    }
    if constexpr (!IsLog)
    {
        SoftmaxRows(in, rows, depth, beta, out);
        return;
    }
    for (size_t row = 0; row < rows; ++row, in += depth, out += depth)
    {
        LogSoftmaxRow(in, depth, beta, out);
    }
}

/// Computes a vector of neighbouring columns, `count` of them if these are fewer than the lanes.
template <bool IsLog, bool IsWhole>
HWY_INLINE void Column(const float* in, size_t count, size_t depth, size_t step, float beta, float* out)
{
    const TagF32 d;
    const auto load = [&](const float* from) HWY_ATTR { return IsWhole ? hn::LoadU(d, from) : LoadSome(from, count); };
    const auto store = [&](VecF32 values, float* to) HWY_ATTR
    {
        if constexpr (IsWhole)
        {
            hn::StoreU(values, d, to);
        }
        else
        {
            StoreSome(values, to, count);
        }
    };
    const VecF32 factor = hn::Set(d, beta);
    VecF32 maxima = load(in);
    for (size_t i = 1; i < depth; ++i)
    {
        maxima = hn::Max(maxima, load(in + i * step));
    }
    const VecF32 sum = SumSteps(d, depth,
                                [&](size_t i) HWY_ATTR
                                {
                                    const VecF32 x = hn::Mul(hn::Sub(load(in + i * step), maxima), factor);
                                    const VecF32 expValue = ExpUpTo88(d, x);
                                    store(IsLog ? x : expValue, out + i * step);
                                    return expValue;
                                });
    const VecF32 last = IsLog ? LogOf(d, sum) : hn::Div(hn::Set(d, 1.0f), sum);
    for (size_t i = 0; i < depth; ++i)
    {
        const VecF32 x = load(out + i * step);
        store(IsLog ? hn::Sub(x, last) : hn::Mul(x, last), out + i * step);
    }
}

template <bool IsLog>
void Columns(const float* in, size_t columns, size_t depth, size_t step, float beta, float* out)
{
    const size_t lanes = hn::Lanes(TagF32());
    size_t column = 0;
    for (; column + lanes <= columns; column += lanes)
    {
        Column<IsLog, true>(in + column, lanes, depth, step, beta, out + column);
    }
    if (column != columns)
    {
        Column<IsLog, false>(in + column, columns - column, depth, step, beta, out + column);
    }
}

SoftmaxFunctions MakeSoftmaxFunctions()
{
    SoftmaxFunctions functions;
    functions.m_Softmax = Rows<false>;
    functions.m_LogSoftmax = Rows<true>;
    functions.m_SoftmaxColumns = Columns<false>;
    functions.m_LogSoftmaxColumns = Columns<true>;
    return functions;
}

int16_t FindMaxInt16(const int16_t* in, size_t depth)
{
    const TagInt16 d;
    const size_t lanes = hn::Lanes(d);
    int16_t maximum = in[0];
    size_t i = 0;
    if (depth >= lanes)
    {
        VecInt16 all = hn::LoadU(d, in);
        for (i = lanes; i + lanes <= depth; i += lanes)
        {
            all = hn::Max(all, hn::LoadU(d, in + i));
        }
        HWY_ALIGN int16_t each[HWY_MAX_BYTES / sizeof(int16_t)];
        hn::Store(all, d, each);
        maximum = *std::max_element(each, each + lanes);
    }
    for (; i < depth; ++i)
    {
        maximum = std::max(maximum, in[i]);
    }
    return maximum;
}

void WriteExpsInt16(const ref::SoftmaxTablesInt16& softmax, const int16_t* in, size_t depth, int16_t* out)
{
    const TagInt32 d32;
    const int16_t* entries = softmax.GetTable().GetEntries().data();
    const BoundedMultiplier<TagInt32> multiplier(softmax.GetMultiplier());
    const VecInt32 maximum = hn::Set(d32, FindMaxInt16(in, depth));
    const VecInt32 offset = hn::Set(d32, INT16_MAX);
    MapEach(TagInt16(), in, out, depth,
            [&](VecInt16 shorts) HWY_ATTR
            {
                return Interpolate(entries, MapHalves(shorts, [&](VecInt32 x) HWY_ATTR
                                                      { return hn::Add(multiplier(hn::Sub(x, maximum)), offset); }));
            });
}

int64_t SumUpInt16(const int16_t* values, size_t depth)
{
    const TagInt16 d;
    const TagInt32 d32;
    constexpr size_t Block = 1 << 16; // elements: the sum of each lane fits into 32 bits
    int64_t total = 0;
    for (size_t first = 0; first < depth; first += Block)
    {
        const size_t count = std::min(Block, depth - first);
        const int16_t* from = values + first;
        VecInt32 sums = hn::Zero(d32);
        size_t i = 0;
        for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d))
        {
            const VecInt16 x = hn::LoadU(d, from + i);
            sums = hn::Add(sums, hn::Add(Widen<false>(x), Widen<true>(x)));
        }
        HWY_ALIGN int32_t each[HWY_MAX_BYTES / sizeof(int32_t)];
        hn::Store(sums, d32, each);
        for (size_t lane = 0; lane < hn::Lanes(d32); ++lane)
        {
            total += each[lane];
        }
        for (; i < count; ++i)
        {
            total += from[i];
        }
    }
    return total;
}

void SoftmaxRowInt16(const ref::SoftmaxTablesInt16& softmax, const int16_t* in, size_t depth, int16_t* out)
{
    WriteExpsInt16(softmax, in, depth, out);
    const ref::SoftmaxTablesInt16::Factor factor = softmax.GetFactor(SumUpInt16(out, depth));
    const TagInt32 d32;
    const VecInt32 scale = hn::Set(d32, factor.m_Scale);
    const VecInt32 rounding = hn::Set(d32, factor.m_Shift > 0 ? int32_t{1} << (factor.m_Shift - 1) : 0);
    const VecInt16 zero = hn::Zero(TagInt16());
    MapEach(TagInt16(), out, out, depth,
            [&](VecInt16 powers) HWY_ATTR
            {
                const auto divide = [&](VecInt32 x) HWY_ATTR
                { return hn::ShiftRightSame(hn::Add(hn::Mul(x, scale), rounding), factor.m_Shift); };
                return hn::Max(MapHalves(powers, divide), zero);
            });
}

SoftmaxFunctionInt16 GetSoftmaxRowInt16()
{
    return SoftmaxRowInt16;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

namespace
{

using backends::Prepared;

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const SoftmaxFunctions& GetSoftmaxFunctions()
{
    static constinit PerIsa<SoftmaxFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeSoftmaxFunctions)(); });
}

/// Likewise.
SoftmaxFunctionInt16 FindSoftmaxInt16()
{
    return TENON_CHOOSE(GetSoftmaxRowInt16)();
}

constexpr backends::TypeRow SoftmaxTypes[] = {
    backends::SameType(DataType::Float32),
    backends::WithScales(backends::SameType({DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16}),
                         {backends::Scales::PerTensor}, backends::Scales::Any)};
constexpr backends::TypeRow LogSoftmaxTypes[] = {
    backends::PerTensor(backends::SameType({DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8}))};

/// The cost of an element in bytes moved at the speed of memory.
constexpr size_t CostF32 = 16;
constexpr size_t CostInt8 = 8;
constexpr size_t CostInt16 = 16;

Prepared MakeRowsF32(const ref::AxisRows& rows, float beta, SoftmaxFunction function)
{
    return [rows, beta, function](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * CostF32),
                  [&](size_t begin, size_t end)
                  {
                      const size_t first = begin * rows.m_Depth;
                      function(run.GetInput<float>(0) + first, end - begin, rows.m_Depth, beta,
                               run.GetOutput<float>(0) + first);
                  });
    };
}

/// Along an axis that is not the last one. A unit of the loop is a range of neighbouring columns.
Prepared MakeColumnsF32(const ref::AxisRows& rows, float beta, SoftmaxColumnsFunction function)
{
    constexpr size_t LineFloats = 16; // floats of a cache line
    const size_t unit = std::min(rows.m_Step, LineFloats);
    const size_t units = DivideUp(rows.m_Step, unit);
    return [rows, beta, function, unit, units](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer * units, GetGrain(rows.m_Depth * unit * CostF32),
                  [&](size_t begin, size_t end)
                  {
                      while (begin < end)
                      {
                          const size_t outer = begin / units;
                          const size_t last = std::min(end - outer * units, units);
                          const size_t column = (begin - outer * units) * unit;
                          const size_t first = outer * rows.m_Depth * rows.m_Step + column;
                          function(run.GetInput<float>(0) + first, std::min(last * unit, rows.m_Step) - column,
                                   rows.m_Depth, rows.m_Step, beta, run.GetOutput<float>(0) + first);
                          begin = outer * units + last;
                      }
                  });
    };
}

/// The type Softmax is SoftmaxInt8 or LogSoftmaxInt8.
template <typename Softmax>
Prepared MakeInt8(const ref::AxisRows& rows, float beta, const TensorInfo& input)
{
    const auto softmax = std::make_shared<const Softmax>(beta, ref::GetTensorQuantization(input).m_Scale,
                                                         input.GetDataType() == DataType::QAsymmS8);
    return [rows, softmax](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * CostInt8),
                  [&](size_t begin, size_t end)
                  {
                      const size_t first = begin * rows.m_Depth;
                      softmax->Rows(run.GetInput<uint8_t>(0) + first, end - begin, rows.m_Depth,
                                    run.GetOutput<uint8_t>(0) + first);
                  });
    };
}

Prepared MakeInt16(const ref::AxisRows& rows, float beta, const TensorInfo& input)
{
    const auto softmax = std::make_shared<const ref::SoftmaxTablesInt16>(beta, input.GetQuantizationScale());
    return [rows, softmax, function = FindSoftmaxInt16()](const ExecuteArgs& run)
    {
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * CostInt16),
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

/// The reason to leave the layer to the reference kernel; null: it is supported.
const char* FindDeclineReason(const ref::AxisRows& rows, float beta, DataType type)
{
    return rows.m_Step != 1 && type != DataType::Float32 ? "not along the last dimension"
           : rows.m_Depth == 0 || rows.m_Step == 0       ? "its rows are empty"
           : !(beta > 0.0f)                              ? "beta is not positive"
                                                         : nullptr;
}

Prepared MakeF32(const ref::AxisRows& rows, float beta, SoftmaxFunction function, SoftmaxColumnsFunction columns)
{
    return rows.m_Step == 1 ? MakeRowsF32(rows, beta, function) : MakeColumnsF32(rows, beta, columns);
}

Prepared PrepareSoftmax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<SoftmaxDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const ref::AxisRows rows(input.GetShape(), descriptor.m_Axis);
    if (const char* const reason = FindDeclineReason(rows, descriptor.m_Beta, input.GetDataType()); reason != nullptr)
    {
        return Prepared::Declined(reason);
    }
    switch (input.GetDataType())
    {
    case DataType::Float32:
        return MakeF32(rows, descriptor.m_Beta, GetSoftmaxFunctions().m_Softmax,
                       GetSoftmaxFunctions().m_SoftmaxColumns);
    case DataType::QSymmS16: return MakeInt16(rows, descriptor.m_Beta, input);
    default: return MakeInt8<SoftmaxInt8>(rows, descriptor.m_Beta, input);
    }
}

Prepared PrepareLogSoftmax(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<LogSoftmaxDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const ref::AxisRows rows(input.GetShape(), descriptor.m_Axis);
    if (const char* const reason = FindDeclineReason(rows, descriptor.m_Beta, input.GetDataType()); reason != nullptr)
    {
        return Prepared::Declined(reason);
    }
    return input.GetDataType() == DataType::Float32
               ? MakeF32(rows, descriptor.m_Beta, GetSoftmaxFunctions().m_LogSoftmax,
                         GetSoftmaxFunctions().m_LogSoftmaxColumns)
               : MakeInt8<LogSoftmaxInt8>(rows, descriptor.m_Beta, input);
}

} // namespace

extern const backends::Kernel CpuSoftmaxKernel = {.m_Name = "CpuSoftmax",
                                                  .m_Types = SoftmaxTypes,
                                                  .m_Prepare = PrepareSoftmax,
                                                  .m_Reference = &ref::RefSoftmaxKernel};
extern const backends::Kernel CpuLogSoftmaxKernel = {.m_Name = "CpuLogSoftmax",
                                                     .m_Types = LogSoftmaxTypes,
                                                     .m_Prepare = PrepareLogSoftmax,
                                                     .m_Reference = &ref::RefLogSoftmaxKernel};

} // namespace tenon::cpu
#endif
