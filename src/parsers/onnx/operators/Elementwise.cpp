// SPDX-License-Identifier: Apache-2.0
// Rows of operators that work element by element: arithmetic, comparisons, logic, rounding, casts.
#include "parsers/onnx/Rows.hpp"
#include "parsers/onnx/TensorReader.hpp"

#include <limits>

namespace tenon::onnx::rows
{

namespace
{

/// Input 1 as it broadcasts to input 0. Before version 7 of these operators it does so only where the attribute
/// `broadcast` is set, and from the dimension `axis` on.
Value SecondOperand(const Operator& op, GraphBuilder& graph)
{
    const Value& a = op.Input(0);
    const Value& b = op.Input(1);
    if (op.Version() >= 7 || op.Int64("broadcast", 0) == 0 || !op.Has("axis") || b.Rank() == 0)
    {
        return b;
    }
    const unsigned int axis = op.AxisAttribute(0, a.Rank());
    std::vector<unsigned int> added;
    for (unsigned int i = axis + b.Rank(); i < a.Rank(); ++i)
    {
        added.push_back(i - axis);
    }
    return added.empty() ? b : graph.Unsqueeze(b, added);
}

void AddBinary(Operator& op, GraphBuilder& graph, BinaryOperation operation)
{
    op.SetOutput(0, graph.Binary(operation, op.Input(0), SecondOperand(op, graph)));
}

void AddUnary(Operator& op, GraphBuilder& graph, UnaryOperation operation)
{
    op.SetOutput(0, graph.Unary(operation, op.Input(0)));
}

void AddComparison(Operator& op, GraphBuilder& graph, ComparisonOperation operation)
{
    op.SetOutput(0, graph.Compare(operation, op.Input(0), SecondOperand(op, graph)));
}

/// All inputs, one after the other.
Value Chain(const Operator& op, GraphBuilder& graph, BinaryOperation operation)
{
    Value result = op.Input(0);
    for (size_t i = 1; i < op.NumInputs(); ++i)
    {
        result = graph.Binary(operation, result, op.Input(i));
    }
    return result;
}

/// The larger or smaller ones of all inputs, or NaN where one of them is. The layers pass on a NaN of operand 1 alone,
/// as TFLite does.
Value ChainExtremes(const Operator& op, GraphBuilder& graph, BinaryOperation operation)
{
    Value result = op.Input(0);
    for (size_t i = 1; i < op.NumInputs(); ++i)
    {
        const Value& next = op.Input(i);
        if (!result.IsFloat() || result.IsConstant())
        {
            result = graph.Binary(operation, result, next);
        }
        else if (next.IsConstant())
        {
            result = graph.Binary(operation, next, result);
        }
        else
        {
            const Value isNaN = graph.Compare(ComparisonOperation::NotEqual, result, result);
            result = graph.Select(isNaN, result, graph.Binary(operation, result, next));
        }
    }
    return result;
}

} // namespace

void AddAdd(Operator& op, GraphBuilder& graph)
{
    AddBinary(op, graph, BinaryOperation::Add);
}

void AddSub(Operator& op, GraphBuilder& graph)
{
    AddBinary(op, graph, BinaryOperation::Sub);
}

void AddMul(Operator& op, GraphBuilder& graph)
{
    AddBinary(op, graph, BinaryOperation::Mul);
}

void AddDiv(Operator& op, GraphBuilder& graph)
{
    AddBinary(op, graph, BinaryOperation::Div);
}

/// The result has the type of the base.
void AddPow(Operator& op, GraphBuilder& graph)
{
    const Value base = op.Input(0);
    Value exponent = SecondOperand(op, graph);
    if (base.IsFloat())
    {
        op.SetOutput(0, graph.Binary(BinaryOperation::Power, base, graph.Cast(exponent, base.Type())));
        return;
    }
    if (exponent.IsFloat())
    {
        const Value power = graph.Binary(BinaryOperation::Power, graph.Cast(base, exponent.Type()), exponent);
        op.SetOutput(0, graph.Cast(power, base.Type()));
        return;
    }
    op.SetOutput(0, graph.Binary(BinaryOperation::Power, base, graph.Cast(exponent, base.Type())));
}

/// fmod = 0: the sign of the divisor; 1: that of the dividend, as C's fmod.
void AddMod(Operator& op, GraphBuilder& graph)
{
    const bool hasSignOfDividend = op.Int64("fmod", 0) != 0;
    AddBinary(op, graph, hasSignOfDividend ? BinaryOperation::Remainder : BinaryOperation::FloorMod);
}

void AddMax(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, ChainExtremes(op, graph, BinaryOperation::Maximum));
}

void AddMin(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, ChainExtremes(op, graph, BinaryOperation::Minimum));
}

