// SPDX-License-Identifier: Apache-2.0
// LstmCell on int8 data with 8-bit gate products, bit for bit as TFLite's kernel for "8x8->8": the input gate is always
// 1 - forget gate, peephole weights are ignored, layer normalization and functions run in float. Made by MakeLstmCell.
#include "backends/common/FixedPoint16.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/kernels/LstmCell.hpp"
#include "backends/reference/kernels/LstmInteger.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cmath>

namespace tenon::ref
{

namespace
{

using backends::QuantizedMultiplier;
using backends::SaturateToInt16;
using backends::Scratch;

constexpr float UnitStep = 1.0f / 32768.0f; ///< step of numbers in [-1, 1)
constexpr float GateStep = 1.0f / 4096.0f;  ///< step of normalized gates

/// Rounds towards zero, within 16 bits; NaN becomes the minimum.
int16_t ToSteps(float steps)
{
    constexpr float Min = -32768.0f;
    constexpr float Max = 32767.0f;
    return static_cast<int16_t>(steps > Min ? std::min(steps, Max) : Min);
}

int16_t TanhSteps(int16_t x, float step)
{
    return ToSteps(std::tanh(static_cast<float>(x) * step) / UnitStep);
}

int16_t SigmoidSteps(int16_t x)
{
    return ToSteps(1.0f / (1.0f + std::exp(-(static_cast<float>(x) * GateStep))) / UnitStep);
}

class Integer8LstmCell final : public LstmCell
{
public:
    Integer8LstmCell(const ReshapeArgs& args, const LstmGeometry& geometry, const LstmParameters& parameters,
                     Scratch& scratch)
        : m_Geometry(geometry), m_Data(GetTensorQuantization(args.GetInput(geometry.m_Slots.m_Data))),
          m_State(GetTensorQuantization(args.GetInput(geometry.m_Slots.m_OutputState)))
    {
        using enum LstmSlots::Gate;
        const TensorQuantization cell = GetTensorQuantization(args.GetInput(geometry.m_Slots.m_CellState));
        // Thresholds from 1 on clip nothing.
        m_CellClip = QuantizeClip<int16_t>(parameters.m_CellClip < 1.0f ? parameters.m_CellClip : 0.0f, cell.m_Scale);
        const TensorInfo& output = args.GetOutput(geometry.m_OutputSlots.m_Output);
        m_ProjectionClip = QuantizeClip<int8_t>(parameters.m_ProjectionClip, GetTensorQuantization(output).m_Scale);
        for (const size_t gate : {Forget, Cell, Output})
        {
            m_Gates[gate] = MakeGate(args, gate, parameters);
        }
        // TFLite reads past the end of its multipliers for the output gate, where the shift of the forget gate lies;
        // its zero point is the cell gate's.
        m_Gates[Output].m_StateToSum.m_Multiplier = m_Gates[Forget].m_StateToSum.m_Shift;
        m_Gates[Output].m_StateZeroPoint = m_Gates[Cell].m_DataZeroPoint;
        const double projection = GetWeightsScale(args, geometry.m_Slots.m_Projection);
        m_ProjectionMultiplier =
            backends::QuantizeMultiplier(static_cast<float>(projection * double{UnitStep} / double{m_State.m_Scale}));

        m_Products.Reserve(scratch, std::max(geometry.m_Inputs, geometry.m_Outputs), geometry.m_Units);
        const size_t count = backends::CheckedCount(geometry.m_Sequence.RowsPerStep(), geometry.m_Units);
        m_First = scratch.Add<int32_t>(count);
        for (const size_t gate : {Forget, Cell, Output})
        {
            m_Values[gate] = scratch.Add<int16_t>(count);
        }
    }

    void Run(const ExecuteArgs& args) const override
    {
        m_Geometry.RunSteps<int8_t, int16_t>(args, [&](size_t batch, size_t row) { Step(args, batch, row); });
    }

private:
    struct Gate
    {
        backends::SumRescaler m_DataProduct;
        backends::SumRescaler m_StateProduct;
        QuantizedMultiplier m_DataToSum;
        QuantizedMultiplier m_StateToSum;
        int32_t m_DataZeroPoint = 0;
        int32_t m_StateZeroPoint = 0;
        float m_LayerNormScale = 0.0f;
    };

