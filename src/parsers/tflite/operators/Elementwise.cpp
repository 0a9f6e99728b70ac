// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that work element by element, types included.
#include "parsers/tflite/operators/Rows.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tenon::tflite
{

namespace
{

void AddUnary(const OperatorView& op, NetworkBuilder& builder, UnaryOperation operation)
{
    builder.Wire(
        op, builder.Network().AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation), op.LayerName().c_str()),
        {0});
}

void AddBinary(const OperatorView& op, NetworkBuilder& builder, BinaryOperation operation,
               FusedActivation activation = FusedActivation::None)
{
    builder.Wire(
        op, builder.Network().AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), op.LayerName().c_str()),
        {0, 1}, activation);
}

/// As in TFLite stored values are compared, whatever they mean.
void AddExtreme(const OperatorView& op, NetworkBuilder& builder, BinaryOperation operation)
{
    builder.WireStored(
        op, builder.Network().AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), op.LayerName().c_str()),
        {0, 1});
}

void AddFused(const OperatorView& op, NetworkBuilder& builder, BinaryOperation operation)
{
    AddBinary(op, builder, operation, GetActivation(op));
}

bool IsPowerOfTwo(float scale)
{
    const float exponent = std::log2(scale);
    return std::abs(exponent - std::round(exponent)) < 1e-3f;
}

/// Whether TFLite computes a sum of 16-bit tensors in its general way although all scales are powers of two, for which
/// the layer shifts one of the inputs as TFLite does where the option asks for it.
bool IsGeneralSum(const OperatorView& op)
{
    const TensorInfo* const infos[] = {&op.Input(0).m_Info, &op.Input(1).m_Info, &op.Output(0).m_Info};
    const bool isShort = std::all_of(std::begin(infos), std::end(infos),
                                     [](const TensorInfo* info)
                                     {
                                         return info->GetDataType() == DataType::QSymmS16 &&
                                                !info->HasMultipleQuantizationScales() &&
                                                IsPowerOfTwo(info->GetQuantizationScale());
                                     });
    return isShort && !(op.HasOptions() && op.Bool("pot_scale_int16", true));
}

void AddSum(const OperatorView& op, NetworkBuilder& builder, BinaryOperation operation)
{
    if (!IsGeneralSum(op))
    {
        AddFused(op, builder, operation);
        return;
    }
    // Other scales in the same ratios: the sum is the same, and the layer takes the general way.
    constexpr float factor = 1.5f;
    builder.WireScaled(
        op, builder.Network().AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), op.LayerName().c_str()),
        {0, 1}, factor, GetActivation(op));
}

void AddComparison(const OperatorView& op, NetworkBuilder& builder, ComparisonOperation operation)
{
    builder.Wire(op, builder.Network().AddComparisonLayer(ComparisonDescriptor(operation), op.LayerName().c_str()),
                 {0, 1});
}

void AddLogical(const OperatorView& op, NetworkBuilder& builder, LogicalBinaryOperation operation)
{
    builder.Wire(op,
                 builder.Network().AddLogicalBinaryLayer(LogicalBinaryDescriptor(operation), op.LayerName().c_str()),
                 {0, 1});
}

void AddAbs(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Abs);
}

void AddSqrt(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Sqrt);
}

void AddExp(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Exp);
}

void AddLog(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Log);
}

void AddSin(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Sin);
}

void AddCos(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Cos);
}

void AddRound(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Round);
}

void AddNeg(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Neg);
}

void AddRsqrt(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Rsqrt);
}

void AddCeil(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Ceil);
}

void AddSign(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Sign);
}

void AddErf(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::Erf);
}

void AddLogicalNot(const OperatorView& op, NetworkBuilder& builder)
{
    AddUnary(op, builder, UnaryOperation::LogicalNot);
}

void AddFloor(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddFloorLayer(op.LayerName().c_str()), {0});
}

void AddSquare(const OperatorView& op, NetworkBuilder& builder)
{
    const ActivationDescriptor descriptor(ActivationFunction::Square);
    builder.Wire(op, builder.Network().AddActivationLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddAdd(const OperatorView& op, NetworkBuilder& builder)
{
    AddSum(op, builder, BinaryOperation::Add);
}

void AddSub(const OperatorView& op, NetworkBuilder& builder)
{
    AddSum(op, builder, BinaryOperation::Sub);
}

void AddMul(const OperatorView& op, NetworkBuilder& builder)
{
    AddFused(op, builder, BinaryOperation::Mul);
}

void AddDiv(const OperatorView& op, NetworkBuilder& builder)
{
    AddFused(op, builder, BinaryOperation::Div);
}

void AddMaximum(const OperatorView& op, NetworkBuilder& builder)
{
    AddExtreme(op, builder, BinaryOperation::Maximum);
}

void AddMinimum(const OperatorView& op, NetworkBuilder& builder)
{
    AddExtreme(op, builder, BinaryOperation::Minimum);
}

void AddPow(const OperatorView& op, NetworkBuilder& builder)
{
    AddBinary(op, builder, BinaryOperation::Power);
}

void AddSquaredDifference(const OperatorView& op, NetworkBuilder& builder)
{
    AddBinary(op, builder, BinaryOperation::SqDiff);
}

/// As in TFLite of stored integers, whatever they mean.
void AddFloored(const OperatorView& op, NetworkBuilder& builder, BinaryOperation operation)
{
    builder.WireIntegers(
        op, builder.Network().AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), op.LayerName().c_str()),
        {0, 1});
}

