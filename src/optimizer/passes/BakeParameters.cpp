// SPDX-License-Identifier: Apache-2.0
// Pass BakeParameters: parameters that arrive as constant tensors move into the descriptor, where the other passes
// look. Only where they mean the same for inputs of any shape: an axis counted from the end, for instance, stays.
#include "graph/InferContext.hpp"
#include "optimizer/Pass.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Reduction.hpp>
#include <tenon/descriptors/Slicing.hpp>
#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <iterator>
#include <limits>

namespace tenon::passes
{

namespace
{

using Made = std::unique_ptr<BaseDescriptor>;
using Values = std::vector<int64_t>;

/// Numbers as another type; throws LayerValidationException for one that it does not hold.
template <typename T>
std::vector<T> As(const InferContext& context, const Values& values)
{
    std::vector<T> result;
    for (int64_t value : values)
    {
        context.Check(value >= std::numeric_limits<T>::min() && value <= int64_t{std::numeric_limits<T>::max()},
                      "parameter {} does not fit", value);
        result.push_back(static_cast<T>(value));
    }
    return result;
}

/// A copy of the layer's descriptor whose parameters are its own.
template <typename D>
std::unique_ptr<D> Copy(const InferContext& context)
{
    auto copy = std::make_unique<D>(context.Descriptor<D>());
    copy->m_ParametersAsInputs = false;
    return copy;
}

Made BakeBroadcastTo(const InferContext& context)
{
    const auto sizes = As<unsigned int>(context, context.Values(1));
    auto made = Copy<BroadcastToDescriptor>(context);
    made->m_BroadcastToShape = TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
    return made;
}

Made BakeInterpolate(const InferContext& context)
{
    auto made = Copy<InterpolateDescriptor>(context);
    made->m_Sizes.clear();
    made->m_Scales.clear();
    if (context.Input(1).GetDataType() == DataType::Float32)
    {
        const auto* const scales = static_cast<const float*>(context.InputValues()[1]);
        made->m_Scales.assign(scales, scales + context.InputShape(1).GetNumElements());
    }
    else
    {
        made->m_Sizes = As<uint32_t>(context, context.Values(1));
    }
    return made;
}

Made BakePad(const InferContext& context)
{
    const auto values = As<unsigned int>(context, context.Values(1, size_t{2} * MaxNumOfTensorDimensions));
    const TensorShape& shape = context.InputShape(1);
    context.Check(shape.GetNumDimensions() == 2 && shape[1] == 2, "the paddings are no pairs");
    auto made = Copy<PadDescriptor>(context);
    made->m_PadList.clear();
    for (size_t i = 0; i + 1 < values.size(); i += 2)
    {
        made->m_PadList.emplace_back(values[i], values[i + 1]);
    }
    return made;
}

template <typename D, std::vector<unsigned int> D::*Axes>
Made BakeReduction(const InferContext& context)
{
    auto made = Copy<D>(context);
    (*made).*Axes = As<unsigned int>(context, context.Values(1));
    context.Check(!((*made).*Axes).empty(), "no axes at all; in a descriptor that stands for all");
    return made;
}

Made BakeReshape(const InferContext& context)
{
    const Values values = context.Values(1);
    TensorShape target(static_cast<unsigned int>(values.size()), false);
    for (unsigned int i = 0; i < values.size(); ++i)
    {
        if (values[i] != -1)
        {
            target.SetDimensionSize(i, As<unsigned int>(context, {values[i]}).front());
        }
    }
    auto made = Copy<ReshapeDescriptor>(context);
    made->m_TargetShape = target;
    return made;
}

Made BakeResize(const InferContext& context)
{
    const auto sizes = As<unsigned int>(context, context.Values(1));
    context.Check(sizes.size() == 2, "height and width are two");
    auto made = Copy<ResizeDescriptor>(context);
    made->m_TargetHeight = sizes[0];
    made->m_TargetWidth = sizes[1];
    return made;
}

Made BakeSlice(const InferContext& context)
{
    auto made = Copy<SliceDescriptor>(context);
    made->m_Begin = As<unsigned int>(context, context.Values(1));
    made->m_Size = As<unsigned int>(context, context.Values(2)); // -1, to the end, depends on the input
    return made;
}

Made BakeSplitter(const InferContext& context)
{
    const auto& given = context.Descriptor<SplitterDescriptor>();
    const auto axis = As<int32_t>(context, context.Values(1, 1));
    context.Check(axis.size() == 1 && !given.m_SizesAsInput, "one axis, and parts of one size");
    auto made = std::make_unique<SplitterDescriptor>(given.GetNumViews());
    made->SetAxis(axis.front());
    return made;
}

Made BakeStridedSlice(const InferContext& context)
{
    constexpr size_t maxValues = 32; // bits of a mask
    auto made = Copy<StridedSliceDescriptor>(context);
    made->m_Begin = As<int>(context, context.Values(1, maxValues));
    made->m_End = As<int>(context, context.Values(2, maxValues));
    made->m_Stride = As<int>(context, context.Values(3, maxValues));
    return made;
}

Made BakeTile(const InferContext& context)
{
    auto made = Copy<TileDescriptor>(context);
    made->m_Multiples = As<unsigned int>(context, context.Values(1));
    return made;
}

Made BakeTranspose(const InferContext& context)
{
    Values values = context.Values(1);
    for (int64_t& value : values) // there are as many as dimensions
    {
        value += value < 0 ? static_cast<int64_t>(values.size()) : 0;
    }
    const auto mappings = As<unsigned int>(context, values);
    auto made = Copy<TransposeDescriptor>(context);
    made->m_DimMappings = PermutationVector(mappings.data(), static_cast<unsigned int>(mappings.size()));
    return made;
}

struct Rule
{
    LayerType m_Type;
    unsigned int m_NumParameters; ///< inputs from 1 on
    Made (*m_Bake)(const InferContext& context);
};

constexpr Rule rules[] = {
    {LayerType::BroadcastTo, 1, &BakeBroadcastTo},
    {LayerType::Interpolate, 1, &BakeInterpolate},
    {LayerType::Mean, 1, &BakeReduction<MeanDescriptor, &MeanDescriptor::m_Axis>},
    {LayerType::Pad, 1, &BakePad},
    {LayerType::Reduce, 1, &BakeReduction<ReduceDescriptor, &ReduceDescriptor::m_vAxis>},
    {LayerType::Reshape, 1, &BakeReshape},
    {LayerType::Resize, 1, &BakeResize},
    {LayerType::Slice, 2, &BakeSlice},
    {LayerType::Splitter, 1, &BakeSplitter},
    {LayerType::StridedSlice, 3, &BakeStridedSlice},
    {LayerType::Tile, 1, &BakeTile},
    {LayerType::Transpose, 1, &BakeTranspose},
};

void Bake(Layer& layer, const Rule& rule)
{
    if (layer.NumInputs() <= rule.m_NumParameters)
    {
        return; // its descriptor says all already
    }
    std::vector<const TensorInfo*> infos;
    std::vector<const void*> values;
    layer.CollectInputInfos(infos);
    for (unsigned int i = 0; i < infos.size(); ++i)
    {
        values.push_back(layer.GetConstantInput(i));
        const bool isParameter = i >= 1 && i <= rule.m_NumParameters;
        if (isParameter && (infos[i] == nullptr || !infos[i]->GetShape().AreAllDimensionsSpecified() ||
                            (values[i] == nullptr && infos[i]->GetNumBytes() != 0)))
        {
            return;
        }
    }
    Made made;
    try
    {
        made = rule.m_Bake(InferContext(layer.GetType(), layer.GetParameters(), infos, values, {}, {}));
    }
    catch (const Exception&)
    {
        return; // parameters that depend on shapes, or that are wrong: the run tells
    }
    layer.SetDescriptor(std::move(made));
    for (unsigned int i = 1; i <= rule.m_NumParameters; ++i)
    {
        OutputSlot* const source = layer.Input(i).GetConnectedOutputSlot();
        source->Disconnect(layer.Input(i));
    }
}

} // namespace

void BakeParameters(Graph& graph)
{
    for (const Rule& rule : rules)
    {
        for (Layer* layer : graph.LayersOf(rule.m_Type))
        {
            Bake(*layer, rule);
        }
    }
}

} // namespace tenon::passes
