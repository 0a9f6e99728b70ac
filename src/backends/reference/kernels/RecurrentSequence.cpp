// SPDX-License-Identifier: Apache-2.0
// RecurrentSequence: ONNX's RNN, GRU and LSTM over sequences. With data x, state h and W, R, b of a gate, its sum is W
// x + R h + b. Functions f, g and k of the descriptor are applied to the gates' sums:
//   RNN   h' = f
//   GRU   z = f, r = f, n = g; h' = (1 - z) n + z h. The sum of n has R (r h) in place of R h or, where linear before
//         reset, r (R h + b_R) in place of R h + b_R.
//   LSTM  i = f, n = g, w = f or 1 - i, c' = w c + i n, o = f, h' = o k(c'). The sums of i and w have P c added, that
//         of o has P c'. Arguments of f and g are clipped; a sequence without steps has final states of 0. Source:
// onnx/defs/rnn/defs.cc and, for the last two, ONNX Runtime. Float32 and Float64, computed in double precision,
// including states from step to step; layers of 16-bit floats run in Float32 (optimizer/widths/FitFloatWidths.hpp).
#include "backends/reference/kernels/RecurrentSequence.hpp"

#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/ElementTypes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::Scratch;

constexpr backends::TypeRow RecurrentSequenceTypes[] = {backends::SameType({DataType::Float32, DataType::Float64}, 4)};

double Apply(const GateFunction& function, double x)
{
    const double a = double{function.m_Alpha};
    const double b = double{function.m_Beta};
    switch (function.m_Function)
    {
    case RecurrentActivation::Relu: return std::max(x, 0.0);
    case RecurrentActivation::Tanh: return std::tanh(x);
    case RecurrentActivation::Sigmoid: return 1.0 / (1.0 + std::exp(-x));
    case RecurrentActivation::Affine: return a * x + b;
    case RecurrentActivation::LeakyRelu: return x >= 0.0 ? x : a * x;
    case RecurrentActivation::ThresholdedRelu: return x < a ? 0.0 : x;
    case RecurrentActivation::ScaledTanh: return a * std::tanh(b * x);
    case RecurrentActivation::HardSigmoid: return std::min(std::max(a * x + b, 0.0), 1.0);
    case RecurrentActivation::Elu: return x >= 0.0 ? x : a * std::expm1(x);
    case RecurrentActivation::Softsign: return x / (1.0 + std::abs(x));
    case RecurrentActivation::Softplus: break;
    }
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); // log(1 + exp(x)) without overflow
}

template <typename T>
class RecurrentSequence
{
public:
    RecurrentSequence(const ReshapeArgs& args, const SequenceGeometry& geometry, Scratch& scratch)
        : m_Geometry(geometry), m_Gates(scratch.Add<double>(geometry.m_Gates, geometry.m_Units)),
          m_State(scratch.Add<double>(geometry.m_Units)), m_Cell(scratch.Add<double>(geometry.m_Units)),
          m_Reset(scratch.Add<double>(geometry.m_Units))
    {
        const auto& descriptor = args.GetDescriptor<RecurrentSequenceDescriptor>();
        m_Kind = descriptor.m_Cell;
        m_Clip = double{descriptor.m_Clip};
        m_LinearBeforeReset = descriptor.m_LinearBeforeReset;
        m_CoupledInputForget = descriptor.m_CoupledInputForget;
    }

    void operator()(const ExecuteArgs& args) const
    {
        const SequenceGeometry& g = m_Geometry;
        g.CheckLengths(args);
        for (size_t direction = 0; direction < g.m_Directions; ++direction)
        {
            for (size_t batch = 0; batch < g.m_Batches; ++batch)
            {
                RunSequence(args, direction, batch);
            }
        }
    }

private:
    /// One of a direction's tensors: element i as a double, or 0 if it is not connected.
    class Values
    {
    public:
        Values(const ExecuteArgs& args, const SequenceGeometry& g, size_t input, size_t offset)
            : m_Values(g.m_HasInput[input] ? args.GetInput<T>(input) + offset : nullptr)
        {
        }
        double operator[](size_t i) const { return m_Values != nullptr ? static_cast<double>(m_Values[i]) : 0.0; }

    private:
        const T* m_Values;
    };

