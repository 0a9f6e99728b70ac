// SPDX-License-Identifier: Apache-2.0
// Transforms from both sides by small matrices (Bt d B, At m A, G g Gt): first all columns of a tile, into memory that
// fits the first-level cache, then all rows. 36 vectors do not fit the registers.
#include "backends/cpu/simd/Isa.hpp"
#include "backends/cpu/winograd/WinogradTransforms.hpp"

#include <hwy/cache_control.h>

#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/winograd/WinogradTransformsF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// Included after Foreach.hpp.
#include "backends/cpu/simd/F32-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

constexpr size_t Inputs = WinogradTileF32::Inputs;
constexpr size_t Outputs = WinogradTileF32::Outputs;
constexpr float Near = WinogradTileF32::Near;
constexpr float Far = WinogradTileF32::Far;
constexpr float NearSquare = WinogradTileF32::NearSquare;
constexpr float FarSquare = WinogradTileF32::FarSquare;

/// Bt: six values of a line to six points. With a = Near, b = Far the rows of the matrix are
///   a^2 b^2    0       -(a^2 + b^2)    0               1    0
///   0          -a b^2  -b^2            a               1    0     and with -a for a
///   0          -b a^2  -a^2            b               1    0     and with -b for b
///   0          a^2 b^2 0               -(a^2 + b^2)    0    1
HWY_INLINE void ToPoints(const VecF32 (&x)[Inputs], VecF32 (&points)[Inputs])
{
    const TagF32 d;
    const VecF32 product = hn::Set(d, NearSquare * FarSquare);
    const VecF32 sum = hn::Set(d, NearSquare + FarSquare);
    const VecF32 near = hn::Set(d, Near);
    const VecF32 far = hn::Set(d, Far);
    const VecF32 nearSquare = hn::Set(d, NearSquare);
    const VecF32 farSquare = hn::Set(d, FarSquare);
    points[0] = hn::NegMulAdd(sum, x[2], hn::MulAdd(product, x[0], x[4]));
    points[5] = hn::NegMulAdd(sum, x[3], hn::MulAdd(product, x[1], x[5]));
    const VecF32 nearEven = hn::NegMulAdd(farSquare, x[2], x[4]);
    const VecF32 nearOdd = hn::NegMulAdd(farSquare, x[1], x[3]);
    points[1] = hn::MulAdd(near, nearOdd, nearEven);
    points[2] = hn::NegMulAdd(near, nearOdd, nearEven);
    const VecF32 farEven = hn::NegMulAdd(nearSquare, x[2], x[4]);
    const VecF32 farOdd = hn::NegMulAdd(nearSquare, x[1], x[3]);
    points[3] = hn::MulAdd(far, farOdd, farEven);
    points[4] = hn::NegMulAdd(far, farOdd, farEven);
}

/// At: six points to the four outputs of a line. The columns of the matrix are the powers 0 to 3 of the points; that of
/// infinity has the last power alone.
HWY_INLINE void FromPoints(const VecF32 (&points)[Inputs], VecF32 (&y)[Outputs])
{
    const TagF32 d;
    const VecF32 nearSum = hn::Add(points[1], points[2]);
    const VecF32 nearDifference = hn::Sub(points[1], points[2]);
    const VecF32 farSum = hn::Add(points[3], points[4]);
    const VecF32 farDifference = hn::Sub(points[3], points[4]);
    y[0] = hn::Add(hn::Add(points[0], nearSum), farSum);
    y[1] = hn::MulAdd(hn::Set(d, Far), farDifference, hn::Mul(hn::Set(d, Near), nearDifference));
    y[2] = hn::MulAdd(hn::Set(d, FarSquare), farSum, hn::Mul(hn::Set(d, NearSquare), nearSum));
    y[3] = hn::MulAdd(hn::Set(d, Far * FarSquare), farDifference,
                      hn::MulAdd(hn::Set(d, Near * NearSquare), nearDifference, points[5]));
}

/// Transforms a vector of channels, `count` of which exist.
HWY_INLINE void TransformInputVector(const WinogradInputTileF32& tile, size_t channel, size_t count)
{
    const TagF32 d;
    constexpr size_t Lanes = hn::MaxLanes(d);
    HWY_ALIGN float columns[Inputs * Inputs * Lanes]; // [column][point]
    HWY_UNROLL(6)
    for (size_t x = 0; x < Inputs; ++x)
    {
        VecF32 line[Inputs];
        HWY_UNROLL(6)
        for (size_t y = 0; y < Inputs; ++y)
        {
            line[y] = LoadSome(tile.m_Pixels[y * Inputs + x] + channel, count);
            if (x >= Inputs - Outputs) // the others belong to this tile
            {
                hwy::Prefetch(tile.m_Next[y * Inputs + x] + channel);
            }
        }
        VecF32 points[Inputs];
        ToPoints(line, points);
        HWY_UNROLL(6)
        for (size_t i = 0; i < Inputs; ++i)
        {
            hn::Store(points[i], d, columns + (x * Inputs + i) * Lanes);
        }
    }
    HWY_UNROLL(6)
    for (size_t i = 0; i < Inputs; ++i)
    {
        VecF32 line[Inputs];
        HWY_UNROLL(6)
        for (size_t x = 0; x < Inputs; ++x)
        {
            line[x] = hn::Load(d, columns + (x * Inputs + i) * Lanes);
        }
        VecF32 points[Inputs];
        ToPoints(line, points);
        float* out = tile.m_Out + i * Inputs * tile.m_PointStride + channel;
        HWY_UNROLL(6)
        for (size_t j = 0; j < Inputs; ++j)
        {
            hn::Store(points[j], d, out + j * tile.m_PointStride);
        }
    }
}

