// SPDX-License-Identifier: Apache-2.0
// Pass FoldMatMulTransposes: a BatchMatMul reads a matrix as it lies before a Transpose of its two dimensions, through
// Reshapes of the dimensions before them. Frameworks write the keys of an attention so.
#include "graph/FixedShapes.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Products.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace tenon::passes
{

namespace
{

/// Whether nothing but the last two dimensions change places.
bool SwapsMatrix(const PermutationVector& mappings)
{
    const unsigned int rank = mappings.GetSize();
    if (rank < 2 || mappings[rank - 1] != rank - 2 || mappings[rank - 2] != rank - 1)
    {
        return false;
    }
    for (unsigned int i = 0; i + 2 < rank; ++i)
    {
        if (mappings[i] != i)
        {
            return false;
        }
    }
    return true;
}

/// Whether two known shapes end in the same matrix.
bool HasSameMatrix(const TensorShape& a, const TensorShape& b)
{
    const unsigned int rankA = a.GetNumDimensions();
    const unsigned int rankB = b.GetNumDimensions();
    return rankA >= 2 && rankB >= 2 && a[rankA - 1] == b[rankB - 1] && a[rankA - 2] == b[rankB - 2];
}

/// A Reshape, in every run of the same shapes, that leaves the matrices as they are.
bool IsReshapeOfMatrices(const Layer& layer, const FixedShapes& fixed)
{
    return layer.GetType() == LayerType::Reshape && IsPlainInput(layer, 0) && fixed.IsFixed(layer.Input(0)) &&
           fixed.IsFixed(layer.Output(0)) &&
           layer.Output(0).GetTensorInfo().IsTypeSpaceMatch(layer.Input(0).GetTensorInfo()) &&
           HasSameMatrix(layer.Input(0).GetTensorInfo().GetShape(), layer.Output(0).GetTensorInfo().GetShape());
}

/// What an input reads before its matrices are transposed, reshaped as it was after that; null where they are not, or
/// where a run may bring a rank that the Transpose would refuse.
OutputSlot* FindUntransposed(Graph& graph, const Layer& product, unsigned int input, const FixedShapes& fixed,
                             const ShapeFacts& shapeFacts)
{
    if (!IsPlainInput(product, input))
    {
        return nullptr;
    }
    const OutputSlot* const read = product.Input(input).GetConnectedOutputSlot();
    const Layer* layer = &read->GetOwningLayer();
    while (IsReshapeOfMatrices(*layer, fixed))
    {
        layer = layer->Input(0).GetProducer();
    }
    if (!IsPlainTranspose(layer) || !SwapsMatrix(MappingsOf(*layer)) ||
        layer->Input(0).GetTensorInfo().HasPerAxisQuantization())
    {
        return nullptr;
    }
    OutputSlot* const source = layer->Input(0).GetConnectedOutputSlot();
    if (shapeFacts.GetRank(*source) != MappingsOf(*layer).GetSize())
    {
        return nullptr;
    }
    if (&read->GetOwningLayer() == layer)
    {
        return source;
    }
    TensorInfo info = read->GetTensorInfo();
    TensorShape shape = info.GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    const unsigned int rows = shape[rank - 2];
    shape.SetDimensionSize(rank - 2, shape[rank - 1]);
    shape.SetDimensionSize(rank - 1, rows);
    info.SetShape(shape);
    Layer& reshape = graph.AddLayer(LayerType::Reshape, std::make_unique<ReshapeDescriptor>(shape),
                                    read->GetOwningLayer().GetNameStr());
    reshape.BackendSelectionHint(read->GetOwningLayer().GetBackendHint());
    source->Connect(reshape.Input(0));
    reshape.Output(0).SetTensorInfo(info);
    return &reshape.Output(0);
}

} // namespace

void FoldMatMulTransposes(Graph& graph, PassContext& context)
{
    const FixedShapes fixed(graph);
    const ShapeFacts shapeFacts(graph);
    std::vector<const Layer*> unused;
    for (Layer* product : graph.LayersOf(LayerType::BatchMatMul))
    {
        auto descriptor = std::make_unique<BatchMatMulDescriptor>(product->Descriptor<BatchMatMulDescriptor>());
        if (descriptor->m_DataLayoutX != DataLayout::NCHW || descriptor->m_DataLayoutY != DataLayout::NCHW ||
            product->GetFusedActivation() != nullptr)
        {
            continue; // the matrices are not the last two dimensions
        }
        OutputSlot* const x =
            descriptor->m_AdjointX ? nullptr : FindUntransposed(graph, *product, 0, fixed, shapeFacts);
        OutputSlot* const y =
            descriptor->m_AdjointY ? nullptr : FindUntransposed(graph, *product, 1, fixed, shapeFacts);
        if (x == nullptr && y == nullptr)
        {
            continue;
        }
        descriptor->m_TransposeX = descriptor->m_TransposeX != (x != nullptr);
        descriptor->m_TransposeY = descriptor->m_TransposeY != (y != nullptr);
        OutputSlot* const sourceX = x != nullptr ? x : product->Input(0).GetConnectedOutputSlot();
        OutputSlot* const sourceY = y != nullptr ? y : product->Input(1).GetConnectedOutputSlot();
        if (ReplacePattern(graph, context, *product, LayerType::BatchMatMul, std::move(descriptor),
                           {sourceX, sourceY}) != nullptr)
        {
            unused.push_back(product);
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
