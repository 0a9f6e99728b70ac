// SPDX-License-Identifier: Apache-2.0
// See RunTimeWeights.hpp.
#include "backends/cpu/matmul/RunTimeWeights.hpp"

#include "backends/cpu/matmul/UnpackedMatrixF32.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Products.hpp>

namespace tenon::cpu
{

namespace
{

/// Refuses constant weights: the kernels that pack them once are faster.
SupportResult CheckWeightsChange(const LayerView& layer)
{
    return layer.HasInput(1) && !layer.IsConstant(1)
               ? SupportResult::Yes()
               : SupportResult::No(SupportCode::UnsupportedParameters, "the weights are constant, or there are none");
}

/// Whether a FullyConnected reads its constant weights in place; see StaysUnpacked().
bool HasUnpackedWeights(const LayerView& layer)
{
    const bool isTransposed = layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
    return CheckFloatWeights(layer, 2) &&
           StaysUnpacked(layer, GetConnectedSizes(layer), isTransposed ? WeightOrder::Columns : WeightOrder::Depth);
}

/// None where a matrix is empty, or the bias has not `columns` elements.
std::optional<ref::MatMulGeometry> MakeMatrices(const ReshapeArgs& args, size_t rows, size_t depth, size_t columns,
                                                bool hasOutputsFirst)
{
    const bool fitsBias = !args.HasInput(2) || args.GetInput(2).GetNumElements() == columns;
    return rows != 0 && depth != 0 && columns != 0 && fitsBias
               ? std::optional(ref::MatMulGeometry::MakeOfOne(rows, depth, columns, hasOutputsFirst))
               : std::nullopt;
}

} // namespace

SupportResult CheckFullyConnected(const LayerView& layer)
{
    const SupportResult result = HasUnpackedWeights(layer) ? SupportResult::Yes() : CheckWeightsChange(layer);
    if (result && layer.GetDescriptor<FullyConnectedDescriptor>().m_ShuffledWeights)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its weights are shuffled");
    }
    return result;
}

SupportResult CheckPointwiseConvolution(const LayerView& layer)
{
    const SupportResult result = CheckWeightsChange(layer);
    if (!result)
    {
        return result;
    }
    const auto& d = layer.GetDescriptor<Convolution2dDescriptor>();
    const TensorShape& weights = layer.GetInput(1).GetShape();
    const bool hasOneTap =
        !weights.AreAllDimensionsSpecified() || (weights.GetNumDimensions() == 4 && weights[1] == 1 && weights[2] == 1);
    if (!hasOneTap || d.m_StrideX != 1 || d.m_StrideY != 1 || d.m_PadTop != 0 || d.m_PadBottom != 0 ||
        d.m_PadLeft != 0 || d.m_PadRight != 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "its windows are not the pixels of the image");
    }
    return SupportResult::Yes();
}

std::optional<ref::MatMulGeometry> MakeFullyConnectedGeometry(const ReshapeArgs& args)
{
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (weights.GetNumDimensions() != 2 || weights.GetNumElements() == 0 || output.GetNumDimensions() == 0)
    {
        return std::nullopt;
    }
    const bool hasOutputsFirst = args.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
    const size_t columns = weights[hasOutputsFirst ? 0 : 1];
    const size_t depth = weights[hasOutputsFirst ? 1 : 0];
    const size_t rows = output.GetNumElements() / columns;
    const bool fits =
        output[output.GetNumDimensions() - 1] == columns && rows * depth == args.GetInput(0).GetNumElements();
    return fits ? MakeMatrices(args, rows, depth, columns, hasOutputsFirst) : std::nullopt;
}

std::optional<ref::MatMulGeometry> MakePointwiseGeometry(const ReshapeArgs& args)
{
    const TensorShape& image = args.GetInput(0).GetShape();
    const TensorShape& weights = args.GetInput(1).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    if (image.GetNumDimensions() != 4 || weights.GetNumDimensions() != 4 || output.GetNumDimensions() != 4)
    {
        return std::nullopt;
    }
    const bool fits = weights[1] == 1 && weights[2] == 1 && image[3] == weights[3] && output[3] == weights[0] &&
                      output[0] == image[0] && output[1] == image[1] && output[2] == image[2];
    return fits ? MakeMatrices(args, size_t{image[0]} * image[1] * image[2], weights[3], weights[0], true)
                : std::nullopt;
}

} // namespace tenon::cpu
