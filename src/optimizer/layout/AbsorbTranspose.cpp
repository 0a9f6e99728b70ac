// SPDX-License-Identifier: Apache-2.0
// See AbsorbTranspose.hpp.
#include "optimizer/layout/AbsorbTranspose.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <array>
#include <vector>

namespace tenon
{

namespace
{

template <typename D, std::vector<unsigned int> D::*Axes>
std::unique_ptr<BaseDescriptor> AbsorbIntoReduction(const Layer& layer, const PermutationVector& mappings)
{
    auto made = std::make_unique<D>(layer.Descriptor<D>());
    std::vector<unsigned int>& axes = (*made).*Axes;
    if (made->m_ParametersAsInputs || made->m_KeepDims)
    {
        return nullptr;
    }
    std::array<bool, MaxNumOfTensorDimensions> isRemoved{};
    for (unsigned int& axis : axes)
    {
        if (axis >= mappings.GetSize())
        {
            return nullptr;
        }
        isRemoved[axis] = true;
        axis = mappings[axis];
    }
    std::sort(axes.begin(), axes.end());
    unsigned int next = 0;
    for (unsigned int i = 0; !axes.empty() && i < mappings.GetSize(); ++i) // no axes: all
    {
        if (isRemoved[i])
        {
            continue;
        }
        if (mappings[i] < next)
        {
            return nullptr;
        }
        next = mappings[i];
    }
    return made;
}

/// Of an ArgMinMax, which loses its one axis.
std::unique_ptr<BaseDescriptor> AbsorbIntoSearch(const Layer& layer, const PermutationVector& mappings)
{
    auto made = std::make_unique<ArgMinMaxDescriptor>(layer.Descriptor<ArgMinMaxDescriptor>());
    const int rank = static_cast<int>(mappings.GetSize());
    const int axis = made->m_Axis < 0 ? made->m_Axis + rank : made->m_Axis;
    if (made->m_ParametersAsInputs || axis < 0 || axis >= rank)
    {
        return nullptr;
    }
    unsigned int next = 0;
    for (unsigned int i = 0; i < mappings.GetSize(); ++i)
    {
        if (static_cast<int>(i) == axis)
        {
            continue;
        }
        if (mappings[i] < next)
        {
            return nullptr;
        }
        next = mappings[i];
    }
    made->m_Axis = static_cast<int>(mappings[static_cast<unsigned int>(axis)]);
    return made;
}

} // namespace

std::unique_ptr<BaseDescriptor> AbsorbTranspose(const Layer& layer, const PermutationVector& mappings)
{
    switch (layer.GetType())
    {
    case LayerType::Mean: return AbsorbIntoReduction<MeanDescriptor, &MeanDescriptor::m_Axis>(layer, mappings);
    case LayerType::ArgMinMax: return AbsorbIntoSearch(layer, mappings);
    case LayerType::Reduce: return AbsorbIntoReduction<ReduceDescriptor, &ReduceDescriptor::m_vAxis>(layer, mappings);
    default: return nullptr;
    }
}

} // namespace tenon
