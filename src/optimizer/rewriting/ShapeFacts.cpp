// SPDX-License-Identifier: Apache-2.0
// See ShapeFacts.hpp.
#include "optimizer/rewriting/ShapeFacts.hpp"

#include "graph/FixedShapes.hpp"
#include "graph/Ranks.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>

namespace tenon
{

namespace
{

unsigned int RankIfStatic(const TensorShape& shape)
{
    return shape.AreAllDimensionsSpecified() ? shape.GetNumDimensions() : 0;
}

unsigned int SizeOf(const TensorShape& shape, unsigned int dimension)
{
    return dimension < RankIfStatic(shape) ? shape[dimension] : 0;
}

/// Of constant weights, which are input 1; 0 where they are not constant.
unsigned int SizeOfWeights(const Layer& layer, unsigned int dimension)
{
    return IsPlainInput(layer, 1) && layer.GetConstantInput(1) != nullptr
               ? SizeOf(layer.Input(1).GetTensorInfo().GetShape(), dimension)
               : 0;
}

} // namespace

ShapeFacts::ShapeFacts(const Graph& graph) : m_Forms(graph.Size())
{
    const FixedShapes fixed(graph);
    for (const Layer* layer : graph.TopologicalOrder())
    {
        if (layer->GetNumOutputSlots() != 0)
        {
            const OutputSlot& output = layer->Output(0);
            m_Forms[layer->m_Index] = fixed.IsFixed(output) || HasFixedSizes(*layer)
                                          ? OfShape(output.GetTensorInfo().GetShape())
                                          : Make(*layer);
        }
    }
}

/// Of a tensor whose shape, as far as it is known, is that of every run.
ShapeFacts::Form ShapeFacts::OfShape(const TensorShape& shape)
{
    if (shape.GetDimensionality() == Dimensionality::NotSpecified)
    {
        return {};
    }
    const unsigned int rank = shape.GetNumDimensions();
    return {rank, true, rank != 0 && shape.GetDimensionSpecificity(rank - 1) ? shape[rank - 1] : 0};
}

/// The rules of column `form` of ops.def, for a layer whose descriptor is a D.
template <typename D, FormRule Rule>
ShapeFacts::Form ShapeFacts::MakeBy(const Layer& layer) const
{
    if constexpr (Rule == FormRule::Stored)
    {
        return OfShape(layer.Output(0).GetTensorInfo().GetShape());
    }
    else if constexpr (Rule == FormRule::Weights0 || Rule == FormRule::Weights3)
    {
        const bool isLast = layer.Descriptor<D>().m_DataLayout == DataLayout::NHWC;
        return {GetFixedRank(layer), true, isLast ? SizeOfWeights(layer, Rule == FormRule::Weights0 ? 0 : 3) : 0};
    }
    else if constexpr (Rule == FormRule::Units)
    {
        const D& descriptor = layer.Descriptor<D>();
        const unsigned int units = SizeOfWeights(layer, descriptor.m_TransposeWeightMatrix ? 0 : 1);
        const Form input = OfInput(layer, 0);
        return descriptor.m_KeepDims ? Form{std::max(1U, input.m_MinRank), input.m_IsRankExact, units}
                                     : Form{2, true, units};
    }
    else if constexpr (Rule == FormRule::Target)
    {
        if (!layer.Descriptor<D>().m_ParametersAsInputs)
        {
            return MakeByRank(layer);
        }
        const auto sizes = GetIntegers(layer, 1, MaxNumOfTensorDimensions);
        return sizes.has_value() ? Form{static_cast<unsigned int>(sizes->size()), true, 0} : Form();
    }
    else if constexpr (Rule == FormRule::Largest)
    {
        return MakeBinary(layer);
    }
    else
    {
        static_assert(Rule == FormRule::NoMore);
        return MakeByRank(layer);
    }
}

ShapeFacts::Form ShapeFacts::Make(const Layer& layer) const
{
    if (layer.GetType() == LayerType::BatchMatMul)
    {
        return MakeProduct(layer);
    }
    static constexpr Form (ShapeFacts::*makers[])(const Layer&) const = {
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, values, types, rank, form,    \
                 ...)                                                                                                  \
    &ShapeFacts::MakeBy<descriptor, FormRule::form>,
#include <tenon/ops.def>
    };
    return (this->*makers[static_cast<size_t>(layer.GetType())])(layer);
}

ShapeFacts::Form ShapeFacts::MakeByRank(const Layer& layer) const
{
    if (const unsigned int rank = GetFixedRank(layer))
    {
        return {rank, true, 0};
    }
    if (layer.GetSchema().Has(OpFlags::SameShape))
    {
        return OfInput(layer, 0);
    }
    return KeepsRank(layer) ? WithoutSize(OfInput(layer, 0)) : Form();
}

/// Of matrices, whose other dimensions broadcast.
ShapeFacts::Form ShapeFacts::MakeProduct(const Layer& layer) const
{
    const Form x = OfInput(layer, 0);
    const Form y = OfInput(layer, 1);
    const auto& d = layer.Descriptor<BatchMatMulDescriptor>();
    const bool isPlain = !d.m_TransposeY && !d.m_AdjointY && d.m_DataLayoutY == DataLayout::NCHW;
    return {std::max({2U, x.m_MinRank, y.m_MinRank}), x.m_IsRankExact && y.m_IsRankExact, isPlain ? y.m_LastSize : 0};
}

ShapeFacts::Form ShapeFacts::MakeBinary(const Layer& layer) const
{
    const Form a = OfInput(layer, 0);
    const Form b = OfInput(layer, 1);
    Form form;
    form.m_MinRank = std::max(a.m_MinRank, b.m_MinRank);
    form.m_IsRankExact = a.m_IsRankExact && b.m_IsRankExact;
    // Sizes of 1 are repeated; any other size is that of the result.
    if (a.m_LastSize > 1 || b.m_LastSize > 1)
    {
        form.m_LastSize = std::max(a.m_LastSize, b.m_LastSize);
    }
    return form;
}

ShapeFacts::Form ShapeFacts::Of(const OutputSlot& slot) const
{
    const size_t index = slot.GetOwningLayer().m_Index;
    return slot.CalculateIndexOnOwner() == 0 && index < m_Forms.size() ? m_Forms[index] : Form();
}

ShapeFacts::Form ShapeFacts::OfInput(const Layer& layer, unsigned int i) const
{
    return IsPlainInput(layer, i) ? Of(*layer.Input(i).GetConnectedOutputSlot()) : Form();
}

std::optional<unsigned int> ShapeFacts::GetRank(const OutputSlot& slot) const
{
    const Form form = Of(slot);
    return form.m_IsRankExact ? std::optional(form.m_MinRank) : std::nullopt;
}

bool ShapeFacts::KeepsShape(const Layer& layer, unsigned int data, unsigned int constant) const
{
    return RankIfStatic(layer.Input(constant).GetTensorInfo().GetShape()) <= OfInput(layer, data).m_MinRank;
}

} // namespace tenon