    struct Direction
    {
        Direction(const ExecuteArgs& args, const SequenceGeometry& g, size_t direction)
            : m_Weights(args, g, SequenceGeometry::Weights, direction * g.Sums() * g.m_Inputs),
              m_Recurrent(args, g, SequenceGeometry::Recurrent, direction * g.Sums() * g.m_Units),
              m_Bias(args, g, SequenceGeometry::Bias, direction * 2 * g.Sums()),
              m_Peepholes(args, g, SequenceGeometry::Peepholes, direction * 3 * g.m_Units),
              m_Functions(&g.m_Functions[direction * 3]), m_RecurrentBias(g.Sums())
        {
        }

        Values m_Weights;
        Values m_Recurrent;
        Values m_Bias;
        Values m_Peepholes;
        const GateFunction* m_Functions;
        size_t m_RecurrentBias; ///< index of the first recurrent bias
    };

    void RunSequence(const ExecuteArgs& args, size_t direction, size_t batch) const
    {
        const SequenceGeometry& g = m_Geometry;
        const Direction weights(args, g, direction);
        const size_t length = g.GetLength(args, batch);
        const size_t place = g.GetState(direction, batch);
        double* const state = Scratch::At<double>(args.m_Scratch, m_State);
        double* const cell = Scratch::At<double>(args.m_Scratch, m_Cell);
        const Values firstState(args, g, SequenceGeometry::State, place);
        const Values firstCell(args, g, SequenceGeometry::CellState, place);
        for (size_t unit = 0; unit < g.m_Units; ++unit)
        {
            state[unit] = length != 0 ? firstState[unit] : 0.0;
            cell[unit] = length != 0 ? firstCell[unit] : 0.0;
        }
        for (size_t step = 0; step < g.m_Steps; ++step)
        {
            T* output = args.GetOutput<T>(0);
            if (step >= length)
            {
                std::fill_n(output + g.GetOutput(step, direction, batch), g.m_Units, T(0));
                continue;
            }
            const size_t time = g.IsReverse(direction) ? length - 1 - step : step;
            Step(args.GetInput<T>(SequenceGeometry::Data) + g.GetDataRow(time, batch) * g.m_Inputs, weights,
                 args.m_Scratch);
            Store(state, output + g.GetOutput(time, direction, batch));
        }
        Store(state, args.GetOutput<T>(1) + place);
        if (m_Kind == RecurrentCell::Lstm)
        {
            Store(cell, args.GetOutput<T>(2) + place);
        }
    }

    void Store(const double* values, T* output) const
    {
        std::transform(values, values + m_Geometry.m_Units, output,
                       [](double value) { return FromAccumulator<T>(value); });
    }

    double Activate(const GateFunction& function, double sum) const
    {
        return Apply(function, m_Clip != 0.0 ? std::min(std::max(sum, -m_Clip), m_Clip) : sum);
    }

    double DataSum(const T* data, const Direction& weights, size_t gate, size_t unit) const
    {
        const size_t row = gate * m_Geometry.m_Units + unit;
        double sum = weights.m_Bias[row];
        for (size_t i = 0; i < m_Geometry.m_Inputs; ++i)
        {
            sum += weights.m_Weights[row * m_Geometry.m_Inputs + i] * static_cast<double>(data[i]);
        }
        return sum;
    }

    double StateSum(const double* state, const Direction& weights, size_t gate, size_t unit) const
    {
        const size_t row = gate * m_Geometry.m_Units + unit;
        double sum = weights.m_Bias[weights.m_RecurrentBias + row];
        for (size_t i = 0; i < m_Geometry.m_Units; ++i)
        {
            sum += weights.m_Recurrent[row * m_Geometry.m_Units + i] * state[i];
        }
        return sum;
    }

    void Step(const T* data, const Direction& weights, void* scratch) const
    {
        switch (m_Kind)
        {
        case RecurrentCell::Rnn: StepRnn(data, weights, scratch); break;
        case RecurrentCell::Gru: StepGru(data, weights, scratch); break;
        case RecurrentCell::Lstm: StepLstm(data, weights, scratch); break;
        }
    }

