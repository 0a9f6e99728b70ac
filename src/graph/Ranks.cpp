// SPDX-License-Identifier: Apache-2.0
// Ranks: see Ranks.hpp.
#include "graph/Ranks.hpp"

namespace tenon
{

unsigned int GetOperatorRank(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::Convolution2d:
    case LayerType::DepthToSpace:
    case LayerType::DepthwiseConvolution2d:
    case LayerType::InstanceNormalization:
    case LayerType::Normalization:
    case LayerType::Pooling2d:
    case LayerType::Resize:
    case LayerType::SpaceToDepth:
    case LayerType::TransposeConvolution2d: return 4;
    case LayerType::Convolution3d:
    case LayerType::Pooling3d:
    case LayerType::TransposeConvolution3d: return 5;
    case LayerType::Transpose:
    {
        const auto& descriptor = layer.Descriptor<TransposeDescriptor>();
        return descriptor.m_ParametersAsInputs ? 0 : descriptor.m_DimMappings.GetSize();
    }
    default: return 0;
    }
}

unsigned int GetFixedRank(const Layer& layer)
{
    if (layer.GetType() != LayerType::Reshape)
    {
        return GetOperatorRank(layer);
    }
    const auto& descriptor = layer.Descriptor<ReshapeDescriptor>();
    const TensorShape& target = descriptor.m_TargetShape;
    const bool isKnown = !descriptor.m_ParametersAsInputs && target.GetDimensionality() == Dimensionality::Specified;
    return isKnown ? target.GetNumDimensions() : 0;
}

bool KeepsRank(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::Mean: return layer.Descriptor<MeanDescriptor>().m_KeepDims;
    case LayerType::Reduce: return layer.Descriptor<ReduceDescriptor>().m_KeepDims;
    default: return layer.GetSchema().Has(OpFlags::SameRank);
    }
}

} // namespace tenon
