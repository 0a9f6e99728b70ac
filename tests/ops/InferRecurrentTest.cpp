// SPDX-License-Identifier: Apache-2.0
// Tables of shape inference: the LSTM layers. The tables start from a full set of weights and take away or change one.
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Recurrent.hpp>

namespace tenon::test::infer_recurrent_test
{

namespace
{

constexpr unsigned int batch = 2;
constexpr unsigned int inputs = 3;
constexpr unsigned int units = 4;

using Inputs = std::vector<CaseInput>;

// Data, states and all weights; `outputs` differs from units where there is a projection.
Inputs AllInputs(const CaseInput& data, unsigned int outputs)
{
    Inputs all = {data, T({batch, outputs}), T({batch, units})};
    all.insert(all.end(), 4, T({units, inputs}));
    all.insert(all.end(), 4, T({units, outputs}));
    all.insert(all.end(), 3 + 4, T({units})); // peephole, biases
    all.push_back(T({outputs, units}));
    all.push_back(T({outputs}));
    all.insert(all.end(), 4, T({units})); // layer normalization
    return all;
}

Inputs With(Inputs all, std::initializer_list<size_t> slots, const CaseInput& input)
{
    for (const size_t slot : slots)
    {
        all[slot] = input;
    }
    return all;
}

// Slots by what uses them; numbers as in Recurrent.cpp.
constexpr std::initializer_list<size_t> InputGate = {3, 7, 11, 14, 20};
constexpr std::initializer_list<size_t> Peephole = {11, 12, 13};
constexpr std::initializer_list<size_t> Projection = {18, 19};
constexpr std::initializer_list<size_t> LayerNorm = {20, 21, 22, 23};

template <typename D>
D Cell(bool hasCifg, bool hasPeephole = false, bool hasProjection = false, bool hasLayerNorm = false)
{
    D descriptor;
    descriptor.m_CifgEnabled = hasCifg;
    descriptor.m_PeepholeEnabled = hasPeephole;
    descriptor.m_ProjectionEnabled = hasProjection;
    descriptor.m_LayerNormEnabled = hasLayerNorm;
    return descriptor;
}

Inputs QuantizedInputs()
{
    Inputs all = {T({batch, inputs}), T({batch, units}), T({batch, units})};
    all.insert(all.end(), 4, T({units, inputs}));
    all.insert(all.end(), 4, T({units, units}));
    all.insert(all.end(), 4, T({units}));
    return all;
}

// Both directions of a bidirectional LSTM, without what is optional but the input gates.
Inputs BidirectionalInputs(unsigned int backwardInputs = inputs)
{
    Inputs all(48, Absent());
    all[0] = T({7, batch, inputs});
    for (const size_t first : {1U, 18U})
    {
        for (size_t gate = 0; gate < 4; ++gate)
        {
            all[first + gate] = T({units, first == 1 ? inputs : backwardInputs});
            all[first + 4 + gate] = T({units, units});
            all[first + 11 + gate] = T({units});
        }
    }
    for (size_t state = 35; state < 39; ++state)
    {
        all[state] = T({batch, units});
    }
    return all;
}

InferCases BidirectionalCases()
{
    using enum LayerType;
    using L = BidirectionalSequenceLstmDescriptor;
    using R = BidirectionalSequenceRnnDescriptor;
    const std::vector<std::string> states(4, "[2,4]");
    const auto withStates = [&](std::vector<std::string> outputs)
    {
        outputs.insert(outputs.begin(), states.begin(), states.end());
        return outputs;
    };
    const auto mergedLstm = Made<L>([](L& d) { d.m_MergeOutputs = true; });
    const auto mergedRnn = Made<R>([](R& d) { d.m_MergeOutputs = true; });
    const Inputs full = BidirectionalInputs();
    const Inputs withAux = With(With(full, {39}, T({7, batch, 2})), {40, 41, 42, 43, 44, 45, 46, 47}, T({units, 2}));
    const Inputs rnn = {T({batch, 7, inputs}), T({units, inputs}), T({units, units}), T({units}),
                        T({batch, units}),     T({5, inputs}),     T({5, 5}),         T({5}),
                        T({batch, 5}),         Absent(),           Absent(),          Absent()};
    const Inputs rnnWithAux = With(With(With(rnn, {9}, T({batch, 7, 2})), {10}, T({units, 2})), {11}, T({5, 2}));
    return {
        Case(BidirectionalSequenceLstm, "least", L(), full).Gives(withStates({"[7,2,4]", "[7,2,4]"})),
        Case(BidirectionalSequenceLstm, "merged", mergedLstm, full).Gives(withStates({"[7,2,8]"})),
        Case(BidirectionalSequenceLstm, "auxiliary weights", L(), withAux).Gives(withStates({"[7,2,4]", "[7,2,4]"})),
        Case(BidirectionalSequenceLstm, "backward data", L(), With(BidirectionalInputs(2), {39}, T({7, batch, 2})))
            .Gives(withStates({"[7,2,4]", "[7,2,4]"})),
        Case(BidirectionalSequenceLstm, "auxiliary weight missing", L(), With(withAux, {46}, Absent()))
            .Rejects("auxiliary input-to-cell weights"),
        Case(BidirectionalSequenceLstm, "auxiliary data missing", L(), With(withAux, {39}, Absent()))
            .Rejects("no auxiliary data"),
        Case(BidirectionalSequenceLstm, "other steps", L(), With(withAux, {39}, T({6, batch, 2})))
            .Rejects("other steps"),
        Case(BidirectionalSequenceLstm, "backward bias missing", L(), With(full, {31}, Absent())).Rejects("cell bias"),
        Case(BidirectionalSequenceRnn, "least", R(), rnn).Gives({"[2,4]", "[2,5]", "[2,7,4]", "[2,7,5]"}),
        Case(BidirectionalSequenceRnn, "merged", mergedRnn, rnnWithAux).Gives({"[2,4]", "[2,5]", "[2,7,9]"}),
        Case(BidirectionalSequenceRnn, "auxiliary data", R(), With(rnnWithAux, {9}, T({batch, 6, 2})))
            .Rejects("does not fit"),
        Case(BidirectionalSequenceRnn, "state", R(), With(rnn, {8}, T({batch, 4}))).Rejects("input 8, the state"),
    };
}

InferCases SmallCases()
{
    using enum LayerType;
    using S = SvdfDescriptor;
    const Inputs basic = {T({batch, inputs}), T({batch, units}), T({4 * units, inputs + units}), T({4 * units}),
                          T({batch, units})};
    const Inputs rnn = {T({batch, inputs}), T({units, inputs}), T({units, units}), T({units}), T({batch, units})};
    const auto timeMajor = Made<RnnDescriptor>([](RnnDescriptor& d) { d.m_TimeMajor = true; });
    const auto rank2 = Made<S>([](S& d) { d.m_Rank = 2; });
    const Inputs svdf = {T({batch, inputs}), T({8, inputs}), T({8, 10}), T({4}), T({batch, 80})};
    return {
        Case(BasicLstm, "full", NullDescriptor(), basic).Gives({"[2,4]", "[2,4]", "[2,7]", "[2,16]"}),
        Case(BasicLstm, "weights", NullDescriptor(), With(basic, {2}, T({4 * units, inputs}))).Rejects("weights"),
        Case(BasicLstm, "state missing", NullDescriptor(), With(basic, {4}, Absent())).Rejects("input 4"),
        Case(Rnn, "one step", RnnDescriptor(), rnn).Gives({"[2,4]", "[2,4]"}),
        Case(Rnn, "sequence", timeMajor, With(rnn, {0}, T({7, batch, inputs}))).Gives({"[2,4]", "[7,2,4]"}),
        Case(Rnn, "recurrent weights", RnnDescriptor(), With(rnn, {2}, T({units, inputs}))).Rejects("recurrent"),
        Case(Svdf, "rank 2", rank2, svdf).Gives({"[2,80]", "[2,4]"}),
        Case(Svdf, "without bias", rank2, With(svdf, {3}, Absent())).Gives({"[2,80]", "[2,4]"}),
        Case(Svdf, "rank 3", Made<S>([](S& d) { d.m_Rank = 3; }), svdf).Rejects("units of rank 3"),
        Case(Svdf, "no memory", rank2, With(svdf, {2}, T({8, 0}))).Rejects("no memory"),
        Case(Svdf, "state", rank2, With(svdf, {4}, T({batch, 8, 10}))).Rejects("input 4, the state"),
    };
}

} // namespace

static InferCases MakeRecurrentCases()
{
    using enum LayerType;
    using L = LstmDescriptor;
    const CaseInput data = T({batch, inputs});
    const Inputs full = AllInputs(data, 5);
    const Inputs square = With(AllInputs(data, units), Projection, Absent());
    const Inputs least = With(With(With(square, InputGate, Absent()), Peephole, Absent()), LayerNorm, Absent());
    const auto everything = Cell<L>(false, true, true, true);
    const auto timeMajor = Made<L>([](L& d) { d.m_TimeMajor = true; }, Cell<L>(true));
    const Inputs sequence = With(least, {0}, T({batch, 7, inputs}));
    InferCases cases = {
        Case(Lstm, "least", Cell<L>(true), least).Gives({"[2,12]", "[2,4]", "[2,4]", "[2,4]"}),
        Case(Lstm, "everything", everything, full).Gives({"[2,16]", "[2,5]", "[2,4]", "[2,5]"}),
        Case(Lstm, "without projection bias", everything, With(full, {19}, Absent()))
            .Gives({"[2,16]", "[2,5]", "[2,4]", "[2,5]"}),
        Case(Lstm, "states of another rank", Cell<L>(true), With(least, {1, 2}, T({1, batch * units})))
            .Gives({"[2,12]", "[2,4]", "[2,4]", "[2,4]"}),
        Case(Lstm, "input gate missing", Cell<L>(false), least).Rejects("input-to-input weights, is not connected"),
        Case(Lstm, "peephole missing", Cell<L>(true, true), least).Rejects("cell-to-forget weights"),
        Case(Lstm, "projection missing", Cell<L>(true, false, true), least).Rejects("projection weights"),
        Case(Lstm, "normalization missing", Cell<L>(true, false, false, true), least)
            .Rejects("forget layer normalization weights"),
        Case(Lstm, "bias missing", Cell<L>(true), With(least, {16}, Absent())).Rejects("cell bias"),
        Case(Lstm, "output weights missing", Cell<L>(true), With(least, {6}, Absent()))
            .Rejects("input-to-output weights, is not connected"),
        Case(Lstm, "weights of another shape", Cell<L>(true), With(least, {5}, T({units, inputs + 1})))
            .Rejects("input-to-cell weights, has shape [4,4], but it must have [4,3]"),
        Case(Lstm, "bias of another shape", Cell<L>(true), With(least, {15}, T({units + 1})))
            .Rejects("forget gate bias"),
        Case(Lstm, "state of another size", Cell<L>(true), With(least, {2}, T({batch, units + 1})))
            .Rejects("cell state"),
        Case(Lstm, "outputs without projection", Cell<L>(true),
             With(With(full, Projection, Absent()), InputGate, Absent()))
            .Rejects("without a projection"),
        Case(Lstm, "data of rank 3", Cell<L>(true), sequence).Rejects("input 0"),

        Case(QLstm, "least", Cell<QLstmDescriptor>(true), least).Gives({"[2,4]", "[2,4]", "[2,4]"}),
        Case(QLstm, "everything", Cell<QLstmDescriptor>(false, true, true, true), full)
            .Gives({"[2,5]", "[2,4]", "[2,5]"}),
        Case(QLstm, "bias missing", Cell<QLstmDescriptor>(true), With(least, {17}, Absent()))
            .Rejects("output gate bias"),

        Case(UnidirectionalSequenceLstm, "batch first", Cell<L>(true), sequence).Gives({"[2,4]", "[2,4]", "[2,7,4]"}),
        Case(UnidirectionalSequenceLstm, "time first", timeMajor, With(least, {0}, T({7, batch, inputs})))
            .Gives({"[2,4]", "[2,4]", "[7,2,4]"}),
        Case(UnidirectionalSequenceLstm, "projection", everything, With(full, {0}, T({batch, 7, inputs})))
            .Gives({"[2,5]", "[2,4]", "[2,7,5]"}),
        Case(UnidirectionalSequenceLstm, "batch and time exchanged", timeMajor, sequence).Rejects("output state"),
        Case(UnidirectionalSequenceLstm, "one step", Cell<L>(true), least).Gives({"[2,4]", "[2,4]", "[2,4]"}),
        Case(UnidirectionalSequenceLstm, "diagonal", Cell<L>(true), With(sequence, {8, 9, 10}, T({units})))
            .Gives({"[2,4]", "[2,4]", "[2,7,4]"}),
        Case(UnidirectionalSequenceLstm, "diagonal of another size", Cell<L>(true), With(sequence, {8}, T({units + 1})))
            .Rejects("recurrent-to-forget weights"),
        Case(UnidirectionalSequenceLstm, "data of rank 1", Cell<L>(true), With(least, {0}, T({inputs})))
            .Rejects("input 0"),
        Case(UnidirectionalSequenceLstm, "state missing", Cell<L>(true), With(sequence, {2}, Absent()))
            .Rejects("cell state, is not connected"),

        Case(QuantizedLstm, "full", NullDescriptor(), QuantizedInputs()).Gives({"[2,4]", "[2,4]"}),
        Case(QuantizedLstm, "recurrent weights", NullDescriptor(), With(QuantizedInputs(), {9}, T({units, inputs})))
            .Rejects("recurrent weights"),
        Case(QuantizedLstm, "cell state", NullDescriptor(), With(QuantizedInputs(), {1}, T({batch, inputs})))
            .Rejects("cell state"),
        Case(QuantizedLstm, "bias missing", NullDescriptor(), With(QuantizedInputs(), {14}, Absent()))
            .Rejects("input 14 is not connected"),
    };
    for (const InferCases& more : {BidirectionalCases(), SmallCases()})
    {
        cases.insert(cases.end(), more.begin(), more.end());
    }
    return cases;
}

static const InferTable RecurrentTable(MakeRecurrentCases);

} // namespace tenon::test::infer_recurrent_test
