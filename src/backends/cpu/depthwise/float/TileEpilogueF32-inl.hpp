// SPDX-License-Identifier: Apache-2.0
// Prologue and epilogue of float tiles: bias; or scale, bias of hybrid layers; clamp; stores of whole or tail vectors.
#if defined(TENON_CPU_TILE_EPILOGUE_F32_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_TILE_EPILOGUE_F32_INL
#undef TENON_CPU_TILE_EPILOGUE_F32_INL
#else
#define TENON_CPU_TILE_EPILOGUE_F32_INL
#endif

#include "backends/cpu/depthwise/float/DepthwiseMicrokernelsF32.hpp"
#include "backends/cpu/simd/Bf16-inl.hpp"

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// Rounds to the nearest bfloat16. `isFast`: by the instruction, which flushes subnormal numbers.
HWY_INLINE hn::Vec<TagUint16> RoundPixel(VecF32 values, [[maybe_unused]] bool isFast)
{
#if HWY_TARGET == HWY_AVX3
    if (isFast)
    {
        return RoundNormalToBf16(values);
    }
#endif
    return RoundToBf16(values);
}

/// Loads and stores a vector of channels.
struct FullVector
{
    HWY_INLINE VecF32 Load(const float* from) const { return hn::LoadU(TagF32(), from); }
    HWY_INLINE VecF32 Load(const uint16_t* from) const { return LoadBf16(from); }
    HWY_INLINE void Store(VecF32 values, float* to, bool) const { hn::StoreU(values, TagF32(), to); }
    HWY_INLINE void Store(VecF32 values, uint16_t* to, bool isFast) const
    {
        hn::StoreU(RoundPixel(values, isFast), TagUint16(), to);
    }
};

/// Loads and stores the last channels, fewer than a vector has; nothing past them is read or written.
struct TailVector
{
    size_t m_Count;
    HWY_INLINE VecF32 Load(const float* from) const { return LoadFew(from, m_Count); }
    HWY_INLINE VecF32 Load(const uint16_t* from) const
    {
        return hn::BitCast(TagF32(), hn::ShiftLeft<16>(LoadFewUint16(from, m_Count)));
    }
    HWY_INLINE void Store(VecF32 values, float* to, bool) const { StoreFew(values, to, m_Count); }
    HWY_INLINE void Store(VecF32 values, uint16_t* to, bool isFast) const
    {
        StoreFewUint16(RoundPixel(values, isFast), to, m_Count);
    }
};

template <size_t Rows, size_t Columns, typename T, typename Memory>
HWY_INLINE void StorePixels(const DepthwiseTileF32<T>& tile, size_t channel, VecF32 (&sums)[Rows][Columns],
                            const Memory& memory)
{
    const TagF32 d;
    if (tile.m_Scales != nullptr)
    {
        const VecF32 scale = memory.Load(tile.m_Scales + channel);
        const VecF32 bias = tile.m_Bias != nullptr ? memory.Load(tile.m_Bias + channel) : hn::Zero(d);
        HWY_UNROLL(2)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(8)
            for (size_t c = 0; c < Columns; ++c)
            {
                sums[r][c] = hn::Add(hn::Mul(sums[r][c], scale), bias);
            }
        }
    }
    if (tile.m_HasClamp)
    {
        const VecF32 low = hn::Set(d, tile.m_Low);
        const VecF32 high = hn::Set(d, tile.m_High);
        HWY_UNROLL(2)
        for (size_t r = 0; r < Rows; ++r)
        {
            HWY_UNROLL(8)
            for (size_t c = 0; c < Columns; ++c)
            {
                sums[r][c] = Clamped(sums[r][c], low, high);
            }
        }
    }
    HWY_UNROLL(2)
    for (size_t r = 0; r < Rows; ++r)
    {
        T* out = tile.m_Out + r * tile.m_OutRowStride + channel;
        HWY_UNROLL(8)
        for (size_t c = 0; c < Columns; ++c)
        {
            memory.Store(sums[r][c], out + c * tile.m_OutStride, tile.m_RoundsFast);
        }
    }
}

template <size_t Rows, size_t Columns, typename T, typename Memory>
HWY_INLINE void StartSums(const DepthwiseTileF32<T>& tile, size_t channel, VecF32 (&sums)[Rows][Columns],
                          const Memory& memory)
{
    const bool hasBias = tile.m_Bias != nullptr && tile.m_Scales == nullptr;
    const VecF32 bias = hasBias ? memory.Load(tile.m_Bias + channel) : hn::Zero(TagF32());
    HWY_UNROLL(2)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(8)
        for (size_t c = 0; c < Columns; ++c)
        {
            sums[r][c] = bias;
        }
    }
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
