// SPDX-License-Identifier: Apache-2.0
// Code that the two integer arithmetics of LstmCell and the integer Svdf share: scales as multipliers, products of int8
// rows, and the update of the 16-bit cell state.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/RowProducts.hpp"

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tenon::ref
{

/// The one scale of weights, whose zero point is ignored.
float GetWeightsScale(const ReshapeArgs& args, size_t slot);
/// The exponent of a scale that is a power of two.
int GetPowerOfTwo(float scale);
/// Whether a cell state's scale is a power of two whose exponent is in [min, max].
SupportResult CheckPowerOfTwo(float scale, int min, int max);
/// Whether the zero point is valid for int8 values.
SupportResult CheckZeroPointInt8(int32_t zeroPoint, const std::string& what);
/// The real number as a multiplier; see QuantizeMultiplier.
backends::SumRescaler MakeRescaler(double real);

/// A clipping threshold in steps of T, rounded towards zero; 0 stays 0: no clipping.
template <typename T>
T QuantizeClip(float clip, float scale)
{
    constexpr float Max = std::numeric_limits<T>::max();
    return clip > 0.0f ? static_cast<T>(std::min(clip / scale, Max)) : T{0};
}

inline int8_t SaturateToInt8(int32_t value)
{
    return static_cast<int8_t>(std::clamp<int32_t>(value, -128, 127));
}

/// a * b / 2^shift with 16 bits, as in TFLite: overflow wraps.
inline int16_t MultiplyFixed(int16_t a, int16_t b, int shift)
{
    return static_cast<int16_t>(backends::RoundingDivideByPot(int32_t{a} * b, shift));
}

/// cell = clip(forget * cell + input * update), where input = 1 - forget if `input` is null. Gates have 15 bits right
/// of the binary point, the cell state -exponent.
void UpdateCell(int16_t* cell, size_t count, const int16_t* input, const int16_t* forget, const int16_t* update,
                int exponent, int16_t clip);

/// Products of rows of int8 data, less their zero point, with int8 weights.
class MatVecInt8
{
public:
    void Reserve(backends::Scratch& scratch, size_t columns, size_t units)
    {
        m_Row = scratch.Add<int16_t>(columns);
        m_Sums = scratch.Add<int32_t>(units);
    }

    /// Calls emit(row * units + unit, unit, product); products wrap.
    template <typename Emit>
    void Run(void* scratch, const int8_t* data, int32_t zeroPoint, size_t rows, size_t columns, const int8_t* weights,
             size_t units, Emit emit) const
    {
        auto* row = backends::Scratch::At<int16_t>(scratch, m_Row);
        auto* sums = backends::Scratch::At<int32_t>(scratch, m_Sums);
        for (size_t r = 0; r < rows; ++r, data += columns)
        {
            std::transform(data, data + columns, row, [&](int8_t x) { return static_cast<int16_t>(x - zeroPoint); });
            MultiplyPatches(row, 1, weights, 0, units, columns, sums);
            for (size_t unit = 0; unit < units; ++unit)
            {
                emit(r * units + unit, unit, sums[unit]);
            }
        }
    }

private:
    size_t m_Row = 0; ///< offsets in the scratch memory
    size_t m_Sums = 0;
};

} // namespace tenon::ref
