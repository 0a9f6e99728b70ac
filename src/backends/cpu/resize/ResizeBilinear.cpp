// SPDX-License-Identifier: Apache-2.0
// Bilinear resizing, with vectors along channels or elements. Each input row is resized along columns once, then pairs
// of such rows are blended: out = lower * wl + upper * wu. int16 blends rows first.
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/resize/ResizedImage.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/kernels/ResizeAxis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

// Compiled once: simd/Foreach.hpp includes this file again for each target.
#ifndef TENON_RESIZE_BILINEAR_TYPES
#define TENON_RESIZE_BILINEAR_TYPES
namespace tenon::cpu
{

namespace
{

/// Resizes an input row along columns: out has `count` columns of `channels` numbers.
template <typename W>
using BlendColumnsFunction = void (*)(const void* in, const ref::Blend<W>* columns, size_t count, size_t channels,
                                      W* out);

/// Float32 and BFloat16. Columns are blended first, once for each input row, then pairs of such rows.
struct BilinearFunctionsFloat
{
    BlendColumnsFunction<float> m_BlendColumns = nullptr;
    /// out[i] = lower[i] * y.m_LowerWeight + upper[i] * y.m_UpperWeight
    void (*m_BlendRows)(const float* lower, const float* upper, const ref::Blend<float>& y, size_t count,
                        void* out) = nullptr;
};

/// uint8, whose reference (TFLite) rounds floats after other steps than these.
struct BilinearFunctionsUint8
{
    BlendColumnsFunction<float> m_BlendColumns = nullptr;
    /// Rounds to whole numbers, half up. Writes the indices of unsure sums to `unsure` and returns their number: sums
    /// so close to a half that the other order of steps could round differently, none if `isExact`, as then no step
    /// rounds; and all elements of a row shorter than a vector, which it does not write. An index may come twice:
    /// `unsure` has room for count + MaxRepeatedUnsure.
    size_t (*m_BlendRows)(const float* lower, const float* upper, const ref::Blend<float>& y, bool isExact,
                          size_t count, uint8_t* out, uint32_t* unsure) = nullptr;
    static constexpr size_t MaxRepeatedUnsure = 64;
};

/// int8, whose blended columns have 10 fraction bits.
struct BilinearFunctionsInt8
{
    BlendColumnsFunction<int32_t> m_BlendColumns = nullptr;
    /// out[i] = lower[i] + (upper[i] - lower[i]) * upperWeight / 2^10, rounded half away from zero to whole numbers.
    void (*m_BlendRows)(const int32_t* lower, const int32_t* upper, int32_t upperWeight, size_t count,
                        int8_t* out) = nullptr;
};

/// An output row between two input rows of int16, whose blended columns would not fit into int32.
struct BlendedRowInt16
{
    const void* m_Lower = nullptr; ///< the two input rows
    const void* m_Upper = nullptr;
    ref::Blend<int32_t> m_Y;                        ///< weights of the two rows
    const ref::Blend<int32_t>* m_Columns = nullptr; ///< for each output column
    size_t m_Count = 0;                             ///< 1 or more
    size_t m_Channels = 0;
    size_t m_InputElements = 0; ///< elements of an input row
    /// Scratch memory for m_InputElements each.
    int32_t* m_HighBits = nullptr;
    int32_t* m_LowBits = nullptr;
    void* m_Out = nullptr;
};

struct ResizeFunctions
{
    BilinearFunctionsFloat m_F32;
    BilinearFunctionsFloat m_Bf16;
    BilinearFunctionsUint8 m_Uint8;
    BilinearFunctionsInt8 m_Int8;
    void (*m_Int16)(const BlendedRowInt16& row) = nullptr;
};

} // namespace

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/resize/ResizeBilinear.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/Bf16-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/FixedPointToInt8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Loads elements of type T as floats, and stores floats as T; 8-bit types have loads only.
template <typename T>
struct ResizeLanes;

template <>
struct ResizeLanes<float>
{
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const float* from)
    {
        return hn::LoadU(d, from);
    }
    template <class D>
    static HWY_INLINE void Store(hn::Vec<D> sum, D d, float* to)
    {
        hn::StoreU(sum, d, to);
    }
};