    Gate MakeGate(const ReshapeArgs& args, size_t index, const LstmParameters& parameters) const
    {
        const float* const scales = &parameters.m_ProductScales[3 * index];
        const int32_t* const zeroPoints = &parameters.m_ProductZeroPoints[3 * index];
        const LstmSlots& slots = m_Geometry.m_Slots;
        Gate gate;
        gate.m_DataProduct =
            MakeRescaler(GetWeightsScale(args, slots.m_InputWeights[index]) * m_Data.m_Scale / scales[1]);
        gate.m_StateProduct =
            MakeRescaler(GetWeightsScale(args, slots.m_RecurrentWeights[index]) * m_State.m_Scale / scales[2]);
        gate.m_DataToSum = backends::QuantizeMultiplier(scales[1] / scales[0]);
        gate.m_StateToSum = backends::QuantizeMultiplier(scales[2] / scales[0]);
        gate.m_DataZeroPoint = zeroPoints[1];
        gate.m_StateZeroPoint = zeroPoints[2];
        const QuantizedMultiplier layerNorm =
            backends::QuantizeMultiplier(GetWeightsScale(args, slots.m_LayerNorm[index]));
        gate.m_LayerNormScale = static_cast<float>(std::ldexp(layerNorm.m_Multiplier, layerNorm.m_Shift - 31));
        return gate;
    }

    void Step(const ExecuteArgs& args, size_t batch, size_t row) const
    {
        using enum LstmSlots::Gate;
        const LstmGeometry& g = m_Geometry;
        const size_t rows = g.m_Sequence.RowsPerStep();
        const size_t count = rows * g.m_Units;
        const auto* data = args.GetInput<int8_t>(g.m_Slots.m_Data) + row * g.m_Inputs;
        auto* state = args.GetOutput<int8_t>(g.m_OutputSlots.m_OutputState) + batch * g.m_Outputs;
        auto* cell = args.GetOutput<int16_t>(g.m_OutputSlots.m_CellState) + batch * g.m_Units;
        const auto tanh = [](int16_t x) { return TanhSteps(x, GateStep); };
        int16_t* const forget = RunGate(args, Forget, data, state, SigmoidSteps);
        const int16_t* const update = RunGate(args, Cell, data, state, tanh);
        UpdateCell(cell, count, nullptr, forget, update, -15, m_CellClip);
        const int16_t* const output = RunGate(args, Output, data, state, SigmoidSteps);
        for (size_t i = 0; i < count; ++i)
        {
            forget[i] = MultiplyFixed(output[i], TanhSteps(cell[i], UnitStep), 15);
        }
        Project(args, forget, state, rows);
    }

    template <typename F>
    int16_t* RunGate(const ExecuteArgs& args, size_t index, const int8_t* data, const int8_t* state, F activation) const
    {
        const LstmGeometry& g = m_Geometry;
        const Gate& gate = m_Gates[index];
        const size_t rows = g.m_Sequence.RowsPerStep();
        auto* const values = Scratch::At<int16_t>(args.m_Scratch, m_Values[index]);
        // Products are rounded to 8 bits before they are brought to the scale of their sum.
        const auto toSum = [](int32_t product, const backends::SumRescaler& toProduct, int32_t zeroPoint,
                              QuantizedMultiplier multiplier)
        {
            const int8_t stored = SaturateToInt8(backends::SaturatingAdd(toProduct(product), zeroPoint));
            return backends::MultiplySaturating(stored - zeroPoint, multiplier);
        };
        auto* const first = Scratch::At<int32_t>(args.m_Scratch, m_First);
        m_Products.Run(args.m_Scratch, data, m_Data.m_ZeroPoint, rows, g.m_Inputs,
                       args.GetInput<int8_t>(g.m_Slots.m_InputWeights[index]), g.m_Units,
                       [&](size_t i, size_t, int32_t product)
                       { first[i] = toSum(product, gate.m_DataProduct, gate.m_DataZeroPoint, gate.m_DataToSum); });
        m_Products.Run(
            args.m_Scratch, state, m_State.m_ZeroPoint, rows, g.m_Outputs,
            args.GetInput<int8_t>(g.m_Slots.m_RecurrentWeights[index]), g.m_Units,
            [&](size_t i, size_t, int32_t product)
            {
                values[i] = SaturateToInt16(backends::SaturatingAdd(
                    toSum(product, gate.m_StateProduct, gate.m_StateZeroPoint, gate.m_StateToSum), first[i]));
            });
        NormalizeRows(args.GetInput<int16_t>(g.m_Slots.m_LayerNorm[index]),
                      args.GetInput<int32_t>(g.m_Slots.m_Bias[index]), gate.m_LayerNormScale, values);
        std::transform(values, values + rows * g.m_Units, values, activation);
        return values;
    }

