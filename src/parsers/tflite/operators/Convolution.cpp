// SPDX-License-Identifier: Apache-2.0
// Rows of the convolutions and matrix products.
#include "parsers/tflite/operators/Rows.hpp"

namespace tenon::tflite
{

namespace
{

/// Data, weights and, if it is there, bias.
std::vector<size_t> Operands(bool biasEnabled)
{
    return biasEnabled ? std::vector<size_t>{0, 1, 2} : std::vector<size_t>{0, 1};
}

/// Of a transposed convolution, whose operand 0 is the output's shape, 1 the weights and 2 the data.
std::vector<size_t> TransposedOperands(bool biasEnabled)
{
    return {2, 1, biasEnabled ? 3 : NetworkBuilder::NoOperand, 0};
}

/// What the descriptors of all convolutions have.
template <typename Descriptor>
Descriptor MakeConvolution(const OperatorView& op, DataLayout layout)
{
    Descriptor descriptor;
    descriptor.m_PaddingScheme = GetPadding(op);
    descriptor.m_StrideX = op.Unsigned("stride_w", 0, 1);
    descriptor.m_StrideY = op.Unsigned("stride_h", 0, 1);
    descriptor.m_DataLayout = layout;
    return descriptor;
}

template <typename Descriptor>
Descriptor MakeDilated(const OperatorView& op, DataLayout layout)
{
    auto descriptor = MakeConvolution<Descriptor>(op, layout);
    descriptor.m_DilationX = op.Unsigned("dilation_w_factor", 1, 1);
    descriptor.m_DilationY = op.Unsigned("dilation_h_factor", 1, 1);
    descriptor.m_BiasEnabled = op.HasInput(2);
    return descriptor;
}

void AddConv2d(const OperatorView& op, NetworkBuilder& builder)
{
    CheckBiasType(op, 0, 2);
    auto descriptor = MakeDilated<Convolution2dDescriptor>(op, DataLayout::NHWC);
    descriptor.m_SumsOf32Bits = HasSumsOf32Bits(op);
    builder.Wire(op, builder.Network().AddConvolution2dLayer(descriptor, op.LayerName().c_str()),
                 Operands(descriptor.m_BiasEnabled), GetActivation(op));
}

void AddDepthwiseConv2d(const OperatorView& op, NetworkBuilder& builder)
{
    const auto descriptor = MakeDilated<DepthwiseConvolution2dDescriptor>(op, DataLayout::NHWC);
    builder.Wire(op, builder.Network().AddDepthwiseConvolution2dLayer(descriptor, op.LayerName().c_str()),
                 Operands(descriptor.m_BiasEnabled), GetActivation(op));
}

void AddConv3d(const OperatorView& op, NetworkBuilder& builder)
{
    auto descriptor = MakeDilated<Convolution3dDescriptor>(op, DataLayout::NDHWC);
    descriptor.m_StrideZ = op.Unsigned("stride_d", 0, 1);
    descriptor.m_DilationZ = op.Unsigned("dilation_d_factor", 1, 1);
    builder.Wire(op, builder.Network().AddConvolution3dLayer(descriptor, op.LayerName().c_str()),
                 Operands(descriptor.m_BiasEnabled), GetActivation(op));
}

/// Inputs: the output's shape, weights, data and, if it is there, bias.
void AddTransposeConv(const OperatorView& op, NetworkBuilder& builder)
{
    CheckBiasType(op, 2, 3);
    auto descriptor = MakeConvolution<TransposeConvolution2dDescriptor>(op, DataLayout::NHWC);
    descriptor.m_ParametersAsInputs = true;
    descriptor.m_BiasEnabled = op.HasInput(3);
    descriptor.m_SumsOf32Bits = HasSumsOf32Bits(op);
    builder.Wire(op, builder.Network().AddTransposeConvolution2dLayer(descriptor, op.LayerName().c_str()),
                 TransposedOperands(descriptor.m_BiasEnabled), GetActivation(op));
}

/// Inputs likewise.
void AddConv3dTranspose(const OperatorView& op, NetworkBuilder& builder)
{
    auto descriptor = MakeDilated<TransposeConvolution3dDescriptor>(op, DataLayout::NDHWC);
    descriptor.m_StrideZ = op.Unsigned("stride_d", 0, 1);
    descriptor.m_DilationZ = op.Unsigned("dilation_d_factor", 1, 1);
    descriptor.m_ParametersAsInputs = true;
    descriptor.m_BiasEnabled = op.HasInput(3);
    builder.Wire(op, builder.Network().AddTransposeConvolution3dLayer(descriptor, op.LayerName().c_str()),
                 TransposedOperands(descriptor.m_BiasEnabled), GetActivation(op));
}

void AddFullyConnected(const OperatorView& op, NetworkBuilder& builder)
{
    CheckBiasType(op, 0, 2);
    FullyConnectedDescriptor descriptor;
    descriptor.m_BiasEnabled = op.HasInput(2);
    descriptor.m_TransposeWeightMatrix = true;
    descriptor.m_ConstantWeights = op.Input(1).m_IsConstant;
    descriptor.m_KeepDims = op.Bool("keep_num_dims", false);
    descriptor.m_AsymmetricQuantizeInputs = op.Bool("asymmetric_quantize_inputs", false);
    descriptor.m_ShuffledWeights = HasShuffledWeights(op);
    op.CheckNumOutputs("weights_format", descriptor.m_ShuffledWeights ? 2 : 1);
    builder.Wire(op, builder.Network().AddFullyConnectedLayer(descriptor, op.LayerName().c_str()),
                 Operands(descriptor.m_BiasEnabled), GetActivation(op));
}

/// For real numbers the adjoint is the transpose.
void AddBatchMatMul(const OperatorView& op, NetworkBuilder& builder)
{
    BatchMatMulDescriptor descriptor(op.Bool("adj_x", false), op.Bool("adj_y", false));
    descriptor.m_AsymmetricQuantizeInputs = op.Bool("asymmetric_quantize_inputs", false);
    builder.Wire(op, builder.Network().AddBatchMatMulLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

} // namespace

Span<const OperatorRow> GetConvolutionRows()
{
    static constexpr OperatorRow rows[] = {
        {"BATCH_MATMUL", AddBatchMatMul, 2, 2, 1, 1},
        {"CONV_2D", AddConv2d, 2, 3, 1, 1},
        {"CONV_3D", AddConv3d, 2, 3, 1, 1},
        {"CONV_3D_TRANSPOSE", AddConv3dTranspose, 3, 4, 1, 1},
        {"DEPTHWISE_CONV_2D", AddDepthwiseConv2d, 2, 3, 1, 1},
        {"FULLY_CONNECTED", AddFullyConnected, 2, 3, 1, 2},
        {"TRANSPOSE_CONV", AddTransposeConv, 3, 4, 1, 1},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
