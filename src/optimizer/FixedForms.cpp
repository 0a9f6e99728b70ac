// SPDX-License-Identifier: Apache-2.0
// See FixedForms.hpp.
#include "optimizer/FixedForms.hpp"

#include "graph/Ranks.hpp"
#include "optimizer/Patterns.hpp"

#include <algorithm>

namespace tenon
{

namespace
{

unsigned int RankOf(const TensorShape& shape)
{
    return shape.AreAllDimensionsSpecified() ? shape.GetNumDimensions() : 0;
}

unsigned int SizeOf(const TensorShape& shape, unsigned int dimension)
{
    return dimension < RankOf(shape) ? shape[dimension] : 0;
}

} // namespace

FixedForms::FixedForms(const Graph& graph) : m_Forms(graph.Size())
{
    for (const Layer* layer : graph.TopologicalOrder())
    {
        if (layer->GetNumOutputSlots() != 0)
        {
            m_Forms[layer->m_Index] = Make(*layer);
        }
    }
}

FixedForms::Form FixedForms::Make(const Layer& layer) const
{
    const auto channels = [&](DataLayout layout, unsigned int dimension)
    {
        const bool isLast =
            layout == DataLayout::NHWC && IsPlainInput(layer, 1) && layer.GetConstantInput(1) != nullptr;
        return isLast ? SizeOf(layer.Input(1).GetTensorInfo().GetShape(), dimension) : 0;
    };
    switch (layer.GetType())
    {
    case LayerType::Constant:
    {
        const TensorShape& shape = layer.Output(0).GetTensorInfo().GetShape();
        const unsigned int rank = RankOf(shape);
        return {rank, true, rank == 0 ? 0 : SizeOf(shape, rank - 1)};
    }
    case LayerType::Convolution2d:
        return {4, true, channels(layer.Descriptor<Convolution2dDescriptor>().m_DataLayout, 0)};
    case LayerType::DepthwiseConvolution2d:
        return {4, true, channels(layer.Descriptor<DepthwiseConvolution2dDescriptor>().m_DataLayout, 3)};
    case LayerType::FullyConnected:
    {
        const auto& descriptor = layer.Descriptor<FullyConnectedDescriptor>();
        const unsigned int outputs = channels(DataLayout::NHWC, descriptor.m_TransposeWeightMatrix ? 0 : 1);
        const Form input = OfInput(layer, 0);
        return descriptor.m_KeepDims ? Form{std::max(1U, input.m_LeastRank), input.m_IsRankExact, outputs}
                                     : Form{2, true, outputs};
    }
    case LayerType::Reshape:
    {
        const auto& descriptor = layer.Descriptor<ReshapeDescriptor>();
        if (descriptor.m_ParametersAsInputs)
        {
            const auto sizes = GetIntegers(layer, 1, MaxNumOfTensorDimensions);
            return sizes.has_value() ? Form{static_cast<unsigned int>(sizes->size()), true, 0} : Form();
        }
        const unsigned int rank = GetFixedRank(layer);
        return rank != 0 ? Form{rank, true, 0} : Form();
    }
    case LayerType::ElementwiseBinary: return MakeBinary(layer);
    default:
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
}

FixedForms::Form FixedForms::MakeBinary(const Layer& layer) const
{
    const Form a = OfInput(layer, 0);
    const Form b = OfInput(layer, 1);
    Form form;
    form.m_LeastRank = std::max(a.m_LeastRank, b.m_LeastRank);
    form.m_IsRankExact = a.m_IsRankExact && b.m_IsRankExact;
    // Sizes of 1 are repeated; any other size is that of the result.
    if (a.m_LastSize > 1 || b.m_LastSize > 1)
    {
        form.m_LastSize = std::max(a.m_LastSize, b.m_LastSize);
    }
    return form;
}

FixedForms::Form FixedForms::Of(const OutputSlot& slot) const
{
    const size_t index = slot.GetOwningLayer().m_Index;
    return slot.CalculateIndexOnOwner() == 0 && index < m_Forms.size() ? m_Forms[index] : Form();
}

FixedForms::Form FixedForms::OfInput(const Layer& layer, unsigned int i) const
{
    return IsPlainInput(layer, i) ? Of(*layer.Input(i).GetConnectedOutputSlot()) : Form();
}

std::optional<unsigned int> FixedForms::GetRank(const OutputSlot& slot) const
{
    const Form form = Of(slot);
    return form.m_IsRankExact ? std::optional(form.m_LeastRank) : std::nullopt;
}

bool FixedForms::KeepsShape(const Layer& layer, unsigned int data, unsigned int constant) const
{
    return RankOf(layer.Input(constant).GetTensorInfo().GetShape()) <= OfInput(layer, data).m_LeastRank;
}

} // namespace tenon
