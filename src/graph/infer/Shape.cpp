// SPDX-License-Identifier: Apache-2.0
// Shape inference of operations that rearrange, repeat or surround elements, or make a tensor of a given shape.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Vision.hpp>

namespace tenon::infer
{

namespace
{

// Product of the sizes that are not 0.
int64_t MultiplyNonZero(const InferContext& context, const TensorShape& shape)
{
    int64_t product = 1;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        if (shape.GetDimensionSpecificity(i) && shape[i] != 0)
        {
            product = Multiply(context, product, shape[i]);
        }
    }
    return product;
}

// Reshape's target from a tensor, where -1 stands for the dimension to compute.
TensorShape ValuesAsTarget(const InferContext& context, size_t input)
{
    const std::vector<int64_t> values = context.Values(input);
    TensorShape target(static_cast<unsigned int>(values.size()), false);
    for (unsigned int i = 0; i < values.size(); ++i)
    {
        if (values[i] != -1)
        {
            target.SetDimensionSize(i, ToSize(context, values[i]));
        }
    }
    return target;
}

// Gives the one unknown size of `target` the value that keeps the number of elements.
void CompleteTarget(const InferContext& context, TensorShape& target)
{
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = target.GetNumDimensions();
    unsigned int unknown = rank;
    bool hasZero = false;
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (target.GetDimensionSpecificity(i))
        {
            hasZero = hasZero || target[i] == 0;
            continue;
        }
        context.Check(unknown == rank, "the target shape {} leaves more than one dimension open", target);
        unknown = i;
    }
    // Where both have a 0 any size would do; as in TFLite it is the one that the other dimensions suggest.
    const bool isEmpty = input.GetNumElements64() == 0 && !hasZero;
    target.SetDimensionSize(
        unknown, isEmpty ? 0 : ToSize(context, MultiplyNonZero(context, input) / MultiplyNonZero(context, target)));
}

// Shape and mappings of Transpose: output dimension i is input dimension mappings[i].
TensorShape Transposed(const InferContext& context, const PermutationVector& mappings)
{
    const TensorShape& input = context.InputShape(0);
    context.Check(mappings.GetSize() == input.GetNumDimensions(),
                  "a mapping of {} dimensions does not fit input 0 of shape {}", mappings.GetSize(), input);
    ShapeBuilder output(context);
    for (unsigned int source : mappings)
    {
        output.Add(input[source]);
    }
    return output.Shape();
}

} // namespace

void InferBroadcastTo(InferContext& context)
{
    const auto& descriptor = context.Descriptor<BroadcastToDescriptor>();
    const TensorShape target =
        descriptor.m_ParametersAsInputs ? ValuesAsShape(context, 1) : descriptor.m_BroadcastToShape;
    const TensorShape& input = context.InputShape(0);
    context.Check(target.AreAllDimensionsSpecified(), "the target shape {} is not fully known", target);
    context.Check(input.GetNumDimensions() <= target.GetNumDimensions() && Broadcast(context, input, target) == target,
                  "input 0 of shape {} cannot be broadcast to shape {}", input, target);
    context.SetOutputShape(0, target);
    if (descriptor.m_ParametersAsInputs)
    {
        auto& edited = context.Edit<BroadcastToDescriptor>();
        edited.m_BroadcastToShape = target;
        edited.m_ParametersAsInputs = false;
    }
}

void InferFill(InferContext& context)
{
    if (context.Descriptor<FillDescriptor>().m_ValueAsInput)
    {
        context.Check(context.HasInput(1), "input 1, the value, is not connected");
        CheckElements(context, 1, "value", 1);
    }
    context.SetOutputShape(0, ValuesAsShape(context, 0));
}

void InferPad(InferContext& context)
{
    const auto& descriptor = context.Descriptor<PadDescriptor>();
    if (descriptor.m_ParametersAsInputs)
    {
        auto pads = ValuesAsPairs(context, 1);
        auto& edited = context.Edit<PadDescriptor>();
        edited.m_PadList = std::move(pads);
        edited.m_ParametersAsInputs = false;
    }
    const auto& resolved = context.Descriptor<PadDescriptor>();
    if (resolved.m_ValueAsInput)
    {
        context.Check(context.HasInput(2), "input 2, the value, is not connected");
        CheckElements(context, 2, "value", 1);
    }
    const TensorShape& input = context.InputShape(0);
    context.Check(resolved.m_PadList.size() == input.GetNumDimensions(),
                  "paddings for {} dimensions do not fit input 0 of shape {}", resolved.m_PadList.size(), input);
    TensorShape output = input;
    for (unsigned int i = 0; i < input.GetNumDimensions(); ++i)
    {
        const auto [before, after] = resolved.m_PadList[i];
        // The mirrored elements must be there: Symmetric repeats the edge, Reflect does not.
        const PaddingMode mode = resolved.m_PaddingMode;
        const bool mirrors = mode == PaddingMode::Reflect || mode == PaddingMode::Symmetric;
        const unsigned int edge = mode == PaddingMode::Reflect ? 1 : 0;
        context.Check(!mirrors || (before == 0 && after == 0) ||
                          (int64_t{before} + edge <= input[i] && int64_t{after} + edge <= input[i]),
                      "paddings {} and {} of dimension {} mirror more than input 0 of shape {} has", before, after, i,
                      input);
        context.Check(mode == PaddingMode::Constant || input[i] != 0 || (before == 0 && after == 0),
                      "paddings {} and {} of dimension {} repeat elements, of which input 0 of shape {} has none",
                      before, after, i, input);
        output.SetDimensionSize(i, ToSize(context, int64_t{before} + input[i] + after));
    }
    context.SetOutputShape(0, output);
}

