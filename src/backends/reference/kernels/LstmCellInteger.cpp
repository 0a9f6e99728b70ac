// SPDX-License-Identifier: Apache-2.0
// LstmCell on int8 data with 16-bit gates and cell state, bit for bit as TFLite's kernel for "8x8->16". Made by
// MakeLstmCell.
#include "backends/common/FixedPoint.hpp"
#include "backends/common/FixedPoint16.hpp"
#include "backends/common/QuantizationCheck.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/reference/kernels/LstmCell.hpp"
#include "backends/reference/kernels/LstmInteger.hpp"
#include "backends/reference/kernels/LstmScales.hpp"

#include <algorithm>

namespace tenon::ref
{

namespace
{

using backends::SaturateToInt16;
using backends::Scratch;
using backends::SumRescaler;

/// Fraction bits of gates; normalized values have 10 of their own.
constexpr int LayerNormBits = 12;

class IntegerLstmCell final : public LstmCell
{
public:
    IntegerLstmCell(const ReshapeArgs& args, const LstmGeometry& geometry, const LstmParameters& parameters,
                    Scratch& scratch)
        : m_Geometry(geometry), m_Data(GetTensorQuantization(args.GetInput(geometry.m_Slots.m_Data))),
          m_State(GetTensorQuantization(args.GetInput(geometry.m_Slots.m_OutputState)))
    {
        const IntegerLstmScales scales(args, geometry, parameters);
        m_CellExponent = scales.m_CellExponent;
        m_CellClip = scales.m_CellClip;
        m_ProjectionClip = scales.m_ProjectionClip;
        for (size_t i = 0; i < LstmSlots::NumGates; ++i)
        {
            if (geometry.HasGate(i))
            {
                m_Gates[i] = Gate(scales.m_Gates[i]);
            }
        }
        m_HiddenZeroPoint = parameters.m_HiddenZeroPoint;
        m_HiddenRescaler = SumRescaler(scales.m_Hidden);
        m_ProjectionRescaler = SumRescaler(scales.m_Projection);

        const size_t rows = geometry.m_Sequence.RowsPerStep();
        m_Products.Reserve(scratch, std::max({geometry.m_Inputs, geometry.m_Units, geometry.m_Outputs}),
                           std::max(geometry.m_Units, geometry.m_Outputs));
        const size_t count = backends::CheckedCount(rows, geometry.m_Units);
        for (size_t& values : m_Values)
        {
            values = scratch.Add<int16_t>(count);
        }
    }

    void Run(const ExecuteArgs& args) const override
    {
        m_Geometry.RunSteps<int8_t, int16_t>(args, [&](size_t batch, size_t row) { Step(args, batch, row); });
    }

private:
    struct Gate
    {
        Gate() = default;
        explicit Gate(const IntegerLstmScales::Gate& scales)
            : m_Input(scales.m_Input), m_Recurrent(scales.m_Recurrent), m_Peephole(scales.m_Peephole),
              m_LayerNorm(scales.m_LayerNorm), m_MinVariance(scales.m_MinVariance)
        {
        }

        SumRescaler m_Input;
        SumRescaler m_Recurrent;
        SumRescaler m_Peephole;
        SumRescaler m_LayerNorm;
        int32_t m_MinVariance = 1;
    };

