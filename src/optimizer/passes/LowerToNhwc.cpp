// SPDX-License-Identifier: Apache-2.0
// Pass LowerToNhwc: kernels know channels-last alone. Each channels-first layer gets a Transpose before its data (and
// its weights, where their layout follows the data's) and one after its output. Here is the code of the rules of column
// `layout` of ops.def.
#include "graph/Ranks.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/Transposes.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>

namespace tenon::passes
{

namespace
{

/// The descriptor with a channels-last layout, or null if it has that already.
using Relayout = std::unique_ptr<BaseDescriptor> (*)(const BaseDescriptor&);

template <typename D>
std::unique_ptr<BaseDescriptor> ToChannelsLast(const BaseDescriptor& descriptor)
{
    auto copy = std::make_unique<D>(static_cast<const D&>(descriptor));
    switch (copy->m_DataLayout)
    {
    case DataLayout::NCHW: copy->m_DataLayout = DataLayout::NHWC; break;
    case DataLayout::NCDHW: copy->m_DataLayout = DataLayout::NDHWC; break;
    default: return nullptr;
    }
    if constexpr (requires { copy->m_OutputShape; }) // of transposed convolutions, which follows the layout too
    {
        if (copy->m_ParametersAsInputs) // one that arrives at run time does not
        {
            return nullptr;
        }
        if (copy->m_OutputShape.size() > 2)
        {
            std::rotate(copy->m_OutputShape.begin() + 1, copy->m_OutputShape.begin() + 2, copy->m_OutputShape.end());
        }
    }
    return copy;
}

/// Null for a layer that has no layout which kernels see.
template <typename D, LayoutRule Rule>
constexpr Relayout RelayoutOf()
{
    if constexpr (IsLowered(Rule))
    {
        return &ToChannelsLast<D>;
    }
    else
    {
        return nullptr;
    }
}

constexpr Relayout relayouts[] = {
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, values, types, rank, form,    \
                 layout, ...)                                                                                          \
    RelayoutOf<descriptor, LayoutRule::layout>(),
#include <tenon/ops.def>
};

/// Mappings of a Transpose from channels first to channels last: {0, 2, 3, 1}.
PermutationVector ToLast(unsigned int rank)
{
    std::array<unsigned int, MaxNumOfTensorDimensions> mappings{};
    for (unsigned int i = 1; i + 1 < rank; ++i)
    {
        mappings[i] = i + 1;
    }
    mappings[rank - 1] = 1;
    return PermutationVector(mappings.data(), rank);
}

void TransposeInput(Graph& graph, InputSlot& input, unsigned int rank, const std::string& name)
{
    const TensorInfo source = input.GetTensorInfo();
    const PermutationVector mappings = ToLast(rank);
    Layer& transpose =
        graph.InsertBefore(input, LayerType::Transpose, std::make_unique<TransposeDescriptor>(mappings), name);
    transpose.Output(0).SetTensorInfo(Transposed(source, mappings));
}

} // namespace

void LowerToNhwc(Graph& graph)
{
    const size_t size = graph.Size();
    for (size_t i = 0; i < size; ++i)
    {
        const Relayout relayout = relayouts[static_cast<size_t>(graph.Types()[i])];
        if (relayout == nullptr)
        {
            continue;
        }
        Layer& layer = *graph.Layers()[i];
        if (!layer.Input(0).IsTensorInfoSet())
        {
            continue;
        }
        auto descriptor = relayout(layer.GetParameters());
        const TensorShape& shape = layer.Input(0).GetTensorInfo().GetShape();
        const bool isRankKnown = shape.GetDimensionality() == Dimensionality::Specified;
        const unsigned int operatorRank = GetOperatorRank(layer); // 0: it takes several
        const unsigned int rank = isRankKnown ? shape.GetNumDimensions() : operatorRank;
        // An unknown rank, or one that the operator does not take, stays as it is: assignment then refuses the layer. A
        // run of another rank than the declared one is refused, too, by the Transpose.
        if (descriptor == nullptr || rank < 3 || (operatorRank != 0 && rank != operatorRank))
        {
            continue;
        }
        layer.SetDescriptor(std::move(descriptor));
        TransposeInput(graph, layer.Input(0), rank, layer.GetNameStr() + ":nhwc");
        if (layer.GetSchema().m_Layout == LayoutRule::DataAndWeights)
        {
            TransposeInput(graph, layer.Input(1), 4, layer.GetNameStr() + ":ohwi");
        }

        OutputSlot& output = layer.Output(0);
        const TensorInfo outside = output.GetTensorInfo();
        const PermutationVector toLast = ToLast(rank);
        Layer& back = graph.AddLayer(LayerType::Transpose, std::make_unique<TransposeDescriptor>(toLast.Inverse()),
                                     layer.GetNameStr() + ":nchw");
        back.Output(0).SetTensorInfo(outside);
        output.MoveAllConnections(back.Output(0));
        output.Connect(back.Input(0));
        output.SetTensorInfo(Transposed(outside, toLast));
    }
}

} // namespace tenon::passes