void InferPermute(InferContext& context)
{
    context.SetOutputShape(0, Transposed(context, context.Descriptor<PermuteDescriptor>().m_DimMappings.Inverse()));
}

void InferReshape(InferContext& context)
{
    const auto& descriptor = context.Descriptor<ReshapeDescriptor>();
    const TensorShape& input = context.InputShape(0);
    TensorShape target = descriptor.m_ParametersAsInputs ? ValuesAsTarget(context, 1) : descriptor.m_TargetShape;
    const bool isComplete = target.AreAllDimensionsSpecified();
    if (!isComplete)
    {
        context.Check(target.GetDimensionality() != Dimensionality::NotSpecified, "the rank of the target is unknown");
        CompleteTarget(context, target);
    }
    context.Check(input.GetNumElements64() == target.GetNumElements64(),
                  "input 0 of shape {} cannot take shape {}: the number of elements differs", input, target);
    context.SetOutputShape(0, target);
    if (!isComplete || descriptor.m_ParametersAsInputs)
    {
        auto& edited = context.Edit<ReshapeDescriptor>();
        edited.m_TargetShape = target;
        edited.m_ParametersAsInputs = false;
    }
}

void InferResize(InferContext& context)
{
    const auto& descriptor = context.Descriptor<ResizeDescriptor>();
    CheckRank(context, 0, 4);
    if (descriptor.m_ParametersAsInputs)
    {
        const std::vector<unsigned int> sizes = ValuesAsSizes(context, 1);
        context.Check(sizes.size() == 2, "input 1, height and width, has {} elements in place of 2", sizes.size());
        auto& edited = context.Edit<ResizeDescriptor>();
        edited.m_TargetHeight = sizes[0];
        edited.m_TargetWidth = sizes[1];
        edited.m_ParametersAsInputs = false;
    }
    const auto& resolved = context.Descriptor<ResizeDescriptor>();
    const ImageDims dims = GetImageDims(context, resolved.m_DataLayout);
    context.Check(resolved.m_TargetHeight != 0 && resolved.m_TargetWidth != 0,
                  "a target height of {} and width of {}: both must be at least 1", resolved.m_TargetHeight,
                  resolved.m_TargetWidth);
    context.Check(!resolved.m_AlignCorners || !resolved.m_HalfPixelCenters,
                  "corners cannot be aligned with half-pixel centers: choose one");
    TensorShape output = context.InputShape(0);
    context.Check(output[dims.m_Height] != 0 && output[dims.m_Width] != 0,
                  "input 0 of shape {} has no pixels to resize", output);
    output.SetDimensionSize(dims.m_Height, resolved.m_TargetHeight);
    output.SetDimensionSize(dims.m_Width, resolved.m_TargetWidth);
    context.SetOutputShape(0, output);
}

void InferReverseV2(InferContext& context)
{
    context.Check(context.InputShape(1).GetNumDimensions() <= 1, "input 1, the axes, has shape {}, but it must be flat",
                  context.InputShape(1));
    context.SetOutputShape(0, context.InputShape(0));
}

void InferTile(InferContext& context)
{
    const auto& descriptor = context.Descriptor<TileDescriptor>();
    if (descriptor.m_ParametersAsInputs)
    {
        auto multiples = ValuesAsSizes(context, 1);
        auto& edited = context.Edit<TileDescriptor>();
        edited.m_Multiples = std::move(multiples);
        edited.m_ParametersAsInputs = false;
    }
    const std::vector<uint32_t>& multiples = context.Descriptor<TileDescriptor>().m_Multiples;
    TensorShape output = context.InputShape(0);
    context.Check(multiples.size() == output.GetNumDimensions(), "{} multiples do not fit input 0 of shape {}",
                  multiples.size(), output);
    for (unsigned int i = 0; i < output.GetNumDimensions(); ++i)
    {
        output.SetDimensionSize(i, ToSize(context, Multiply(context, output[i], multiples[i])));
    }
    context.SetOutputShape(0, output);
}

void InferTranspose(InferContext& context)
{
    const auto& descriptor = context.Descriptor<TransposeDescriptor>();
    if (!descriptor.m_ParametersAsInputs)
    {
        context.SetOutputShape(0, Transposed(context, descriptor.m_DimMappings));
        return;
    }
    const unsigned int rank = context.InputShape(0).GetNumDimensions();
    const std::vector<int64_t> values = context.Values(1);
    std::array<unsigned int, MaxNumOfTensorDimensions> mappings{};
    unsigned int seen = 0;
    for (size_t i = 0; i < values.size(); ++i)
    {
        mappings[i] = context.CanonicalAxis(values[i], rank);
        context.Check(((seen >> mappings[i]) & 1U) == 0, "input 1 maps dimension {} twice", mappings[i]);
        seen |= 1U << mappings[i];
    }
    context.Check(values.size() == rank, "a mapping of {} dimensions does not fit input 0 of shape {}", values.size(),
                  context.InputShape(0));
    auto& edited = context.Edit<TransposeDescriptor>();
    edited.m_DimMappings = PermutationVector(mappings.data(), rank);
    edited.m_ParametersAsInputs = false;
    context.SetOutputShape(0, Transposed(context, edited.m_DimMappings));
}

} // namespace tenon::infer
