// SPDX-License-Identifier: Apache-2.0
// See LstmScales.hpp.
#include "backends/reference/kernels/LstmScales.hpp"

#include "backends/common/FixedPoint.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/LstmInteger.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::ref
{

namespace
{

/// The scale of gates without layer normalization: 3 bits left of the binary point.
constexpr float GateScale = 1.0f / 4096.0f;
/// Fraction bits of gates.
constexpr int GateBits = 12;

float GetScale(const ReshapeArgs& args, size_t slot)
{
    return GetTensorQuantization(args.GetInput(slot)).m_Scale;
}

} // namespace

IntegerLstmScales::IntegerLstmScales(const ReshapeArgs& args, const LstmGeometry& geometry,
                                     const LstmParameters& parameters)
{
    using backends::QuantizeMultiplier;
    const LstmSlots& slots = geometry.m_Slots;
    const float cell = GetScale(args, slots.m_CellState);
    const float state = GetScale(args, slots.m_OutputState);
    m_CellExponent = GetPowerOfTwo(cell);
    m_CellClip = QuantizeClip<int16_t>(parameters.m_CellClip, cell);
    const TensorInfo& output = args.GetOutput(geometry.m_OutputSlots.m_Output);
    m_ProjectionClip = QuantizeClip<int8_t>(parameters.m_ProjectionClip, GetTensorQuantization(output).m_Scale);
    for (size_t i = 0; i < LstmSlots::NumGates; ++i)
    {
        if (!geometry.HasGate(i))
        {
            continue;
        }
        const bool isNormalized = slots.m_LayerNorm[i] != LstmSlots::None;
        const float scale = isNormalized ? parameters.m_IntermediateScales[i] : GateScale;
        Gate& gate = m_Gates[i];
        gate.m_Input =
            QuantizeMultiplier(GetWeightsScale(args, slots.m_InputWeights[i]) * GetScale(args, slots.m_Data) / scale);
        gate.m_Recurrent = QuantizeMultiplier(GetWeightsScale(args, slots.m_RecurrentWeights[i]) * state / scale);
        if (slots.m_Peephole[i] != LstmSlots::None)
        {
            const double weights = GetWeightsScale(args, slots.m_Peephole[i]);
            gate.m_Peephole = QuantizeMultiplier(static_cast<float>(std::ldexp(1.0, m_CellExponent) * weights / scale));
        }
        if (isNormalized)
        {
            const float weights = GetWeightsScale(args, slots.m_LayerNorm[i]);
            gate.m_LayerNorm = QuantizeMultiplier(weights);
            gate.m_LayerNorm.m_Shift += GateBits;
            constexpr float VarianceFactor = 10000.0f;
            constexpr float Max = 2147483520.0f; // the largest float below 2^31
            gate.m_MinVariance = static_cast<int32_t>(std::clamp(VarianceFactor * weights, 1.0f, Max));
        }
    }
    const float hidden = parameters.m_HiddenScale;
    constexpr double UnitStep = 1.0 / 32768.0;
    m_Hidden = QuantizeMultiplier(static_cast<float>(UnitStep / hidden * UnitStep));
    if (geometry.HasProjection())
    {
        m_Projection = QuantizeMultiplier(GetWeightsScale(args, slots.m_Projection) * hidden / state);
    }
}

GateMoments::GateMoments(const int16_t* values, size_t count, int32_t minVariance)
{
    const auto size = static_cast<int64_t>(count);
    int64_t sum = 0;
    int64_t squares = 0;
    for (size_t i = 0; i < count; ++i)
    {
        sum += values[i];
        squares += int32_t{values[i]} * values[i];
    }
    constexpr int64_t One = int64_t{1} << Bits;
    m_Mean = static_cast<int32_t>(sum * One / size);
    const int64_t variance = squares * (One * One / size) - int64_t{m_Mean} * m_Mean;
    const auto steps = static_cast<int32_t>(variance / (One * One));
    m_Inverse = backends::GetInverseSquareRoot(steps < 1 ? minVariance : steps);
}

SvdfScales::SvdfScales(const ReshapeArgs& args)
{
    // Inputs: data, weights of features, weights of times, bias, state.
    if (args.GetInput(4).GetDataType() == DataType::QAsymmS8)
    {
        // The scale is computed in float, as in TFLite Micro.
        const float output = GetTensorQuantization(args.GetOutput(1)).m_Scale;
        m_ToState = backends::QuantizeMultiplier(
            static_cast<double>(GetScale(args, 0) * GetWeightsScale(args, 1) / GetScale(args, 4)));
        m_ToOutput =
            backends::QuantizeMultiplier(static_cast<double>(GetScale(args, 4) * GetWeightsScale(args, 2) / output));
        return;
    }
    const double state = GetScale(args, 4);
    m_ToState = backends::QuantizeMultiplier(static_cast<double>(GetScale(args, 0)) *
                                             static_cast<double>(GetWeightsScale(args, 1)) / state);
    m_ToOutput = backends::QuantizeMultiplier(state * static_cast<double>(GetWeightsScale(args, 2)) /
                                              static_cast<double>(GetTensorQuantization(args.GetOutput(1)).m_Scale));
}

} // namespace tenon::ref