void AddSum(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, Chain(op, graph, BinaryOperation::Add));
}

void AddMean(Operator& op, GraphBuilder& graph)
{
    const auto count = static_cast<double>(op.NumInputs());
    op.SetOutput(0, graph.WithNumber(BinaryOperation::Div, Chain(op, graph, BinaryOperation::Add), count));
}

void AddAbs(Operator& op, GraphBuilder& graph)
{
    const DataType type = op.Input(0).Type();
    const bool isUnsigned = type == DataType::Unsigned8 || type == DataType::Unsigned16 ||
                            type == DataType::Unsigned32 || type == DataType::Unsigned64;
    op.SetOutput(0, isUnsigned ? op.Input(0) : graph.Unary(UnaryOperation::Abs, op.Input(0)));
}

void AddNeg(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Neg);
}

void AddExp(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Exp);
}

void AddLog(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Log);
}

void AddSqrt(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Sqrt);
}

void AddReciprocal(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.NumberWith(BinaryOperation::Div, 1.0, op.Input(0)));
}

void AddErf(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Erf);
}

void AddSin(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Sin);
}

void AddCos(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Cos);
}

void AddTan(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Tan);
}

void AddAsin(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Asin);
}

void AddAcos(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Acos);
}

void AddAtan(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Atan);
}

void AddSinh(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Sinh);
}

void AddCosh(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Cosh);
}

void AddAsinh(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Asinh);
}

void AddAcosh(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Acosh);
}

void AddAtanh(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Atanh);
}

void AddCeil(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Ceil);
}

void AddFloor(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.Floor(op.Input(0)));
}

void AddRound(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Round);
}

void AddSign(Operator& op, GraphBuilder& graph)
{
    AddUnary(op, graph, UnaryOperation::Sign);
}

void AddEqual(Operator& op, GraphBuilder& graph)
{
    AddComparison(op, graph, ComparisonOperation::Equal);
}

void AddGreater(Operator& op, GraphBuilder& graph)
{
    AddComparison(op, graph, ComparisonOperation::Greater);
}

void AddGreaterOrEqual(Operator& op, GraphBuilder& graph)
{
    AddComparison(op, graph, ComparisonOperation::GreaterOrEqual);
}

void AddLess(Operator& op, GraphBuilder& graph)
{
    AddComparison(op, graph, ComparisonOperation::Less);
}

void AddLessOrEqual(Operator& op, GraphBuilder& graph)
{
    AddComparison(op, graph, ComparisonOperation::LessOrEqual);
}

/// Only NaN differs from itself.
void AddIsNaN(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.Compare(ComparisonOperation::NotEqual, op.Input(0), op.Input(0)));
}

void AddIsInf(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const bool detectsNegative = op.Int64("detect_negative", 1) != 0;
    const bool detectsPositive = op.Int64("detect_positive", 1) != 0;
    const double infinity = std::numeric_limits<double>::infinity();
    if (!detectsNegative && !detectsPositive)
    {
        op.SetOutput(0, graph.Compare(ComparisonOperation::Less, x, GraphBuilder::Scalar(x.Type(), -infinity)));
        return; // nothing is below
    }
    const Value compared = detectsNegative && detectsPositive ? graph.Unary(UnaryOperation::Abs, x) : x;
    op.SetOutput(0, graph.Compare(ComparisonOperation::Equal, compared,
                                  GraphBuilder::Scalar(x.Type(), detectsPositive ? infinity : -infinity)));
}

void AddNot(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.Not(op.Input(0)));
}

void AddAnd(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.Logical(LogicalBinaryOperation::LogicalAnd, op.Input(0), SecondOperand(op, graph)));
}

void AddOr(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.Logical(LogicalBinaryOperation::LogicalOr, op.Input(0), SecondOperand(op, graph)));
}

void AddXor(Operator& op, GraphBuilder& graph)
{
    AddComparison(op, graph, ComparisonOperation::NotEqual);
}

void AddBitwiseAnd(Operator& op, GraphBuilder& graph)
{
    AddBinary(op, graph, BinaryOperation::BitwiseAnd);
}

void AddBitwiseOr(Operator& op, GraphBuilder& graph)
{
    AddBinary(op, graph, BinaryOperation::BitwiseOr);
}

void AddBitwiseXor(Operator& op, GraphBuilder& graph)
{
    AddBinary(op, graph, BinaryOperation::BitwiseXor);
}

void AddBitwiseNot(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    op.SetOutput(0, graph.Binary(BinaryOperation::BitwiseXor, x, GraphBuilder::ScalarInt(x.Type(), -1)));
}

