// SPDX-License-Identifier: Apache-2.0
// The arithmetic of filter banks in integers, bit for bit as TFLM's signal library: sums of channels, roots, gains that
// fall with the noise (PCAN: per-channel amplitude normalization), and logarithms. Used by SignalFeature.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

struct FilterBankSizes
{
    size_t m_Energies = 0;
    size_t m_Weights = 0; ///< and unweights
    size_t m_Channels = 0;
};

/// Starts and widths are those of a channel that is left out, then those of the others.
struct FilterBankArgs
{
    const uint32_t* m_Energies = nullptr;
    const int16_t* m_Weights = nullptr;
    const int16_t* m_Unweights = nullptr; ///< the part of an energy that the next channel gets
    const int16_t* m_EnergyStarts = nullptr;
    const int16_t* m_WeightStarts = nullptr;
    const int16_t* m_Widths = nullptr;
};

/// Each channel is the sum of its weighted energies and the unweighted ones of the channel before. Throws
/// RuntimeException for a channel that is not within energies and weights.
void RunFilterBank(const FilterBankSizes& sizes, const FilterBankArgs& args, uint64_t* channels);

/// The root, rounded to the nearest integer. One that rounds up to 2^16, for energies below 2^32, or to 2^32 saturates.
uint32_t RoundedRoot(uint64_t energy);

/// Numbers in a table of gains: those for noise of 0, 1 and 2; then of each further power of two a value, two
/// coefficients of a polynomial, and a number that says nothing.
constexpr size_t GainTableSize = 125;
int16_t LookUpGain(uint32_t noise, const int16_t* gains);

/// x^2 / 4 below 2, and x - 1 above, for x of 12 fraction bits; the result has 6.
uint32_t Compress(uint32_t x);

/// Natural logarithms by a table of the binary one.
class FixedLogarithm
{
public:
    explicit FixedLogarithm(uint32_t scale);

    /// scale * log(x), saturated; 0 for x of 0 or 1.
    int16_t Of(uint32_t x) const;

private:
    static constexpr size_t Segments = 128;

    uint32_t m_Scale;
    std::array<int32_t, Segments + 1> m_Table; ///< 2^16 * (log2(1 + i / Segments) - i / Segments)
};

} // namespace tenon::ref
