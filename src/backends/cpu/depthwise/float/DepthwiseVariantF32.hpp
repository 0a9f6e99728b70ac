// SPDX-License-Identifier: Apache-2.0
// Chooses the variant of a layer: tiles, row strips, column strips or row strips of all channels; the table is in
// ../README.md.
#pragma once

#include "backends/cpu/depthwise/float/DepthwiseLayerF32.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>

namespace tenon::cpu
{

/// The variants of a layer.
enum class DepthwiseVariantF32
{
    Tiles,
    RowStrips,       ///< row strips of 32 channels
    ColumnStrips,    ///< column strips
    AllChannelStrips ///< row strips of all channels
};

/// Aliasing of the image's pixels in the first-level cache: addresses of one channel repeat with a period.
template <typename T>
class CacheAliasing
{
public:
    static constexpr size_t Line = 64;

    explicit CacheAliasing(const ref::ConvolutionGeometry& g)
        : m_Period(std::gcd(g.m_OutputChannels * sizeof(T), DepthwiseColumnStrips::Page))
    {
    }

    /// The period in bytes: pixel addresses of one channel differ by multiples of it, modulo 4 KiB.
    size_t GetPeriod() const { return m_Period; }

    /// Whether `lines` cache lines, of the same channels of as many pixels, fit the first-level cache of processors
    /// with AVX2.
    bool HasRoom(size_t lines) const
    {
        constexpr size_t Ways = 8;
        return lines <= DepthwiseColumnStrips::Page / std::max(m_Period, Line) * Ways;
    }

private:
    size_t m_Period;
};

/// Options of all-channel row strips.
struct PairStripOptions
{
    /// Image rows under two output rows of stride 1: their cache lines have to stay in the first-level cache.
    static constexpr size_t ImageRows = 4;

    bool m_IsPairwise = false;   ///< pairs of vectors of channels
    bool m_DelaysStores = false; ///< see DepthwiseStripF32, as the next
    bool m_IsReversed = false;
};

/// All-channel strips lose if four image rows exceed the second-level cache (448 KiB), since every two output rows
/// would reread them from behind it. Tiles are as fast at a period of 512 bytes (stride 1: only in long rows; stride 2:
/// always, and at 256 bytes); at longer periods tiles alias, too.
template <typename T>
bool IsAllChannelStripFast(const ref::ConvolutionGeometry& g)
{
    constexpr size_t MaxBytes = 448 * 1024;
    const CacheAliasing<T> aliasing(g);
    const size_t pixels = PairStripOptions::ImageRows * g.m_X.m_Input;
    const size_t period = aliasing.GetPeriod();
    const bool isTileFast = g.m_X.m_Stride == 2 ? period == 256 || period == 512 // rows of any length
                                                : period == 512 && !aliasing.HasRoom(pixels);
    return !isTileFast && pixels * g.m_OutputChannels * sizeof(T) <= MaxBytes;
}

/// Chooses pairs of vectors if the cache lines that a strip of single vectors reads alias in the first-level cache and
/// exceed its associativity. A load also waits for an earlier store whose address has the same low bits (4 KiB
/// aliasing): stores are delayed by one pair if output and image alias, and the order of the pairs keeps stores far
/// behind loads.
template <typename T>
PairStripOptions ChoosePairStripOptions(const ref::ConvolutionGeometry& g, const T* image, const T* out)
{
    const CacheAliasing<T> aliasing(g);
    constexpr size_t Line = CacheAliasing<T>::Line;
    constexpr size_t ShortestDelayed = 512; // with a longer period a store has ended before its address comes again
    const size_t period = aliasing.GetPeriod();
    const size_t distance = (reinterpret_cast<uintptr_t>(out) - reinterpret_cast<uintptr_t>(image)) % period;
    const bool isSamePlace = distance < Line || period - distance < Line;
    const size_t outLines = isSamePlace ? DepthwiseTileSetF32<T>::MaxRows * g.m_X.m_Output : 0;
    PairStripOptions options;
    options.m_DelaysStores = isSamePlace && period >= ShortestDelayed;
    options.m_IsPairwise =
        options.m_DelaysStores || !aliasing.HasRoom(PairStripOptions::ImageRows * g.m_X.m_Input + outLines);
    options.m_IsReversed = distance != 0 && distance <= period / 2;
    return options;
}

/// Chooses the variant of a layer; Tiles where no strip microkernel takes its windows. With AVX2 strips have all
/// channels and cannot quantize, see IsAllChannelStripFast. With AVX-512: pixels that are multiples of 1,024 bytes
/// apart alias in the first-level cache, so that the lines that a row strip reads for two output rows are evicted
/// before the next two; column strips reread less. bfloat16, half as many bytes, is as fast by tiles, and so are images
/// of few rows and row blocks of few rows, unless a pixel is a multiple of 2,048 bytes. Quantized copies are laid out
/// in blocks of channels, which do not alias.
template <typename T>
DepthwiseVariantF32 ChooseDepthwiseVariantF32(const DepthwiseLayerF32<T>& layer, bool quantizes)
{
    const auto fits = [](const ref::WindowAxis& axis)
    {
        return axis.m_Output >= 2 && axis.Origin(0) >= -1 && axis.Origin(0) <= 0 &&
               axis.Origin(axis.m_Output - 1) + 2 <= static_cast<int64_t>(axis.m_Input);
    };
    const DepthwiseMicrokernelsF32<T>& engine = GetDepthwiseMicrokernelsF32<T>();
    const bool isSize3 = layer.m_Tiles == &engine.m_Size3[0] || layer.m_Tiles == &engine.m_Size3[1];
    const ref::ConvolutionGeometry& g = layer.m_Geometry;
    if (engine.m_RowStrips[0][1] == nullptr || !isSize3 || !fits(g.m_Y) || !fits(g.m_X))
    {
        return DepthwiseVariantF32::Tiles;
    }
    if constexpr (std::is_same_v<T, float>)
    {
        if (engine.m_PairStrips[0][1] != nullptr)
        {
            const bool isFast = !quantizes && IsAllChannelStripFast<T>(g);
            return isFast ? DepthwiseVariantF32::AllChannelStrips : DepthwiseVariantF32::Tiles;
        }
    }
    constexpr size_t FewRows = 6;
    constexpr size_t Shortest = DepthwiseColumnStrips::ShortestPeriod;
    const size_t bytes = g.m_OutputChannels * sizeof(T);
    if (bytes % Shortest != 0 || quantizes)
    {
        return DepthwiseVariantF32::RowStrips;
    }
    const bool isFast = g.m_Y.m_Output >= FewRows || bytes % (2 * Shortest) == 0;
    return isFast && engine.m_ColumnStrips[0][1] != nullptr ? DepthwiseVariantF32::ColumnStrips
                                                            : DepthwiseVariantF32::Tiles;
}

} // namespace tenon::cpu
