// SPDX-License-Identifier: Apache-2.0
// See LayoutRules.hpp.
#include "optimizer/LayoutRules.hpp"

#include <algorithm>
#include <array>
#include <iterator>
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

/// Renames a list of axes; false where one is not there.
bool RenameAxes(std::vector<unsigned int>& axes, const Mappings& mappings)
{
    for (unsigned int& axis : axes)
    {
        if (axis >= mappings.GetSize())
        {
            return false;
        }
        axis = PlaceOf(mappings, axis);
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

Made PermuteSoftmax(const Layer& layer, const Mappings& mappings)
{
    auto made = std::make_unique<SoftmaxDescriptor>(layer.Descriptor<SoftmaxDescriptor>());
    made->m_Axis = RenameAxis(made->m_Axis, mappings);
    return made->m_Axis < 0 ? nullptr : std::move(made);
}

Made PermuteConcat(const Layer& layer, const Mappings& mappings)
{
    const auto& given = layer.Descriptor<ConcatDescriptor>();
    const unsigned int rank = mappings.GetSize();
    const int axis = RenameAxis(static_cast<int>(given.GetConcatAxis()), mappings);
    if (axis < 0 || (given.HasOrigins() && given.GetNumDimensions() != rank))
    {
        return nullptr;
    }
    auto made = std::make_unique<ConcatDescriptor>(given.GetNumViews(), given.GetNumDimensions());
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

Made PermuteSplitter(const Layer& layer, const Mappings& mappings)
{
    const auto& given = layer.Descriptor<SplitterDescriptor>();
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
    auto made = std::make_unique<SplitterDescriptor>(given.GetNumViews(), given.GetNumDimensions());
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

Made PermutePad(const Layer& layer, const Mappings& mappings)
{
    auto made = std::make_unique<PadDescriptor>(layer.Descriptor<PadDescriptor>());
    if (made->m_ParametersAsInputs || made->m_PadList.size() != mappings.GetSize())
    {
        return nullptr;
    }
    made->m_PadList = Permuted(made->m_PadList, mappings);
    return made;
}

template <typename D, std::vector<unsigned int> D::*Axes>
Made PermuteReduction(const Layer& layer, const Mappings& mappings)
{
    auto made = std::make_unique<D>(layer.Descriptor<D>());
    return made->m_ParametersAsInputs || !made->m_KeepDims || !RenameAxes((*made).*Axes, mappings) ? nullptr
                                                                                                   : std::move(made);
}

Made PermuteSlice(const Layer& layer, const Mappings& mappings)
{
    auto made = std::make_unique<SliceDescriptor>(layer.Descriptor<SliceDescriptor>());
    if (made->m_ParametersAsInputs || made->m_Begin.size() != mappings.GetSize() ||
        made->m_Size.size() != mappings.GetSize())
    {
        return nullptr;
    }
    made->m_Begin = Permuted(made->m_Begin, mappings);
    made->m_Size = Permuted(made->m_Size, mappings);
    return made;
}

Made PermuteStridedSlice(const Layer& layer, const Mappings& mappings)
{
    auto made = std::make_unique<StridedSliceDescriptor>(layer.Descriptor<StridedSliceDescriptor>());
    const size_t rank = mappings.GetSize();
    if (made->m_ParametersAsInputs || made->m_Begin.size() != rank || made->m_End.size() != rank ||
        made->m_Stride.size() != rank || made->m_ShrinkAxisMask != 0 || made->m_EllipsisMask != 0 ||
        made->m_NewAxisMask != 0)
    {
        return nullptr;
    }
    made->m_Begin = Permuted(made->m_Begin, mappings);
    made->m_End = Permuted(made->m_End, mappings);
    made->m_Stride = Permuted(made->m_Stride, mappings);
    made->m_BeginMask = PermutedMask(made->m_BeginMask, mappings);
    made->m_EndMask = PermutedMask(made->m_EndMask, mappings);
    return made;
}

Made PermuteTile(const Layer& layer, const Mappings& mappings)
{
    auto made = std::make_unique<TileDescriptor>(layer.Descriptor<TileDescriptor>());
    if (made->m_ParametersAsInputs || made->m_Multiples.size() != mappings.GetSize())
    {
        return nullptr;
    }
    made->m_Multiples = Permuted(made->m_Multiples, mappings);
    return made;
}

/// Layers that do the same in any order of their dimensions, if their axes are renamed with them. Those without axes
/// are Elementwise or Broadcast in ops.def.
struct Rule
{
    LayerType m_Type;
    Made (*m_Permute)(const Layer&, const Mappings&);
};

constexpr Rule rules[] = {
    {LayerType::Concat, &PermuteConcat},
    {LayerType::LogSoftmax, &PermuteSoftmax},
    {LayerType::Mean, &PermuteReduction<MeanDescriptor, &MeanDescriptor::m_Axis>},
    {LayerType::Pad, &PermutePad},
    {LayerType::Reduce, &PermuteReduction<ReduceDescriptor, &ReduceDescriptor::m_vAxis>},
    {LayerType::Slice, &PermuteSlice},
    {LayerType::Softmax, &PermuteSoftmax},
    {LayerType::Splitter, &PermuteSplitter},
    {LayerType::StridedSlice, &PermuteStridedSlice},
    {LayerType::Tile, &PermuteTile},
};

const Rule* FindRule(LayerType type)
{
    const Rule* rule =
        std::find_if(std::begin(rules), std::end(rules), [&](const Rule& r) { return r.m_Type == type; });
    return rule != std::end(rules) ? rule : nullptr;
}

} // namespace

LayoutKind GetLayoutKind(LayerType type)
{
    const OpSchema& schema = GetSchema(type);
    if (schema.Has(OpFlags::Broadcast))
    {
        return LayoutKind::Broadcast;
    }
    return schema.Has(OpFlags::Elementwise) || FindRule(type) != nullptr ? LayoutKind::Same : LayoutKind::None;
}

bool IsDataInput(const Layer& layer, unsigned int input)
{
    switch (layer.GetType())
    {
    case LayerType::AddN:
    case LayerType::Concat: return true;
    default: return input == 0 || (input == 1 && GetLayoutKind(layer.GetType()) == LayoutKind::Broadcast);
    }
}

std::unique_ptr<BaseDescriptor> PermuteParameters(const Layer& layer, const PermutationVector& mappings)
{
    const Rule* rule = FindRule(layer.GetType());
    return rule != nullptr ? rule->m_Permute(layer, mappings) : nullptr;
}

bool MayPermute(const Layer& layer, unsigned int rank)
{
    const Rule* rule = FindRule(layer.GetType());
    if (rule == nullptr)
    {
        return GetLayoutKind(layer.GetType()) != LayoutKind::None;
    }
    std::array<unsigned int, MaxNumOfTensorDimensions> same{};
    for (unsigned int i = 0; i < rank; ++i)
    {
        same[i] = i;
    }
    return rule->m_Permute(layer, PermutationVector(same.data(), rank)) != nullptr;
}

} // namespace tenon
