// SPDX-License-Identifier: Apache-2.0
// Shape inference of the recurrent layers without gates: Rnn, BidirectionalSequenceRnn and Svdf.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Recurrent.hpp>

namespace tenon::infer
{

namespace
{

void CheckShape(const InferContext& context, size_t input, const char* what, const TensorShape& wanted)
{
    context.Check(context.HasInput(input), "input {}, the {}, is not connected", input, what);
    context.Check(context.InputShape(input) == wanted, "input {}, the {}, has shape {}, but it must have {}", input,
                  what, context.InputShape(input), wanted);
}

/// Weights, recurrent weights, bias and state of a cell, at `first` and after. Returns the number of units.
unsigned int CheckCell(const InferContext& context, size_t first, unsigned int batch, unsigned int inputs)
{
    context.Check(context.HasInput(first), "input {}, the weights, is not connected", first);
    CheckRank(context, first, 2);
    const unsigned int units = context.InputShape(first)[0];
    CheckShape(context, first, "weights", {units, inputs});
    CheckShape(context, first + 1, "recurrent weights", {units, units});
    CheckShape(context, first + 2, "bias", {units});
    CheckShape(context, first + 3, "state", {batch, units});
    return units;
}

} // namespace

void InferRnn(InferContext& context)
{
    TensorShape output = context.InputShape(0);
    const unsigned int rank = output.GetNumDimensions();
    context.Check(rank == 2 || rank == 3, "input 0, the data, has shape {}; it must have 2 dimensions (one step) or 3",
                  output);
    const unsigned int batch = output[rank == 3 && context.Descriptor<RnnDescriptor>().m_TimeMajor ? 1 : 0];
    const unsigned int units = CheckCell(context, 1, batch, output[rank - 1]);
    output.SetDimensionSize(rank - 1, units);
    context.SetOutputShape(0, TensorShape({batch, units}));
    context.SetOutputShape(1, output);
}

void InferBidirectionalSequenceRnn(InferContext& context)
{
    const auto& descriptor = context.Descriptor<BidirectionalSequenceRnnDescriptor>();
    constexpr size_t Aux = 9;
    CheckRank(context, 0, 3);
    const TensorShape& data = context.InputShape(0);
    const unsigned int batch = data[descriptor.m_TimeMajor ? 1 : 0];
    const unsigned int units[2] = {CheckCell(context, 1, batch, data[2]), CheckCell(context, 5, batch, data[2])};
    const bool hasAuxWeights = context.HasInput(Aux + 1) || context.HasInput(Aux + 2);
    context.Check(context.HasInput(Aux) || !hasAuxWeights, "there are auxiliary weights, but no auxiliary data");
    if (context.HasInput(Aux))
    {
        CheckRank(context, Aux, 3);
        const TensorShape& aux = context.InputShape(Aux);
        context.Check(aux[0] == data[0] && aux[1] == data[1] && (hasAuxWeights || aux[2] == data[2]),
                      "the auxiliary data {} does not fit the data {}", aux, data);
        for (size_t direction = 0; hasAuxWeights && direction < 2; ++direction)
        {
            CheckShape(context, Aux + 1 + direction, "auxiliary weights", {units[direction], aux[2]});
        }
    }
    context.SetOutputShape(0, TensorShape({batch, units[0]}));
    context.SetOutputShape(1, TensorShape({batch, units[1]}));
    const int64_t merged = int64_t{units[0]} + (descriptor.m_MergeOutputs ? units[1] : 0);
    context.SetOutputShape(2, TensorShape({data[0], data[1], ToSize(context, merged)}));
    if (!descriptor.m_MergeOutputs)
    {
        context.SetOutputShape(3, TensorShape({data[0], data[1], units[1]}));
    }
}

void InferSvdf(InferContext& context)
{
    const uint32_t rank = context.Descriptor<SvdfDescriptor>().m_Rank;
    CheckRank(context, 0, 2);
    CheckRank(context, 1, 2);
    CheckRank(context, 2, 2);
    const TensorShape& data = context.InputShape(0);
    const unsigned int filters = context.InputShape(1)[0];
    const unsigned int memory = context.InputShape(2)[1];
    context.Check(rank != 0 && filters % rank == 0, "{} filters can't be divided into units of rank {}", filters, rank);
    context.Check(memory != 0, "input 2, the time weights, has shape {}: no memory", context.InputShape(2));
    const unsigned int units = filters / rank;
    CheckShape(context, 1, "feature weights", {filters, data[1]});
    CheckShape(context, 2, "time weights", {filters, memory});
    if (context.HasInput(3))
    {
        CheckShape(context, 3, "bias", {units});
    }
    const TensorShape state({data[0], ToSize(context, Multiply(context, filters, memory))});
    CheckShape(context, 4, "state", state);
    context.SetOutputShape(0, state);
    context.SetOutputShape(1, TensorShape({data[0], units}));
}

} // namespace tenon::infer