void AddBitShift(Operator& op, GraphBuilder& graph)
{
    static constexpr std::pair<const char*, bool> directions[] = {{"LEFT", true}, {"RIGHT", false}};
    const bool isLeft = op.Choose("direction", "", directions);
    const Value& x = op.Input(0);
    Value amount = op.Input(1);
    const bool isSigned = x.Type() == DataType::Signed8 || x.Type() == DataType::Signed16 ||
                          x.Type() == DataType::Signed32 || x.Type() == DataType::Signed64;
    if (isSigned)
    {
        // A negative amount is out of range, as one of all bits is: the sign fills the number. The layer takes it as 0.
        const Value isNegative = graph.Compare(ComparisonOperation::Less, amount, GraphBuilder::ScalarInt(x.Type(), 0));
        amount = graph.Select(isNegative, GraphBuilder::ScalarInt(x.Type(), GetDataTypeBits(x.Type()) - 1), amount);
    }
    op.SetOutput(0, graph.Binary(isLeft ? BinaryOperation::ShiftLeft : BinaryOperation::ShiftRight, x,
                                 isLeft ? op.Input(1) : amount));
}

void AddWhere(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.Select(op.Input(0), op.Input(1), op.Input(2)));
}

/// Bounds are attributes before version 11. A bound that is not there does not bound.
void AddClip(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const auto asBound = [&](size_t i, const char* attribute)
    {
        if (op.Version() >= 11)
        {
            const Value bound = op.FindInput(i);
            return bound ? graph.AsScalar(bound) : bound;
        }
        return op.Has(attribute) ? GraphBuilder::Scalar(x.Type(), op.Float(attribute, 0.0f)) : Value();
    };
    const Value low = asBound(1, "min");
    const Value high = asBound(2, "max");
    if (!low && !high)
    {
        op.SetOutput(0, x);
        return;
    }
    const auto lowNumber = low ? low.FindReals() : std::nullopt;
    const auto highNumber = high ? high.FindReals() : std::nullopt;
    const bool isFloat = x.Type() == DataType::Float32 || x.Type() == DataType::Float16;
    if (isFloat && lowNumber.has_value() && *lowNumber == std::vector<double>{0.0} && !high)
    {
        op.SetOutput(0, graph.Activation(ActivationDescriptor(ActivationFunction::ReLu), x));
        return;
    }
    if (isFloat && lowNumber.has_value() && highNumber.has_value() && lowNumber->front() <= highNumber->front())
    {
        const ActivationDescriptor clamp(ActivationFunction::BoundedReLu, static_cast<float>(highNumber->front()),
                                         static_cast<float>(lowNumber->front()));
        op.SetOutput(0, graph.Activation(clamp, x));
        return;
    }
    // NaN stays where it is operand 1.
    Value result = low ? graph.Binary(BinaryOperation::Maximum, low, x) : x;
    result = high ? graph.Binary(BinaryOperation::Minimum, high, result) : result;
    op.SetOutput(0, result);
}

/// Before version 6 the type has its name.
void AddCast(Operator& op, GraphBuilder& graph)
{
    auto type = ElementType::Undefined;
    if (op.Version() < 6)
    {
        const std::string name = op.Text("to");
        for (int32_t i = 1; i <= static_cast<int32_t>(ElementType::Complex128); ++i)
        {
            type = NameOf(static_cast<ElementType>(i)) == name ? static_cast<ElementType>(i) : type;
        }
    }
    else
    {
        type = static_cast<ElementType>(op.Int64("to", 0));
    }
    const Value& x = op.Input(0);
    Value y = graph.Cast(x, ToLayerType(type));
    if (y->m_Bits != 0) // the same bytes as integers of 8 bits
    {
        y = Value(std::make_shared<Value::State>(*y));
        y.GetState()->m_Bits = 0;
    }
    op.SetOutput(0, y);
}

void AddCastLike(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, graph.Cast(op.Input(0), op.Input(1).Type()));
}

/// Of a tensor, sequence or optional value.
void AddIdentity(Operator& op, GraphBuilder&)
{
    op.SetOutput(0, op.AnyInput(0));
}

/// In inference: nothing is dropped, and the mask is all true.
void AddDropout(Operator& op, GraphBuilder& graph)
{
    const Value& x = op.Input(0);
    const Value training = op.FindInput(2);
    if (training && training.FindInts() != std::vector<int64_t>{0})
    {
        op.Refuse("dropout in training is not supported");
    }
    op.SetOutput(0, x);
    if (op.HasOutput(1))
    {
        const DataType type = op.Version() >= 10 ? DataType::Boolean : x.Type();
        op.SetOutput(1, graph.Fill(graph.ShapeOf(x), GraphBuilder::Scalar(type, 1.0)));
    }
}

} // namespace tenon::onnx::rows