void TransformInput(const WinogradInputTileF32& tile)
{
    const size_t lanes = hn::Lanes(TagF32());
    size_t channel = 0;
    for (; channel + lanes <= tile.m_Channels; channel += lanes)
    {
        TransformInputVector(tile, channel, lanes);
    }
    if (channel < tile.m_Channels)
    {
        TransformInputVector(tile, channel, tile.m_Channels - channel);
    }
}

HWY_INLINE void TransformOutputVector(const WinogradOutputTileF32& tile, size_t channel, size_t count)
{
    const TagF32 d;
    constexpr size_t Lanes = hn::MaxLanes(d);
    HWY_ALIGN float columns[Inputs * Outputs * Lanes]; // [point of a row][row]
    HWY_UNROLL(6)
    for (size_t j = 0; j < Inputs; ++j)
    {
        VecF32 points[Inputs];
        HWY_UNROLL(6)
        for (size_t i = 0; i < Inputs; ++i)
        {
            points[i] = hn::Load(d, tile.m_Sums + (i * Inputs + j) * tile.m_PointStride + channel);
        }
        VecF32 line[Outputs];
        FromPoints(points, line);
        HWY_UNROLL(4)
        for (size_t y = 0; y < Outputs; ++y)
        {
            hn::Store(line[y], d, columns + (j * Outputs + y) * Lanes);
        }
    }
    const VecF32 bias = tile.m_Bias != nullptr ? LoadSome(tile.m_Bias + channel, count) : hn::Zero(d);
    for (size_t y = 0; y < tile.m_Rows; ++y)
    {
        VecF32 points[Inputs];
        HWY_UNROLL(6)
        for (size_t j = 0; j < Inputs; ++j)
        {
            points[j] = hn::Load(d, columns + (j * Outputs + y) * Lanes);
        }
        VecF32 line[Outputs];
        FromPoints(points, line);
        HWY_UNROLL(4)
        for (size_t x = 0; x < Outputs; ++x)
        {
            line[x] = hn::Add(line[x], bias);
            if (tile.m_HasClamp)
            {
                line[x] = Clamped(line[x], hn::Set(d, tile.m_Low), hn::Set(d, tile.m_High));
            }
        }
        float* out = tile.m_Out + y * tile.m_RowStride + channel;
        HWY_UNROLL(4)
        for (size_t x = 0; x < Outputs; ++x)
        {
            if (x < tile.m_Columns)
            {
                StoreSome(line[x], out + x * tile.m_PixelStride, count);
            }
        }
    }
}

void TransformOutput(const WinogradOutputTileF32& tile)
{
    const size_t lanes = hn::Lanes(TagF32());
    size_t channel = 0;
    for (; channel + lanes <= tile.m_Channels; channel += lanes)
    {
        TransformOutputVector(tile, channel, lanes);
    }
    if (channel < tile.m_Channels)
    {
        TransformOutputVector(tile, channel, tile.m_Channels - channel);
    }
}

WinogradTransformsF32 MakeTransforms()
{
    return {TransformInput, TransformOutput};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const WinogradTransformsF32& GetWinogradTransformsF32()
{
    static constinit PerIsa<WinogradTransformsF32> transforms;
    return transforms.Get([] { return TENON_CHOOSE(MakeTransforms)(); });
}

namespace
{

/// G: three weights of a line to six points, for all channels. The factors that Bt and At leave out are included.
template <typename From, typename To>
void WeightsToPoints(const From* from, size_t fromStride, size_t channels, To* to, size_t toStride)
{
    constexpr double Near = WinogradTileF32::Near;
    constexpr double Far = WinogradTileF32::Far;
    constexpr double Difference = Far * Far - Near * Near;
    constexpr double AtZero = 1.0 / (Near * Near * Far * Far);
    constexpr double AtNear = -1.0 / (2.0 * Near * Near * Difference);
    constexpr double AtFar = 1.0 / (2.0 * Far * Far * Difference);
    for (size_t c = 0; c < channels; ++c)
    {
        const double w0 = from[c];
        const double w1 = from[fromStride + c];
        const double w2 = from[2 * fromStride + c];
        const double nearEven = AtNear * (w0 + Near * Near * w2);
        const double farEven = AtFar * (w0 + Far * Far * w2);
        to[c] = static_cast<To>(AtZero * w0);
        to[toStride + c] = static_cast<To>(nearEven + AtNear * Near * w1);
        to[2 * toStride + c] = static_cast<To>(nearEven - AtNear * Near * w1);
        to[3 * toStride + c] = static_cast<To>(farEven + AtFar * Far * w1);
        to[4 * toStride + c] = static_cast<To>(farEven - AtFar * Far * w1);
        to[5 * toStride + c] = static_cast<To>(w2);
    }
}

} // namespace

void TransformWinogradWeightsF32(const float* weights, size_t outputs, size_t channels, float* transformed)
{
    constexpr size_t Window = WinogradTileF32::Window;
    constexpr size_t Inputs = WinogradTileF32::Inputs;
    const size_t planeSize = outputs * channels;
    std::vector<double> columns(Window * Inputs * channels); // [column][point][channel]
    for (size_t o = 0; o < outputs; ++o, weights += Window * Window * channels, transformed += channels)
    {
        for (size_t x = 0; x < Window; ++x)
        {
            const float* from = weights + x * channels;
            WeightsToPoints(from, Window * channels, channels, columns.data() + x * Inputs * channels, channels);
        }
        for (size_t i = 0; i < Inputs; ++i)
        {
            WeightsToPoints(columns.data() + i * channels, Inputs * channels, channels,
                            transformed + i * Inputs * planeSize, planeSize);
        }
    }
}

} // namespace tenon::cpu
#endif