/// The bits of a BFloat16, as a type that no other elements have.
enum class Bf16Bits : uint16_t
{
};

template <>
struct ResizeLanes<Bf16Bits>
{
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const Bf16Bits* from)
    {
        const auto halves = hn::LoadU(hn::Rebind<uint16_t, D>(), reinterpret_cast<const uint16_t*>(from));
        return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(hn::RebindToUnsigned<D>(), halves)));
    }
    template <class D>
    static HWY_INLINE void Store(hn::Vec<D> sum, D d, Bf16Bits* to)
    {
        hn::StoreU(RoundToBf16(d, sum), hn::Rebind<uint16_t, D>(), reinterpret_cast<uint16_t*>(to));
    }
};

template <>
struct ResizeLanes<uint8_t>
{
    template <class D>
    static HWY_INLINE hn::Vec<D> Load(D d, const uint8_t* from)
    {
        return hn::ConvertTo(d, hn::PromoteTo(hn::Rebind<int32_t, D>(), hn::LoadU(hn::Rebind<uint8_t, D>(), from)));
    }
};

namespace
{

/// Blends pixels of at most `Lanes` channels, a vector each. The last lanes may be beyond the pixel; the next pixel
/// overwrites them. Returns the number of finished columns: those whose vector would exceed the row are left out.
template <size_t Lanes, typename T, typename W, class F>
HWY_INLINE size_t BlendPixels(const T* in, const ref::Blend<W>* columns, size_t count, size_t channels, W* out,
                              const F& blend)
{
    const hn::CappedTag<W, Lanes> d;
    const size_t last = columns[count - 1].m_Upper;
    size_t i = 0;
    for (; channels == Lanes ? i < count : columns[i].m_Upper < last; ++i, out += channels)
    {
        const ref::Blend<W> column = columns[i];
        hn::StoreU(blend(d, in + column.m_Lower * channels, in + column.m_Upper * channels, column), d, out);
    }
    return i;
}

/// Calls blend(d, elements of the lower column, elements of the upper column, their weights) for all columns.
template <typename T, typename W, class F>
HWY_INLINE void BlendEach(const T* in, const ref::Blend<W>* columns, size_t count, size_t channels, W* out,
                          const F& blend)
{
    size_t made = 0;
    switch (channels)
    {
    case 1: made = BlendPixels<1>(in, columns, count, channels, out, blend); break;
    case 2: made = BlendPixels<2>(in, columns, count, channels, out, blend); break;
    case 3:
    case 4: made = BlendPixels<4>(in, columns, count, channels, out, blend); break;
    default: break;
    }
    for (size_t i = made; i < count; ++i)
    {
        const ref::Blend<W> column = columns[i];
        const T* lower = in + column.m_Lower * channels;
        const T* upper = in + column.m_Upper * channels;
        W* to = out + i * channels;
        Cover<W>(channels,
                 [&](auto d, size_t c) HWY_ATTR { hn::StoreU(blend(d, lower + c, upper + c, column), d, to + c); });
    }
}

template <typename T>
void BlendColumns(const void* row, const ref::Blend<float>* columns, size_t count, size_t channels, float* out)
{
    BlendEach(static_cast<const T*>(row), columns, count, channels, out,
              [](auto d, const T* lower, const T* upper, const ref::Blend<float>& x) HWY_ATTR
              {
                  const auto part = hn::Mul(ResizeLanes<T>::Load(d, upper), hn::Set(d, x.m_UpperWeight));
                  return hn::MulAdd(ResizeLanes<T>::Load(d, lower), hn::Set(d, x.m_LowerWeight), part);
              });
}

template <typename T>
void BlendRows(const float* lower, const float* upper, const ref::Blend<float>& y, size_t count, void* out)
{
    auto* to = static_cast<T*>(out);
    Cover<float>(count,
                 [&](auto d, size_t i) HWY_ATTR
                 {
                     const auto part = hn::Mul(hn::LoadU(d, upper + i), hn::Set(d, y.m_UpperWeight));
                     ResizeLanes<T>::Store(hn::MulAdd(hn::LoadU(d, lower + i), hn::Set(d, y.m_LowerWeight), part), d,
                                           to + i);
                 });
}

/// FixedPointToInt8 decides whether a sum is unsure.
size_t BlendRowsUint8(const float* lower, const float* upper, const ref::Blend<float>& y, bool isExact, size_t count,
                      uint8_t* out, uint32_t* unsure)
{
    constexpr size_t Lanes = FixedPointToInt8::Lanes;
    constexpr size_t Quarter = FixedPointToInt8::QuarterLanes;
    static_assert(Lanes <= BilinearFunctionsUint8::MaxRepeatedUnsure);
    uint32_t* to = unsure;
    if (count < Lanes)
    {
        for (size_t i = 0; i < count; ++i)
        {
            *to++ = static_cast<uint32_t>(i);
        }
        return count;
    }
    const TagF32 d;
    const TagInt32 dInt;
    // TFLite's order of steps rounds 6 times, this one 4 times, 5 without fused multiply-add, by 2^-24 of 255 times the
    // sum of the absolute weights. That sum is up to 2 at edges; in corners it is larger, but there all four elements
    // are the same one, and no sum is near a half. The total error is less than 4 units in the last place.
    constexpr int OffBits = 3;
    constexpr float One = FixedPointToInt8::One;
    const VecF32 lowerWeight = hn::Set(d, y.m_LowerWeight * One);
    const VecF32 upperWeight = hn::Set(d, y.m_UpperWeight * One);
    const VecF32 offset = hn::Set(d, 0.5f * One + (isExact ? 0.0f : FixedPointToInt8::GetOffset(OffBits)));
    // As the half is added, no sum is 0: no exact sum is unsure.
    const VecInt32 sureBits = hn::Set(dInt, isExact ? -1 : FixedPointToInt8::GetSureBits(OffBits));
    const auto blend = [&](size_t i) HWY_ATTR
    {
        const VecF32 part = hn::MulAdd(hn::LoadU(d, upper + i), upperWeight, offset);
        return Nearest(hn::MulAdd(hn::LoadU(d, lower + i), lowerWeight, part));
    };
    CoverBy<uint8_t, Lanes>(count,
                            [&](auto, size_t first) HWY_ATTR
                            {
                                const FixedPointToInt8 bytes(blend(first), blend(first + Quarter),
                                                             blend(first + 2 * Quarter), blend(first + 3 * Quarter));
                                hn::StoreU(bytes.Join(), TagUint8(), out + first);
                                if (!bytes.HasAll(sureBits))
                                {
                                    int32_t bits[Lanes];
                                    bytes.StoreBits(sureBits, bits);
                                    for (size_t i = 0; i < Lanes; ++i)
                                    {
                                        *to = static_cast<uint32_t>(first + i);
                                        to += bits[i] == 0 ? 1 : 0;
                                    }
                                }
                            });
    return static_cast<size_t>(to - unsure);
}

/// Sums of int16 elements have 35 bits. The blend of two rows has 25 bits, so it is split: its upper bits, times 2^10,
/// and its lower 10 bits are each weighted by columns.
void BlendRowInt16(const BlendedRowInt16& row)
{
    const auto* lower = static_cast<const int16_t*>(row.m_Lower);
    const auto* upper = static_cast<const int16_t*>(row.m_Upper);
    int32_t* highs = row.m_HighBits;
    int32_t* lows = row.m_LowBits;
    Cover<int32_t>(row.m_InputElements,
                   [&](auto d, size_t i) HWY_ATTR
                   {
                       const hn::Rebind<int16_t, decltype(d)> dShorts;
                       const auto sum = hn::Add(
                           hn::Mul(hn::PromoteTo(d, hn::LoadU(dShorts, lower + i)), hn::Set(d, row.m_Y.m_LowerWeight)),
                           hn::Mul(hn::PromoteTo(d, hn::LoadU(dShorts, upper + i)), hn::Set(d, row.m_Y.m_UpperWeight)));
                       hn::StoreU(hn::ShiftRight<10>(sum), d, highs + i);
                       hn::StoreU(hn::And(sum, hn::Set(d, (1 << 10) - 1)), d, lows + i);
                   });
    auto* out = static_cast<int16_t*>(row.m_Out);
    for (size_t i = 0; i < row.m_Count; ++i, out += row.m_Channels)
    {
        const ref::Blend<int32_t> x = row.m_Columns[i];
        const size_t left = x.m_Lower * row.m_Channels;
        const size_t right = x.m_Upper * row.m_Channels;
        const auto weigh = [&](auto d, const int32_t* parts, size_t c) HWY_ATTR
        {
            return hn::Add(hn::Mul(hn::LoadU(d, parts + left + c), hn::Set(d, x.m_LowerWeight)),
                           hn::Mul(hn::LoadU(d, parts + right + c), hn::Set(d, x.m_UpperWeight)));
        };
        Cover<int32_t>(row.m_Channels,
                       [&](auto d, size_t c) HWY_ATTR
                       {
                           const hn::Rebind<int16_t, decltype(d)> dShorts;
                           const auto high = weigh(d, highs, c);
                           const auto low = weigh(d, lows, c);
                           // Rounds half away from zero, as BlendRowsInt8 does.
                           const auto step = hn::ShiftRight<31>(hn::Add(high, hn::ShiftRight<10>(low)));
                           const auto half = hn::Add(hn::Set(d, int32_t{1} << 19), step);
                           const auto sum = hn::Add(high, hn::ShiftRight<10>(hn::Add(low, half)));
                           hn::StoreU(hn::DemoteTo(dShorts, hn::ShiftRight<10>(sum)), dShorts, out + c);
                       });
    }
}

/// Weights of int8 elements have 10 fraction bits and add up to 2^10.
constexpr int WeightBits = 10;

void BlendColumnsInt8(const void* row, const ref::Blend<int32_t>* columns, size_t count, size_t channels, int32_t* out)
{
    BlendEach(static_cast<const int8_t*>(row), columns, count, channels, out,
              [](auto d, const int8_t* lower, const int8_t* upper, const ref::Blend<int32_t>& x) HWY_ATTR
              {
                  const hn::Rebind<int8_t, decltype(d)> dBytes;
                  const auto a = hn::PromoteTo(d, hn::LoadU(dBytes, lower));
                  const auto b = hn::PromoteTo(d, hn::LoadU(dBytes, upper));
                  return hn::Add(hn::ShiftLeft<WeightBits>(a), hn::Mul(hn::Sub(b, a), hn::Set(d, x.m_UpperWeight)));
              });
}

void BlendRowsInt8(const int32_t* lower, const int32_t* upper, int32_t upperWeight, size_t count, int8_t* out)
{
    const auto rounded = [=](auto d, size_t i) HWY_ATTR
    {
        const auto a = hn::LoadU(d, lower + i);
        const auto step = hn::Mul(hn::Sub(hn::LoadU(d, upper + i), a), hn::Set(d, upperWeight));
        const auto sum = hn::Add(hn::ShiftLeft<WeightBits>(a), step);
        // Rounds half away from zero: half is added, one less to negative sums, before the shift.
        const auto half = hn::Set(d, int32_t{1} << (2 * WeightBits - 1));
        return hn::ShiftRight<2 * WeightBits>(hn::Add(hn::Add(sum, half), hn::ShiftRight<31>(sum)));
    };
    constexpr size_t Lanes = HWY_LANES(int8_t);
    if (count < Lanes)
    {
        Cover<int32_t>(count,
                       [&](auto d, size_t i) HWY_ATTR
                       {
                           const hn::Rebind<int8_t, decltype(d)> dBytes;
                           hn::StoreU(hn::DemoteTo(dBytes, rounded(d, i)), dBytes, out + i);
                       });
        return;
    }
    CoverBy<int8_t, Lanes>(count,
                           [&](auto, size_t i) HWY_ATTR
                           {
                               const TagInt32 d;
                               const auto part = [&](size_t quarter) HWY_ATTR
                               { return hn::Add(rounded(d, i + quarter * Lanes / 4), hn::Set(d, 128)); };
                               const VecUint8 bytes = JoinInOrder(part(0), part(1), part(2), part(3));
                               hn::StoreU(hn::Xor(bytes, hn::Set(TagUint8(), uint8_t{0x80})), TagUint8(),
                                          reinterpret_cast<uint8_t*>(out) + i);
                           });
}

ResizeFunctions MakeResizeFunctions()
{
    ResizeFunctions functions;
    functions.m_F32 = {BlendColumns<float>, BlendRows<float>};
    functions.m_Bf16 = {BlendColumns<Bf16Bits>, BlendRows<Bf16Bits>};
    functions.m_Uint8 = {BlendColumns<uint8_t>, BlendRowsUint8};
    functions.m_Int8 = {BlendColumnsInt8, BlendRowsInt8};
    functions.m_Int16 = BlendRowInt16;
    return functions;
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
using backends::TypeSet;

constexpr TypeSet TypesUint8 = {DataType::QAsymmU8, DataType::Unsigned8};
constexpr TypeSet TypesInt16 = {DataType::QSymmS16, DataType::Signed16};

/// For the processor at hand. Precondition: it has vectors, see CpuFeatures.
const ResizeFunctions& GetResizeFunctions()
{
    static constinit PerIsa<ResizeFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeResizeFunctions)(); });
}

