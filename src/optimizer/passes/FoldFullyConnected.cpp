// SPDX-License-Identifier: Apache-2.0
// Pass FoldFullyConnected: a product of floats with a constant matrix and the sum with a constant row after it become a
// FullyConnected with a bias, which kernels add to their sums. PyTorch writes linear layers of more than two dimensions
// so.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Products.hpp>

#include <memory>
#include <optional>

namespace tenon::passes
{

namespace
{

/// Whether the layer multiplies rows of input 0, as they lie, by a constant matrix of floats.
bool IsProductWithMatrix(const Layer& layer)
{
    if (layer.GetType() != LayerType::BatchMatMul || layer.GetFusedActivation() != nullptr || !IsPlainInput(layer, 0) ||
        !IsPlainInput(layer, 1) || layer.GetConstantInput(1) == nullptr)
    {
        return false;
    }
    const auto& d = layer.Descriptor<BatchMatMulDescriptor>();
    const TensorInfo& matrix = layer.Input(1).GetTensorInfo();
    return !d.m_TransposeX && !d.m_AdjointX && !d.m_AdjointY && d.m_DataLayoutX == DataLayout::NCHW &&
           d.m_DataLayoutY == DataLayout::NCHW && matrix.GetDataType() == DataType::Float32 &&
           matrix.GetShape().AreAllDimensionsSpecified() && matrix.GetNumDimensions() == 2 &&
           matrix.GetNumElements() != 0 && // a FullyConnected of nothing leaves out its bias
           layer.Input(0).GetTensorInfo().GetDataType() == DataType::Float32 &&
           layer.Output(0).GetTensorInfo().GetDataType() == DataType::Float32;
}

/// Whether a constant input of a sum has one number for each column of a product, and no more dimensions than it.
bool IsRow(const Layer& sum, unsigned int input, unsigned int columns)
{
    if (!GetFloats(sum, input, columns).has_value())
    {
        return false;
    }
    const TensorShape& shape = sum.Input(input).GetTensorInfo().GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    constexpr unsigned int MinRank = 2; // of a product of matrices
    return rank >= 1 && rank <= MinRank && shape[rank - 1] == columns;
}

bool FoldFullyConnectedAt(Graph& graph, const PassContext& context, Layer& sum, const ShapeFacts&)
{
    if (!IsBinary(&sum, BinaryOperation::Add) || sum.GetFusedActivation() != nullptr)
    {
        return false;
    }
    for (const unsigned int data : {0U, 1U})
    {
        Layer* const product = GetSoleProducer(sum, data);
        if (product == nullptr || !IsProductWithMatrix(*product))
        {
            continue;
        }
        const bool isTransposed = product->Descriptor<BatchMatMulDescriptor>().m_TransposeY;
        const unsigned int columns = product->Input(1).GetTensorInfo().GetShape()[isTransposed ? 0 : 1];
        if (!IsRow(sum, 1 - data, columns))
        {
            continue;
        }
        OutputSlot* bias = sum.Input(1 - data).GetConnectedOutputSlot();
        if (bias->GetTensorInfo().GetNumDimensions() != 1)
        {
            const auto values = *GetFloats(sum, 1 - data, columns);
            bias = &AddFloats(graph, TensorShape({columns}), std::vector<float>(values.begin(), values.end()),
                              bias->GetOwningLayer().GetNameStr())
                        .Output(0);
        }
        auto descriptor = std::make_unique<FullyConnectedDescriptor>();
        descriptor->m_BiasEnabled = true;
        descriptor->m_KeepDims = true;
        descriptor->m_TransposeWeightMatrix = isTransposed;
        return ReplacePattern(graph, context, sum, LayerType::FullyConnected, std::move(descriptor),
                              {product->Input(0).GetConnectedOutputSlot(), product->Input(1).GetConnectedOutputSlot(),
                               bias}) != nullptr;
    }
    return false;
}

} // namespace

void FoldFullyConnected(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context, &FoldFullyConnectedAt);
}

} // namespace tenon::passes
