// SPDX-License-Identifier: Apache-2.0
// See LstmScales.hpp.
#include "backends/reference/kernels/LstmScales.hpp"

#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/LstmInteger.hpp"

#include <cmath>

namespace tenon::ref
{

namespace
{

/// Of gates without layer normalization: 3 bits left of the binary point.
constexpr float GateScale = 1.0f / 4096.0f;

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
    const TensorInfo& output = args.GetOutput(geometry.m_Places.m_Output);
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
    }
    const float hidden = parameters.m_HiddenScale;
    constexpr double UnitStep = 1.0 / 32768.0;
    m_Hidden = QuantizeMultiplier(static_cast<float>(UnitStep / hidden * UnitStep));
    if (geometry.HasProjection())
    {
        m_Projection = QuantizeMultiplier(GetWeightsScale(args, slots.m_Projection) * hidden / state);
    }
}

SvdfScales::SvdfScales(const ReshapeArgs& args)
{
    // Data, weights of features and of times, bias, state.
    const double state = GetScale(args, 4);
    m_ToState = backends::QuantizeMultiplier(static_cast<double>(GetScale(args, 0)) *
                                             static_cast<double>(GetWeightsScale(args, 1)) / state);
    m_ToOutput = backends::QuantizeMultiplier(state * static_cast<double>(GetWeightsScale(args, 2)) /
                                              static_cast<double>(GetTensorQuantization(args.GetOutput(1)).m_Scale));
}

} // namespace tenon::ref
