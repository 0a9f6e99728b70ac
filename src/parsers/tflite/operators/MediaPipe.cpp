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

/// Struct TfLitePoolParams.
struct PoolOptions
{
    PaddingScheme m_Padding;
    std::vector<uint32_t> m_Strides; ///< height, width
    std::vector<uint32_t> m_Sizes;
    FusedActivation m_Activation;
};

PoolOptions ReadPoolOptions(const OperatorView& op)
{
    RequireFloats(op);
    using enum FusedActivation;
    static constexpr FusedActivation activations[] = {None, Relu, ReluN1To1, Relu6};
    const std::vector<int32_t> options = ReadStruct(op, 6);
    const int32_t activation = options[5];
    if (activation < 0 || static_cast<size_t>(activation) >= std::size(activations))
    {
        op.Fail(fmt::format("activation is {}, should be in 0 to {}", activation, std::size(activations) - 1));
    }
    return {ToPadding(op, options[0]),
            {ToSize(op, "stride_height", options[2]), ToSize(op, "stride_width", options[1])},
            {ToSize(op, "filter_height", options[4]), ToSize(op, "filter_width", options[3])},
            activations[activation]};
}

/// An operator that becomes a chain of layers.
class Chain
{
public:
    Chain(const OperatorView& op, NetworkBuilder& builder) : m_Op(op), m_Builder(builder) {}

    /// The operator's input with channels in front of rows and columns.
    IOutputSlot& ChannelsFirst(size_t operand)
    {
        IConnectableLayer* layer = AddTranspose({0, 3, 1, 2}, fmt::format("input {} in planes", operand));
        m_Builder.WireInput(m_Op, operand, layer, 0);
        return layer->GetOutputSlot(0);
    }

    /// The result in the operator's own order.
    IConnectableLayer* ChannelsLast(IOutputSlot& source, const char* what)
    {
        return Connect(source, AddTranspose({0, 2, 3, 1}, what));
    }

    IConnectableLayer* Cast(IOutputSlot& source, DataType type)
    {
        m_Builder.CountLayer();
        IConnectableLayer* layer =
            Connect(source, m_Builder.Network().AddCastLayer(m_Op.LayerName(GetDataTypeName(type)).c_str()));
        layer->GetOutputSlot(0).SetTensorInfo(TensorInfo(TensorShape(), type));
        return layer;
    }

    /// The sum with a number.
    IConnectableLayer* Add(IOutputSlot& source, float number)
    {
        m_Builder.CountLayer();
        m_Builder.CountLayer();
        const auto value = std::make_shared<const float>(number);
        const TensorInfo info(TensorShape({1}), DataType::Float32, 0.0f, 0, true);
        IConnectableLayer* constant = m_Builder.Network().AddConstantLayer(ConstTensor(info, value.get()), value,
                                                                           m_Op.LayerName("number").c_str());
        IConnectableLayer* sum = m_Builder.Network().AddElementwiseBinaryLayer(
            ElementwiseBinaryDescriptor(BinaryOperation::Add), m_Op.LayerName("sum").c_str());
        constant->GetOutputSlot(0).Connect(sum->GetInputSlot(1));
        return Connect(source, sum);
    }

    static IConnectableLayer* Connect(IOutputSlot& source, IConnectableLayer* layer, unsigned int slot = 0)
    {
        source.Connect(layer->GetInputSlot(slot));
        return layer;
    }

private:
    IConnectableLayer* AddTranspose(const std::vector<unsigned int>& mappings, const std::string& what)
    {
        m_Builder.CountLayer();
        const PermutationVector permutation(mappings.data(), static_cast<unsigned int>(mappings.size()));
        return m_Builder.Network().AddTransposeLayer(TransposeDescriptor(permutation), m_Op.LayerName(what).c_str());
    }

    const OperatorView& m_Op;
    NetworkBuilder& m_Builder;
};

/// Indices are those within windows plus 0.1, as floats.
void AddMaxPoolingWithArgmax2d(const OperatorView& op, NetworkBuilder& builder)
{
    const PoolOptions options = ReadPoolOptions(op);
    PoolingNdDescriptor descriptor;
    descriptor.m_PoolSizes = options.m_Sizes;
    descriptor.m_Strides = options.m_Strides;
    descriptor.m_PaddingScheme = options.m_Padding;
    descriptor.m_IndicesEnabled = true;
    descriptor.m_IndicesInWindow = true;
    Chain chain(op, builder);
    IOutputSlot& input = chain.ChannelsFirst(0);
    builder.CountLayer();
    IConnectableLayer* pool =
        Chain::Connect(input, builder.Network().AddPoolingNdLayer(descriptor, op.LayerName().c_str()));
    builder.WireSlot(op, chain.ChannelsLast(pool->GetOutputSlot(0), "values"), 0, 0, options.m_Activation);
    IConnectableLayer* indices = chain.ChannelsLast(pool->GetOutputSlot(1), "indices");
    indices = chain.Cast(indices->GetOutputSlot(0), DataType::Float32);
    builder.WireSlot(op, chain.Add(indices->GetOutputSlot(0), 0.1f), 0, 1);
}

/// MediaPipe's kernel looks neither at the padding nor at the activation.
void AddMaxUnpooling2d(const OperatorView& op, NetworkBuilder& builder)
{
    const PoolOptions options = ReadPoolOptions(op);
    MaxUnpoolDescriptor descriptor;
    descriptor.m_PoolSizes = options.m_Sizes;
    descriptor.m_Strides = options.m_Strides;
    descriptor.m_IndicesInWindow = true;
    Chain chain(op, builder);
    IOutputSlot& values = chain.ChannelsFirst(0);
    IConnectableLayer* indices = chain.Cast(chain.ChannelsFirst(1), DataType::Signed64);
    builder.CountLayer();
    IConnectableLayer* unpool =
        Chain::Connect(values, builder.Network().AddMaxUnpoolLayer(descriptor, op.LayerName().c_str()));
    Chain::Connect(indices->GetOutputSlot(0), unpool, 1);
    builder.WireSlot(op, chain.ChannelsLast(unpool->GetOutputSlot(0), "output"), 0, 0);
}

uint32_t ReadIndex(const OperatorView& op, const char* option)
{
    return op.Unsigned(option, 0, 0);
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
    descriptor.m_LeftRotationIndex = ReadIndex(op, "left_rotation_idx");
    descriptor.m_RightRotationIndex = ReadIndex(op, "right_rotation_idx");
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

} // namespace

Span<const OperatorRow> GetMediaPipeRows()
{
    static constexpr OperatorRow rows[] = {
        {"Convolution2DTransposeBias", AddConvolution2dTransposeBias, 3, 3, 1, 1, IsCustom, HasRawOptions},
        {"Landmarks2TransformMatrix", AddLandmarksToTransformMatrix, 1, 1, 1, 1, IsCustom},
        {"MaxPoolingWithArgmax2D", AddMaxPoolingWithArgmax2d, 1, 1, 2, 2, IsCustom, HasRawOptions},
        {"MaxUnpooling2D", AddMaxUnpooling2d, 2, 2, 1, 1, IsCustom, HasRawOptions},
        {"TransformLandmarks", AddTransformLandmarks, 2, 2, 1, 1, IsCustom},
        {"TransformTensorBilinear", AddTransformTensorBilinear, 2, 2, 1, 1, IsCustom},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