    void StepRnn(const T* data, const Direction& weights, void* scratch) const
    {
        double* const state = Scratch::At<double>(scratch, m_State);
        double* const next = Scratch::At<double>(scratch, m_Gates);
        for (size_t unit = 0; unit < m_Geometry.m_Units; ++unit)
        {
            next[unit] =
                Activate(weights.m_Functions[0], DataSum(data, weights, 0, unit) + StateSum(state, weights, 0, unit));
        }
        std::copy_n(next, m_Geometry.m_Units, state);
    }

    void StepGru(const T* data, const Direction& weights, void* scratch) const
    {
        constexpr size_t Update = 0;
        constexpr size_t Reset = 1;
        constexpr size_t Hidden = 2;
        const size_t units = m_Geometry.m_Units;
        double* const state = Scratch::At<double>(scratch, m_State);
        double* const gates = Scratch::At<double>(scratch, m_Gates);
        double* const resetState = Scratch::At<double>(scratch, m_Reset);
        for (const size_t gate : {Update, Reset})
        {
            for (size_t unit = 0; unit < units; ++unit)
            {
                gates[gate * units + unit] = Activate(weights.m_Functions[0], DataSum(data, weights, gate, unit) +
                                                                                  StateSum(state, weights, gate, unit));
            }
        }
        const double* const update = gates + Update * units;
        const double* const reset = gates + Reset * units;
        double* const hidden = gates + Hidden * units;
        std::transform(state, state + units, reset, resetState, [](double h, double r) { return h * r; });
        for (size_t unit = 0; unit < units; ++unit)
        {
            const double recurrent = m_LinearBeforeReset ? reset[unit] * StateSum(state, weights, Hidden, unit)
                                                         : StateSum(resetState, weights, Hidden, unit);
            hidden[unit] = Activate(weights.m_Functions[1], DataSum(data, weights, Hidden, unit) + recurrent);
        }
        for (size_t unit = 0; unit < units; ++unit)
        {
            state[unit] = (1.0 - update[unit]) * hidden[unit] + update[unit] * state[unit];
        }
    }

    void StepLstm(const T* data, const Direction& weights, void* scratch) const
    {
        constexpr size_t Input = 0;
        constexpr size_t Output = 1;
        constexpr size_t Forget = 2;
        constexpr size_t Cell = 3;
        const size_t units = m_Geometry.m_Units;
        double* const state = Scratch::At<double>(scratch, m_State);
        double* const cell = Scratch::At<double>(scratch, m_Cell);
        double* const next = Scratch::At<double>(scratch, m_Gates);
        const GateFunction* const functions = weights.m_Functions;
        for (size_t unit = 0; unit < units; ++unit)
        {
            const auto sum = [&](size_t gate)
            { return DataSum(data, weights, gate, unit) + StateSum(state, weights, gate, unit); };
            const auto peephole = [&](size_t gate) { return weights.m_Peepholes[gate * units + unit] * cell[unit]; };
            const double input = Activate(functions[0], sum(Input) + peephole(Input));
            const double forget =
                m_CoupledInputForget ? 1.0 - input : Activate(functions[0], sum(Forget) + peephole(Forget));
            cell[unit] = forget * cell[unit] + input * Activate(functions[1], sum(Cell));
            next[unit] = Activate(functions[0], sum(Output) + peephole(Output)) * Apply(functions[2], cell[unit]);
        }
        std::copy_n(next, units, state);
    }

    SequenceGeometry m_Geometry;
    RecurrentCell m_Kind = RecurrentCell::Lstm;
    double m_Clip = 0.0;
    bool m_LinearBeforeReset = false;
    bool m_CoupledInputForget = false;
    size_t m_Gates; ///< offsets in the scratch memory
    size_t m_State;
    size_t m_Cell;
    size_t m_Reset;
};

Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const SequenceGeometry geometry(args);
    return DispatchType<float, double>(args.GetInput(0).GetDataType(),
                                       [&](auto tag) -> Prepared
                                       {
                                           Scratch scratch;
                                           const RecurrentSequence<typename decltype(tag)::Type> run(args, geometry,
                                                                                                     scratch);
                                           return Prepared(run, scratch.GetBytes());
                                       });
}

} // namespace

extern const backends::Kernel RefRecurrentSequenceKernel = {"RefRecurrentSequence", RecurrentSequenceTypes, Prepare,
                                                            CheckRecurrentSequence};

} // namespace tenon::ref
