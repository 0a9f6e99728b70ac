// SPDX-License-Identifier: Apache-2.0
// Rows of operators on images: resizing, sampling, regions and boxes.
#include "parsers/common/ConstantData.hpp"
#include "parsers/onnx/Rows.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tenon::onnx::rows
{

namespace
{

constexpr std::pair<const char*, InterpolationMode> ModeNames[] = {
    {"nearest", InterpolationMode::Nearest}, {"linear", InterpolationMode::Linear},
    {"bilinear", InterpolationMode::Linear}, {"cubic", InterpolationMode::Cubic},
    {"bicubic", InterpolationMode::Cubic},
};

/// A list of numbers, or nothing where it is left out or empty.
Value FindList(const Operator& op, size_t i)
{
    const Value list = op.FindInput(i);
    return list && list.HasSizes() && list.Shape().GetNumElements64() == 0 ? Value() : list;
}

/// Whether the layer Resize, which takes images alone, does the same; then its descriptor says how.
bool IsImageResize(const Value& x, const InterpolateDescriptor& d, const std::vector<int64_t>& sizes,
                   ResizeDescriptor& resize)
{
    const bool isImage = x.Rank() == 4 && x.Type() == DataType::Float32 && sizes.size() == 4 && sizes[0] == x.Size(0) &&
                         sizes[1] == x.Size(1) && x.HasSizes();
    if (!isImage || sizes[2] == OpenSize || sizes[3] == OpenSize || d.m_Antialias ||
        d.m_Mode == InterpolationMode::Cubic)
    {
        return false;
    }
    // Scales that are given count in the formulas as they are: the layer has output size / input size.
    for (size_t i = 0; i < d.m_Scales.size(); ++i)
    {
        const unsigned int axis = d.m_Axes.empty() ? static_cast<unsigned int>(i) : d.m_Axes[i];
        if (static_cast<double>(d.m_Scales[i]) * static_cast<double>(x.Size(axis)) != static_cast<double>(sizes[axis]))
        {
            return false;
        }
    }
    using enum InterpolationCoordinates;
    const bool isLinear = d.m_Mode == InterpolationMode::Linear;
    const bool isPlainHalfPixel =
        d.m_Coordinates == HalfPixel || (d.m_Coordinates == PytorchHalfPixel && sizes[2] > 1 && sizes[3] > 1);
    resize.m_Method = isLinear ? ResizeMethod::Bilinear : ResizeMethod::NearestNeighbor;
    resize.m_TargetHeight = static_cast<uint32_t>(sizes[2]);
    resize.m_TargetWidth = static_cast<uint32_t>(sizes[3]);
    resize.m_DataLayout = DataLayout::NCHW;
    if (isLinear)
    {
        resize.m_HalfPixelCenters = isPlainHalfPixel;
        resize.m_AlignCorners = d.m_Coordinates == AlignCorners && sizes[2] > 1 && sizes[3] > 1;
        return isPlainHalfPixel || resize.m_AlignCorners || d.m_Coordinates == Asymmetric;
    }
    if (d.m_Coordinates == Asymmetric && d.m_Rounding == NearestRounding::Floor)
    {
        return true;
    }
    // By whole factors all roundings but ceil find the element that the output's pixel lies in.
    const bool isWholeFactor = sizes[2] % x.Size(2) == 0 && sizes[3] % x.Size(3) == 0;
    return isWholeFactor && isPlainHalfPixel && d.m_Rounding != NearestRounding::Ceil;
}

/// Adds the layer for a descriptor with sizes or scales, or for `target`, which is computed at the run.
Value Interpolate(GraphBuilder& graph, const Value& x, InterpolateDescriptor d, const Value& target,
                  const Value& region)
{
    std::vector<int64_t> sizes = x.Sizes();
    const size_t count = std::max(d.m_Sizes.size(), d.m_Scales.size());
    const auto axisOf = [&](size_t i) { return d.m_Axes.empty() ? i : d.m_Axes[i]; };
    for (size_t i = 0; i < count; ++i)
    {
        int64_t& size = sizes.at(axisOf(i));
        if (!d.m_Sizes.empty())
        {
            size = d.m_AspectRatioPolicy == AspectRatioPolicy::Stretch ? int64_t{d.m_Sizes[i]} : OpenSize;
        }
        else if (size != OpenSize)
        {
            constexpr double max = 9e15; // more than any size
            size = static_cast<int64_t>(
                std::min(std::floor(static_cast<double>(static_cast<float>(size) * d.m_Scales[i])), max));
        }
        else
        {
            size = d.m_Scales[i] == 1.0f ? size : OpenSize;
        }
    }
    ResizeDescriptor resize;
    if (!target && !region && IsImageResize(x, d, sizes, resize))
    {
        return graph.AddLayer(LayerType::Resize, resize, {x}, x.Type(), ToShape(sizes));
    }
    std::vector<Value> inputs = {x};
    if (target)
    {
        const auto wanted = static_cast<int64_t>(d.m_Axes.empty() ? sizes.size() : d.m_Axes.size());
        if (target.Rank() != 1 || (target.Size(0) != OpenSize && target.Size(0) != wanted))
        {
            throw ParseException(
                fmt::format("sizes or scales of shape {} do not fit {} dimensions", target.Shape().ToString(), wanted));
        }
        d.m_ParametersAsInputs = true;
        inputs.push_back(target);
        for (unsigned int i = 0; i < sizes.size(); ++i)
        {
            const bool isResized = d.m_Axes.empty() || std::find(d.m_Axes.begin(), d.m_Axes.end(), i) != d.m_Axes.end();
            sizes[i] = isResized ? OpenSize : sizes[i];
        }
        if (const Numbers* const known = target.FindNumbers();
            known != nullptr && !target.IsFloat() && d.m_AspectRatioPolicy == AspectRatioPolicy::Stretch)
        {
            for (size_t i = 0; i < known->size(); ++i)
            {
                sizes.at(axisOf(i)) = (*known)[i].m_IsKnown ? (*known)[i].m_Int : OpenSize;
            }
        }
    }
    if (region)
    {
        d.m_RegionAsInput = true;
        inputs.resize(2);
        inputs.push_back(region);
    }
    return graph.AddLayer(LayerType::Interpolate, d, inputs, x.Type(), ToShape(sizes));
}

void SetKnown(const Operator& op, InterpolateDescriptor& d, const std::vector<double>& numbers, bool isSizeList)
{
    for (const double number : numbers)
    {
        if (!(number >= 0.0) || number > std::numeric_limits<uint32_t>::max())
        {
            op.Fail(fmt::format("{} is no {}", number, isSizeList ? "size" : "scale"));
        }
        isSizeList ? d.m_Sizes.push_back(static_cast<uint32_t>(number))
                   : d.m_Scales.push_back(static_cast<float>(number));
    }
    const size_t wanted = d.m_Axes.empty() ? op.Input(0).Rank() : d.m_Axes.size();
    if (numbers.size() != wanted)
    {
        op.Fail(fmt::format("{} {} do not fit {} dimensions", numbers.size(), isSizeList ? "sizes" : "scales", wanted));
    }
}

/// Leaves out the dimensions of scale 1, so that the layer need not look at them.
void DropUnitScales(InterpolateDescriptor& d, const Value& x)
{
    if (!d.m_Axes.empty() || d.m_AspectRatioPolicy != AspectRatioPolicy::Stretch ||
        d.m_Coordinates == InterpolationCoordinates::TfCropAndResize)
    {
        return;
    }
    InterpolateDescriptor kept = d;
    kept.m_Sizes.clear();
    kept.m_Scales.clear();
    const size_t count = std::max(d.m_Sizes.size(), d.m_Scales.size());
    for (unsigned int i = 0; i < count; ++i)
    {
        const bool stays = d.m_Sizes.empty() ? d.m_Scales[i] == 1.0f : int64_t{d.m_Sizes[i]} == x.Size(i);
        if (stays)
        {
            continue;
        }
        kept.m_Axes.push_back(i);
        d.m_Sizes.empty() ? kept.m_Scales.push_back(d.m_Scales[i]) : kept.m_Sizes.push_back(d.m_Sizes[i]);
    }
    if (!kept.m_Axes.empty())
    {
        d = std::move(kept);
    }
}

/// Of places between elements, the nearest one is that after it where a dimension shrinks, and that before it where it
/// grows: the examples of version 10 and ONNX Runtime have it so.
Value ScaleAsBefore11(GraphBuilder& graph, const Value& x, InterpolateDescriptor d)
{
    const std::vector<float> scales = d.m_Scales;
    const auto shrinks = [](float scale) { return scale < 1.0f; };
    const auto stays = [](float scale) { return scale >= 1.0f; };
    const bool mayRoundUp =
        d.m_Mode == InterpolationMode::Nearest && std::any_of(scales.begin(), scales.end(), shrinks);
    if (mayRoundUp)
    {
        InterpolateDescriptor smaller = d;
        std::replace_if(smaller.m_Scales.begin(), smaller.m_Scales.end(), stays, 1.0f);
        std::replace_if(d.m_Scales.begin(), d.m_Scales.end(), shrinks, 1.0f);
        smaller.m_Rounding = NearestRounding::Ceil;
        DropUnitScales(smaller, x);
        const Value shrunk = Interpolate(graph, x, smaller, {}, {});
        const bool isAll = std::count(d.m_Scales.begin(), d.m_Scales.end(), 1.0f) == std::ssize(d.m_Scales);
        return isAll ? shrunk : ScaleAsBefore11(graph, shrunk, d);
    }
    DropUnitScales(d, x);
    return Interpolate(graph, x, d, {}, {});
}

} // namespace

/// Version 10: scales alone, asymmetric. Later: a region, scales or sizes.
void AddResize(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    InterpolateDescriptor d;
    d.m_Mode = op.Choose("mode", "nearest", ModeNames);
    if (op.Version() < 11)
    {
        d.m_Coordinates = InterpolationCoordinates::Asymmetric;
        d.m_Rounding = NearestRounding::Floor;
        if (const auto scales = op.Input(1).FindReals())
        {
            SetKnown(op, d, *scales, false);
            op.SetOutput(0, ScaleAsBefore11(graph, x, d));
            return;
        }
        op.SetOutput(0, Interpolate(graph, x, d, op.Input(1), {}));
        return;
    }
    static constexpr std::pair<const char*, InterpolationCoordinates> coordinates[] = {
        {"half_pixel", InterpolationCoordinates::HalfPixel},
        {"half_pixel_symmetric", InterpolationCoordinates::HalfPixelSymmetric},
        {"pytorch_half_pixel", InterpolationCoordinates::PytorchHalfPixel},
        {"align_corners", InterpolationCoordinates::AlignCorners},
        {"asymmetric", InterpolationCoordinates::Asymmetric},
        {"tf_half_pixel_for_nn", InterpolationCoordinates::TfHalfPixelForNn},
        {"tf_crop_and_resize", InterpolationCoordinates::TfCropAndResize}};
    static constexpr std::pair<const char*, NearestRounding> roundings[] = {
        {"round_prefer_floor", NearestRounding::PreferFloor},
        {"round_prefer_ceil", NearestRounding::PreferCeil},
        {"floor", NearestRounding::Floor},
        {"ceil", NearestRounding::Ceil}};
    static constexpr std::pair<const char*, AspectRatioPolicy> policies[] = {
        {"stretch", AspectRatioPolicy::Stretch},
        {"not_larger", AspectRatioPolicy::NotLarger},
        {"not_smaller", AspectRatioPolicy::NotSmaller}};
    d.m_Coordinates = op.Choose("coordinate_transformation_mode", "half_pixel", coordinates);
    d.m_Rounding = op.Choose("nearest_mode", "round_prefer_floor", roundings);
    d.m_AspectRatioPolicy = op.Choose("keep_aspect_ratio_policy", "stretch", policies);
    d.m_CubicCoefficient = op.Float("cubic_coeff_a", -0.75f);
    d.m_ExcludeOutside = op.Int64("exclude_outside", 0) != 0;
    d.m_ExtrapolationValue = op.Float("extrapolation_value", 0.0f);
    d.m_Antialias = op.Int64("antialias", 0) != 0;
    if (op.Has("axes"))
    {
        d.m_Axes = op.Axes(op.Int64s("axes"), x.Rank());
    }
    const bool isCropped = d.m_Coordinates == InterpolationCoordinates::TfCropAndResize;
    Value region = isCropped ? FindList(op, 1) : Value();
    if (const auto known = region ? region.FindReals() : std::nullopt)
    {
        const size_t half = known->size() / 2;
        for (size_t i = 0; i < known->size(); ++i)
        {
            (i < half ? d.m_RegionStarts : d.m_RegionEnds).push_back(static_cast<float>((*known)[i]));
        }
        region = {};
    }
    const Value scales = FindList(op, 2);
    const Value sizes = FindList(op, 3);
    if (static_cast<bool>(scales) == static_cast<bool>(sizes))
    {
        op.Fail(scales ? "has both scales and sizes" : "has neither scales nor sizes");
    }
    const Value& given = sizes ? sizes : scales;
    if (const auto known = given.FindReals())
    {
        SetKnown(op, d, *known, static_cast<bool>(sizes));
        DropUnitScales(d, x);
        op.SetOutput(0, Interpolate(graph, x, d, {}, region));
        return;
    }
    op.SetOutput(0, Interpolate(graph, x, d, given, region));
}

/// Scales are attributes before version 9: of height and width in version 1.
void AddUpsample(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    InterpolateDescriptor d;
    d.m_Mode = op.Choose("mode", "nearest", ModeNames);
    d.m_Coordinates = InterpolationCoordinates::Asymmetric;
    d.m_Rounding = NearestRounding::Floor;
    std::vector<double> scales;
    if (op.Version() < 7)
    {
        scales = {1.0, 1.0, static_cast<double>(op.Float("height_scale", 1.0f)),
                  static_cast<double>(op.Float("width_scale", 1.0f))};
    }
    else if (op.Version() < 9)
    {
        const std::vector<float> list = op.Floats("scales");
        scales.assign(list.begin(), list.end());
    }
    else
    {
        const auto known = op.Input(1).FindReals();
        if (!known.has_value())
        {
            op.SetOutput(0, Interpolate(graph, x, d, op.Input(1), {}));
            return;
        }
        scales = *known;
    }
    SetKnown(op, d, scales, false);
    DropUnitScales(d, x);
    op.SetOutput(0, Interpolate(graph, x, d, {}, {}));
}

void AddGridSample(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const Value& grid = op.Input(1);
    static constexpr std::pair<const char*, GridPadding> paddings[] = {
        {"zeros", GridPadding::Zeros}, {"border", GridPadding::Border}, {"reflection", GridPadding::Reflection}};
    GridSampleDescriptor descriptor;
    descriptor.m_Mode = op.Choose("mode", "linear", ModeNames);
    descriptor.m_Padding = op.Choose("padding_mode", "zeros", paddings);
    descriptor.m_AlignCorners = op.Int64("align_corners", 0) != 0;
    std::vector<int64_t> sizes = grid.Sizes();
    if (sizes.size() != x.Rank() || x.Rank() < 3)
    {
        op.Fail(fmt::format("a grid of shape {} does not fit an image of shape {}", grid.Shape().ToString(),
                            x.Shape().ToString()));
    }
    sizes.pop_back();
    sizes.insert(sizes.begin() + 1, x.Size(1));
    op.SetOutput(0, graph.AddLayer(LayerType::GridSample, descriptor, {x, grid}, x.Type(), ToShape(sizes)));
}

/// theta [N, 2, 3] by the points of an image of size [N, C, H, W], or the same with a depth.
void AddAffineGrid(Operator& op, GraphBuilder& graph)
{
    const Value& theta = op.Input(0);
    const std::vector<int64_t> size = op.ConstantInts(1, "sizes");
    const bool alignsCorners = op.Int64("align_corners", 0) != 0;
    const size_t rank = size.size() - std::min<size_t>(size.size(), 2);
    if ((rank != 2 && rank != 3) || theta.Rank() != 3 ||
        std::any_of(size.begin(), size.end(), [](int64_t n) { return n < 0; }))
    {
        op.Fail(fmt::format("the size [{}] is not that of an image or a volume", fmt::join(size, ", ")));
    }
    // Homogeneous coordinates [points, rank + 1], x first.
    const int64_t points = ProductOf(size, 2, size.size());
    const auto columns = static_cast<int64_t>(rank) + 1;
    const TensorInfo info(ToShape({1, points, columns}), DataType::Float32);
    parsers::CheckTensorBytes(info, graph.GetLimits());
    std::vector<uint8_t> bytes(info.GetNumBytes());
    auto* next = reinterpret_cast<float*>(bytes.data());
    std::vector<int64_t> place(rank);
    for (int64_t p = 0; p < points; ++p)
    {
        for (size_t i = rank; i-- > 0;)
        {
            const auto n = static_cast<float>(size[i + 2]);
            const auto k = static_cast<float>(place[i]);
            *next++ = alignsCorners ? (n > 1.0f ? 2.0f * k / (n - 1.0f) - 1.0f : 0.0f) : (2.0f * k + 1.0f) / n - 1.0f;
        }
        *next++ = 1.0f;
        for (size_t i = rank; i-- > 0 && ++place[i] == size[i + 2];)
        {
            place[i] = 0;
        }
    }
    const Value grid = graph.Cast(graph.Constant(info, std::move(bytes)), theta.Type());
    const Value product = graph.MatMul(grid, theta, false, true);
    std::vector<int64_t> shape(size.begin() + 2, size.end());
    shape.insert(shape.begin(), size[0]);
    shape.push_back(static_cast<int64_t>(rank));
    op.SetOutput(0, graph.Reshape(product, shape));
}

/// Cuts to the middle, or pads around it with zeros, to the sizes along the axes.
void AddCenterCropPad(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const std::vector<int64_t> wanted = op.ConstantInts(1, "sizes");
    std::vector<unsigned int> axes(x.Rank());
    std::iota(axes.begin(), axes.end(), 0U);
    if (op.Has("axes"))
    {
        axes = op.Axes(op.Int64s("axes"), x.Rank());
    }
    if (wanted.size() != axes.size())
    {
        op.Fail(fmt::format("{} sizes do not fit {} axes", wanted.size(), axes.size()));
    }
    Value result = x;
    PadDescriptor pad;
    pad.m_PadList.assign(x.Rank(), {0, 0});
    std::vector<int64_t> sizes = x.Sizes();
    for (size_t i = 0; i < axes.size(); ++i)
    {
        const int64_t size = x.Size(axes[i]);
        if (size == OpenSize)
        {
            op.RefuseOpen("a size is not known before the run");
        }
        if (wanted[i] < 0 || wanted[i] > std::numeric_limits<int32_t>::max())
        {
            op.Fail(fmt::format("{} is no size", wanted[i]));
        }
        if (wanted[i] < size)
        {
            const int64_t start = (size - wanted[i]) / 2;
            result = graph.Slice(result, axes[i], start, start + wanted[i]);
        }
        else
        {
            const auto more = static_cast<unsigned int>(wanted[i] - size);
            pad.m_PadList[axes[i]] = {more / 2, more - more / 2};
        }
        sizes[axes[i]] = wanted[i];
    }
    op.SetOutput(0, result.Sizes() == sizes ? result
                                            : graph.AddLayer(LayerType::Pad, pad, {result}, x.Type(), ToShape(sizes)));
}

/// Coordinates are moved by half a pixel from version 16 on, where an attribute does not say otherwise.
void AddRoiAlign(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    static constexpr std::pair<const char*, PoolingAlgorithm> modes[] = {{"avg", PoolingAlgorithm::Average},
                                                                         {"max", PoolingAlgorithm::Max}};
    static constexpr std::pair<const char*, bool> transformations[] = {{"half_pixel", true},
                                                                       {"output_half_pixel", false}};
    RoiAlignDescriptor descriptor;
    descriptor.m_PoolType = op.Choose("mode", "avg", modes);
    descriptor.m_OutputHeight = op.Unsigned("output_height", 1, 1);
    descriptor.m_OutputWidth = op.Unsigned("output_width", 1, 1);
    descriptor.m_SamplingRatio = op.Unsigned("sampling_ratio", 0, 0);
    descriptor.m_SpatialScale = op.Float("spatial_scale", 1.0f);
    descriptor.m_HalfPixel =
        op.Version() >= 16 && op.Choose("coordinate_transformation_mode", "half_pixel", transformations);
    const TensorShape shape = ToShape(
        {op.Input(1).Size(0), x.Size(1), int64_t{descriptor.m_OutputHeight}, int64_t{descriptor.m_OutputWidth}});
    op.SetOutput(0, graph.AddLayer(LayerType::RoiAlign, descriptor, {x, op.Input(1), op.Input(2)}, x.Type(), shape));
}

void AddNonMaxSuppression(Operator& op, GraphBuilder& graph)
{
    MulticlassNonMaxSuppressionDescriptor descriptor;
    descriptor.m_CenterPointBox = op.Int64("center_point_box", 0) != 0;
    std::vector<Value> inputs;
    for (size_t i = 0; i < op.NumInputs(); ++i)
    {
        const Value input = op.FindInput(i);
        inputs.push_back(input && i >= 2 ? graph.AsScalar(input) : input);
    }
    op.SetOutput(0, graph.AddLayer(LayerType::MulticlassNonMaxSuppression, descriptor, inputs, DataType::Signed64,
                                   ToShape({OpenSize, 3})));
}

} // namespace tenon::onnx::rows