/// Calls f(run, range of rows, scratch memory) for one range of rows a task.
template <typename F>
Prepared RunInTasks(size_t rows, size_t tasks, const backends::Scratch& taskScratch, const F& f)
{
    backends::Scratch scratch;
    scratch.AddPerTask(taskScratch, tasks);
    return {[=, taskBytes = taskScratch.GetBytes()](const ExecuteArgs& run)
            {
                const size_t used = std::min<size_t>(tasks, run.m_Parallel->GetNumThreads());
                RunTasks(*run.m_Parallel, used,
                         [&](size_t index) {
                             f(run, GetTaskRange(rows, used, index),
                               backends::Scratch::At<std::byte>(run.m_Scratch, index * taskBytes));
                         });
            },
            scratch.GetBytes()};
}

/// The number of tasks that rows are split into. Each has scratch memory of its own.
size_t CountTasks(const ResizedImage& image, unsigned int maxThreads)
{
    constexpr size_t BytesPerElement = 8; // the cost of the arithmetic in bytes moved
    const size_t rowCost = static_cast<size_t>(image.m_Horizontal.m_Output) * image.m_Channels * BytesPerElement;
    return std::clamp<size_t>(image.m_Batches * image.Height() / GetGrain(rowCost), 1, GetMaxTasks(maxThreads));
}

