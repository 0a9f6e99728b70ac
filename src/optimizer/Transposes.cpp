// SPDX-License-Identifier: Apache-2.0
// See Transposes.hpp.
#include "optimizer/Transposes.hpp"

#include <tenon/descriptors/Arrangement.hpp>

namespace tenon
{

bool IsPlainTranspose(const Layer* layer)
{
    if (layer == nullptr || layer->GetType() != LayerType::Transpose ||
        layer->Descriptor<TransposeDescriptor>().m_ParametersAsInputs || layer->Input(0).IsTensorInfoOverridden() ||
        layer->Input(0).GetConnectedOutputSlot() == nullptr)
    {
        return false;
    }
    const TensorInfo& output = layer->Output(0).GetTensorInfo();
    return !output.IsQuantized() ||
           output.IsTypeSpaceMatch(
               Transposed(layer->Input(0).GetTensorInfo(), layer->Descriptor<TransposeDescriptor>().m_DimMappings));
}

bool IsIdentity(const PermutationVector& mappings)
{
    for (unsigned int i = 0; i < mappings.GetSize(); ++i)
    {
        if (mappings[i] != i)
        {
            return false;
        }
    }
    return true;
}

PermutationVector Composed(const PermutationVector& first, const PermutationVector& second)
{
    std::array<unsigned int, MaxNumOfTensorDimensions> mappings{};
    for (unsigned int i = 0; i < second.GetSize(); ++i)
    {
        mappings[i] = first[second[i]];
    }
    return PermutationVector(mappings.data(), second.GetSize());
}

TensorInfo Transposed(const TensorInfo& info, const PermutationVector& mappings)
{
    TensorInfo result = info;
    result.SetConstant(false);
    const TensorShape& shape = info.GetShape();
    const bool isRankKnown =
        shape.GetDimensionality() == Dimensionality::Specified && shape.GetNumDimensions() == mappings.GetSize();
    TensorShape moved(mappings.GetSize(), false);
    for (unsigned int i = 0; i < mappings.GetSize(); ++i)
    {
        if (isRankKnown && shape.GetDimensionSpecificity(mappings[i]))
        {
            moved.SetDimensionSize(i, shape[mappings[i]]);
        }
        if (info.GetQuantizationDim().has_value() && info.GetQuantizationDim().value() == mappings[i])
        {
            result.SetQuantizationDim(i);
        }
    }
    result.SetShape(moved);
    return result;
}

} // namespace tenon