    void NormalizeRows(const int16_t* weights, const int32_t* bias, float scale, int16_t* values) const
    {
        const size_t units = m_Geometry.m_Units;
        const float biasScale = scale / 1024.0f;
        for (size_t row = 0; row < m_Geometry.m_Sequence.RowsPerStep(); ++row, values += units)
        {
            float sum = 0.0f;
            float squares = 0.0f;
            for (size_t i = 0; i < units; ++i)
            {
                const auto value = static_cast<float>(values[i]);
                sum += value;
                squares += value * value;
            }
            const float mean = sum / static_cast<float>(units);
            const float variance = squares / static_cast<float>(units) - mean * mean;
            constexpr float MinVariance = 1e-8f;
            const float inverse = 1.0f / std::sqrt(variance == 0.0f ? MinVariance : variance);
            for (size_t i = 0; i < units; ++i)
            {
                const float normalized = (static_cast<float>(values[i]) - mean) * inverse;
                const float weighted =
                    normalized * static_cast<float>(weights[i]) * scale + static_cast<float>(bias[i]) * biasScale;
                values[i] = ToSteps(std::round(weighted / GateStep));
            }
        }
    }

    void Project(const ExecuteArgs& args, const int16_t* hidden, int8_t* state, size_t rows) const
    {
        const LstmGeometry& g = m_Geometry;
        const auto* weights = args.GetInput<int8_t>(g.m_Slots.m_Projection);
        const auto* bias = args.GetInput<int32_t>(g.m_Slots.m_ProjectionBias);
        for (size_t i = 0; i < rows * g.m_Outputs; ++i)
        {
            const size_t out = i % g.m_Outputs;
            const int16_t* const from = hidden + i / g.m_Outputs * g.m_Units;
            int64_t sum = bias[out];
            for (size_t unit = 0; unit < g.m_Units; ++unit)
            {
                sum += from[unit] * weights[out * g.m_Units + unit];
            }
            state[i] = SaturateToInt8(backends::SaturatingAdd(
                backends::MultiplyReducedSaturating(sum, m_ProjectionMultiplier), m_State.m_ZeroPoint));
        }
        ClipValues(state, rows * g.m_Outputs, m_ProjectionClip);
    }

    LstmGeometry m_Geometry;
    TensorQuantization m_Data;
    TensorQuantization m_State;
    std::array<Gate, LstmSlots::NumGates> m_Gates;
    int16_t m_CellClip = 0;
    int8_t m_ProjectionClip = 0;
    QuantizedMultiplier m_ProjectionMultiplier;
    MatVecInt8 m_Products;
    size_t m_First = 0; ///< offsets in the scratch memory: the data's part of a gate's sums
    std::array<size_t, LstmSlots::NumGates> m_Values{};
};

} // namespace

SupportResult CheckInteger8Lstm(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters)
{
    const auto refuse = [](std::string reason)
    { return SupportResult::No(SupportCode::UnsupportedParameters, std::move(reason)); };
    const size_t products = parameters.m_ProductScales.size();
    if (products != 12 || parameters.m_ProductZeroPoints.size() != products)
    {
        return refuse("the gate products have " + std::to_string(products) + " scales and " +
                      std::to_string(parameters.m_ProductZeroPoints.size()) + " zero points; give 12 or none");
    }
    // TFLite's kernel reads these inputs without a check.
    if (!parameters.m_HasLayerNorm || !parameters.m_HasProjection || !layer.HasInput(slots.m_ProjectionBias))
    {
        return refuse("8-bit gate products need layer normalization and a projection with bias");
    }
    if (layer.GetInput(slots.m_CellState).GetQuantizationScale() != UnitStep)
    {
        return refuse("with 8-bit gate products the cell state's scale must be 2^-15");
    }
    SupportResult result = SupportResult::Yes();
    for (size_t i = 3; i < products && result; ++i) // scales of the input gate are not read
    {
        result = backends::CheckScale(parameters.m_ProductScales[i], "gate product's");
        if (result && i % 3 != 0) // zero points of sums are not read either
        {
            result = CheckZeroPointInt8(parameters.m_ProductZeroPoints[i], "gate product's");
        }
    }
    return result;
}

std::shared_ptr<const LstmCell> MakeInteger8LstmCell(const ReshapeArgs& args, const LstmGeometry& geometry,
                                                     const LstmParameters& parameters, Scratch& scratch)
{
    return std::make_shared<const Integer8LstmCell>(args, geometry, parameters, scratch);
}

} // namespace tenon::ref