    void Step(const ExecuteArgs& args, size_t batch, size_t row) const
    {
        using enum LstmSlots::Gate;
        const LstmGeometry& g = m_Geometry;
        const size_t rows = g.m_Sequence.RowsPerStep();
        const size_t count = rows * g.m_Units;
        const auto* data = args.GetInput<int8_t>(g.m_Slots.m_Data) + row * g.m_Inputs;
        auto* state = args.GetOutput<int8_t>(g.m_OutputSlots.m_OutputState) + batch * g.m_Outputs;
        auto* cell = args.GetOutput<int16_t>(g.m_OutputSlots.m_CellState) + batch * g.m_Units;

        const auto sigmoid = [](int16_t x) { return backends::Sigmoid(backends::Fixed16<3>{x}).m_Raw; };
        const auto tanh = [](int16_t x) { return backends::Tanh(backends::Fixed16<3>{x}).m_Raw; };
        const int16_t* const input = g.HasGate(Input) ? RunGate(args, Input, data, state, cell, sigmoid) : nullptr;
        const int16_t* const forget = RunGate(args, Forget, data, state, cell, sigmoid);
        const int16_t* const update = RunGate(args, Cell, data, state, cell, tanh);
        UpdateCell(cell, count, input, forget, update, m_CellExponent, m_CellClip);
        const int16_t* const output = RunGate(args, Output, data, state, cell, sigmoid);

        const auto hidden = [&](size_t i, int32_t zeroPoint)
        {
            const int16_t activated = backends::TanhInt16(cell[i], 15 + m_CellExponent);
            return SaturateToInt8(backends::SaturatingAdd(m_HiddenRescaler(int32_t{output[i]} * activated), zeroPoint));
        };
        if (!g.HasProjection())
        {
            for (size_t i = 0; i < count; ++i)
            {
                state[i] = hidden(i, m_HiddenZeroPoint);
            }
            return;
        }
        // The hidden state before a projection has the negated zero point, as in TFLite.
        auto* bytes = Scratch::At<int8_t>(args.m_Scratch, m_Values[Cell]);
        for (size_t i = 0; i < count; ++i)
        {
            bytes[i] = hidden(i, -m_HiddenZeroPoint);
        }
        const int32_t* const bias = g.m_Slots.m_ProjectionBias == LstmSlots::None
                                        ? nullptr
                                        : args.GetInput<int32_t>(g.m_Slots.m_ProjectionBias);
        m_Products.Run(args.m_Scratch, bytes, -m_HiddenZeroPoint, rows, g.m_Units,
                       args.GetInput<int8_t>(g.m_Slots.m_Projection), g.m_Outputs,
                       [&](size_t i, size_t out, int32_t product)
                       {
                           const int32_t sum = bias != nullptr ? WrappingAdd(product, bias[out]) : product;
                           state[i] =
                               SaturateToInt8(backends::SaturatingAdd(m_ProjectionRescaler(sum), m_State.m_ZeroPoint));
                       });
        ClipValues(state, rows * g.m_Outputs, m_ProjectionClip);
    }

    template <typename F>
    const int16_t* RunGate(const ExecuteArgs& args, size_t index, const int8_t* data, const int8_t* state,
                           const int16_t* cell, F activation) const
    {
        const LstmGeometry& g = m_Geometry;
        const Gate& gate = m_Gates[index];
        const size_t rows = g.m_Sequence.RowsPerStep();
        const int32_t* const bias = args.GetInput<int32_t>(g.m_Slots.m_Bias[index]);
        const bool isNormalized = g.m_Slots.m_LayerNorm[index] != LstmSlots::None;
        auto* const values = Scratch::At<int16_t>(args.m_Scratch, m_Values[index]);
        m_Products.Run(args.m_Scratch, data, m_Data.m_ZeroPoint, rows, g.m_Inputs,
                       args.GetInput<int8_t>(g.m_Slots.m_InputWeights[index]), g.m_Units,
                       [&](size_t i, size_t unit, int32_t product)
                       {
                           const int32_t sum = isNormalized ? product : WrappingAdd(product, bias[unit]);
                           values[i] = SaturateToInt16(gate.m_Input(sum));
                       });
        m_Products.Run(args.m_Scratch, state, m_State.m_ZeroPoint, rows, g.m_Outputs,
                       args.GetInput<int8_t>(g.m_Slots.m_RecurrentWeights[index]), g.m_Units,
                       [&](size_t i, size_t, int32_t product)
                       { values[i] = SaturateToInt16(backends::SaturatingAdd(gate.m_Recurrent(product), values[i])); });
        if (g.m_Slots.m_Peephole[index] != LstmSlots::None)
        {
            AddPeephole(args.GetInput<int16_t>(g.m_Slots.m_Peephole[index]), gate.m_Peephole, cell, values);
        }
        if (isNormalized)
        {
            NormalizeRows(args.GetInput<int16_t>(g.m_Slots.m_LayerNorm[index]), bias, gate, values);
        }
        std::transform(values, values + rows * g.m_Units, values, activation);
        return values;
    }