/// A cache of input rows resized along columns: the last two.
template <typename W>
class BlendedColumns
{
public:
    using Function = BlendColumnsFunction<W>;
    using AxisTables = ResizeTables<ref::Blending<W>>;

    BlendedColumns(const ResizedImage& image, Function function, const AxisTables& tables, W* memory)
        : m_Image(image), m_Function(function), m_Tables(tables), m_Rows{memory, memory + image.OutputRowElements()}
    {
    }

    /// Row y of an image. The two rows of one output row are neighbours.
    const W* Get(const std::byte* image, size_t y)
    {
        const std::byte* from = image + y * m_Image.InputRowBytes();
        if (std::exchange(m_Made[y % 2], from) != from)
        {
            m_Function(from, m_Tables.m_Columns.data(), m_Tables.m_Columns.size(), m_Image.m_Channels, m_Rows[y % 2]);
        }
        return m_Rows[y % 2];
    }

private:
    const ResizedImage& m_Image;
    Function m_Function;
    const AxisTables& m_Tables;
    W* m_Rows[2];
    const std::byte* m_Made[2] = {};
};

/// Two rows and the output row that they are blended into.
template <typename W>
struct BlendedRows
{
    const std::byte* m_Image = nullptr; ///< input image
    const W* m_Lower = nullptr;         ///< resized along columns
    const W* m_Upper = nullptr;
    ref::Blend<W> m_Y;
    std::byte* m_Out = nullptr;
    std::byte* m_Memory = nullptr; ///< scratch memory, `rowBytes` of MakeBilinear
};

