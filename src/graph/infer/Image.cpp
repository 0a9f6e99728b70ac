// SPDX-License-Identifier: Apache-2.0
// Shape inference of ONNX's operators on images and the boxes of objects in them.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/Utils.hpp>
#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace tenon::infer
{

namespace
{

// The values of Float32 tensor `input`, which `what` names.
std::vector<float> FloatValues(const InferContext& context, size_t input, const char* what, size_t maxElements)
{
    const TensorInfo& info = context.Input(input);
    context.Check(info.GetDataType() == DataType::Float32, "input {}, {}, is {}; it must be Float32", input, what,
                  GetDataTypeName(info.GetDataType()));
    const uint64_t count = info.GetShape().GetNumElements64();
    context.Check(count <= maxElements, "input {}, {}, has {} elements; at most {} have a meaning", input, what, count,
                  maxElements);
    const void* const data = context.InputValues()[input];
    context.Check(data != nullptr || count == 0, "the values of input {} are not known yet", input);
    std::vector<float> values(count);
    if (count != 0)
    {
        std::memcpy(values.data(), data, count * sizeof(float));
    }
    return values;
}

// Writes the values of inputs 1 and 2 into the descriptor.
void ReadInterpolateInputs(InferContext& context)
{
    const auto& given = context.Descriptor<InterpolateDescriptor>();
    if (given.m_ParametersAsInputs)
    {
        context.Check(context.HasInput(1), "input 1, the sizes or scales, is not connected");
        std::vector<uint32_t> sizes;
        std::vector<float> scales;
        if (context.Input(1).GetDataType() == DataType::Float32)
        {
            scales = FloatValues(context, 1, "the scales", MaxNumOfTensorDimensions);
        }
        else
        {
            sizes = ValuesAsSizes(context, 1);
        }
        auto& edited = context.Edit<InterpolateDescriptor>();
        edited.m_Sizes = std::move(sizes);
        edited.m_Scales = std::move(scales);
        edited.m_ParametersAsInputs = false;
    }
    if (context.Descriptor<InterpolateDescriptor>().m_RegionAsInput)
    {
        context.Check(context.HasInput(2), "input 2, the region, is not connected");
        const std::vector<float> region = FloatValues(context, 2, "the region", size_t{2} * MaxNumOfTensorDimensions);
        context.Check(region.size() % 2 == 0,
                      "input 2, the region, has {} elements; it holds starts, then as many ends", region.size());
        const auto middle = region.begin() + static_cast<std::ptrdiff_t>(region.size() / 2);
        auto& edited = context.Edit<InterpolateDescriptor>();
        edited.m_RegionStarts.assign(region.begin(), middle);
        edited.m_RegionEnds.assign(middle, region.end());
        edited.m_RegionAsInput = false;
    }
}

// The dimensions that are resized.
std::vector<uint32_t> ResizedAxes(const InferContext& context)
{
    const unsigned int rank = context.InputShape(0).GetNumDimensions();
    std::vector<uint32_t> axes = context.Descriptor<InterpolateDescriptor>().m_Axes;
    if (axes.empty())
    {
        for (unsigned int i = 0; i < rank; ++i)
        {
            axes.push_back(i);
        }
        return axes;
    }
    std::vector<bool> isGiven(rank);
    for (uint32_t axis : axes)
    {
        context.Check(axis < rank, "axis {} is not there: input 0 has shape {}", axis, context.InputShape(0));
        context.Check(!isGiven[axis], "axis {} is given twice", axis);
        isGiven[axis] = true;
    }
    return axes;
}

// Sizes that keep the ratio of those of the input, and the scale that all of them have.
void KeepAspectRatio(InferContext& context, const std::vector<uint32_t>& axes)
{
    auto& edited = context.Edit<InterpolateDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const bool isLargest = edited.m_AspectRatioPolicy == AspectRatioPolicy::NotSmaller;
    double scale = 0.0;
    for (size_t i = 0; i < axes.size(); ++i)
    {
        const unsigned int from = input[axes[i]];
        context.Check(from != 0, "input 0 of shape {} has no elements along axis {}: no ratio can be kept", input,
                      axes[i]);
        const double own = static_cast<double>(edited.m_Sizes[i]) / from;
        scale = i == 0 ? own : isLargest ? std::max(scale, own) : std::min(scale, own);
    }
    for (size_t i = 0; i < axes.size(); ++i)
    {
        const double size = std::floor(scale * input[axes[i]] + 0.5);
        context.Check(size <= 4294967295.0, "axis {} would get more than 32 bits of elements", axes[i]);
        edited.m_Sizes[i] = static_cast<uint32_t>(size);
    }
    edited.m_Scales.assign(axes.size(), static_cast<float>(scale));
    edited.m_AspectRatioPolicy = AspectRatioPolicy::Stretch;
}

} // namespace

void InferInterpolate(InferContext& context)
{
    ReadInterpolateInputs(context);
    const auto& given = context.Descriptor<InterpolateDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const std::vector<uint32_t> axes = ResizedAxes(context);
    const size_t count = axes.size();
    const bool isSized = !given.m_Sizes.empty();
    context.Check(isSized || count == 0 || !given.m_Scales.empty(), "neither sizes nor scales are given");
    context.Check(!isSized || given.m_Sizes.size() == count,
                  "{} sizes are given for {} resized dimensions of input 0, of shape {}", given.m_Sizes.size(), count,
                  input);
    context.Check(given.m_Scales.empty() || given.m_Scales.size() == count,
                  "{} scales are given for {} resized dimensions of input 0, of shape {}", given.m_Scales.size(), count,
                  input);
    for (size_t i = 0; i < given.m_Scales.size(); ++i)
    {
        context.Check(given.m_Scales[i] > 0.0f && std::isfinite(given.m_Scales[i]),
                      "the scale of axis {} is {}; it must be above 0", axes[i], given.m_Scales[i]);
    }
    for (const auto* region : {&given.m_RegionStarts, &given.m_RegionEnds})
    {
        context.Check(region->empty() || region->size() == count,
                      "{} numbers of the region's {} do not fit {} resized dimensions", region->size(),
                      region == &given.m_RegionStarts ? "starts" : "ends", count);
    }
    context.Check(!given.m_Antialias || given.m_Mode != InterpolationMode::Nearest,
                  "antialiasing is for linear and cubic interpolation, not for the nearest element");
    if (isSized && given.m_Scales.empty() && given.m_AspectRatioPolicy != AspectRatioPolicy::Stretch)
    {
        KeepAspectRatio(context, axes);
    }
    const auto& resolved = context.Descriptor<InterpolateDescriptor>();
    TensorShape output = input;
    for (size_t i = 0; i < count; ++i)
    {
        const unsigned int from = input[axes[i]];
        if (isSized)
        {
            output.SetDimensionSize(axes[i], resolved.m_Sizes[i]);
            if (!resolved.m_Scales.empty())
            {
                // The size is rounded or cut off, no more.
                const double extent = static_cast<double>(resolved.m_Scales[i]) * from;
                const double size = resolved.m_Sizes[i];
                context.Check(std::abs(extent - size) <= 1.0 + 1e-5 * size && (size == 0.0 || extent >= 0.49),
                              "axis {} is to get the size {}, but {} elements times the scale {} are {}", axes[i], size,
                              from, resolved.m_Scales[i], extent);
            }
        }
        else
        {
            // In float, as ONNX does: 10 * 0.7f is 7, and not a bit less.
            const float size = std::floor(static_cast<float>(from) * resolved.m_Scales[i]);
            context.Check(size < 4294967296.0f, "axis {} would get more than 32 bits of elements", axes[i]);
            output.SetDimensionSize(axes[i], static_cast<unsigned int>(size));
        }
        context.Check(from != 0 || output[axes[i]] == 0,
                      "input 0 of shape {} has no elements along axis {}, of which {} are to be made", input, axes[i],
                      output[axes[i]]);
    }
    context.SetOutputShape(0, output);
}

void InferGridSample(InferContext& context)
{
    const TensorShape& images = context.InputShape(0);
    const TensorShape& points = context.InputShape(1);
    const unsigned int rank = images.GetNumDimensions();
    context.Check(rank >= 3, "input 0 has shape {}; images are [N, C, spatial...]", images);
    context.Check(points.GetNumDimensions() == rank && points[0] == images[0] && points[rank - 1] == rank - 2,
                  "input 1, the points, has shape {}; for images of shape {} it must have {} dimensions, {} as the "
                  "first size and {} as the last one",
                  points, images, rank, images[0], rank - 2);
    ShapeBuilder output(context);
    output.AddRange(images, 0, 2);
    output.AddRange(points, 1, rank - 1);
    bool isEmpty = false;
    for (unsigned int i = 2; i < rank; ++i)
    {
        isEmpty = isEmpty || images[i] == 0;
    }
    context.Check(!isEmpty || output.Shape().GetNumElements64() == 0, "input 0 of shape {} has no elements to sample",
                  images);
    context.SetOutputShape(0, output.Shape());
}

void InferRoiAlign(InferContext& context)
{
    const auto& descriptor = context.Descriptor<RoiAlignDescriptor>();
    CheckRank(context, 0, 4);
    CheckRank(context, 1, 2);
    CheckRank(context, 2, 1);
    const TensorShape& images = context.InputShape(0);
    const TensorShape& regions = context.InputShape(1);
    context.Check(regions[1] == 4, "input 1, the regions, has shape {}; a region has 4 numbers", regions);
    context.Check(context.InputShape(2)[0] == regions[0],
                  "input 2, the images' indices, has shape {}, but there are {} regions", context.InputShape(2),
                  regions[0]);
    context.Check(descriptor.m_PoolType != PoolingAlgorithm::L2, "regions are pooled by Average or Max, not by L2");
    context.Check(descriptor.m_SamplingRatio <= 1024, "a sampling ratio of {} is more than the 1024 that are allowed",
                  descriptor.m_SamplingRatio);
    context.Check(images[2] != 0 && images[3] != 0, "input 0 has shape {}; its images have no elements", images);
    ShapeBuilder output(context);
    output.Add(regions[0]);
    output.Add(images[1]);
    output.Add(descriptor.m_OutputHeight);
    output.Add(descriptor.m_OutputWidth);
    context.SetOutputShape(0, output.Shape());
}

void InferMulticlassNonMaxSuppression(InferContext& context)
{
    CheckRank(context, 0, 3);
    CheckRank(context, 1, 3);
    const TensorShape& boxes = context.InputShape(0);
    const TensorShape& scores = context.InputShape(1);
    context.Check(boxes[2] == 4, "input 0, the boxes, has shape {}; a box has 4 numbers", boxes);
    context.Check(scores[0] == boxes[0] && scores[2] == boxes[1],
                  "input 1, the scores, has shape {}; for boxes of shape {} it must be [{}, classes, {}]", scores,
                  boxes, boxes[0], boxes[1]);
    static const char* const names[] = {"limit", "overlap threshold", "score threshold"};
    for (size_t i = 2; i < 5; ++i)
    {
        if (context.HasInput(i))
        {
            CheckElements(context, i, names[i - 2], 1);
        }
    }
}

} // namespace tenon::infer
