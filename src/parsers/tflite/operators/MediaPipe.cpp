// SPDX-License-Identifier: Apache-2.0
// Rows of MediaPipe's custom operators. Those on images have TFLite's own structs as options, in place of FlexBuffers.
#include "parsers/tflite/operators/Rows.hpp"

#include <cstring>

namespace tenon::tflite
{

namespace
{

/// The first `count` numbers of the struct, which may have more. Throws ParseException if it has fewer.
std::vector<int32_t> ReadStruct(const OperatorView& op, size_t count)
{
    const std::vector<uint8_t>& bytes = op.RawOptions();
    std::vector<int32_t> numbers(count);
    if (bytes.size() < count * sizeof(int32_t))
    {
        op.Fail(fmt::format("its custom_options have {} bytes, but should be a struct of {} or more", bytes.size(),
                            count * sizeof(int32_t)));
    }
    std::memcpy(numbers.data(), bytes.data(), count * sizeof(int32_t));
    return numbers;
}

PaddingScheme ToPadding(const OperatorView& op, int32_t number)
{
    if (number != 1 && number != 2)
    {
        op.Fail(fmt::format("padding is {}, should be 1 (SAME) or 2 (VALID)", number));
    }
    return number == 1 ? PaddingScheme::Same : PaddingScheme::Valid;
}

uint32_t ToSize(const OperatorView& op, const char* what, int32_t number)
{
    if (number < 1)
    {
        op.Fail(fmt::format("{} is {}, should be at least 1", what, number));
    }
    return static_cast<uint32_t>(number);
}

/// MediaPipe's kernels on the CPU have no others.
void RequireVersion2(const OperatorView& op)
{
    if (op.Version() != 2)
    {
        throw UnimplementedException(fmt::format(
            "is of version {}; MediaPipe's operator {} is known in version 2 alone", op.Version(), op.Name()));
    }
}

void RequireFloats(const OperatorView& op)
{
    for (size_t i = 0; i < op.NumInputs(); ++i)
    {
        const DataType type = op.Input(i).m_Info.GetDataType();
        if (type != DataType::Float32)
        {
            throw UnimplementedException(
                fmt::format("tensor {} is {}; MediaPipe's operator {} is known for Float32 alone", op.Input(i).Label(),
                            GetDataTypeName(type), op.Name()));
        }
    }
}

/// Struct TfLiteTransposeConvParams. MediaPipe's kernel does not look at the activation that newer ones have.
void AddConvolution2dTransposeBias(const OperatorView& op, NetworkBuilder& builder)
{
    RequireFloats(op);
    const std::vector<int32_t> options = ReadStruct(op, 3);
    TransposeConvolution2dDescriptor descriptor;
    descriptor.m_PaddingScheme = ToPadding(op, options[0]);
    descriptor.m_StrideX = ToSize(op, "stride_width", options[1]);
    descriptor.m_StrideY = ToSize(op, "stride_height", options[2]);
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_BiasEnabled = true;
    descriptor.m_SameByInput = true;
    builder.Wire(op, builder.Network().AddTransposeConvolution2dLayer(descriptor, op.LayerName().c_str()), {0, 1, 2});
}

FusedActivation ToActivation(const OperatorView& op, int32_t number)
{
    using enum FusedActivation;
    static constexpr FusedActivation activations[] = {None, Relu, ReluN1To1, Relu6};
    if (number < 0 || static_cast<size_t>(number) >= std::size(activations))
    {
        op.Fail(fmt::format("activation is {}, should be in 0 to {}", number, std::size(activations) - 1));
    }
    return activations[number];
}

/// Struct TfLitePoolParams: padding, then the strides and sizes of the windows, then the activation.
std::vector<int32_t> ReadPoolOptions(const OperatorView& op)
{
    RequireFloats(op);
    return ReadStruct(op, 6);
}

template <typename Descriptor>
Descriptor MakeWindows(const OperatorView& op, const std::vector<int32_t>& options)
{
    Descriptor descriptor;
    descriptor.m_StrideX = ToSize(op, "stride_width", options[1]);
    descriptor.m_StrideY = ToSize(op, "stride_height", options[2]);
    descriptor.m_PoolWidth = ToSize(op, "filter_width", options[3]);
    descriptor.m_PoolHeight = ToSize(op, "filter_height", options[4]);
    return descriptor;
}

void AddMaxPoolingWithArgmax2d(const OperatorView& op, NetworkBuilder& builder)
{
    const std::vector<int32_t> options = ReadPoolOptions(op);
    auto descriptor = MakeWindows<MaxPool2dWithIndicesDescriptor>(op, options);
    descriptor.m_PaddingScheme = ToPadding(op, options[0]);
    builder.CountLayer();
    IConnectableLayer* layer = builder.Network().AddMaxPool2dWithIndicesLayer(descriptor, op.LayerName().c_str());
    builder.WireInput(op, 0, layer, 0);
    builder.WireSlot(op, layer, 0, 0, ToActivation(op, options[5]));
    builder.WireSlot(op, layer, 1, 1);
}

/// MediaPipe's kernel looks neither at the padding nor at the activation.
void AddMaxUnpooling2d(const OperatorView& op, NetworkBuilder& builder)
{
    const auto descriptor = MakeWindows<MaxUnpool2dDescriptor>(op, ReadPoolOptions(op));
    builder.Wire(op, builder.Network().AddMaxUnpool2dLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

float ReadScale(const OperatorView& op, const char* option)
{
    const float scale = op.Float(option, 0.0f);
    if (!(scale > 0))
    {
        op.Fail(fmt::format("option {} is {}, should be above 0", option, scale));
    }
    return scale;
}

void AddLandmarksToTransformMatrix(const OperatorView& op, NetworkBuilder& builder)
{
    RequireVersion2(op);
    LandmarksToTransformMatrixDescriptor descriptor;
    for (const int32_t index : op.Ints("subset_idxs"))
    {
        if (index < 0)
        {
            op.Fail(fmt::format("option subset_idxs has {}, but indices start at 0", index));
        }
        descriptor.m_Subset.push_back(static_cast<uint32_t>(index));
    }
    if (descriptor.m_Subset.empty())
    {
        op.Fail("option subset_idxs is missing or empty");
    }
    descriptor.m_LeftRotationIndex = op.Unsigned("left_rotation_idx", 0, 0);
    descriptor.m_RightRotationIndex = op.Unsigned("right_rotation_idx", 0, 0);
    descriptor.m_TargetRotation = op.Float("target_rotation_radians", 0.0f);
    descriptor.m_OutputHeight = op.Unsigned("output_height", 0, 1);
    descriptor.m_OutputWidth = op.Unsigned("output_width", 0, 1);
    descriptor.m_ScaleX = ReadScale(op, "scale_x");
    descriptor.m_ScaleY = ReadScale(op, "scale_y");
    builder.Wire(op, builder.Network().AddLandmarksToTransformMatrixLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddTransformLandmarks(const OperatorView& op, NetworkBuilder& builder)
{
    RequireVersion2(op);
    builder.Wire(op, builder.Network().AddTransformLandmarksLayer(op.LayerName().c_str()), {0, 1});
}

/// MediaPipe's kernel fills the output that the file declares, whatever the options say.
void AddTransformTensorBilinear(const OperatorView& op, NetworkBuilder& builder)
{
    RequireVersion2(op);
    TransformTensorBilinearDescriptor descriptor;
    descriptor.m_OutputHeight = op.Unsigned("output_height", 0, 1);
    descriptor.m_OutputWidth = op.Unsigned("output_width", 0, 1);
    const TensorShape& output = op.Output(0).m_DeclaredShape;
    if (output.AreAllDimensionsSpecified() && output.GetNumDimensions() == 4)
    {
        descriptor.m_OutputHeight = output[1];
        descriptor.m_OutputWidth = output[2];
    }
    builder.Wire(op, builder.Network().AddTransformTensorBilinearLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

/// There is a point for each pixel of the image.
void AddResampler(const OperatorView& op, NetworkBuilder& builder)
{
    RequireFloats(op);
    const TensorShape& image = op.Input(0).m_DeclaredShape;
    const TensorShape& points = op.Input(1).m_DeclaredShape;
    const auto isImage = [](const TensorShape& shape)
    { return shape.AreAllDimensionsSpecified() && shape.GetNumDimensions() == 4; };
    if (isImage(image) && isImage(points) && (image[1] != points[1] || image[2] != points[2]))
    {
        op.Fail(
            fmt::format("tensor {}, the points, has shape {}, but should be of as many rows and columns as tensor {} "
                        "of shape {}",
                        op.Input(1).Label(), points.ToString(), op.Input(0).Label(), image.ToString()));
    }
    GridSampleDescriptor descriptor;
    descriptor.m_InPixels = true;
    const auto transpose = [&](const PermutationVector& mappings, const char* what)
    {
        builder.CountLayer();
        return builder.Network().AddTransposeLayer(TransposeDescriptor(mappings), op.LayerName(what).c_str());
    };
    IConnectableLayer* planes = transpose({0, 3, 1, 2}, "planes");
    builder.WireInput(op, 0, planes, 0);
    builder.CountLayer();
    IConnectableLayer* sample = builder.Network().AddGridSampleLayer(descriptor, op.LayerName().c_str());
    planes->GetOutputSlot(0).Connect(sample->GetInputSlot(0));
    builder.WireInput(op, 1, sample, 1);
    IConnectableLayer* output = transpose({0, 2, 3, 1}, "output");
    sample->GetOutputSlot(0).Connect(output->GetInputSlot(0));
    builder.WireSlot(op, output, 0, 0);
}

} // namespace

Span<const OperatorRow> GetMediaPipeRows()
{
    static constexpr OperatorRow rows[] = {
        {"Convolution2DTransposeBias", AddConvolution2dTransposeBias, 3, 3, 1, 1, IsCustom, HasRawOptions},
        {"Landmarks2TransformMatrix", AddLandmarksToTransformMatrix, 1, 1, 1, 1, IsCustom},
        {"MaxPoolingWithArgmax2D", AddMaxPoolingWithArgmax2d, 1, 1, 2, 2, IsCustom, HasRawOptions},
        {"MaxUnpooling2D", AddMaxUnpooling2d, 2, 2, 1, 1, IsCustom, HasRawOptions},
        {"Resampler", AddResampler, 2, 2, 1, 1, IsCustom},
        {"TransformLandmarks", AddTransformLandmarks, 2, 2, 1, 1, IsCustom},
        {"TransformTensorBilinear", AddTransformTensorBilinear, 2, 2, 1, 1, IsCustom},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