/// Calls blend(rows) for each output row.
template <typename W, typename F>
Prepared MakeBilinear(const ResizedImage& image, std::shared_ptr<const ResizeTables<ref::Blending<W>>> tables,
                      BlendColumnsFunction<W> blendColumns, size_t rowBytes, unsigned int maxThreads, const F& blend)
{
    backends::Scratch taskScratch;
    const size_t columnsAt = taskScratch.Add<W>(size_t{2}, image.OutputRowElements());
    const size_t rowAt = taskScratch.Add<std::byte>(rowBytes);
    return RunInTasks(image.m_Batches * image.Height(), CountTasks(image, maxThreads), taskScratch,
                      [=](const ExecuteArgs& run, const IndexRange& task, std::byte* memory)
                      {
                          BlendedColumns<W> columns(image, blendColumns, *tables,
                                                    backends::Scratch::At<W>(memory, columnsAt));
                          ForEachResizedRow(image, run, task.m_Begin, task.m_End,
                                            [&](const std::byte* in, size_t row, std::byte* out)
                                            {
                                                const ref::Blend<W>& y = tables->m_Rows[row];
                                                const W* lower = columns.Get(in, y.m_Lower);
                                                const W* upper = columns.Get(in, y.m_Upper);
                                                blend(BlendedRows<W>{in, lower, upper, y, out, memory + rowAt});
                                            });
                      });
}

