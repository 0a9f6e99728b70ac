// SPDX-License-Identifier: Apache-2.0
// RecurrentSequence against ONNX's formulas of RNN, GRU and LSTM in double precision, written unit by unit.
#include "harness/OpTest.hpp"
#include "ops/InferCases.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Recurrent.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace tenon::test::recurrent_sequence_test
{

namespace
{

using Descriptor = RecurrentSequenceDescriptor;
using enum RecurrentCell;
using enum SequenceDirection;

struct Sizes
{
    unsigned int m_Steps = 5;
    unsigned int m_Batches = 3;
    unsigned int m_Inputs = 4;
    unsigned int m_Units = 6;
};

/// What is connected beside data and weights.
struct Optional
{
    bool m_Bias = true;
    bool m_State = true;
    bool m_Cell = true;
    bool m_Peepholes = false;
    std::vector<double> m_Lengths; ///< empty: not connected
};

unsigned int GatesOf(RecurrentCell cell)
{
    return cell == Rnn ? 1 : cell == Gru ? 3 : 4;
}

double Function(RecurrentActivation function, double a, double b, double x)
{
    switch (function)
    {
    case RecurrentActivation::Relu: return x > 0 ? x : 0;
    case RecurrentActivation::Tanh: return (1 - std::exp(-2 * x)) / (1 + std::exp(-2 * x));
    case RecurrentActivation::Sigmoid: return 1 / (1 + std::exp(-x));
    case RecurrentActivation::Affine: return a * x + b;
    case RecurrentActivation::LeakyRelu: return x < 0 ? a * x : x;
    case RecurrentActivation::ThresholdedRelu: return x >= a ? x : 0;
    case RecurrentActivation::ScaledTanh: return a * std::tanh(b * x);
    case RecurrentActivation::HardSigmoid: return std::clamp(a * x + b, 0.0, 1.0);
    case RecurrentActivation::Elu: return x < 0 ? a * (std::exp(x) - 1) : x;
    case RecurrentActivation::Softsign: return x / (1 + std::fabs(x));
    case RecurrentActivation::Softplus: return std::log(1 + std::exp(x));
    }
    return 0;
}

/// One sequence in one direction.
class Walk
{
public:
    Walk(const Descriptor& descriptor, const std::vector<RealTensor>& in, size_t direction, size_t batch)
        : m_Descriptor(descriptor), m_In(in), m_Direction(direction), m_Batch(batch), m_Units(in[2].Dim(2)),
          m_Gates(GatesOf(descriptor.m_Cell)), h(m_Units), c(m_Units)
    {
        for (size_t u = 0; u < m_Units; ++u)
        {
            h[u] = State(5, u);
            c[u] = State(6, u);
        }
    }

    void Step(size_t time)
    {
        m_Time = time;
        std::vector<double> next(m_Units);
        std::vector<double> nextCell = c;
        std::vector<double> reset(m_Units);
        for (size_t u = 0; m_Descriptor.m_Cell == Gru && u < m_Units; ++u)
        {
            reset[u] = F(0, X(1, u) + R(1, u, h)) * h[u];
        }
        for (size_t u = 0; u < m_Units; ++u)
        {
            if (m_Descriptor.m_Cell == Rnn)
            {
                next[u] = F(0, X(0, u) + R(0, u, h));
            }
            else if (m_Descriptor.m_Cell == Gru)
            {
                const double z = F(0, X(0, u) + R(0, u, h));
                const double r = F(0, X(1, u) + R(1, u, h));
                const double n =
                    F(1, m_Descriptor.m_LinearBeforeReset ? X(2, u) + r * R(2, u, h) : X(2, u) + R(2, u, reset));
                next[u] = (1 - z) * n + z * h[u];
            }
            else
            {
                const double i = F(0, X(0, u) + R(0, u, h) + P(0, u) * c[u]);
                const double f =
                    m_Descriptor.m_CoupledInputForget ? 1 - i : F(0, X(2, u) + R(2, u, h) + P(2, u) * c[u]);
                nextCell[u] = f * c[u] + i * F(1, X(3, u) + R(3, u, h));
                const double o = F(0, X(1, u) + R(1, u, h) + P(1, u) * nextCell[u]);
                next[u] = o * F(2, nextCell[u], false);
            }
        }
        h = next;
        c = nextCell;
    }

private:
    double F(size_t i, double x, bool isOfGate = true) const
    {
        const double clip = double{m_Descriptor.m_Clip};
        const double clipped = clip > 0 && isOfGate ? std::clamp(x, -clip, clip) : x;
        if (m_Descriptor.m_Activations.empty())
        {
            const bool isSigmoid = m_Descriptor.m_Cell != Rnn && i == 0;
            return Function(isSigmoid ? RecurrentActivation::Sigmoid : RecurrentActivation::Tanh, 0, 0, clipped);
        }
        const size_t functions = m_Descriptor.m_Cell == Rnn ? 1 : m_Descriptor.m_Cell == Gru ? 2 : 3;
        const size_t at = m_Direction * functions + i;
        const auto parameter = [at](const std::vector<float>& of) { return of.empty() ? 0.0 : double{of.at(at)}; };
        return Function(m_Descriptor.m_Activations.at(at), parameter(m_Descriptor.m_Alphas),
                        parameter(m_Descriptor.m_Betas), clipped);
    }
    double X(size_t gate, size_t unit) const
    {
        double sum = Bias(gate * m_Units + unit);
        for (size_t i = 0; i < m_In[1].Dim(2); ++i)
        {
            const double x =
                m_Descriptor.m_BatchMajor ? m_In[0].At(m_Batch, m_Time, i) : m_In[0].At(m_Time, m_Batch, i);
            sum += x * m_In[1].At(m_Direction, gate * m_Units + unit, i);
        }
        return sum;
    }
    double R(size_t gate, size_t unit, const std::vector<double>& state) const
    {
        double sum = Bias((m_Gates + gate) * m_Units + unit);
        for (size_t i = 0; i < m_Units; ++i)
        {
            sum += state[i] * m_In[2].At(m_Direction, gate * m_Units + unit, i);
        }
        return sum;
    }
    double Bias(size_t i) const { return m_In.size() < 4 || m_In[3].m_Values.empty() ? 0 : m_In[3].At(m_Direction, i); }
    double P(size_t gate, size_t unit) const
    {
        return m_In.size() < 8 || m_In[7].m_Values.empty() ? 0 : m_In[7].At(m_Direction, gate * m_Units + unit);
    }
    double State(size_t input, size_t unit) const
    {
        if (m_In.size() <= input || m_In[input].m_Values.empty())
        {
            return 0;
        }
        return m_Descriptor.m_BatchMajor ? m_In[input].At(m_Batch, m_Direction, unit)
                                         : m_In[input].At(m_Direction, m_Batch, unit);
    }

    const Descriptor& m_Descriptor;
    const std::vector<RealTensor>& m_In;
    size_t m_Direction;
    size_t m_Batch;
    size_t m_Units;
    size_t m_Gates;
    size_t m_Time = 0;

public:
    std::vector<double> h; // NOLINT: ONNX's names
    std::vector<double> c; // NOLINT
};

/// All outputs, one behind the other.
Oracle Formulas(const Descriptor& descriptor)
{
    return [descriptor](const std::vector<RealTensor>& in)
    {
        const bool isBatchMajor = descriptor.m_BatchMajor;
        const size_t steps = in[0].Dim(isBatchMajor ? 1 : 0);
        const size_t batches = in[0].Dim(isBatchMajor ? 0 : 1);
        const size_t units = in[2].Dim(2);
        const size_t directions = in[2].Dim(0);
        std::vector<double> all(steps * directions * batches * units);
        std::vector<double> lastState(directions * batches * units);
        std::vector<double> lastCell(directions * batches * units);
        for (size_t direction = 0; direction < directions; ++direction)
        {
            for (size_t batch = 0; batch < batches; ++batch)
            {
                const bool isReverse = descriptor.m_Direction == Reverse || direction == 1;
                const bool hasLengths = in.size() > 4 && !in[4].m_Values.empty();
                const size_t length = hasLengths ? static_cast<size_t>(in[4].At(batch)) : steps;
                Walk walk(descriptor, in, direction, batch);
                for (size_t i = 0; i < length; ++i)
                {
                    const size_t time = isReverse ? length - 1 - i : i;
                    walk.Step(time);
                    const size_t place = isBatchMajor ? (batch * steps + time) * directions + direction
                                                      : (time * directions + direction) * batches + batch;
                    std::copy(walk.h.begin(), walk.h.end(), all.begin() + static_cast<ptrdiff_t>(place * units));
                }
                if (length == 0)
                {
                    continue; // the states stay 0
                }
                const size_t place = isBatchMajor ? batch * directions + direction : direction * batches + batch;
                std::copy(walk.h.begin(), walk.h.end(), lastState.begin() + static_cast<ptrdiff_t>(place * units));
                std::copy(walk.c.begin(), walk.c.end(), lastCell.begin() + static_cast<ptrdiff_t>(place * units));
            }
        }
        all.insert(all.end(), lastState.begin(), lastState.end());
        if (descriptor.m_Cell == Lstm)
        {
            all.insert(all.end(), lastCell.begin(), lastCell.end());
        }
        return all;
    };
}

OpCase MakeCase(const std::string& name, const Descriptor& descriptor, const Sizes& s, const Optional& has,
                DataType type = DataType::Float32)
{
    const unsigned int directions = descriptor.m_Direction == Bidirectional ? 2 : 1;
    const unsigned int sums = GatesOf(descriptor.m_Cell) * s.m_Units;
    const double scale = 1.0 / std::sqrt(static_cast<double>(s.m_Units));
    const bool isBatchMajor = descriptor.m_BatchMajor;
    const TensorShape state = isBatchMajor ? TensorShape({s.m_Batches, directions, s.m_Units})
                                           : TensorShape({directions, s.m_Batches, s.m_Units});
    const auto random = [&](const TensorShape& shape, uint32_t seed, double most)
    { return Random(TensorInfo(shape, type), seed, -most, most); };
    OpCase op;
    op.m_Name = name;
    op.m_Type = LayerType::RecurrentSequence;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {random(isBatchMajor ? TensorShape({s.m_Batches, s.m_Steps, s.m_Inputs})
                                       : TensorShape({s.m_Steps, s.m_Batches, s.m_Inputs}),
                          1, 1.5),
                   Constant(random({directions, sums, s.m_Inputs}, 2, 0.7)),
                   Constant(random({directions, sums, s.m_Units}, 3, 2.0 * scale))};
    op.m_Inputs.resize(8, NotConnected());
    if (has.m_Bias)
    {
        op.m_Inputs[3] = Constant(random({directions, 2 * sums}, 4, 0.5));
    }
    if (!has.m_Lengths.empty())
    {
        op.m_Inputs[4] = Stored(TensorInfo({s.m_Batches}, DataType::Signed32), has.m_Lengths);
    }
    if (has.m_State)
    {
        op.m_Inputs[5] = random(state, 5, 0.9);
    }
    if (has.m_Cell && descriptor.m_Cell == Lstm)
    {
        op.m_Inputs[6] = random(state, 6, 1.2);
    }
    if (has.m_Peepholes && descriptor.m_Cell == Lstm)
    {
        op.m_Inputs[7] = Constant(random({directions, 3 * s.m_Units}, 7, 0.8));
    }
    op.m_Output = TensorInfo(isBatchMajor ? TensorShape({s.m_Batches, s.m_Steps, directions, s.m_Units})
                                          : TensorShape({s.m_Steps, directions, s.m_Batches, s.m_Units}),
                             type);
    op.m_MoreOutputs.assign(descriptor.GetNumOutputs() - 1, TensorInfo(state, type));
    op.m_Oracle = Formulas(descriptor);
    // Steps of float arithmetic carry on what the ones before were off by.
    op.m_Absolute = 4e-6;
    return op;
}

Descriptor Cell(RecurrentCell cell, SequenceDirection direction = Forward)
{
    Descriptor descriptor;
    descriptor.m_Cell = cell;
    descriptor.m_Direction = direction;
    return descriptor;
}

std::string NameOf(const Descriptor& d)
{
    return "cell " + std::to_string(static_cast<int>(d.m_Cell)) + ", direction " +
           std::to_string(static_cast<int>(d.m_Direction)) + (d.m_BatchMajor ? ", batch major" : "") +
           (d.m_LinearBeforeReset ? ", linear before reset" : "");
}

/// A descriptor of each cell, the GRU's with either order of reset and product, and direction.
std::vector<Descriptor> AllKinds()
{
    std::vector<Descriptor> kinds;
    for (const SequenceDirection direction : {Forward, Reverse, Bidirectional})
    {
        for (const RecurrentCell cell : {Rnn, Gru, Lstm})
        {
            kinds.push_back(Cell(cell, direction));
        }
        kinds.push_back(Cell(Gru, direction));
        kinds.back().m_LinearBeforeReset = true;
    }
    return kinds;
}

} // namespace

ISA_TEST(RecurrentSequence, CellsDirectionsAndLayouts)
{
    for (Descriptor descriptor : AllKinds())
    {
        for (const bool isBatchMajor : {false, true})
        {
            descriptor.m_BatchMajor = isBatchMajor;
            CheckOp(MakeCase(NameOf(descriptor), descriptor, Sizes(), Optional()));
        }
    }
}

ISA_TEST(RecurrentSequence, OptionalInputs)
{
    for (const Descriptor& descriptor : AllKinds())
    {
        for (unsigned int bits = 0; bits < 8; ++bits)
        {
            Optional has;
            has.m_Bias = (bits & 1) != 0;
            has.m_State = (bits & 2) != 0;
            has.m_Cell = (bits & 4) != 0;
            if (descriptor.m_Direction == Forward && (has.m_Cell || descriptor.m_Cell == Lstm))
            {
                CheckOp(MakeCase(NameOf(descriptor) + ", inputs " + std::to_string(bits), descriptor, Sizes(), has));
            }
        }
    }
    OpCase op = MakeCase("slots left out", Cell(Lstm), Sizes(), Optional{false, false, false, false, {}});
    op.m_Inputs.resize(3);
    CheckOp(op);
}

ISA_TEST(RecurrentSequence, LengthsOfSequences)
{
    for (Descriptor descriptor : AllKinds())
    {
        for (const bool isBatchMajor : {false, true})
        {
            descriptor.m_BatchMajor = isBatchMajor;
            Optional has;
            has.m_Lengths = {5, 0, 2};
            CheckOp(MakeCase(NameOf(descriptor) + ", lengths", descriptor, Sizes(), has));
            has.m_Lengths = {1, 3, 3}; // none is as long as the data
            CheckOp(MakeCase(NameOf(descriptor) + ", short ones", descriptor, Sizes(), has));
        }
    }
    Optional has;
    has.m_Lengths = {0, 0, 0};
    CheckOp(MakeCase("no steps", Cell(Lstm, Bidirectional), Sizes(), has));
    has.m_Lengths = {7, 2, 0, 7, 1, 6, 3, 4, 5, 7, 7};
    CheckOp(MakeCase("tiles of rows", Cell(Gru, Bidirectional), {7, 11, 5, 17}, has));
}

// Numbers of units around those of vectors, of rows around those of tiles.
ISA_TEST(RecurrentSequence, UnitsAndBatches)
{
    for (const unsigned int units : {1U, 3U, 8U, 15U, 16U, 24U, 33U, 64U})
    {
        for (const unsigned int batches : {1U, 2U, 4U, 5U, 13U})
        {
            for (const RecurrentCell cell : {Rnn, Gru, Lstm})
            {
                Descriptor descriptor = Cell(cell);
                descriptor.m_LinearBeforeReset = cell == Gru && batches % 2 == 1;
                CheckOp(MakeCase(NameOf(descriptor) + ", units " + std::to_string(units) + ", batch " +
                                     std::to_string(batches),
                                 descriptor, {3, batches, 1 + units % 7, units}, Optional()));
            }
        }
    }
}

// Products of a step of which each thread takes a part, and directions and parts of the batch that run side by side.
ISA_TEST(RecurrentSequence, SharedByThreads)
{
    for (const unsigned int batches : {1U, 5U})
    {
        CheckOp(MakeCase("columns of an LSTM", Cell(Lstm), {2, batches, 9, 200}, Optional()));
        CheckOp(MakeCase("columns of a GRU", Cell(Gru), {2, batches, 9, 320}, Optional()));
    }
    for (const unsigned int batches : {1U, 9U, 20U})
    {
        CheckOp(MakeCase("directions", Cell(Lstm, Bidirectional), {12, batches, 9, 64}, Optional()));
        CheckOp(MakeCase("parts of the batch", Cell(Gru), {12, batches, 9, 64}, Optional()));
    }
}

ISA_TEST(RecurrentSequence, Activations)
{
    const struct
    {
        RecurrentActivation m_Function;
        float m_Alpha;
        float m_Beta;
    } functions[] = {
        {RecurrentActivation::Relu, 0, 0},
        {RecurrentActivation::Tanh, 0, 0},
        {RecurrentActivation::Sigmoid, 0, 0},
        {RecurrentActivation::Affine, 0.7f, 0.1f},
        {RecurrentActivation::LeakyRelu, 0.05f, 0},
        {RecurrentActivation::ThresholdedRelu, 0.2f, 0},
        {RecurrentActivation::ScaledTanh, 0.8f, 1.3f},
        {RecurrentActivation::HardSigmoid, 0.2f, 0.5f},
        {RecurrentActivation::Elu, 0.9f, 0},
        {RecurrentActivation::Softsign, 0, 0},
        {RecurrentActivation::Softplus, 0, 0},
    };
    constexpr size_t Count = std::size(functions);
    for (Descriptor descriptor : AllKinds())
    {
        const size_t perDirection = descriptor.m_Cell == Rnn ? 1 : descriptor.m_Cell == Gru ? 2 : 3;
        for (size_t first = 0; descriptor.m_Direction != Reverse && first < Count; ++first)
        {
            descriptor.m_Activations.clear();
            descriptor.m_Alphas.clear();
            descriptor.m_Betas.clear();
            for (size_t i = 0; i < perDirection * (descriptor.m_Direction == Bidirectional ? 2 : 1); ++i)
            {
                const auto& function = functions[(first + 4 * i) % Count];
                descriptor.m_Activations.push_back(function.m_Function);
                descriptor.m_Alphas.push_back(function.m_Alpha);
                descriptor.m_Betas.push_back(function.m_Beta);
            }
            OpCase op = MakeCase(NameOf(descriptor) + ", functions from " + std::to_string(first), descriptor,
                                 {3, 2, 4, 9}, Optional());
            op.m_Absolute = 3e-5; // states are not bounded by 1
            op.m_Relative = 3e-5;
            CheckOp(op);
        }
    }
    Descriptor named = Cell(Gru);
    named.m_Activations = {RecurrentActivation::Sigmoid, RecurrentActivation::Tanh};
    CheckOp(MakeCase("the defaults by their names", named, Sizes(), Optional()));
}

ISA_TEST(RecurrentSequence, ClipPeepholesAndCoupledGates)
{
    for (Descriptor descriptor : AllKinds())
    {
        descriptor.m_Clip = 0.4f;
        CheckOp(MakeCase(NameOf(descriptor) + ", clip", descriptor, Sizes(), Optional()));
    }
    for (unsigned int bits = 1; bits < 8; ++bits)
    {
        for (const SequenceDirection direction : {Forward, Bidirectional})
        {
            Descriptor descriptor = Cell(Lstm, direction);
            descriptor.m_CoupledInputForget = (bits & 1) != 0;
            descriptor.m_Clip = (bits & 2) != 0 ? 0.6f : 0.0f;
            Optional has;
            has.m_Peepholes = (bits & 4) != 0;
            CheckOp(MakeCase("LSTM " + std::to_string(bits), descriptor, Sizes(), has));
        }
    }
}

ISA_TEST(RecurrentSequence, DoublePrecision)
{
    for (const Descriptor& descriptor : AllKinds())
    {
        Optional has;
        has.m_Peepholes = true;
        has.m_Lengths = {4, 5, 0};
        OpCase op = MakeCase(NameOf(descriptor), descriptor, Sizes(), has, DataType::Float64);
        op.m_Relative = op.m_Absolute = 1e-12;
        CheckOp(op);
    }
}

// States are 0 where there is no step; sums of no data are biases.
ISA_TEST(RecurrentSequence, EmptyData)
{
    for (Descriptor descriptor : AllKinds())
    {
        for (const bool isBatchMajor : {false, true})
        {
            descriptor.m_BatchMajor = isBatchMajor;
            CheckOp(MakeCase(NameOf(descriptor) + ", no steps", descriptor, {0, 3, 4, 6}, Optional()));
            CheckOp(MakeCase(NameOf(descriptor) + ", no batch", descriptor, {5, 0, 4, 6}, Optional()));
            CheckOp(MakeCase(NameOf(descriptor) + ", no data", descriptor, {5, 3, 0, 6}, Optional()));
        }
    }
}

ISA_TEST(RecurrentSequence, RefusesTypesAndShapes)
{
    const auto broken = [](size_t input, const TensorInfo& info)
    {
        Optional has;
        has.m_Peepholes = true;
        has.m_Lengths = {1, 2, 3};
        OpCase op = MakeCase("input " + std::to_string(input), Cell(Lstm), Sizes(), has);
        op.m_Inputs[input] = Random(info, 1, -1, 1);
        return op;
    };
    const DataType type = DataType::Float32;
    CheckUnsupported(broken(1, TensorInfo({1, 24, 4}, DataType::Float16)), SupportCode::UnsupportedType, "Float16");
    CheckUnsupported(broken(0, TensorInfo({5, 3, 4}, DataType::QAsymmS8, 0.1f, 0)), SupportCode::UnsupportedType,
                     "QAsymmS8");
    CheckUnsupported(broken(4, TensorInfo({3}, DataType::Signed64)), SupportCode::UnsupportedType,
                     "input 4 has type Signed64");
    CheckUnsupported(broken(6, TensorInfo({1, 3, 6}, DataType::Float64)), SupportCode::UnsupportedType,
                     "input 6 has type Float64");
    OpCase output = broken(5, TensorInfo({1, 3, 6}, type));
    output.m_MoreOutputs[1].SetDataType(DataType::Float16);
    CheckUnsupported(output, SupportCode::UnsupportedType, "output 2 has type Float16");
    CheckRejectsShapes(broken(0, TensorInfo({5, 12}, type)), "3 dimensions");
    CheckRejectsShapes(broken(1, TensorInfo({1, 24, 5}, type)), "input 1");
    CheckRejectsShapes(broken(2, TensorInfo({2, 24, 6}, type)), "input 2");
    CheckRejectsShapes(broken(3, TensorInfo({1, 24}, type)), "input 3");
    CheckRejectsShapes(broken(4, TensorInfo({2}, DataType::Signed32)), "input 4");
    CheckRejectsShapes(broken(5, TensorInfo({3, 1, 6}, type)), "input 5");
    CheckRejectsShapes(broken(6, TensorInfo({1, 3, 5}, type)), "input 6");
    CheckRejectsShapes(broken(7, TensorInfo({1, 24}, type)), "input 7");
}

ISA_TEST(RecurrentSequence, RefusesLengths)
{
    for (const double length : {-1.0, 6.0, -2147483648.0})
    {
        Optional has;
        has.m_Lengths = {5, length, 5};
        const OpCase op = MakeCase("length", Cell(Gru), Sizes(), has);
        for (const auto& backend : GetTestBackends())
        {
            try
            {
                RunOp(*backend, op, RunVariant());
                ADD_FAILURE() << "a length of " << length << " runs on " << backend->GetId();
            }
            catch (const InvalidArgumentException& error)
            {
                EXPECT_NE(std::string(error.what()).find("element 1 of input 4"), std::string::npos) << error.what();
            }
        }
    }
}

static InferCases MakeInferCases()
{
    const auto make = [](const char* name, const Descriptor& descriptor, unsigned int directions = 1)
    {
        const unsigned int sums = 6 * GatesOf(descriptor.m_Cell);
        const bool isLstm = descriptor.m_Cell == Lstm;
        const CaseInput state = descriptor.m_BatchMajor ? T({3, directions, 6}) : T({directions, 3, 6});
        return Case(LayerType::RecurrentSequence, name, descriptor,
                    {descriptor.m_BatchMajor ? T({3, 5, 4}) : T({5, 3, 4}), T({directions, sums, 4}),
                     T({directions, sums, 6}), T({directions, 2 * sums}), T({3}), state, isLstm ? state : Absent(),
                     isLstm ? T({directions, 18}) : Absent()});
    };
    const auto with = [&](const char* name, size_t input, const CaseInput& shape, RecurrentCell cell = Lstm)
    {
        InferCase made = make(name, Cell(cell));
        made.m_Inputs[input] = shape;
        return made;
    };
    const auto changed = [&](const char* name, RecurrentCell cell, void (*change)(Descriptor&))
    { return make(name, Made<Descriptor>(change, Cell(cell))); };
    const auto batchMajor = [](Descriptor& d) { d.m_BatchMajor = true; };
    InferCase least = make("least", Cell(Rnn));
    least.m_Inputs[3] = least.m_Inputs[4] = least.m_Inputs[5] = Absent();
    return {
        least.Gives({"[5,1,3,6]", "[1,3,6]"}),
        make("LSTM", Cell(Lstm)).Gives({"[5,1,3,6]", "[1,3,6]", "[1,3,6]"}),
        make("both directions", Cell(Gru, Bidirectional), 2).Gives({"[5,2,3,6]", "[2,3,6]"}),
        changed("batch major", Lstm, batchMajor).Gives({"[3,5,1,6]", "[3,1,6]", "[3,1,6]"}),
        with("no cell state", 6, Absent()).Gives({"[5,1,3,6]", "[1,3,6]", "[1,3,6]"}),
        with("no steps", 0, T({0, 3, 4})).Gives({"[0,1,3,6]", "[1,3,6]", "[1,3,6]"}),
        with("data of rank 2", 0, T({5, 4})).Rejects("input 0"),
        with("weights", 1, T({1, 24, 5})).Rejects("input 1, the weights, has shape [1,24,5]"),
        with("another number of gates", 2, T({1, 18, 6})).Rejects("input 2, the recurrent weights"),
        with("another number of directions", 2, T({2, 24, 6})).Rejects("must have [1,24,6]"),
        with("no units", 2, T({1, 0, 0})).Rejects("no units"),
        with("units whose gates are too many", 2, T({1, 4, 1U << 31})).Rejects("8589934592"),
        with("biases", 3, T({1, 24})).Rejects("input 3, the biases"),
        with("lengths", 4, T({3, 1})).Rejects("input 4, the lengths"),
        with("state", 5, T({3, 1, 6})).Rejects("input 5, the state"),
        with("cell state", 6, T({1, 3, 5})).Rejects("input 6, the cell state"),
        with("peephole weights", 7, T({1, 24})).Rejects("input 7, the peephole weights"),
        with("cell state of a GRU", 6, T({1, 3, 6}), Gru).Rejects("a GRU has no cell state"),
        with("peephole weights of an RNN", 7, T({1, 18}), Rnn).Rejects("an RNN has no peephole"),
        changed("no cell", Lstm, [](Descriptor& d) { d.m_Cell = static_cast<RecurrentCell>(3); }).Rejects("number 3"),
        changed("no direction", Lstm, [](Descriptor& d) { d.m_Direction = static_cast<SequenceDirection>(7); })
            .Rejects("direction of number 7"),
        changed("too few activations", Lstm, [](Descriptor& d) { d.m_Activations = {RecurrentActivation::Tanh}; })
            .Rejects("needs 3"),
        changed("no activation", Rnn, [](Descriptor& d) { d.m_Activations = {static_cast<RecurrentActivation>(11)}; })
            .Rejects("activation of number 11"),
        changed("no alphas", Rnn, [](Descriptor& d) { d.m_Activations = {RecurrentActivation::Elu}; })
            .Rejects("Alphas has 0 values"),
        changed("betas without activations", Rnn, [](Descriptor& d) { d.m_Betas = {1.0f}; }).Rejects("Betas has 1"),
        changed("activations without parameters", Rnn,
                [](Descriptor& d) { d.m_Activations = {RecurrentActivation::Relu}; })
            .Gives({"[5,1,3,6]", "[1,3,6]"}),
        changed("negative clip", Lstm, [](Descriptor& d) { d.m_Clip = -1.0f; }).Rejects("Clip is -1"),
        changed("clip that is no number", Lstm, [](Descriptor& d) { d.m_Clip = std::nanf(""); }).Rejects("Clip is nan"),
        changed("an LSTM's reset", Lstm, [](Descriptor& d) { d.m_LinearBeforeReset = true; }).Rejects("no reset gate"),
        changed("a GRU's input gate", Gru, [](Descriptor& d) { d.m_CoupledInputForget = true; })
            .Rejects("no input gate"),
    };
}

static const InferTable RecurrentSequenceTable(MakeInferCases);

} // namespace tenon::test::recurrent_sequence_test
