// SPDX-License-Identifier: Apache-2.0
// Layer, L2, instance and batch normalization of floats, and L2 of int8 and uint8: the kernel rows and their loops.
//     rows         (x - mean) / sqrt(var + eps) * scale + bias, and x / max(norm, eps)
//     columns      of an NHWC image: likewise with one gamma and beta
//     affine       (x - mean) * factor + beta by channel
#include "backends/common/FixedPoint.hpp"
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/reduce/RowBlocks.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/AxisRows.hpp"

#include <tenon/descriptors/Normalization.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

// Compiled once: simd/Foreach.hpp includes this file again for each target.
#ifndef TENON_NORMALIZATION_TYPES
#define TENON_NORMALIZATION_TYPES
namespace tenon::cpu
{

namespace
{

/// A parameter of a row: one value per element, one for all (m_Step 0), or none.
struct NormParameter
{
    const float* m_Values = nullptr;
    size_t m_Step = 0;
};

struct NormFunctions
{
    /// Brings each row to mean 0 and variance 1, or without `subtractsMean` to a mean square of 1, times scale plus
    /// bias; the output may overwrite an input.
    void (*m_LayerRows)(const float* in, size_t rows, size_t depth, bool subtractsMean, float epsilon,
                        const NormParameter& scale, const NormParameter& bias, float* out) = nullptr;
    /// Divides each row by its norm, or by `epsilon` if that is larger.
    void (*m_L2Rows)(const float* in, size_t rows, size_t depth, float epsilon, float* out) = nullptr;
    /// Brings each of `channels` columns of `pixels` rows, `stride` apart, to mean 0 and variance 1, times gamma plus
    /// beta.
    void (*m_Columns)(const float* in, size_t pixels, size_t stride, size_t channels, float epsilon, float gamma,
                      float beta, float* out) = nullptr;
    /// out = (in - mean) * factor + beta, with one of each a channel, for `pixels` rows.
    void (*m_Affine)(const float* in, size_t pixels, size_t channels, const float* mean, const float* factor,
                     const float* beta, float* out) = nullptr;
};

/// L2 normalization of rows of int8 or uint8: y = 128 * (x - z) / sqrt(sum (x - z)^2), bit for bit as TFLite's
/// reference kernels, which shift at different steps for uint8 and int8.
struct L2NormInt8
{
    bool m_IsSigned = false;
    uint8_t m_Zero = 0; ///< zero point of the input, plus 128 for int8

    /// Computes rows of `depth` elements (1 or more).
    void operator()(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const;
};

} // namespace

} // namespace tenon::cpu
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/norm/Normalizations.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it: compiled for each target.
#include "backends/cpu/simd/BlockedSumF32-inl.hpp"
#include "backends/cpu/simd/BoundedMultiplier-inl.hpp"
#include "backends/cpu/simd/Cover-inl.hpp"
#include "backends/cpu/simd/Divide-inl.hpp"
#include "backends/cpu/simd/F32-inl.hpp"
#include "backends/cpu/simd/Int8-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

/// The sum over a row of the differences to `centre`, or of their squares.
template <bool Squares>
float SumRow(const float* in, size_t depth, float centre)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    const VecF32 middle = hn::Set(d, centre);
    const auto step = [middle](VecF32 sum, VecF32 x)
    {
        const VecF32 difference = hn::Sub(x, middle);
        return hn::Add(sum, Squares ? hn::Mul(difference, difference) : difference);
    };
    // A long row is summed in blocks, and the blocks in double precision.
    const size_t part = 2 * lanes * SumBlock;
    if (depth > part)
    {
        double total = 0.0;
        for (size_t first = 0; first < depth; first += part)
        {
            total += static_cast<double>(SumRow<Squares>(in + first, std::min(part, depth - first), centre));
        }
        return static_cast<float>(total);
    }
    VecF32 sum0 = hn::Zero(d);
    VecF32 sum1 = hn::Zero(d);
    size_t i = 0;
    for (; i + 2 * lanes <= depth; i += 2 * lanes)
    {
        sum0 = step(sum0, hn::LoadU(d, in + i));
        sum1 = step(sum1, hn::LoadU(d, in + i + lanes));
    }
    if (i + lanes <= depth)
    {
        sum0 = step(sum0, hn::LoadU(d, in + i));
        i += lanes;
    }
    if (i < depth) // lanes beyond the row hold `centre`, which adds nothing
    {
        sum1 = step(sum1, hn::IfThenElse(hn::FirstN(d, depth - i), LoadSome(in + i, depth - i), middle));
    }
    return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
}

