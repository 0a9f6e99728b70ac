// SPDX-License-Identifier: Apache-2.0
// See LstmInteger.hpp.
#include "backends/reference/kernels/LstmInteger.hpp"

#include "backends/common/FixedPoint16.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/kernels/GateProduct.hpp"

#include <tenon/Exceptions.hpp>

#include <cmath>
#include <string>

namespace tenon::ref
{

float GetWeightsScale(const ReshapeArgs& args, size_t slot)
{
    return args.GetInput(slot).GetQuantizationScale();
}

int GetPowerOfTwo(float scale)
{
    return static_cast<int>(std::round(std::log2(scale)));
}

SupportResult CheckPowerOfTwo(float scale, int min, int max)
{
    // The tolerance of TFLite for powers of two.
    constexpr float Tolerance = 1e-3f;
    const float exact = std::log2(scale);
    const float nearest = std::round(exact);
    if (!(std::abs(exact - nearest) < Tolerance) || nearest < static_cast<float>(min) ||
        nearest > static_cast<float>(max))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "the cell state's scale is " + std::to_string(scale) +
                                     "; it must be a power of two from 2^" + std::to_string(min) + " to 2^" +
                                     std::to_string(max));
    }
    return SupportResult::Yes();
}

SupportResult CheckZeroPointInt8(int32_t zeroPoint, const std::string& what)
{
    if (zeroPoint < -128 || zeroPoint > 127)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the " + what + " zero point is " +
                                                                         std::to_string(zeroPoint) +
                                                                         "; it must be in [-128, 127]");
    }
    return SupportResult::Yes();
}

backends::SumRescaler MakeRescaler(double real)
{
    return backends::SumRescaler(backends::QuantizeMultiplier(real));
}

void UpdateCell(int16_t* cell, size_t count, const int16_t* input, const int16_t* forget, const int16_t* update,
                int exponent, int16_t clip)
{
    constexpr int GateBits = 15;
    constexpr int One = 32767;
    for (size_t i = 0; i < count; ++i)
    {
        const int16_t kept = MultiplyFixed(forget[i], cell[i], GateBits);
        const int16_t gate = input != nullptr ? input[i] : static_cast<int16_t>(One - forget[i]);
        const int16_t added = MultiplyFixed(gate, update[i], 2 * GateBits + exponent);
        cell[i] = backends::SaturateToInt16(kept + added);
    }
    ClipValues(cell, count, clip);
}

} // namespace tenon::ref
