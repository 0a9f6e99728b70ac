// SPDX-License-Identifier: Apache-2.0
// LstmCell on float data, with float or 8-bit weights. Made by MakeLstmCell.
#include "backends/reference/kernels/LstmCell.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::ref
{

namespace
{

using backends::Scratch;

/// Subtracts from each row its mean and divides by its standard deviation.
void Normalize(float* rows, size_t count, size_t size)
{
    for (size_t row = 0; row < count; ++row, rows += size)
    {
        const auto elements = static_cast<double>(size);
        double sum = 0.0;
        for (size_t i = 0; i < size; ++i)
        {
            sum += double{rows[i]};
        }
        const double mean = sum / elements;
        double squares = 0.0;
        for (size_t i = 0; i < size; ++i)
        {
            const double difference = double{rows[i]} - mean;
            squares += difference * difference;
        }
        constexpr double MinVariance = double{1e-8f};
        const double inverse = 1.0 / std::sqrt(squares / elements + MinVariance);
        for (size_t i = 0; i < size; ++i)
        {
            rows[i] = static_cast<float>((double{rows[i]} - mean) * inverse);
        }
    }
}

class FloatLstmCell final : public LstmCell
{
public:
    FloatLstmCell(const ReshapeArgs& args, const LstmGeometry& geometry, const LstmParameters& parameters,
                  Scratch& scratch)
        : m_Geometry(geometry), m_Activation(parameters.m_Activation), m_CellClip(parameters.m_CellClip),
          m_ProjectionClip(parameters.m_ProjectionClip)
    {
        bool hasInteger = false;
        for (size_t i = 0; i < LstmSlots::NumGates; ++i)
        {
            Gate& gate = m_Gates[i];
            gate.m_Input = GateWeights(args, geometry.m_Slots.m_InputWeights[i]);
            gate.m_Aux = GateWeights(args, geometry.m_Slots.m_AuxWeights[i]);
            gate.m_Recurrent = GateWeights(args, geometry.m_Slots.m_RecurrentWeights[i]);
            gate.m_IsDiagonal = gate.m_Recurrent.IsPresent() &&
                                args.GetInput(gate.m_Recurrent.m_Slot).GetShape().GetNumDimensions() == 1;
            gate.m_Peephole = GateWeights(args, geometry.m_Slots.m_Peephole[i]);
            hasInteger = hasInteger || gate.m_Input.m_IsInteger;
        }
        m_Projection = GateWeights(args, geometry.m_Slots.m_Projection);

        const size_t rows = geometry.m_Sequence.RowsPerStep();
        const bool asymmetric = parameters.m_Asymmetric;
        m_Data = GateRows(rows, geometry.m_Inputs, hasInteger, asymmetric, scratch);
        m_Aux = GateRows(rows, geometry.m_AuxInputs, hasInteger, asymmetric, scratch);
        m_State = GateRows(rows, geometry.m_Outputs, hasInteger, asymmetric, scratch);
        if (parameters.m_HasSparseRecurrent)
        {
            m_State.TakeScalesOf(m_Data);
        }
        m_Hidden = GateRows(rows, geometry.m_Units, hasInteger && geometry.HasProjection(), asymmetric, scratch);
        m_Partial = scratch.Add<float>(std::max(geometry.m_Units, geometry.m_Outputs));
        const size_t gateValues = backends::CheckedCount(rows, geometry.m_Units);
        for (size_t& values : m_Values)
        {
            values = scratch.Add<float>(gateValues);
        }
    }

    void Run(const ExecuteArgs& args) const override
    {
        m_Geometry.RunSteps<float, float>(args, [&](size_t batch, size_t row) { Step(args, batch, row); });
    }

private:
    struct Gate
    {
        GateWeights m_Input;
        GateWeights m_Aux;
        GateWeights m_Recurrent;
        GateWeights m_Peephole;
        bool m_IsDiagonal = false; ///< whether the recurrent weights are diagonal
    };

    /// The current rows of everything that gates read.
    struct Operands
    {
        const float* m_Data;
        const float* m_Aux;
        const float* m_State;
        const float* m_Cell;
    };

    void Step(const ExecuteArgs& args, size_t batch, size_t row) const
    {
        using enum LstmSlots::Gate;
        const LstmGeometry& g = m_Geometry;
        const size_t rows = g.m_Sequence.RowsPerStep();
        const size_t count = rows * g.m_Units;
        float* state = args.GetOutput<float>(g.m_OutputSlots.m_OutputState) + batch * g.m_Outputs;
        float* cell = args.GetOutput<float>(g.m_OutputSlots.m_CellState) + batch * g.m_Units;
        const Operands operands = {
            args.GetInput<float>(g.m_Slots.m_Data) + row * g.m_Inputs,
            g.m_AuxInputs == 0 ? nullptr : args.GetInput<float>(g.m_Slots.m_Aux) + row * g.m_AuxInputs, state, cell};
        m_Data.Load(args.m_Scratch, operands.m_Data, rows);
        m_State.Load(args.m_Scratch, state, rows);
        if (g.m_AuxInputs != 0)
        {
            m_Aux.Load(args.m_Scratch, operands.m_Aux, rows);
        }

        const float* const input = g.HasGate(Input) ? RunGate(args, Input, operands, SigmoidCode) : nullptr;
        const float* const forget = RunGate(args, Forget, operands, SigmoidCode);
        const float* const update = RunGate(args, Cell, operands, m_Activation);
        for (size_t i = 0; i < count; ++i)
        {
            cell[i] = forget[i] * cell[i] + update[i] * (input != nullptr ? input[i] : 1.0f - forget[i]);
        }
        ClipValues(cell, count, m_CellClip);
        const float* const output = RunGate(args, Output, operands, SigmoidCode);

        // The cell gate's values are no longer needed.
        float* hidden = Scratch::At<float>(args.m_Scratch, m_Values[Cell]);
        std::copy_n(cell, count, hidden);
        ApplyRecurrentActivation(m_Activation, hidden, count);
        std::transform(hidden, hidden + count, output, hidden, [](float a, float b) { return a * b; });
        if (g.HasProjection())
        {
            Project(args, hidden, state, rows);
        }
        else
        {
            std::copy_n(hidden, rows * g.m_Outputs, state);
        }
    }

    const float* RunGate(const ExecuteArgs& args, size_t index, const Operands& operands, uint32_t activation) const
    {
        const LstmGeometry& g = m_Geometry;
        const Gate& gate = m_Gates[index];
        const size_t rows = g.m_Sequence.RowsPerStep();
        const size_t units = g.m_Units;
        const float* const bias = args.GetInput<float>(g.m_Slots.m_Bias[index]);
        const bool isNormalized = g.m_Slots.m_LayerNorm[index] != LstmSlots::None;
        float* const values = Scratch::At<float>(args.m_Scratch, m_Values[index]);
        void* const partial = Scratch::At<float>(args.m_Scratch, m_Partial);
        for (size_t row = 0; row < rows; ++row)
        {
            if (isNormalized)
            {
                std::fill_n(values + row * units, units, 0.0f);
            }
            else
            {
                std::copy_n(bias, units, values + row * units);
            }
        }
        m_Data.Accumulate(args, gate.m_Input, operands.m_Data, rows, units, partial, values);
        if (g.m_AuxInputs != 0)
        {
            m_Aux.Accumulate(args, gate.m_Aux, operands.m_Aux, rows, units, partial, values);
        }
        if (gate.m_IsDiagonal)
        {
            AddDiagonal(args, gate.m_Recurrent, operands.m_State, values);
        }
        else
        {
            m_State.Accumulate(args, gate.m_Recurrent, operands.m_State, rows, units, partial, values);
        }
        if (gate.m_Peephole.IsPresent())
        {
            AddDiagonal(args, gate.m_Peephole, operands.m_Cell, values);
        }
        if (isNormalized)
        {
            const float* const weights = args.GetInput<float>(g.m_Slots.m_LayerNorm[index]);
            Normalize(values, rows, units);
            for (size_t i = 0; i < rows * units; ++i)
            {
                values[i] = values[i] * weights[i % units] + bias[i % units];
            }
        }
        ApplyRecurrentActivation(activation, values, rows * units);
        return values;
    }

    /// values += weights of each unit times its operand.
    void AddDiagonal(const ExecuteArgs& args, const GateWeights& weights, const float* operand, float* values) const
    {
        const size_t units = m_Geometry.m_Units;
        for (size_t i = 0; i < m_Geometry.m_Sequence.RowsPerStep() * units; ++i)
        {
            values[i] += weights.At(args, i % units) * operand[i];
        }
    }

    void Project(const ExecuteArgs& args, const float* hidden, float* state, size_t rows) const
    {
        const LstmGeometry& g = m_Geometry;
        for (size_t row = 0; row < rows; ++row)
        {
            if (g.m_Slots.m_ProjectionBias != LstmSlots::None)
            {
                std::copy_n(args.GetInput<float>(g.m_Slots.m_ProjectionBias), g.m_Outputs, state + row * g.m_Outputs);
            }
            else
            {
                std::fill_n(state + row * g.m_Outputs, g.m_Outputs, 0.0f);
            }
        }
        m_Hidden.Load(args.m_Scratch, hidden, rows);
        m_Hidden.Accumulate(args, m_Projection, hidden, rows, g.m_Outputs,
                            Scratch::At<float>(args.m_Scratch, m_Partial), state);
        ClipValues(state, rows * g.m_Outputs, m_ProjectionClip);
    }

    LstmGeometry m_Geometry;
    uint32_t m_Activation;
    float m_CellClip;
    float m_ProjectionClip;
    std::array<Gate, LstmSlots::NumGates> m_Gates;
    GateWeights m_Projection;
    GateRows m_Data;
    GateRows m_Aux;
    GateRows m_State;
    GateRows m_Hidden;
    size_t m_Partial = 0; ///< offsets in the scratch memory
    std::array<size_t, LstmSlots::NumGates> m_Values{};
};

} // namespace

std::shared_ptr<const LstmCell> MakeFloatLstmCell(const ReshapeArgs& args, const LstmGeometry& geometry,
                                                  const LstmParameters& parameters, Scratch& scratch)
{
    return std::make_shared<const FloatLstmCell>(args, geometry, parameters, scratch);
}

} // namespace tenon::ref