/// out = (x - mean) * factor * scale + bias for a row. The last partial vector is filled with zeros.
void ScaleRow(const float* in, size_t depth, float mean, float factor, const NormParameter& scale,
              const NormParameter& bias, float* out)
{
    const TagF32 d;
    const size_t lanes = hn::Lanes(d);
    const VecF32 middle = hn::Set(d, mean);
    const VecF32 factors = hn::Set(d, factor);
    const VecF32 oneScale = hn::Set(d, scale.m_Values != nullptr ? scale.m_Values[0] : 1.0f);
    const VecF32 oneBias = hn::Set(d, bias.m_Values != nullptr ? bias.m_Values[0] : 0.0f);
    // Parameters are read before the output is written, as the output may overwrite them.
    const auto vector = [&](size_t i, auto load) HWY_ATTR
    {
        const VecF32 s = scale.m_Step != 0 ? load(scale.m_Values + i) : oneScale;
        const VecF32 b = bias.m_Step != 0 ? load(bias.m_Values + i) : oneBias;
        return hn::Add(hn::Mul(hn::Mul(hn::Sub(load(in + i), middle), factors), s), b);
    };
    size_t i = 0;
    for (; i + lanes <= depth; i += lanes)
    {
        hn::StoreU(vector(i, [d](const float* from) HWY_ATTR { return hn::LoadU(d, from); }), d, out + i);
    }
    if (i < depth)
    {
        const size_t rest = depth - i;
        StoreSome(vector(i, [rest](const float* from) HWY_ATTR { return LoadSome(from, rest); }), out + i, rest);
    }
}

void LayerRows(const float* in, size_t rows, size_t depth, bool subtractsMean, float epsilon,
               const NormParameter& scale, const NormParameter& bias, float* out)
{
    const auto count = static_cast<float>(depth);
    const size_t block = CountRowsOfBlock(depth);
    for (size_t first = 0; first < rows; first += block)
    {
        const size_t some = std::min(block, rows - first);
        float means[MaxRowsOfBlock];
        float factors[MaxRowsOfBlock];
        for (size_t i = 0; i < some; ++i)
        {
            means[i] = subtractsMean ? SumRow<false>(in + (first + i) * depth, depth, 0.0f) / count : 0.0f;
        }
        for (size_t i = 0; i < some; ++i)
        {
            const float squares = SumRow<true>(in + (first + i) * depth, depth, means[i]);
            factors[i] = 1.0f / std::sqrt(squares / count + epsilon);
        }
        for (size_t i = 0; i < some; ++i)
        {
            const size_t row = (first + i) * depth;
            ScaleRow(in + row, depth, means[i], factors[i], scale, bias, out + row);
        }
    }
}

void L2Rows(const float* in, size_t rows, size_t depth, float epsilon, float* out)
{
    const size_t block = CountRowsOfBlock(depth);
    for (size_t first = 0; first < rows; first += block)
    {
        const size_t some = std::min(block, rows - first);
        float norms[MaxRowsOfBlock];
        for (size_t i = 0; i < some; ++i)
        {
            norms[i] = std::max(std::sqrt(SumRow<true>(in + (first + i) * depth, depth, 0.0f)), epsilon);
        }
        for (size_t i = 0; i < some; ++i)
        {
            const size_t row = (first + i) * depth;
            const auto divide = [=, norm = norms[i]](auto d, size_t k)
            { hn::StoreU(Quotient(hn::LoadU(d, in + row + k), hn::Set(d, norm)), d, out + row + k); };
            Cover<float>(depth, divide);
        }
    }
}

