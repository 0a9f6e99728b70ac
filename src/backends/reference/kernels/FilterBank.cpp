// SPDX-License-Identifier: Apache-2.0
// See FilterBank.hpp.
#include "backends/reference/kernels/FilterBank.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

namespace tenon::ref
{

namespace
{

void CheckChannel(const FilterBankSizes& sizes, size_t channel, int energyStart, int weightStart, int width)
{
    const auto fits = [width](int start, size_t size)
    { return start >= 0 && static_cast<size_t>(start) + static_cast<size_t>(width) <= size; };
    if (!fits(energyStart, sizes.m_Energies) || !fits(weightStart, sizes.m_Weights))
    {
        throw RuntimeException("channel " + std::to_string(channel) + " has " + std::to_string(width) +
                               " energies from " + std::to_string(energyStart) + " on and weights from " +
                               std::to_string(weightStart) + " on, but there are " + std::to_string(sizes.m_Energies) +
                               " energies and " + std::to_string(sizes.m_Weights) + " weights");
    }
}

} // namespace

void RunFilterBank(const FilterBankSizes& sizes, const FilterBankArgs& args, uint64_t* channels)
{
    uint64_t carried = 0; // from the channel before
    for (size_t i = 0; i <= sizes.m_Channels; ++i)
    {
        uint64_t sum = carried;
        carried = 0;
        const int width = args.m_Widths[i];
        if (width > 0)
        {
            CheckChannel(sizes, i, args.m_EnergyStarts[i], args.m_WeightStarts[i], width);
            const uint32_t* const energies = args.m_Energies + args.m_EnergyStarts[i];
            const int16_t* const weights = args.m_Weights + args.m_WeightStarts[i];
            const int16_t* const unweights = args.m_Unweights + args.m_WeightStarts[i];
            for (int j = 0; j < width; ++j)
            {
                sum += static_cast<uint64_t>(int64_t{weights[j]}) * energies[j];
                carried += static_cast<uint64_t>(int64_t{unweights[j]}) * energies[j];
            }
        }
        if (i != 0)
        {
            channels[i - 1] = sum;
        }
    }
}

uint32_t RoundedRoot(uint64_t energy)
{
    const uint64_t max =
        energy >> 32 == 0 ? std::numeric_limits<uint16_t>::max() : std::numeric_limits<uint32_t>::max();
    // The root in double precision may be one off.
    uint64_t root = std::min(static_cast<uint64_t>(std::sqrt(static_cast<double>(energy))), max);
    while (root * root > energy)
    {
        --root;
    }
    while (root < max && (root + 1) * (root + 1) <= energy)
    {
        ++root;
    }
    const bool isAboveHalf = energy - root * root > root;
    return static_cast<uint32_t>(isAboveHalf && root < max ? root + 1 : root);
}

int16_t LookUpGain(uint32_t noise, const int16_t* gains)
{
    if (noise <= 2)
    {
        return gains[noise];
    }
    constexpr int FractionBits = 10;
    const int interval = std::bit_width(noise);
    const int shift = interval - 1 - FractionBits;
    const auto fraction =
        static_cast<int32_t>((shift < 0 ? noise << -shift : noise >> shift) & ((1U << FractionBits) - 1));
    const int16_t* const part = gains + 4 * interval - 6;
    const int32_t slope = ((part[2] * fraction) >> 5) + part[1] * 32;
    const auto product = static_cast<int32_t>(int64_t{slope} * fraction); // wraps
    return static_cast<int16_t>(((int64_t{product} + (1 << 14)) >> 15) + part[0]);
}

uint32_t Compress(uint32_t x)
{
    constexpr uint32_t FractionBits = 12;
    constexpr uint32_t ResultBits = 6;
    return x < (2U << FractionBits) ? (x * x) >> (2 + 2 * FractionBits - ResultBits)
                                    : (x >> (FractionBits - ResultBits)) - (1U << ResultBits);
}

FixedLogarithm::FixedLogarithm(uint32_t scale) : m_Scale(scale)
{
    for (size_t i = 0; i <= Segments; ++i)
    {
        const double x = static_cast<double>(i) / Segments;
        m_Table[i] = static_cast<int32_t>(std::lround(65536 * (std::log2(1 + x) - x)));
    }
}

int16_t FixedLogarithm::Of(uint32_t x) const
{
    if (x <= 1)
    {
        return 0;
    }
    constexpr int FractionBits = 16;
    constexpr int SegmentBits = 9;
    constexpr uint64_t Log2 = 45426; // of 16 fraction bits
    constexpr uint32_t Half = 1U << (FractionBits - 1);
    const int exponent = std::bit_width(x) - 1;
    const uint32_t rest = x - (1U << exponent);
    const uint32_t fraction =
        exponent < FractionBits ? rest << (FractionBits - exponent) : rest >> (exponent - FractionBits);
    const size_t segment = fraction >> SegmentBits;
    const auto inSegment = static_cast<int32_t>(fraction & ((1U << SegmentBits) - 1));
    const int32_t correction =
        m_Table[segment] + (((m_Table[segment + 1] - m_Table[segment]) * inSegment) >> FractionBits);
    const uint32_t binary =
        (static_cast<uint32_t>(exponent) << FractionBits) + fraction + static_cast<uint32_t>(correction);
    const auto natural = static_cast<uint32_t>((Log2 * binary + Half) >> FractionBits);
    const uint32_t scaled = (m_Scale * natural + Half) >> FractionBits;
    return static_cast<int16_t>(std::min<uint32_t>(scaled, std::numeric_limits<int16_t>::max()));
}

} // namespace tenon::ref