void AddFloorDiv(const OperatorView& op, NetworkBuilder& builder)
{
    AddFloored(op, builder, BinaryOperation::FloorDiv);
}

void AddFloorMod(const OperatorView& op, NetworkBuilder& builder)
{
    AddFloored(op, builder, BinaryOperation::FloorMod);
}

void AddAtan2(const OperatorView& op, NetworkBuilder& builder)
{
    AddBinary(op, builder, BinaryOperation::Atan2);
}

void AddBitwiseXor(const OperatorView& op, NetworkBuilder& builder)
{
    AddBinary(op, builder, BinaryOperation::BitwiseXor);
}

void AddRightShift(const OperatorView& op, NetworkBuilder& builder)
{
    AddBinary(op, builder, BinaryOperation::ShiftRight);
}

void AddShiftLeft(const OperatorView& op, NetworkBuilder& builder)
{
    AddBinary(op, builder, BinaryOperation::ShiftLeft);
}

void AddStablehloAdd(const OperatorView& op, NetworkBuilder& builder)
{
    AddBinary(op, builder, BinaryOperation::Add);
}

void AddStablehloAnd(const OperatorView& op, NetworkBuilder& builder)
{
    AddBinary(op, builder, BinaryOperation::BitwiseAnd);
}

void AddStablehloMultiply(const OperatorView& op, NetworkBuilder& builder)
{
    AddBinary(op, builder, BinaryOperation::Mul);
}

void AddEqual(const OperatorView& op, NetworkBuilder& builder)
{
    AddComparison(op, builder, ComparisonOperation::Equal);
}

void AddNotEqual(const OperatorView& op, NetworkBuilder& builder)
{
    AddComparison(op, builder, ComparisonOperation::NotEqual);
}

void AddGreater(const OperatorView& op, NetworkBuilder& builder)
{
    AddComparison(op, builder, ComparisonOperation::Greater);
}

void AddGreaterEqual(const OperatorView& op, NetworkBuilder& builder)
{
    AddComparison(op, builder, ComparisonOperation::GreaterOrEqual);
}

void AddLess(const OperatorView& op, NetworkBuilder& builder)
{
    AddComparison(op, builder, ComparisonOperation::Less);
}

void AddLessEqual(const OperatorView& op, NetworkBuilder& builder)
{
    AddComparison(op, builder, ComparisonOperation::LessOrEqual);
}

void AddLogicalAnd(const OperatorView& op, NetworkBuilder& builder)
{
    AddLogical(op, builder, LogicalBinaryOperation::LogicalAnd);
}

void AddLogicalOr(const OperatorView& op, NetworkBuilder& builder)
{
    AddLogical(op, builder, LogicalBinaryOperation::LogicalOr);
}

void AddAddN(const OperatorView& op, NetworkBuilder& builder)
{
    AddNDescriptor descriptor;
    const std::vector<size_t> operands = AllInputs(op);
    descriptor.m_NumInputs = static_cast<uint32_t>(operands.size());
    builder.Wire(op, builder.Network().AddAddNLayer(descriptor, op.LayerName().c_str()), operands);
}

void AddBitcast(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddBitcastLayer(op.LayerName().c_str()), {0});
}

void AddBucketize(const OperatorView& op, NetworkBuilder& builder)
{
    BucketizeDescriptor descriptor;
    descriptor.m_Boundaries = op.Floats("boundaries");
    builder.Wire(op, builder.Network().AddBucketizeLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddFakeQuant(const OperatorView& op, NetworkBuilder& builder)
{
    FakeQuantizationDescriptor descriptor;
    descriptor.m_Min = op.Float("min", 0.0f);
    descriptor.m_Max = op.Float("max", 0.0f);
    descriptor.m_NumBits = op.Unsigned("num_bits", 0, 0);
    descriptor.m_NarrowRange = op.Bool("narrow_range", false);
    builder.Wire(op, builder.Network().AddFakeQuantizationLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddTable(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddTableLayer(op.LayerName().c_str()), {0, 1});
}

void AddZerosLike(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddZerosLikeLayer(op.LayerName().c_str()), {0});
}

void AddCast(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddCastLayer(op.LayerName().c_str()), {0});
}

void AddQuantize(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddQuantizeLayer(op.LayerName().c_str()), {0});
}