void Columns(const float* in, size_t pixels, size_t stride, size_t channels, float epsilon, float gamma, float beta,
             float* out)
{
    const auto column = [=](auto d, size_t c)
    {
        const auto count = hn::Set(d, static_cast<float>(pixels));
        const auto load = [=](size_t pixel) HWY_ATTR { return hn::LoadU(d, in + pixel * stride + c); };
        const auto mean = Quotient(SumSteps(d, pixels, load), count);
        const auto square = [=](size_t pixel) HWY_ATTR
        {
            const auto difference = hn::Sub(load(pixel), mean);
            return hn::Mul(difference, difference);
        };
        const auto squares = SumSteps(d, pixels, square);
        const auto deviation = RootOf(hn::Add(Quotient(squares, count), hn::Set(d, epsilon)));
        const auto scale = Quotient(hn::Set(d, gamma), deviation);
        for (size_t pixel = 0; pixel < pixels; ++pixel)
        {
            const auto difference = hn::Sub(hn::LoadU(d, in + pixel * stride + c), mean);
            hn::StoreU(hn::Add(hn::Mul(difference, scale), hn::Set(d, beta)), d, out + pixel * stride + c);
        }
    };
    Cover<float>(channels, column);
}

void Affine(const float* in, size_t pixels, size_t channels, const float* mean, const float* factor, const float* beta,
            float* out)
{
    for (size_t pixel = 0; pixel < pixels; ++pixel, in += channels, out += channels)
    {
        Cover<float>(channels,
                     [=](auto d, size_t c)
                     {
                         const auto x = hn::Sub(hn::LoadU(d, in + c), hn::LoadU(d, mean + c));
                         hn::StoreU(hn::Add(hn::Mul(x, hn::LoadU(d, factor + c)), hn::LoadU(d, beta + c)), d, out + c);
                     });
    }
}

NormFunctions MakeNormFunctions()
{
    NormFunctions functions;
    functions.m_LayerRows = LayerRows;
    functions.m_L2Rows = L2Rows;
    functions.m_Columns = Columns;
    functions.m_Affine = Affine;
    return functions;
}

constexpr size_t LanesInt8 = HWY_LANES(uint8_t);
constexpr int OutputBitsInt8 = 7; // a step of the output is 1/128

/// The sum of (x - zero)^2, where x is a stored byte XOR signXor.
int64_t SumSquaresInt8(const uint8_t* in, size_t depth, uint8_t signXor, uint8_t zero)
{
    const TagUint8 d;
    const TagInt32 dInt;
    const hn::Repartition<int16_t, TagUint8> dShort;
    const VecUint8 signXors = hn::Set(d, signXor);
    const auto zeros = hn::Set(dShort, static_cast<int16_t>(zero));
    constexpr size_t MaxBlock = 4096 * LanesInt8; // elements: the sum of a lane stays below 2^30
    int64_t all = 0;
    for (size_t first = 0; first < depth; first += MaxBlock)
    {
        const size_t end = std::min(depth, first + MaxBlock);
        VecInt32 sum = hn::Zero(dInt);
        VecInt32 others = hn::Zero(dInt); // on some targets, the sum of the other half of the products
        for (size_t i = first; i < end; i += LanesInt8)
        {
            // LanesInt8 beyond the row hold the zero point, which adds nothing.
            const VecUint8 stored = end - i >= LanesInt8
                                        ? hn::LoadU(d, in + i)
                                        : LoadFirst(d, in + i, end - i, static_cast<uint8_t>(zero ^ signXor));
            const VecUint8 x = hn::Xor(stored, signXors);
            const auto low = hn::Sub(hn::BitCast(dShort, hn::InterleaveLower(d, x, hn::Zero(d))), zeros);
            const auto high = hn::Sub(hn::BitCast(dShort, hn::InterleaveUpper(d, x, hn::Zero(d))), zeros);
            sum = hn::ReorderWidenMulAccumulate(dInt, low, low, sum, others);
            sum = hn::ReorderWidenMulAccumulate(dInt, high, high, sum, others);
        }
        int32_t sums[LanesInt8 / 4];
        hn::StoreU(hn::Add(sum, others), dInt, sums);
        for (const int32_t lane : sums)
        {
            all += lane;
        }
    }
    return all;
}