Prepared MakeBilinearFloat(const ResizedImage& image, const BilinearFunctionsFloat& functions, unsigned int maxThreads)
{
    return MakeBilinear<float>(
        image, std::make_shared<const ResizeTables<ref::Blending<float>>>(image), functions.m_BlendColumns, 0,
        maxThreads,
        [function = functions.m_BlendRows, count = image.OutputRowElements()](const BlendedRows<float>& rows)
        { function(rows.m_Lower, rows.m_Upper, rows.m_Y, count, rows.m_Out); });
}

Prepared MakeBilinearInt8(const ResizedImage& image, const BilinearFunctionsInt8& functions, unsigned int maxThreads)
{
    return MakeBilinear<int32_t>(
        image, std::make_shared<const ResizeTables<ref::Blending<int32_t>>>(image), functions.m_BlendColumns, 0,
        maxThreads,
        [function = functions.m_BlendRows, count = image.OutputRowElements()](const BlendedRows<int32_t>& rows) {
            function(rows.m_Lower, rows.m_Upper, rows.m_Y.m_UpperWeight, count, reinterpret_cast<int8_t*>(rows.m_Out));
        });
}

/// Whether products of an 8-bit element and two weights are exact in float, as they are if factors are powers of two.
bool HasExactProducts(const ResizeTables<ref::Blending<float>>& tables)
{
    constexpr float One = 1 << 6;
    const auto fits = [](const ref::Blend<float>& blend)
    {
        const float upper = blend.m_UpperWeight * One;
        const float lower = blend.m_LowerWeight * One;
        return std::trunc(upper) == upper && std::trunc(lower) == lower;
    };
    return std::all_of(tables.m_Rows.begin(), tables.m_Rows.end(), fits) &&
           std::all_of(tables.m_Columns.begin(), tables.m_Columns.end(), fits);
}