/// TFLite also stores float weights as float16 and "dequantizes" those, which is a mere change of type.
void AddDequantize(const OperatorView& op, NetworkBuilder& builder)
{
    if (op.Input(0).m_Info.GetDataType() == DataType::Float16)
    {
        AddCast(op, builder);
        return;
    }
    builder.Wire(op, builder.Network().AddDequantizeLayer(op.LayerName().c_str()), {0});
}

/// Sparse constants are written out in full when they are read, and nothing computed is sparse.
void AddDensify(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Alias(op);
}

} // namespace

Span<const OperatorRow> GetElementwiseRows()
{
    static constexpr OperatorRow rows[] = {
        {"ABS", AddAbs, 1, 1, 1, 1},
        {"ADD", AddAdd, 2, 2, 1, 1},
        {"ADD_N", AddAddN, 1, Any, 1, 1},
        {"ATAN2", AddAtan2, 2, 2, 1, 1},
        {"BITCAST", AddBitcast, 1, 1, 1, 1},
        {"BITWISE_XOR", AddBitwiseXor, 2, 2, 1, 1},
        {"BUCKETIZE", AddBucketize, 1, 1, 1, 1},
        {"CAST", AddCast, 1, 1, 1, 1},
        {"CEIL", AddCeil, 1, 1, 1, 1},
        {"COS", AddCos, 1, 1, 1, 1},
        {"DENSIFY", AddDensify, 1, 1, 1, 1},
        {"DEQUANTIZE", AddDequantize, 1, 1, 1, 1},
        {"DIV", AddDiv, 2, 2, 1, 1},
        {"EQUAL", AddEqual, 2, 2, 1, 1},
        {"EXP", AddExp, 1, 1, 1, 1},
        {"FAKE_QUANT", AddFakeQuant, 1, 1, 1, 1},
        {"FLOOR", AddFloor, 1, 1, 1, 1},
        {"FLOOR_DIV", AddFloorDiv, 2, 2, 1, 1},
        {"FLOOR_MOD", AddFloorMod, 2, 2, 1, 1},
        {"GREATER", AddGreater, 2, 2, 1, 1},
        {"GREATER_EQUAL", AddGreaterEqual, 2, 2, 1, 1},
        {"LESS", AddLess, 2, 2, 1, 1},
        {"LESS_EQUAL", AddLessEqual, 2, 2, 1, 1},
        {"LOG", AddLog, 1, 1, 1, 1},
        {"LOGICAL_AND", AddLogicalAnd, 2, 2, 1, 1},
        {"LOGICAL_NOT", AddLogicalNot, 1, 1, 1, 1},
        {"LOGICAL_OR", AddLogicalOr, 2, 2, 1, 1},
        {"MAXIMUM", AddMaximum, 2, 2, 1, 1},
        {"MINIMUM", AddMinimum, 2, 2, 1, 1},
        {"MUL", AddMul, 2, 2, 1, 1},
        {"NEG", AddNeg, 1, 1, 1, 1},
        {"NOT_EQUAL", AddNotEqual, 2, 2, 1, 1},
        {"POW", AddPow, 2, 2, 1, 1},
        {"QUANTIZE", AddQuantize, 1, 1, 1, 1},
        {"RIGHT_SHIFT", AddRightShift, 2, 2, 1, 1},
        {"ROUND", AddRound, 1, 1, 1, 1},
        {"RSQRT", AddRsqrt, 1, 1, 1, 1},
        {"SIGN", AddSign, 1, 1, 1, 1},
        {"SIN", AddSin, 1, 1, 1, 1},
        {"SQRT", AddSqrt, 1, 1, 1, 1},
        {"SQUARE", AddSquare, 1, 1, 1, 1},
        {"SQUARED_DIFFERENCE", AddSquaredDifference, 2, 2, 1, 1},
        {"STABLEHLO_ADD", AddStablehloAdd, 2, 2, 1, 1},
        {"STABLEHLO_AND", AddStablehloAnd, 2, 2, 1, 1},
        {"STABLEHLO_MAXIMUM", AddMaximum, 2, 2, 1, 1},
        {"STABLEHLO_MINIMUM", AddMinimum, 2, 2, 1, 1},
        {"STABLEHLO_MULTIPLY", AddStablehloMultiply, 2, 2, 1, 1},
        {"STABLEHLO_SHIFT_LEFT", AddShiftLeft, 2, 2, 1, 1},
        {"SUB", AddSub, 2, 2, 1, 1},
        {"ZEROS_LIKE", AddZerosLike, 1, 1, 1, 1},
        {"FlexErf", AddErf, 1, 1, 1, 1, IsCustom},
        {"Sign", AddSign, 1, 1, 1, 1, IsCustom},
        {"Table", AddTable, 2, 2, 1, 1, IsCustom},
        {"atan2", AddAtan2, 2, 2, 1, 1, IsCustom},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