template <bool IsSigned>
void L2RowsInt8Of(const uint8_t* in, size_t rows, size_t depth, uint8_t zero, uint8_t* out)
{
    const TagUint8 d;
    const TagInt32 dInt;
    const Quarters quarters;
    constexpr uint8_t SignXor = IsSigned ? 0x80 : 0;
    // As in the reference kernels: for int8 the 7 bits are in the multiplier, for uint8 in the elements.
    constexpr int MultiplierBits = IsSigned ? OutputBitsInt8 : 0;
    constexpr int InputBits = OutputBitsInt8 - MultiplierBits;
    const VecUint8 signXors = hn::Set(d, SignXor);
    const VecInt32 zeros = hn::Set(dInt, zero);
    const auto zeroOutput = hn::Set(hn::Repartition<int16_t, TagUint8>(), int16_t{128});
    for (size_t row = 0; row < rows; ++row, in += depth, out += depth)
    {
        const int64_t squares = SumSquaresInt8(in, depth, SignXor, zero);
        backends::QuantizedMultiplier inverse = backends::GetInverseSquareRoot(
            static_cast<int32_t>(std::min<int64_t>(squares, std::numeric_limits<int32_t>::max())));
        inverse.m_Shift += MultiplierBits;
        const BoundedMultiplier<TagInt32> multiply(inverse);
        const auto divide = [&](VecUint8 stored) HWY_ATTR
        {
            const VecUint8 bytes = hn::Xor(stored, signXors);
            const auto part = [&](VecInt32 quarter) HWY_ATTR
            { return multiply(hn::ShiftLeft<InputBits>(hn::Sub(quarter, zeros))); };
            return hn::Xor(JoinQuarters(part(quarters.Get<0>(bytes)), part(quarters.Get<1>(bytes)),
                                        part(quarters.Get<2>(bytes)), part(quarters.Get<3>(bytes)), zeroOutput),
                           signXors);
        };
        size_t i = 0;
        for (; i + LanesInt8 <= depth; i += LanesInt8)
        {
            hn::StoreU(divide(hn::LoadU(d, in + i)), d, out + i);
        }
        if (i < depth)
        {
            StoreFirst(divide(LoadFirst(d, in + i, depth - i, uint8_t{0})), d, out + i, depth - i);
        }
    }
}

