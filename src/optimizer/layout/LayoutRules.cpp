// SPDX-License-Identifier: Apache-2.0
// See LayoutRules.hpp. Here is the code of the rules of column `axes` of ops.def.
#include "optimizer/layout/LayoutRules.hpp"

#include "optimizer/layout/Transposes.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace tenon
{

namespace
{

using Mappings = PermutationVector;
using Made = std::unique_ptr<BaseDescriptor>;

/// The place of old dimension `axis` in the new order.
unsigned int PlaceOf(const Mappings& mappings, unsigned int axis)
{
    return static_cast<unsigned int>(std::find(mappings.begin(), mappings.end(), axis) - mappings.begin());
}

template <typename T>
std::vector<T> Permuted(const std::vector<T>& values, const Mappings& mappings)
{
    std::vector<T> result;
    result.reserve(values.size());
    for (unsigned int source : mappings)
    {
        result.push_back(values[source]);
    }
    return result;
}

int32_t PermutedMask(int32_t mask, const Mappings& mappings)
{
    int32_t result = 0;
    for (unsigned int i = 0; i < mappings.GetSize(); ++i)
    {
        result |= ((mask >> mappings[i]) & 1) << i;
    }
    return result;
}

/// Renames axes that other lists follow; false where one is not there.
bool RenameListedAxes(std::vector<unsigned int>& axes, const Mappings& mappings)
{
    for (unsigned int& axis : axes)
    {
        if (axis >= mappings.GetSize())
        {
            return false;
        }
        axis = PlaceOf(mappings, axis);
    }
    return true;
}

/// Renames a list of axes; false where one is not there.
bool RenameAxes(std::vector<unsigned int>& axes, const Mappings& mappings)
{
    if (!RenameListedAxes(axes, mappings))
    {
        return false;
    }
    std::sort(axes.begin(), axes.end());
    return true;
}

/// The renamed axis, or -1 where it is not there.
int RenameAxis(int axis, const Mappings& mappings)
{
    const int rank = static_cast<int>(mappings.GetSize());
    const int canonical = axis < 0 ? axis + rank : axis;
    return canonical < 0 || canonical >= rank
               ? -1
               : static_cast<int>(PlaceOf(mappings, static_cast<unsigned int>(canonical)));
}

/// A layer with one axis.
template <typename D>
Made PermuteAxis(const Layer& layer, const Mappings& mappings)
{
    auto made = std::make_unique<D>(layer.Descriptor<D>());
    made->m_Axis = RenameAxis(made->m_Axis, mappings);
    return made->m_Axis < 0 ? nullptr : std::move(made);
}

/// A layer with a list of axes, which its output keeps.
template <typename D>
Made PermuteAxisList(const Layer& layer, const Mappings& mappings)
{
    auto made = std::make_unique<D>(layer.Descriptor<D>());
    const auto axes = [](auto& d) -> std::vector<unsigned int>&
    {
        if constexpr (requires { d.m_vAxis; })
        {
            return d.m_vAxis;
        }
        else
        {
            return d.m_Axis;
        }
    };
    return made->m_ParametersAsInputs || !made->m_KeepDims || !RenameAxes(axes(*made), mappings) ? nullptr
                                                                                                 : std::move(made);
}

/// A layer each of whose lists has a value a dimension, or is empty; or one for each dimension that m_Axes lists.
template <typename D>
Made PermuteLists(const Layer& layer, const Mappings& mappings)
{
    auto made = std::make_unique<D>(layer.Descriptor<D>());
    if constexpr (requires { made->m_Axes; })
    {
        if (!made->m_Axes.empty())
        {
            return RenameListedAxes(made->m_Axes, mappings) ? std::move(made) : nullptr;
        }
    }
    bool fits = !made->m_ParametersAsInputs;
    const auto permute = [&]<typename T>(T& field)
    {
        if constexpr (requires { Permuted(field, mappings); })
        {
            fits = fits && (field.empty() || field.size() == mappings.GetSize());
            field = fits && !field.empty() ? Permuted(field, mappings) : field;
        }
    };
    D::Visit([&](const char*, auto member) { permute((*made).*member); });
    if constexpr (requires { made->m_RegionAsInput; })
    {
        fits = fits && !made->m_RegionAsInput;
    }
    if constexpr (requires { made->m_BeginMask; }) // bits of a mask stand for dimensions where no entry is a new one
    {
        fits = fits && made->m_ShrinkAxisMask == 0 && made->m_EllipsisMask == 0 && made->m_NewAxisMask == 0;
        made->m_BeginMask = PermutedMask(made->m_BeginMask, mappings);
        made->m_EndMask = PermutedMask(made->m_EndMask, mappings);
    }
    return fits ? std::move(made) : nullptr;
}

/// A layer whose inputs are joined along an axis.
template <typename D>
Made PermuteJoin(const Layer& layer, const Mappings& mappings)
{
    const auto& given = layer.Descriptor<D>();
    const unsigned int rank = mappings.GetSize();
    const int axis = RenameAxis(static_cast<int>(given.GetConcatAxis()), mappings);
    if (axis < 0 || (given.HasOrigins() && given.GetNumDimensions() != rank))
    {
        return nullptr;
    }
    auto made = std::make_unique<D>(given.GetNumViews(), given.GetNumDimensions());
    made->SetConcatAxis(static_cast<unsigned int>(axis));
    for (uint32_t view = 0; given.HasOrigins() && view < given.GetNumViews(); ++view)
    {
        for (unsigned int i = 0; i < rank; ++i)
        {
            made->SetViewOriginCoord(view, i, given.GetViewOrigin(view)[mappings[i]]);
        }
    }
    return made;
}

/// A layer whose input is split along an axis.
template <typename D>
Made PermuteSplit(const Layer& layer, const Mappings& mappings)
{
    const auto& given = layer.Descriptor<D>();
    const unsigned int rank = mappings.GetSize();
    const int axis = given.HasAxis() ? RenameAxis(given.GetAxis(), mappings) : 0;
    if (given.m_ParametersAsInputs || axis < 0)
    {
        return nullptr;
    }
    bool isSized = !given.HasAxis();
    for (uint32_t view = 0; view < given.GetNumViews() && !isSized; ++view)
    {
        const uint32_t* const sizes = given.GetViewSizes(view);
        isSized = std::any_of(sizes, sizes + given.GetNumDimensions(), [](uint32_t size) { return size != 0; });
    }
    if (isSized && given.GetNumDimensions() != rank)
    {
        return nullptr;
    }
    auto made = std::make_unique<D>(given.GetNumViews(), given.GetNumDimensions());
    if (given.HasAxis())
    {
        made->SetAxis(axis);
    }
    for (uint32_t view = 0; view < given.GetNumViews() && isSized; ++view)
    {
        for (unsigned int i = 0; i < rank; ++i)
        {
            made->SetViewOriginCoord(view, i, given.GetViewOrigin(view)[mappings[i]]);
            made->SetViewSize(view, i, given.GetViewSizes(view)[mappings[i]]);
        }
    }
    return made;
}

using Permute = Made (*)(const Layer&, const Mappings&);

/// The rules of column `axes` of ops.def; null where there is nothing to rename, or no rule.
template <typename D, AxesRule Rule>
constexpr Permute PermuteOf()
{
    if constexpr (Rule == AxesRule::OneAxis)
    {
        return &PermuteAxis<D>;
    }
    else if constexpr (Rule == AxesRule::AxisList)
    {
        return &PermuteAxisList<D>;
    }
    else if constexpr (Rule == AxesRule::PerAxis)
    {
        return &PermuteLists<D>;
    }
    else if constexpr (Rule == AxesRule::Joined)
    {
        return &PermuteJoin<D>;
    }
    else if constexpr (Rule == AxesRule::Split)
    {
        return &PermuteSplit<D>;
    }
    else
    {
        static_assert(Rule == AxesRule::NoAxes || Rule == AxesRule::OwnAxes);
        return nullptr;
    }
}

constexpr Permute permutes[] = {
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, values, types, rank, form,    \
                 layout, axes, ...)                                                                                    \
    PermuteOf<descriptor, AxesRule::axes>(),
#include <tenon/ops.def>
};

/// A ChannelShuffle has one axis, too, which is never negative.
Made PermuteShuffle(const Layer& layer, const Mappings& mappings)
{
    const auto& given = layer.Descriptor<ChannelShuffleDescriptor>();
    return given.m_Axis < mappings.GetSize()
               ? std::make_unique<ChannelShuffleDescriptor>(given.m_NumGroups, PlaceOf(mappings, given.m_Axis))
               : nullptr;
}

Permute FindPermute(const Layer& layer)
{
    if (layer.GetType() == LayerType::ChannelShuffle)
    {
        return &PermuteShuffle;
    }
    return permutes[static_cast<size_t>(layer.GetType())];
}

using IsRemoved = std::array<bool, MaxNumOfTensorDimensions>; ///< by dimension

/// Whether the dimensions that remain are in the same order before and behind a Transpose of these mappings.
bool KeepsOrder(const PermutationVector& mappings, const IsRemoved& isRemoved)
{
    unsigned int next = 0;
    for (unsigned int i = 0; i < mappings.GetSize(); ++i)
    {
        if (isRemoved[i])
        {
            continue;
        }
        if (mappings[i] < next)
        {
            return false;
        }
        next = mappings[i];
    }
    return true;
}

template <typename D, std::vector<unsigned int> D::*Axes>
std::unique_ptr<BaseDescriptor> AbsorbIntoReduction(const Layer& layer, const PermutationVector& mappings)
{
    auto made = std::make_unique<D>(layer.Descriptor<D>());
    std::vector<unsigned int>& axes = (*made).*Axes;
    if (made->m_ParametersAsInputs || made->m_KeepDims)
    {
        return nullptr;
    }
    IsRemoved isRemoved{};
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
    return axes.empty() || KeepsOrder(mappings, isRemoved) ? std::move(made) : nullptr; // no axes: all
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
    IsRemoved isRemoved{};
    isRemoved[static_cast<unsigned int>(axis)] = true;
    if (!KeepsOrder(mappings, isRemoved))
    {
        return nullptr;
    }
    made->m_Axis = static_cast<int>(mappings[static_cast<unsigned int>(axis)]);
    return made;
}

} // namespace

LayoutKind GetLayoutKind(LayerType type)
{
    const OpSchema& schema = GetSchema(type);
    return type == LayerType::ChannelShuffle    ? LayoutKind::Same
           : schema.m_Axes == AxesRule::OwnAxes ? LayoutKind::None
           : schema.Has(OpFlags::Broadcast)     ? LayoutKind::Broadcast
                                                : LayoutKind::Same;
}

bool IsDataInput(const Layer& layer, unsigned int input)
{
    const OpSchema& schema = layer.GetSchema();
    return input == 0 || schema.Has(OpFlags::Elementwise) || schema.m_Axes == AxesRule::Joined ||
           (input == 1 && schema.Has(OpFlags::Broadcast));
}

std::unique_ptr<BaseDescriptor> PermuteParameters(const Layer& layer, const PermutationVector& mappings)
{
    const Permute permute = FindPermute(layer);
    return permute != nullptr ? permute(layer, mappings) : nullptr;
}

bool MayPermute(const Layer& layer, unsigned int rank)
{
    const Permute permute = FindPermute(layer);
    if (permute == nullptr)
    {
        return GetLayoutKind(layer.GetType()) != LayoutKind::None;
    }
    return permute(layer, Identity(rank)) != nullptr;
}

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
