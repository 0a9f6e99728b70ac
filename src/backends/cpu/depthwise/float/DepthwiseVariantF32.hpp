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
enum class DepthwiseWay
{
    Tiles,
    Strips,     ///< row strips of 32 channels
    DownStrips, ///< column strips
    WholeStrips ///< row strips of all channels
};

/// Aliasing of the image's pixels in the first-level cache: addresses of one channel repeat with a period.
template <typename T>
class DepthwisePlaces
{
public:
    static constexpr size_t Line = 64;

    explicit DepthwisePlaces(const ref::ConvolutionGeometry& g)
        : m_Period(std::gcd(g.m_OutputChannels * sizeof(T), DepthwiseDownStrips::Page))
    {
    }

    /// The period in bytes: pixel addresses of one channel differ by multiples of it, modulo 4 KiB.
    size_t GetPeriod() const { return m_Period; }

    /// Whether `lines` cache lines, of the same channels of as many pixels, fit the first-level cache of processors
    /// with AVX2.
    bool HaveRoom(size_t lines) const
    {
        constexpr size_t Ways = 8;
        return lines <= DepthwiseDownStrips::Page / std::max(m_Period, Line) * Ways;
    }

private:
    size_t m_Period;
};

/// Options of all-channel row strips.
struct DepthwisePairsWay
{
    /// Image rows under two output rows of stride 1: their cache lines have to stay in the first-level cache.
    static constexpr size_t SeenRows = 4;

    bool m_ArePairs = false; ///< pairs of vectors of channels
    bool m_Delays = false;   ///< see DepthwiseStrip, as the next
    bool m_GoesBack = false;
};

/// All-channel strips lose if four image rows exceed the second-level cache (448 KiB), since every two output rows
/// would reread them from behind it. Tiles are as fast at a period of 512 bytes (stride 1: only in long rows; stride 2:
/// always, and at 256 bytes); at longer periods tiles alias, too.
template <typename T>
bool AreWholeStripsFast(const ref::ConvolutionGeometry& g)
{
    constexpr size_t MostBytes = 448 * 1024;
    const DepthwisePlaces<T> places(g);
    const size_t pixels = DepthwisePairsWay::SeenRows * g.m_X.m_Input;
    const size_t period = places.GetPeriod();
    const bool areTilesFast = g.m_X.m_Stride == 2 ? period == 256 || period == 512 // rows of any length
                                                  : period == 512 && !places.HaveRoom(pixels);
    return !areTilesFast && pixels * g.m_OutputChannels * sizeof(T) <= MostBytes;
}

/// Chooses pairs of vectors if the cache lines that a strip of single vectors reads alias in the first-level cache and
/// exceed its associativity. A load also waits for an earlier store whose address has the same low bits (4 KiB
/// aliasing): stores are delayed by one pair if output and image alias, and the order of the pairs keeps stores far
/// behind loads.
template <typename T>
DepthwisePairsWay ChooseDepthwisePairs(const ref::ConvolutionGeometry& g, const T* image, const T* out)
{
    const DepthwisePlaces<T> places(g);
    constexpr size_t Line = DepthwisePlaces<T>::Line;
    constexpr size_t ShortestDelayed = 512; // with a longer period a store has ended before its address comes again
    const size_t period = places.GetPeriod();
    const size_t distance = (reinterpret_cast<uintptr_t>(out) - reinterpret_cast<uintptr_t>(image)) % period;
    const bool areSame = distance < Line || period - distance < Line;
    const size_t outLines = areSame ? DepthwiseTiles<T>::MostRows * g.m_X.m_Output : 0;
    DepthwisePairsWay way;
    way.m_Delays = areSame && period >= ShortestDelayed;
    way.m_ArePairs = way.m_Delays || !places.HaveRoom(DepthwisePairsWay::SeenRows * g.m_X.m_Input + outLines);
    way.m_GoesBack = distance != 0 && distance <= period / 2;
    return way;
}

/// Chooses the variant of a layer; Tiles where no strip microkernel takes its windows. With AVX2 strips have all
/// channels and cannot quantize, see AreWholeStripsFast. With AVX-512: pixels that are multiples of 1,024 bytes apart
/// alias in the first-level cache, so that the lines that a row strip reads for two output rows are evicted before
/// the next two; column strips reread less. bfloat16, half as many bytes, is as fast by tiles, and so are images of few
/// rows and row blocks of few rows, unless a pixel is a multiple of 2,048 bytes. Quantized copies are laid out in
/// blocks of channels, which do not alias.
template <typename T>
DepthwiseWay ChooseDepthwiseWay(const DepthwiseLayer<T>& layer, bool quantizes)
{
    const auto fits = [](const ref::WindowAxis& axis)
    {
        return axis.m_Output >= 2 && axis.Origin(0) >= -1 && axis.Origin(0) <= 0 &&
               axis.Origin(axis.m_Output - 1) + 2 <= static_cast<int64_t>(axis.m_Input);
    };
    const DepthwiseEngine<T>& engine = GetDepthwiseEngine<T>();
    const bool areSize3 = layer.m_Tiles == &engine.m_Size3[0] || layer.m_Tiles == &engine.m_Size3[1];
    const ref::ConvolutionGeometry& g = layer.m_Geometry;
    if (engine.m_Strips[0][1] == nullptr || !areSize3 || !fits(g.m_Y) || !fits(g.m_X))
    {
        return DepthwiseWay::Tiles;
    }
    if constexpr (std::is_same_v<T, float>)
    {
        if (engine.m_PairStrips[0][1] != nullptr)
        {
            const bool areFast = !quantizes && AreWholeStripsFast<T>(g);
            return areFast ? DepthwiseWay::WholeStrips : DepthwiseWay::Tiles;
        }
    }
    constexpr size_t FewRows = 6;
    constexpr size_t Shortest = DepthwiseDownStrips::ShortestPeriod;
    const size_t bytes = g.m_OutputChannels * sizeof(T);
    if (bytes % Shortest != 0 || quantizes)
    {
        return DepthwiseWay::Strips;
    }
    const bool areFast = g.m_Y.m_Output >= FewRows || bytes % (2 * Shortest) == 0;
    return areFast && engine.m_DownStrips[0][1] != nullptr ? DepthwiseWay::DownStrips : DepthwiseWay::Tiles;
}

} // namespace tenon::cpu
