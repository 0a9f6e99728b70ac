// SPDX-License-Identifier: Apache-2.0
// The inner loops of depthwise convolutions of float32. Channels are the innermost loop, a vector at a time: the image
// is read along its memory, and the weights of the vector stay in registers for all pixels of the tile.
#include "backends/cpu/kernels/DepthwiseTilesF32.hpp"

#include "backends/cpu/simd/Isa.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/DepthwiseTilesF32.cpp"
#include "backends/cpu/simd/Foreach.hpp"
// After it.
#include "backends/cpu/simd/Floats-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

namespace
{

struct LoadWhole
{
    HWY_INLINE FloatVector operator()(const float* from) const { return hn::LoadU(Floats(), from); }
    HWY_INLINE void Store(FloatVector values, float* to) const { hn::StoreU(values, Floats(), to); }
};

struct LoadPart
{
    size_t m_Count;
    HWY_INLINE FloatVector operator()(const float* from) const { return LoadSome(from, m_Count); }
    HWY_INLINE void Store(FloatVector values, float* to) const { StoreSome(values, to, m_Count); }
};

template <size_t Rows, size_t Columns, typename Memory>
HWY_INLINE void StorePixels(const DepthwiseTileF32& tile, size_t channel, FloatVector (&sums)[Rows][Columns],
                            const Memory& memory)
{
    const Floats d;
    if (tile.m_HasClamp)
    {
        const FloatVector low = hn::Set(d, tile.m_Low);
        const FloatVector high = hn::Set(d, tile.m_High);
        HWY_UNROLL(2)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(4)
            for (size_t c = 0; c < Columns; ++c)
            {
                sums[r][c] = Clamp(sums[r][c], low, high);
            }
        }
    }
    HWY_UNROLL(2)
    for (size_t r = 0; r < Rows; ++r)
    {
        float* out = tile.m_Out + r * tile.m_OutRowStride + channel;
        HWY_UNROLL(4)
        for (size_t c = 0; c < Columns; ++c)
        {
            memory.Store(sums[r][c], out + c * tile.m_OutStride);
        }
    }
}

template <size_t Rows, size_t Columns, typename Memory>
HWY_INLINE void StartSums(const DepthwiseTileF32& tile, size_t channel, FloatVector (&sums)[Rows][Columns],
                          const Memory& memory)
{
    const FloatVector bias = tile.m_Bias != nullptr ? memory(tile.m_Bias + channel) : hn::Zero(Floats());
    HWY_UNROLL(2)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t c = 0; c < Columns; ++c)
        {
            sums[r][c] = bias;
        }
    }
}

/// A vector of channels of the pixels of a tile, for a window of Size x Size points.
template <size_t Size, size_t Stride, size_t Rows, size_t Columns, typename Memory>
HWY_INLINE void RunChannels(const DepthwiseTileF32& tile, size_t channel, const float* weights, const Memory& memory)
{
    const Floats d;
    constexpr size_t Width = (Columns - 1) * Stride + Size;
    constexpr size_t Height = (Rows - 1) * Stride + Size;
    FloatVector w[Size * Size];
    HWY_UNROLL(25)
    for (size_t i = 0; i < Size * Size; ++i)
    {
        w[i] = hn::Load(d, weights + i * hn::Lanes(d));
    }
    FloatVector sums[Rows][Columns];
    StartSums(tile, channel, sums, memory);
    HWY_UNROLL(8)
    for (size_t y = 0; y < Height; ++y)
    {
        HWY_UNROLL(12)
        for (size_t x = 0; x < Width; ++x)
        {
            const FloatVector value = memory(tile.m_Data[y * Width + x] + channel);
            // All points of all windows of the tile that see this pixel.
            HWY_UNROLL(2)
            for (size_t r = 0; r < Rows; ++r)
            {
                HWY_UNROLL(4)
                for (size_t c = 0; c < Columns; ++c)
                {
                    const size_t i = y - r * Stride;
                    const size_t j = x - c * Stride;
                    if (i < Size && j < Size) // negative ones are large
                    {
                        sums[r][c] = hn::MulAdd(value, w[i * Size + j], sums[r][c]);
                    }
                }
            }
        }
    }
    StorePixels(tile, channel, sums, memory);
}

