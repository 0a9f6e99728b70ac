// SPDX-License-Identifier: Apache-2.0
// Networks of one layer that moves elements.
#include "NetworkMaker.hpp"

#include <algorithm>
#include <random>

namespace tenon::bench
{

namespace
{

/// Of a layer that reads as many bytes as it writes, not all of its input.
LayerNetwork CountOutput(LayerNetwork network, Element element, const TensorShape& output)
{
    network.m_Bytes = 2.0 * static_cast<double>(DataInfo(element, output).GetNumBytes());
    return network;
}

const char* GetName(InterpolationMode mode)
{
    return mode == InterpolationMode::Nearest ? "nearest" : mode == InterpolationMode::Linear ? "linear" : "cubic";
}

} // namespace

LayerNetwork MakeTranspose(Element element, const TensorShape& shape)
{
    Maker maker(element, "transpose/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddTransposeLayer(TransposeDescriptor(PermutationVector({0, 3, 1, 2}))),
                   {DataInfo(element, shape)});
    return maker.Finish({shape[0], shape[3], shape[1], shape[2]});
}

LayerNetwork MakeConcat(Element element, const TensorShape& shape, unsigned int axis)
{
    Maker maker(element, "concat_axis" + std::to_string(axis) + "/" + ShapeName(shape));
    ConcatDescriptor descriptor(2, shape.GetNumDimensions());
    descriptor.SetConcatAxis(axis);
    const TensorInfo info = DataInfo(element, shape);
    maker.SetLayer(maker.Network().AddConcatLayer(descriptor), {info, info});
    std::vector<unsigned int> output;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        output.push_back(i == axis ? 2 * shape[i] : shape[i]);
    }
    return maker.Finish(TensorShape(shape.GetNumDimensions(), output.data()));
}

LayerNetwork MakePad(Element element, const TensorShape& shape)
{
    Maker maker(element, "pad/" + ShapeName(shape));
    maker.SetLayer(maker.Network().AddPadLayer(PadDescriptor({{0, 0}, {1, 1}, {1, 1}, {0, 0}})),
                   {DataInfo(element, shape)});
    return maker.Finish({shape[0], shape[1] + 2, shape[2] + 2, shape[3]});
}

LayerNetwork MakeResize(Element element, ResizeMethod method, const TensorShape& shape)
{
    Maker maker(element,
                (method == ResizeMethod::Bilinear ? "resize_bilinear/" : "resize_nearest/") + ShapeName(shape));
    ResizeDescriptor descriptor;
    descriptor.m_TargetHeight = 2 * shape[1];
    descriptor.m_TargetWidth = 2 * shape[2];
    descriptor.m_Method = method;
    descriptor.m_DataLayout = DataLayout::NHWC;
    maker.SetLayer(maker.Network().AddResizeLayer(descriptor), {DataInfo(element, shape)});
    return maker.Finish({shape[0], 2 * shape[1], 2 * shape[2], shape[3]});
}

LayerNetwork MakeInterpolate(Element element, InterpolationMode mode, const TensorShape& shape)
{
    Maker maker(element, std::string("interpolate_") + GetName(mode) + "/" + ShapeName(shape));
    InterpolateDescriptor descriptor;
    descriptor.m_Axes = {2, 3};
    descriptor.m_Scales = {2.0f, 2.0f};
    descriptor.m_Mode = mode;
    maker.SetLayer(maker.Network().AddInterpolateLayer(descriptor), {DataInfo(element, shape)});
    return maker.Finish({shape[0], shape[1], 2 * shape[2], 2 * shape[3]});
}

LayerNetwork MakeGridSample(Element element, InterpolationMode mode, const TensorShape& shape)
{
    Maker maker(element, std::string("grid_sample_") + GetName(mode) + "/" + ShapeName(shape));
    GridSampleDescriptor descriptor;
    descriptor.m_Mode = mode;
    const TensorInfo points({shape[0], shape[2], shape[3], 2}, DataType::Float32);
    maker.SetLayer(maker.Network().AddGridSampleLayer(descriptor), {DataInfo(element, shape), points});
    return maker.Finish(shape);
}

LayerNetwork MakeSplit(Element element, const TensorShape& shape)
{
    Maker maker(element, "split_axis3/" + ShapeName(shape));
    SplitterDescriptor descriptor(2, 4);
    const TensorShape half({shape[0], shape[1], shape[2], shape[3] / 2});
    for (unsigned int view = 0; view < 2; ++view)
    {
        for (unsigned int i = 0; i < 4; ++i)
        {
            descriptor.SetViewSize(view, i, half[i]);
        }
        descriptor.SetViewOriginCoord(view, 3, view * half[3]);
    }
    maker.SetLayer(maker.Network().AddSplitterLayer(descriptor), {DataInfo(element, shape)});
    return maker.Finish({DataInfo(element, half), DataInfo(element, half)});
}

LayerNetwork MakeSlice(Element element, const TensorShape& shape)
{
    Maker maker(element, "slice/" + ShapeName(shape));
    const TensorShape inner({shape[0], shape[1] - 2, shape[2] - 2, shape[3]});
    maker.SetLayer(
        maker.Network().AddSliceLayer(SliceDescriptor({0, 1, 1, 0}, {inner[0], inner[1], inner[2], inner[3]})),
        {DataInfo(element, shape)});
    return CountOutput(maker.Finish(inner), element, inner);
}

LayerNetwork MakeGather(Element element, unsigned int rows, unsigned int columns, unsigned int picked)
{
    Maker maker(element, "gather/" + ShapeName({rows, columns}) + "/" + std::to_string(picked));
    maker.SetLayer(maker.Network().AddGatherLayer(GatherDescriptor(0)), {DataInfo(element, {rows, columns})});
    std::mt19937 random(7);
    std::vector<int32_t> indices(picked);
    std::generate(indices.begin(), indices.end(), [&] { return static_cast<int32_t>(random() % rows); });
    maker.AddConstant(1, TensorInfo({picked}, DataType::Signed32), indices);
    return CountOutput(maker.Finish(TensorShape({picked, columns})), element, {picked, columns});
}

} // namespace tenon::bench
