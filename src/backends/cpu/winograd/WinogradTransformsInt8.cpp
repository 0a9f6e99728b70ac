// SPDX-License-Identifier: Apache-2.0
// Transforms by sums and differences along both axes: first all columns of a tile, then all rows.
#include "backends/cpu/simd/Isa.hpp"
#include "backends/cpu/winograd/WinogradTransforms.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/winograd/WinogradTransformsInt8.cpp"
#include "backends/cpu/simd/Foreach.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace hn = hwy::HWY_NAMESPACE;

namespace
{

constexpr size_t Window = WinogradTileInt8::Window;
constexpr size_t Inputs = WinogradTileInt8::Inputs;
constexpr size_t Outputs = WinogradTileInt8::Outputs;

/// Bt: four values of a line to the points 0, 1, -1 and infinity.
template <class V>
HWY_INLINE void ToPoints(const V (&x)[Inputs], V (&points)[Inputs])
{
    points[0] = hn::Sub(x[0], x[2]);
    points[1] = hn::Add(x[1], x[2]);
    points[2] = hn::Sub(x[2], x[1]);
    points[3] = hn::Sub(x[1], x[3]);
}

/// At: four points to the two outputs of a line.
template <class V>
HWY_INLINE void FromPoints(const V (&points)[Inputs], V (&y)[Outputs])
{
    y[0] = hn::Add(hn::Add(points[0], points[1]), points[2]);
    y[1] = hn::Sub(hn::Sub(points[1], points[2]), points[3]);
}

/// Loads a vector of channels from `channel` on.
template <typename T>
HWY_INLINE void TransformInputVector(const WinogradInputTileInt8& tile, size_t channel)
{
    const hn::ScalableTag<int16_t> d;
    const hn::Rebind<T, decltype(d)> dBytes;
    using Shorts = hn::Vec<decltype(d)>;
    constexpr size_t Lanes = WinogradTransformsInt8::MaxLanes;
    const size_t count = tile.m_Channels - channel;
    Shorts columns[Inputs][Inputs]; // [column][point]
    HWY_UNROLL(4)
    for (size_t x = 0; x < Inputs; ++x)
    {
        Shorts line[Inputs];
        HWY_UNROLL(4)
        for (size_t y = 0; y < Inputs; ++y)
        {
            const T* const from = reinterpret_cast<const T*>(tile.m_Pixels[y * Inputs + x]) + channel;
            if (count >= hn::Lanes(d))
            {
                line[y] = hn::PromoteTo(d, hn::LoadU(dBytes, from));
                continue;
            }
            HWY_ALIGN T some[Lanes] = {};
            std::copy_n(from, count, some);
            line[y] = hn::PromoteTo(d, hn::Load(dBytes, some));
        }
        ToPoints(line, columns[x]);
    }
    HWY_UNROLL(4)
    for (size_t i = 0; i < Inputs; ++i)
    {
        const Shorts line[Inputs] = {columns[0][i], columns[1][i], columns[2][i], columns[3][i]};
        Shorts points[Inputs];
        ToPoints(line, points);
        HWY_UNROLL(4)
        for (size_t j = 0; j < Inputs; ++j)
        {
            hn::Store(points[j], d, tile.m_Out + (i * Inputs + j) * tile.m_PointStride + channel);
        }
    }
}

void TransformInput(const WinogradInputTileInt8& tile)
{
    const size_t lanes = hn::Lanes(hn::ScalableTag<int16_t>());
    for (size_t channel = 0; channel < tile.m_Channels; channel += lanes)
    {
        tile.m_IsSigned ? TransformInputVector<int8_t>(tile, channel) : TransformInputVector<uint8_t>(tile, channel);
    }
}

void TransformOutput(const WinogradOutputTileInt8& tile)
{
    const hn::ScalableTag<int32_t> d;
    using Ints = hn::Vec<decltype(d)>;
    for (size_t c = 0; c < tile.m_Width; c += hn::Lanes(d))
    {
        Ints columns[Inputs][Outputs]; // [point of a row][row]
        HWY_UNROLL(4)
        for (size_t j = 0; j < Inputs; ++j)
        {
            Ints points[Inputs];
            HWY_UNROLL(4)
            for (size_t i = 0; i < Inputs; ++i)
            {
                points[i] = hn::Load(d, tile.m_Sums + (i * Inputs + j) * tile.m_PointStride + c);
            }
            FromPoints(points, columns[j]);
        }
        const Ints bias = hn::Load(d, tile.m_Bias + c);
        HWY_UNROLL(2)
        for (size_t y = 0; y < Outputs; ++y)
        {
            const Ints points[Inputs] = {columns[0][y], columns[1][y], columns[2][y], columns[3][y]};
            Ints line[Outputs];
            FromPoints(points, line);
            HWY_UNROLL(2)
            for (size_t x = 0; x < Outputs; ++x)
            {
                static_assert(WinogradTileInt8::Scale == 4);
                hn::Store(hn::Add(hn::ShiftRight<2>(line[x]), bias), d,
                          tile.m_Out + y * tile.m_RowStride + x * tile.m_Width + c);
            }
        }
    }
}

/// 2 G: three weights of a line to four points, doubled.
template <class V>
HWY_INLINE void WeightsToPoints(const V (&w)[Window], V (&points)[Inputs])
{
    const V ends = hn::Add(w[0], w[2]);
    points[0] = hn::Add(w[0], w[0]);
    points[1] = hn::Add(ends, w[1]);
    points[2] = hn::Sub(ends, w[1]);
    points[3] = hn::Add(w[2], w[2]);
}

void TransformWeights(const int16_t* weights, size_t channels, int16_t* points, size_t pointStride)
{
    const hn::ScalableTag<int16_t> d;
    using Shorts = hn::Vec<decltype(d)>;
    for (size_t channel = 0; channel < channels; channel += hn::Lanes(d))
    {
        Shorts columns[Window][Inputs]; // [column][point]
        HWY_UNROLL(3)
        for (size_t x = 0; x < Window; ++x)
        {
            Shorts line[Window];
            HWY_UNROLL(3)
            for (size_t y = 0; y < Window; ++y)
            {
                line[y] = hn::LoadU(d, weights + (y * Window + x) * channels + channel);
            }
            WeightsToPoints(line, columns[x]);
        }
        HWY_UNROLL(4)
        for (size_t i = 0; i < Inputs; ++i)
        {
            const Shorts line[Window] = {columns[0][i], columns[1][i], columns[2][i]};
            Shorts ofRow[Inputs];
            WeightsToPoints(line, ofRow);
            HWY_UNROLL(4)
            for (size_t j = 0; j < Inputs; ++j)
            {
                hn::StoreU(ofRow[j], d, points + (i * Inputs + j) * pointStride + channel);
            }
        }
    }
}

WinogradTransformsInt8 MakeTransforms()
{
    return {TransformInput, TransformOutput, TransformWeights};
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const WinogradTransformsInt8& GetWinogradTransformsInt8()
{
    static constinit PerIsa<WinogradTransformsInt8> transforms;
    return transforms.Get([] { return TENON_CHOOSE(MakeTransforms)(); });
}

} // namespace tenon::cpu
#endif