template <size_t Size, size_t Stride, size_t Rows, size_t Columns>
void Tile(const DepthwiseTileF32& tile)
{
    const size_t lanes = hn::Lanes(Floats());
    const float* weights = tile.m_Weights;
    size_t channel = 0;
    for (; channel + lanes <= tile.m_Channels; channel += lanes, weights += Size * Size * lanes)
    {
        RunChannels<Size, Stride, Rows, Columns>(tile, channel, weights, LoadWhole());
    }
    if (channel < tile.m_Channels)
    {
        RunChannels<Size, Stride, Rows, Columns>(tile, channel, weights, LoadPart{tile.m_Channels - channel});
    }
}

/// The same for any window: the points of each pixel's window are looked up.
template <size_t Columns, typename Memory>
HWY_INLINE void RunAnyChannels(const DepthwiseTileF32& tile, size_t channel, const float* weights, const Memory& memory)
{
    const Floats d;
    FloatVector sums[1][Columns];
    StartSums(tile, channel, sums, memory);
    const float* const* data = tile.m_Data;
    for (size_t tap = 0; tap < tile.m_Taps; ++tap, data += Columns, weights += hn::Lanes(d))
    {
        const FloatVector w = hn::Load(d, weights);
        HWY_UNROLL(4)
        for (size_t c = 0; c < Columns; ++c)
        {
            sums[0][c] = hn::MulAdd(memory(data[c] + channel), w, sums[0][c]);
        }
    }
    StorePixels(tile, channel, sums, memory);
}

template <size_t Columns>
void AnyTile(const DepthwiseTileF32& tile)
{
    const size_t lanes = hn::Lanes(Floats());
    const float* weights = tile.m_Weights;
    size_t channel = 0;
    for (; channel + lanes <= tile.m_Channels; channel += lanes, weights += tile.m_Taps * lanes)
    {
        RunAnyChannels<Columns>(tile, channel, weights, LoadWhole());
    }
    if (channel < tile.m_Channels)
    {
        RunAnyChannels<Columns>(tile, channel, weights, LoadPart{tile.m_Channels - channel});
    }
}

void Repeat(const float* from, size_t count, size_t times, float* to)
{
    const Floats d;
    const size_t lanes = hn::Lanes(d);
    for (size_t i = 0; i < count; ++i, to += times)
    {
        const FloatVector value = hn::Set(d, from[i]);
        size_t j = 0;
        for (; j + lanes <= times; j += lanes)
        {
            hn::StoreU(value, d, to + j);
        }
        std::fill(to + j, to + times, from[i]);
    }
}

template <size_t Size, size_t Stride>
DepthwiseTilesF32 MakeTiles()
{
    DepthwiseTilesF32 tiles;
    tiles.m_Size = Size;
    tiles.m_Rows = 2;
    tiles.m_Wide[1] = Tile<Size, Stride, 1, DepthwiseTilesF32::Columns>;
    tiles.m_Wide[2] = Tile<Size, Stride, 2, DepthwiseTilesF32::Columns>;
    tiles.m_Narrow[1] = Tile<Size, Stride, 1, 1>;
    tiles.m_Narrow[2] = Tile<Size, Stride, 2, 1>;
    return tiles;
}

DepthwiseEngineF32 MakeEngine()
{
    DepthwiseEngineF32 engine;
    engine.m_Size3[0] = MakeTiles<3, 1>();
    engine.m_Size3[1] = MakeTiles<3, 2>();
    engine.m_Size5[0] = MakeTiles<5, 1>();
    engine.m_Size5[1] = MakeTiles<5, 2>();
    engine.m_Any.m_Wide[1] = AnyTile<DepthwiseTilesF32::Columns>;
    engine.m_Any.m_Narrow[1] = AnyTile<1>;
    engine.m_Lanes = hn::Lanes(Floats());
    engine.m_Repeat = Repeat;
    return engine;
}

} // namespace

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::cpu
{

const DepthwiseEngineF32& GetDepthwiseEngineF32()
{
    static const DepthwiseEngineF32 engine = TENON_CHOOSE(MakeEngine)();
    return engine;
}

} // namespace tenon::cpu
#endif