void L2RowsInt8(const L2NormInt8& norm, const uint8_t* in, size_t rows, size_t depth, uint8_t* out)
{
    const auto divide = norm.m_IsSigned ? L2RowsInt8Of<true> : L2RowsInt8Of<false>;
    divide(in, rows, depth, norm.m_Zero, out);
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
const NormFunctions& GetNormFunctions()
{
    static constinit PerIsa<NormFunctions> functions;
    return functions.Get([] { return TENON_CHOOSE(MakeNormFunctions)(); });
}

void L2NormInt8::operator()(const uint8_t* in, size_t rows, size_t depth, uint8_t* out) const
{
    TENON_CHOOSE(L2RowsInt8)(*this, in, rows, depth, out);
}

constexpr backends::TypeRow OneInputTypes[] = {backends::SameType(DataType::Float32)};
constexpr backends::TypeRow L2Types[] = {
    backends::SameType(DataType::Float32),
    backends::PerTensor(backends::SameType(backends::TypeSet{DataType::QAsymmU8, DataType::QAsymmS8}))};
constexpr backends::TypeRow LayerTypes[] = {backends::SameType(DataType::Float32, 3)};
constexpr backends::TypeRow BatchTypes[] = {backends::SameType(DataType::Float32, 4)};

/// Calls function(input, count, output) for ranges of rows, one range a task.
template <typename T = float, typename F>
void RunRows(const ExecuteArgs& run, size_t rows, size_t depth, const F& function)
{
    constexpr size_t BytesPerElement = 16; // the cost of the arithmetic in bytes moved
    RunRanges(*run.m_Parallel, rows, GetGrain(BytesPerElement * depth),
              [&](size_t begin, size_t end)
              { function(run.GetInput<T>(0) + begin * depth, end - begin, run.GetOutput<T>(0) + begin * depth); });
}

Prepared RefineLayer(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<LayerNormalizationDescriptor>();
    const ref::AxisRows rows(args.GetInput(0).GetShape(), descriptor.m_Axis);
    const size_t depth = rows.m_Depth * rows.m_Step;
    if (depth == 0 || descriptor.m_NumAxes != 0)
    {
        return Prepared::Declined("its rows are empty, or not of the last dimensions");
    }
    const auto stepOf = [&args](size_t input) -> size_t
    { return args.HasInput(input) && args.GetInput(input).GetNumElements() != 1 ? 1 : 0; };
    return [count = rows.m_Outer, depth, subtractsMean = descriptor.m_SubtractMean, epsilon = descriptor.m_Epsilon,
            hasScale = args.HasInput(1), hasBias = args.HasInput(2), scaleStep = stepOf(1), biasStep = stepOf(2),
            function = GetNormFunctions().m_LayerRows](const ExecuteArgs& run)
    {
        const NormParameter scale{hasScale ? run.GetInput<float>(1) : nullptr, scaleStep};
        const NormParameter bias{hasBias ? run.GetInput<float>(2) : nullptr, biasStep};
        RunRows(run, count, depth,
                [&](const float* in, size_t some, float* out)
                { function(in, some, depth, subtractsMean, epsilon, scale, bias, out); });
    };
}

Prepared RefineL2(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorInfo& input = args.GetInput(0);
    const size_t channels = input.GetShape()[input.GetNumDimensions() - 1];
    if (channels == 0)
    {
        return Prepared::Declined("it has no channels");
    }
    const size_t pixels = input.GetNumElements() / channels;
    if (input.GetDataType() != DataType::Float32)
    {
        const bool isSigned = input.GetDataType() == DataType::QAsymmS8;
        const int32_t zero = input.GetQuantizationOffset() + (isSigned ? 128 : 0);
        if (zero < 0 || zero > 255)
        {
            return Prepared::Declined("its zero point is none of a byte");
        }
        return [pixels, channels, norm = L2NormInt8{isSigned, static_cast<uint8_t>(zero)}](const ExecuteArgs& run)
        {
            RunRows<uint8_t>(run, pixels, channels,
                             [&](const uint8_t* in, size_t some, uint8_t* out) { norm(in, some, channels, out); });
        };
    }
    return [pixels, channels, epsilon = args.GetDescriptor<L2NormalizationDescriptor>().m_Eps,
            function = GetNormFunctions().m_L2Rows](const ExecuteArgs& run)
    {
        RunRows(run, pixels, channels,
                [&](const float* in, size_t some, float* out) { function(in, some, channels, epsilon, out); });
    };
}

Prepared RefineInstance(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<InstanceNormalizationDescriptor>();
    const TensorShape& shape = args.GetInput(0).GetShape();
    const size_t pixels = size_t{shape[1]} * shape[2];
    const size_t channels = shape[3];
    return [batches = size_t{shape[0]}, pixels, channels, gamma = descriptor.m_Gamma, beta = descriptor.m_Beta,
            epsilon = descriptor.m_Eps, function = GetNormFunctions().m_Columns](const ExecuteArgs& run)
    {
        // A unit of the loop is one cache line of channels of one image.
        constexpr size_t Line = 16;
        const size_t blocks = std::max<size_t>(1, channels / Line);
        RunRanges(*run.m_Parallel, batches * blocks, GetGrain(4 * pixels * Line * sizeof(float)),
                  [&](size_t begin, size_t end)
                  {
                      for (size_t unit = begin; unit < end; ++unit)
                      {
                          const IndexRange part = GetTaskRange(channels, blocks, unit % blocks, Line);
                          const size_t first = unit / blocks * pixels * channels + part.m_Begin;
                          function(run.GetInput<float>(0) + first, pixels, channels, part.m_End - part.m_Begin, epsilon,
                                   gamma, beta, run.GetOutput<float>(0) + first);
                      }
                  });
    };
}

/// Batch normalization. The parameters are repeated for a few pixels in scratch memory, so that vectors are full even
/// if channels are few.
class Batch
{
public:
    Batch(size_t pixels, size_t channels, float epsilon, backends::Scratch& scratch)
        : m_Pixels(pixels), m_Channels(channels), m_Repeats(channels < 2 * Lanes ? Lanes : 1), m_Epsilon(epsilon),
          m_Mean(scratch.Add<float>(channels * m_Repeats)), m_Factor(scratch.Add<float>(channels * m_Repeats)),
          m_Beta(scratch.Add<float>(channels * m_Repeats))
    {
    }

    void operator()(const ExecuteArgs& run) const
    {
        float* mean = backends::Scratch::At<float>(run.m_Scratch, m_Mean);
        float* factor = backends::Scratch::At<float>(run.m_Scratch, m_Factor);
        float* beta = backends::Scratch::At<float>(run.m_Scratch, m_Beta);
        for (size_t i = 0; i < m_Channels * m_Repeats; ++i)
        {
            const size_t c = i % m_Channels;
            mean[i] = run.GetInput<float>(1)[c];
            factor[i] = run.GetInput<float>(4)[c] / std::sqrt(run.GetInput<float>(2)[c] + m_Epsilon);
            beta[i] = run.GetInput<float>(3)[c];
        }
        const size_t group = m_Channels * m_Repeats;
        const auto affine = GetNormFunctions().m_Affine;
        RunRanges(*run.m_Parallel, (m_Pixels + m_Repeats - 1) / m_Repeats, GetGrain(2 * group * sizeof(float)),
                  [&](size_t begin, size_t end)
                  {
                      const size_t whole = std::min(end, m_Pixels / m_Repeats);
                      const float* in = run.GetInput<float>(0);
                      float* out = run.GetOutput<float>(0);
                      affine(in + begin * group, std::max(whole, begin) - begin, group, mean, factor, beta,
                             out + begin * group);
                      if (whole < end) // the last pixels, less than a group
                      {
                          affine(in + whole * group, 1, m_Pixels * m_Channels - whole * group, mean, factor, beta,
                                 out + whole * group);
                      }
                  });
    }

private:
    static constexpr size_t Lanes = 16; ///< lanes of the widest vector

    size_t m_Pixels;
    size_t m_Channels;
    size_t m_Repeats;
    float m_Epsilon;
    size_t m_Mean; ///< offset in scratch memory, as the next members
    size_t m_Factor;
    size_t m_Beta;
};

Prepared RefineBatch(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorInfo& data = args.GetInput(0);
    const size_t channels = data.GetShape()[data.GetNumDimensions() - 1];
    if (data.GetNumElements() == 0)
    {
        return Prepared::Declined("the output is empty");
    }
    backends::Scratch scratch;
    const Batch batch(data.GetNumElements() / channels, channels,
                      args.GetDescriptor<BatchNormalizationDescriptor>().m_Eps, scratch);
    return {batch, scratch.GetBytes()};
}

SupportResult CheckBatch(const LayerView& layer)
{
    if (layer.GetInput(4).GetDataType() != DataType::Float32)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "input 4 is not Float32");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel CpuLayerNormalizationKernel = {.m_Name = "CpuLayerNormalization",
                                                             .m_Types = LayerTypes,
                                                             .m_Reference = &ref::RefLayerNormalizationKernel,
                                                             .m_Refine = RefineLayer};
extern const backends::Kernel CpuL2NormalizationKernel = {.m_Name = "CpuL2Normalization",
                                                          .m_Types = L2Types,
                                                          .m_Reference = &ref::RefL2NormalizationKernel,
                                                          .m_Refine = RefineL2};
extern const backends::Kernel CpuInstanceNormalizationKernel = {.m_Name = "CpuInstanceNormalization",
                                                                .m_Types = OneInputTypes,
                                                                .m_Reference = &ref::RefInstanceNormalizationKernel,
                                                                .m_Refine = RefineInstance};
extern const backends::Kernel CpuBatchNormalizationKernel = {.m_Name = "CpuBatchNormalization",
                                                             .m_Types = BatchTypes,
                                                             .m_Check = CheckBatch,
                                                             .m_Reference = &ref::RefBatchNormalizationKernel,
                                                             .m_Refine = RefineBatch};

} // namespace tenon::cpu
#endif
