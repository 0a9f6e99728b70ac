// SPDX-License-Identifier: Apache-2.0
// See Transposes.hpp.
#include "optimizer/layout/Transposes.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <array>

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

PermutationVector Identity(unsigned int rank)
{
    std::array<unsigned int, MaxNumOfTensorDimensions> mappings{};
    for (unsigned int i = 0; i < rank; ++i)
    {
        mappings[i] = i;
    }
    return PermutationVector(mappings.data(), rank);
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

} // namespace tenon