Prepared MakeBilinearUint8(const ResizedImage& image, const BilinearFunctionsUint8& functions, unsigned int maxThreads)
{
    const auto tables = std::make_shared<const ResizeTables<ref::Blending<float>>>(image);
    const auto blend = [image, tables, isExact = HasExactProducts(*tables),
                        function = functions.m_BlendRows](const BlendedRows<float>& rows)
    {
        auto* out = reinterpret_cast<uint8_t*>(rows.m_Out);
        auto* unsure = reinterpret_cast<uint32_t*>(rows.m_Memory);
        const size_t count =
            function(rows.m_Lower, rows.m_Upper, rows.m_Y, isExact, image.OutputRowElements(), out, unsure);
        const auto rowOf = [&](size_t y)
        { return reinterpret_cast<const uint8_t*>(rows.m_Image + y * image.InputRowBytes()); };
        const uint8_t* lower = rowOf(rows.m_Y.m_Lower);
        const uint8_t* upper = rowOf(rows.m_Y.m_Upper);
        const auto channels = static_cast<uint32_t>(image.m_Channels);
        for (size_t i = 0; i < count; ++i)
        {
            const ref::Blend<float>& x = tables->m_Columns[unsure[i] / channels];
            const size_t left = x.m_Lower * channels + unsure[i] % channels;
            const size_t right = x.m_Upper * channels + unsure[i] % channels;
            const float sum =
                ref::BlendFour<float>({static_cast<float>(lower[left]), static_cast<float>(lower[right])},
                                      {static_cast<float>(upper[left]), static_cast<float>(upper[right])}, rows.m_Y, x);
            out[unsure[i]] = static_cast<uint8_t>(sum + 0.5f);
        }
    };
    const size_t maxUnsure = image.OutputRowElements() + BilinearFunctionsUint8::MaxRepeatedUnsure;
    return MakeBilinear<float>(image, tables, functions.m_BlendColumns, maxUnsure * sizeof(uint32_t), maxThreads,
                               blend);
}

Prepared MakeBilinearInt16(const ResizedImage& image, void (*function)(const BlendedRowInt16& row),
                           unsigned int maxThreads)
{
    const auto tables = std::make_shared<const ResizeTables<ref::Blending<int32_t>>>(image);
    const size_t elements = image.InputRowBytes() / image.m_ElementBytes;
    backends::Scratch weighed;
    weighed.Add<int32_t>(size_t{2}, elements);
    return RunInTasks(image.m_Batches * image.Height(), CountTasks(image, maxThreads), weighed,
                      [=](const ExecuteArgs& run, const IndexRange& task, std::byte* memory)
                      {
                          BlendedRowInt16 blended;
                          blended.m_InputElements = elements;
                          blended.m_HighBits = reinterpret_cast<int32_t*>(memory);
                          blended.m_LowBits = blended.m_HighBits + elements;
                          blended.m_Columns = tables->m_Columns.data();
                          blended.m_Count = tables->m_Columns.size();
                          blended.m_Channels = image.m_Channels;
                          ForEachResizedRow(image, run, task.m_Begin, task.m_End,
                                            [&](const std::byte* in, size_t y, std::byte* out)
                                            {
                                                blended.m_Y = tables->m_Rows[y];
                                                blended.m_Lower = in + blended.m_Y.m_Lower * image.InputRowBytes();
                                                blended.m_Upper = in + blended.m_Y.m_Upper * image.InputRowBytes();
                                                blended.m_Out = out;
                                                function(blended);
                                            });
                      });
}

} // namespace

Prepared MakeResizeBilinear(const ResizedImage& image, DataType type, unsigned int maxThreads)
{
    const ResizeFunctions& functions = GetResizeFunctions();
    if (type == DataType::Float32 || type == DataType::BFloat16)
    {
        return MakeBilinearFloat(image, type == DataType::Float32 ? functions.m_F32 : functions.m_Bf16, maxThreads);
    }
    if (TypesUint8.Has(type))
    {
        return MakeBilinearUint8(image, functions.m_Uint8, maxThreads);
    }
    return TypesInt16.Has(type) ? MakeBilinearInt16(image, functions.m_Int16, maxThreads)
                                : MakeBilinearInt8(image, functions.m_Int8, maxThreads);
}

} // namespace tenon::cpu
#endif