    /// TFLite walks over the step's cells in rows of the output's size in place of the cell's. With a projection the
    /// weights therefore shift from batch to batch, and the last cells have no weights.
    void AddPeephole(const int16_t* weights, const SumRescaler& rescaler, const int16_t* cell, int16_t* values) const
    {
        const size_t rowSize = std::min(m_Geometry.m_Outputs, m_Geometry.m_Units);
        for (size_t i = 0; i < m_Geometry.m_Sequence.RowsPerStep() * rowSize; ++i)
        {
            const int32_t product = rescaler(int32_t{weights[i % rowSize]} * cell[i]);
            values[i] = SaturateToInt16(backends::SaturatingAdd(product, values[i]));
        }
    }

    void NormalizeRows(const int16_t* weights, const int32_t* bias, const Gate& gate, int16_t* values) const
    {
        const size_t units = m_Geometry.m_Units;
        for (size_t row = 0; row < m_Geometry.m_Sequence.RowsPerStep() && units != 0; ++row, values += units)
        {
            const GateMoments moments(values, units, gate.m_MinVariance);
            constexpr int64_t One = int64_t{1} << GateMoments::Bits;
            for (size_t i = 0; i < units; ++i)
            {
                const int32_t shifted = static_cast<int32_t>(One) * values[i] - moments.m_Mean;
                const int32_t scaled = backends::MultiplySaturating(shifted, moments.m_Inverse);
                const int32_t weighted = WrappingAdd(
                    static_cast<int32_t>(static_cast<uint32_t>(scaled) * static_cast<uint32_t>(int32_t{weights[i]})),
                    bias[i]);
                const int64_t half = weighted > 0 ? One / 2 : -One / 2;
                values[i] = SaturateToInt16(gate.m_LayerNorm(static_cast<int32_t>((weighted + half) / One)));
            }
        }
    }

    LstmGeometry m_Geometry;
    TensorQuantization m_Data;
    TensorQuantization m_State;
    std::array<Gate, LstmSlots::NumGates> m_Gates;
    int m_CellExponent = 0; ///< exponent of the cell state's scale, a power of two
    int16_t m_CellClip = 0;
    int8_t m_ProjectionClip = 0;
    int32_t m_HiddenZeroPoint = 0;
    SumRescaler m_HiddenRescaler;
    SumRescaler m_ProjectionRescaler;
    MatVecInt8 m_Products;
    std::array<size_t, LstmSlots::NumGates> m_Values{}; ///< offsets in the scratch memory
};

} // namespace

SupportResult CheckIntegerLstm(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters)
{
    SupportResult result =
        backends::FirstRefusal({CheckPowerOfTwo(layer.GetInput(slots.m_CellState).GetQuantizationScale(), -15, -9),
                                backends::CheckScale(parameters.m_HiddenScale, "hidden state's"),
                                CheckZeroPointInt8(parameters.m_HiddenZeroPoint, "hidden state's")});
    constexpr float MaxLayerNormScale = 1 << (30 - LayerNormBits); // the limit of a multiplier's shift
    for (size_t gate = 0; gate < LstmSlots::NumGates && result; ++gate)
    {
        const size_t weights = slots.m_LayerNorm[gate];
        const bool hasGate = gate != LstmSlots::Input || parameters.m_HasInputGate;
        if (hasGate && parameters.m_HasLayerNorm && layer.HasInput(weights))
        {
            result = backends::CheckScale(parameters.m_IntermediateScales[gate], "gate's intermediate");
            if (layer.GetInput(weights).GetQuantizationScale() >= MaxLayerNormScale)
            {
                return SupportResult::No(SupportCode::UnsupportedParameters,
                                         "the scale of layer normalization weights, input " + std::to_string(weights) +
                                             ", is too large");
            }
        }
    }
    return result;
}

std::shared_ptr<const LstmCell> MakeIntegerLstmCell(const ReshapeArgs& args, const LstmGeometry& geometry,
                                                    const LstmParameters& parameters, Scratch& scratch)
{
    return std::make_shared<const IntegerLstmCell>(args, geometry, parameters, scratch);
}

} // namespace tenon::ref
