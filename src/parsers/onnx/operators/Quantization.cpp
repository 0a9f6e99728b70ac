// SPDX-License-Identifier: Apache-2.0
// Rows of quantized operators. The meaning of each is that of dequantized floats: DequantizeLinear of the inputs, the
// float operator, QuantizeLinear of the result. Each QLinear row makes these layers, as a QDQ graph has them; products
// and sums are computed in Float32. ONNX Runtime gives the same but for single steps; its QLinearAveragePool and
// QLinearMul add the zero point before they round, so that halves go the other way if it is odd.
//
//   dequantize: real = scale * (stored - zero point)          quantize: stored = saturate(round(real / scale) + zero
//   point)
//
// Halves are rounded to even. A scale and a zero point are inputs; if both are constants and a type of Tenon's can
// carry them, a Bitcast gives them to the tensor, and the layers are Dequantize and Quantize. In all other cases
// (scales that are computed, 16 bits without sign, zero points by channel, blocks) the formulas become layers.
#include "parsers/onnx/Rows.hpp"
#include "parsers/onnx/TensorReader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

namespace tenon::onnx::rows
{

namespace
{

/// Scale and zero point of a tensor: one each, or one for each index of an axis, or for each block of such indices.
struct Quantization
{
    Value m_Scale;
    Value m_Zero; ///< absent: 0
    int64_t m_Axis = 1;
    int64_t m_BlockSize = 0; ///< 0: no blocks
    bool m_IsMatrix = false; ///< whether they may have the rank of the tensor: operands of products
};

/// The range of an integer type.
struct Range
{
    double m_Min;
    double m_Max;
};

/// Throws unless a scale or zero point is one number or a list of them.
void CheckParameter(const Operator& op, const Value& numbers, const char* what, const Quantization& quantization)
{
    if (numbers.HasSizes() && numbers.Shape().GetNumElements64() == 0)
    {
        op.Fail(fmt::format("a {} of shape {} has no elements", what, numbers.Shape().ToString()));
    }
    if (numbers.HasRank() && numbers.Rank() > 1 && quantization.m_BlockSize == 0 && !quantization.m_IsMatrix)
    {
        op.Fail(fmt::format("a {} of shape {} is neither one number nor a list", what, numbers.Shape().ToString()));
    }
}

void CheckParameters(const Operator& op, const Quantization& quantization)
{
    const DataType type = quantization.m_Scale.Type();
    if (type != DataType::Float32 && type != DataType::Float16 && type != DataType::BFloat16)
    {
        op.Fail(fmt::format("a scale of type {} is no number of 16 or 32 bits", GetDataTypeName(type)));
    }
    CheckParameter(op, quantization.m_Scale, "scale", quantization);
    if (quantization.m_Zero)
    {
        CheckParameter(op, quantization.m_Zero, "zero point", quantization);
    }
}

Quantization ReadQuantization(const Operator& op, size_t scale, size_t zero, int64_t axis = 1, bool isMatrix = false)
{
    const Quantization quantization{op.Input(scale), op.FindInput(zero), axis, 0, isMatrix};
    CheckParameters(op, quantization);
    return quantization;
}

bool HasOneElement(const Value& value)
{
    return value.HasSizes() && value.Shape().GetNumElements64() == 1;
}

/// That of QuantizeLinear and DequantizeLinear, whose scale and zero point have one shape.
Quantization ReadLinear(const Operator& op)
{
    const Quantization quantization{op.Input(1), op.FindInput(2), op.Int64("axis", 1), op.Int64("block_size", 0),
                                    false};
    if (quantization.m_BlockSize < 0)
    {
        op.Fail(fmt::format("attribute 'block_size' is {}; it must not be negative", quantization.m_BlockSize));
    }
    CheckParameters(op, quantization);
    const Value& scale = quantization.m_Scale;
    const Value& zero = quantization.m_Zero;
    if (zero && scale.HasSizes() && zero.HasSizes() && scale.Sizes() != zero.Sizes() &&
        !(HasOneElement(scale) && HasOneElement(zero)))
    {
        op.Fail(fmt::format("a zero point of shape {} does not fit a scale of shape {}", zero.Shape().ToString(),
                            scale.Shape().ToString()));
    }
    return quantization;
}

/// The type that an attribute names, or Undefined.
ElementType ReadElementType(const Operator& op, const char* attribute)
{
    const int64_t type = op.Int64(attribute, 0);
    if (type < 0 || type > static_cast<int64_t>(ElementType::Float6E3M2))
    {
        op.Fail(fmt::format("attribute '{}' is {}, which is no element type", attribute, type));
    }
    return static_cast<ElementType>(type);
}

/// The integer type that quantized values of an operator have: that of the zero point, uint8 without one.
DataType StoredTypeOf(const Value& zero)
{
    return zero ? zero.Type() : DataType::Unsigned8;
}

Range RangeOf(const Operator& op, DataType type, bool isFourBits)
{
    switch (type)
    {
    case DataType::Signed8: return isFourBits ? Range{-8.0, 7.0} : Range{-128.0, 127.0};
    case DataType::Unsigned8: return isFourBits ? Range{0.0, 15.0} : Range{0.0, 255.0};
    case DataType::Signed16: return {-32768.0, 32767.0};
    case DataType::Unsigned16: return {0.0, 65535.0};
    default: op.Refuse(fmt::format("quantized tensors of type {} are not supported", GetDataTypeName(type)));
    }
}

bool IsFourBits(const Value& value)
{
    return value && value->m_Bits == 4;
}

std::string NameOfStored(const Value& value)
{
    return std::string(GetDataTypeName(value.Type())) + (IsFourBits(value) ? " of 4 bits" : "");
}

/// The elements of a constant; nothing for other values, and for constants with more elements than channels may be, as
/// each element takes 32 bytes here.
std::optional<std::vector<double>> FindConstantReals(const Value& value)
{
    constexpr uint64_t MaxChannels = uint64_t{1} << 20;
    if (!value.IsConstant() || value.Shape().GetNumElements64() > MaxChannels)
    {
        return std::nullopt;
    }
    if (value->m_Numbers.has_value())
    {
        return value.FindReals();
    }
    std::vector<double> reals;
    for (const Number& number : ReadNumbers(value.Type(), value->m_Data))
    {
        reals.push_back(value.IsFloat() ? number.m_Real : static_cast<double>(number.m_Int));
    }
    return reals;
}

/// A tensor info with the quantization, for a type that carries it; nothing where the formulas are needed.
std::optional<TensorInfo> FindQuantizedInfo(const Operator& op, const Value& x, DataType stored,
                                            const Quantization& quantization)
{
    const bool isSymmetric = stored == DataType::Signed16;
    if (quantization.m_BlockSize != 0 || (stored != DataType::Unsigned8 && stored != DataType::Signed8 && !isSymmetric))
    {
        return std::nullopt;
    }
    const auto scales = FindConstantReals(quantization.m_Scale);
    const auto zeros = quantization.m_Zero ? FindConstantReals(quantization.m_Zero) : std::vector<double>{0.0};
    const auto isScale = [](double scale) { return scale > 0.0 && std::isfinite(static_cast<float>(scale)); };
    if (!scales.has_value() || scales->empty() || !std::all_of(scales->begin(), scales->end(), isScale) ||
        !zeros.has_value() || zeros->empty() || (isSymmetric && zeros->front() != 0.0))
    {
        return std::nullopt;
    }
    if (zeros->size() != scales->size() && zeros->size() != 1)
    {
        op.Fail(fmt::format("{} zero points do not fit {} scales", zeros->size(), scales->size()));
    }
    // TFLite's types have one zero point; with a scale for each channel it is 0.
    const bool isPerAxis = scales->size() != 1;
    const auto isOther = [&](double zero) { return zero != (isPerAxis ? 0.0 : zeros->front()); };
    if (std::any_of(zeros->begin(), zeros->end(), isOther) || (isPerAxis && stored == DataType::Unsigned8))
    {
        return std::nullopt;
    }
    TensorInfo info(x.Shape(), stored == DataType::Unsigned8 ? DataType::QAsymmU8
                               : isSymmetric                 ? DataType::QSymmS16
                                                             : DataType::QAsymmS8);
    if (!isPerAxis)
    {
        info.SetQuantizationScale(static_cast<float>(scales->front()));
        info.SetQuantizationOffset(static_cast<int32_t>(zeros->front()));
        return info;
    }
    const unsigned int axis = op.Axis(quantization.m_Axis, x.Rank());
    if (x.Size(axis) != static_cast<int64_t>(scales->size()))
    {
        if (x.Size(axis) == OpenSize)
        {
            return std::nullopt;
        }
        op.Fail(fmt::format("{} scales do not fit axis {} of shape {}", scales->size(), axis, x.Shape().ToString()));
    }
    if (stored == DataType::Signed8)
    {
        info.SetDataType(DataType::QSymmS8);
    }
    info.SetQuantizationScales(std::vector<float>(scales->begin(), scales->end()));
    info.SetQuantizationDim(axis);
    return info;
}

/// The same bytes with the type and quantization of `info`.
Value Reinterpret(GraphBuilder& graph, const Value& x, const TensorInfo& info)
{
    if (x.IsConstant())
    {
        if (x->m_Data.empty() && x->m_Numbers.has_value())
        {
            return graph.Constant(info, WriteNumbers(x.Type(), *x->m_Numbers));
        }
        auto state = std::make_shared<Value::State>();
        state->m_Info = info;
        state->m_Info.SetConstant();
        state->m_IsConstant = true;
        state->m_Data = x->m_Data;
        state->m_Owner = x->m_Owner;
        state->m_Name = x->m_Name;
        return Value(std::move(state));
    }
    return graph.AddQuantizedLayer(LayerType::Bitcast, NullDescriptor(), {x}, info);
}

/// A number for each block of an axis, repeated for each index of the axis.
Value SpreadBlocks(const Operator& op, GraphBuilder& graph, const Value& numbers, const Value& x,
                   const Quantization& quantization)
{
    const unsigned int axis = op.Axis(quantization.m_Axis, x.Rank());
    if (!x.HasSizes() || !numbers.HasSizes())
    {
        op.RefuseOpen("the sizes of a tensor in blocks are not known before the run");
    }
    const std::vector<int64_t> sizes = x.Sizes();
    const int64_t size = sizes[axis];
    const int64_t blocks = size / quantization.m_BlockSize + (size % quantization.m_BlockSize != 0 ? 1 : 0);
    std::vector<int64_t> expected = sizes;
    expected[axis] = blocks;
    if (numbers.Sizes() != expected)
    {
        op.Fail(fmt::format("scales or zero points of shape {} do not fit shape {} in blocks of {} along axis {}",
                            numbers.Shape().ToString(), x.Shape().ToString(), quantization.m_BlockSize, axis));
    }
    if (quantization.m_BlockSize == 1 || x.Shape().GetNumElements64() == 0)
    {
        return numbers;
    }
    const int64_t length = std::min(quantization.m_BlockSize, size);
    std::vector<int64_t> repeated = expected;
    repeated.insert(repeated.begin() + axis + 1, length);
    std::vector<int64_t> joined = expected;
    joined[axis] = blocks * length;
    const Value all = graph.Reshape(graph.BroadcastTo(graph.Unsqueeze(numbers, {axis + 1}), repeated), joined);
    return graph.Slice(all, axis, 0, size); // the last block may be short
}

/// A scale or zero point in a shape that broadcasts to x.
Value Spread(const Operator& op, GraphBuilder& graph, const Value& numbers, const Value& x,
             const Quantization& quantization)
{
    if (quantization.m_BlockSize != 0)
    {
        return SpreadBlocks(op, graph, numbers, x, quantization);
    }
    const unsigned int rank = numbers.Rank();
    if (rank == 0 || (rank == 1 && numbers.Size(0) == 1))
    {
        return graph.AsScalar(numbers);
    }
    if (rank > 1)
    {
        if (rank != x.Rank())
        {
            op.Fail(fmt::format("scales or zero points of shape {} do not fit shape {}", numbers.Shape().ToString(),
                                x.Shape().ToString()));
        }
        return numbers;
    }
    const int64_t count = numbers.Size(0);
    if (count == OpenSize && (quantization.m_Axis < -int64_t{x.Rank()} || quantization.m_Axis >= int64_t{x.Rank()}))
    {
        return graph.Reshape(numbers, {}); // one element, whose axis does not matter
    }
    const unsigned int axis = op.Axis(quantization.m_Axis, x.Rank());
    if (count != OpenSize && x.Size(axis) != OpenSize && count != x.Size(axis))
    {
        op.Fail(
            fmt::format("{} scales or zero points do not fit axis {} of shape {}", count, axis, x.Shape().ToString()));
    }
    std::vector<int64_t> sizes(x.Rank(), 1);
    sizes[axis] = OpenSize;
    return graph.Reshape(numbers, sizes);
}

bool IsZero(const Value& zero)
{
    if (!zero)
    {
        return true;
    }
    const auto numbers = FindConstantReals(zero);
    return numbers.has_value() &&
           std::all_of(numbers->begin(), numbers->end(), [](double number) { return number == 0.0; });
}

/// Throws unless x is an integer of the zero point's type.
void CheckStored(const Operator& op, const Value& x, const Value& zero)
{
    switch (x.Type())
    {
    case DataType::Signed8:
    case DataType::Unsigned8:
    case DataType::Signed16:
    case DataType::Unsigned16:
    case DataType::Signed32: break;
    default: op.Fail(fmt::format("data of type {} are no quantized numbers", GetDataTypeName(x.Type())));
    }
    if (zero && (zero.Type() != x.Type() || IsFourBits(zero) != IsFourBits(x)))
    {
        op.Fail(
            fmt::format("a zero point of type {} does not fit data of type {}", NameOfStored(zero), NameOfStored(x)));
    }
}

/// x less its zero point as Float32; exact for integers of up to 16 bits.
Value Centred(const Operator& op, GraphBuilder& graph, const Value& x, const Quantization& quantization)
{
    if (IsZero(quantization.m_Zero))
    {
        return graph.Cast(x, DataType::Float32);
    }
    const Value zero = Spread(op, graph, quantization.m_Zero, x, quantization);
    if (x.Type() == DataType::Signed32)
    {
        return graph.Cast(graph.Subtract(x, zero), DataType::Float32);
    }
    return graph.Subtract(graph.Cast(x, DataType::Float32), graph.Cast(zero, DataType::Float32));
}

/// Whether two values are one, or constants of one element that are equal.
bool IsSame(const Value& a, const Value& b)
{
    if (!a || !b || a.GetState() == b.GetState())
    {
        return a.GetState() == b.GetState();
    }
    const auto x = FindConstantReals(a);
    const auto y = FindConstantReals(b);
    return x.has_value() && x->size() == 1 && x == y;
}

/// The numbers less the zero point that QuantizeLinear with the same scale and zero point made before, if it did.
Value FindSteps(const Value& x, const Quantization& quantization)
{
    const std::vector<Value>& made = x->m_Steps;
    return made.size() == 3 && IsSame(made[1], quantization.m_Scale) && IsSame(made[2], quantization.m_Zero) ? made[0]
                                                                                                             : Value();
}

/// The real numbers, Float32.
Value Dequantize(const Operator& op, GraphBuilder& graph, const Value& x, const Quantization& quantization)
{
    CheckStored(op, x, quantization.m_Zero);
    if (const auto info = FindQuantizedInfo(op, x, x.Type(), quantization))
    {
        return graph.AddLayer(LayerType::Dequantize, NullDescriptor(), {Reinterpret(graph, x, *info)},
                              DataType::Float32, x.Shape());
    }
    const Value scale = graph.Cast(quantization.m_Scale, DataType::Float32);
    const Value steps = FindSteps(x, quantization);
    return graph.Multiply(steps ? steps : Centred(op, graph, x, quantization),
                          Spread(op, graph, scale, x, quantization));
}

/// The stored numbers, of an integer type.
Value Quantize(const Operator& op, GraphBuilder& graph, const Value& real, const Quantization& quantization,
               DataType stored, bool isFourBits)
{
    const Range range = RangeOf(op, stored, isFourBits);
    const Value x = graph.Cast(real, DataType::Float32);
    const auto info = isFourBits ? std::nullopt : FindQuantizedInfo(op, x, stored, quantization);
    if (info.has_value())
    {
        const Value y = graph.AddQuantizedLayer(LayerType::Quantize,
                                                QuantizeDescriptor(RequantizationMode::FloatHalfEven), {x}, *info);
        return graph.AddLayer(LayerType::Bitcast, NullDescriptor(), {y}, stored, x.Shape());
    }
    const Value scale = Spread(op, graph, graph.Cast(quantization.m_Scale, DataType::Float32), x, quantization);
    const auto clamp = [&](const Value& y, double low, double high)
    { return graph.WithNumber(BinaryOperation::Minimum, graph.WithNumber(BinaryOperation::Maximum, y, low), high); };
    Value y = graph.Unary(UnaryOperation::Round, graph.Divide(x, scale));
    const auto zero = quantization.m_Zero ? FindConstantReals(quantization.m_Zero) : std::vector<double>{0.0};
    if (!zero.has_value() || zero->size() != 1 || quantization.m_BlockSize != 0 || !HasOneElement(quantization.m_Scale))
    {
        if (!IsZero(quantization.m_Zero))
        {
            y = graph.Add(y, graph.Cast(Spread(op, graph, quantization.m_Zero, x, quantization), DataType::Float32));
        }
        return graph.Cast(clamp(y, range.m_Min, range.m_Max), stored);
    }
    // Clamped before the zero point is added: DequantizeLinear can take the numbers from there.
    y = clamp(y, range.m_Min - zero->front(), range.m_Max - zero->front());
    const Value numbers =
        graph.Cast(zero->front() == 0.0 ? y : graph.WithNumber(BinaryOperation::Add, y, zero->front()), stored);
    const auto state = std::make_shared<Value::State>(*numbers);
    state->m_Steps = {y, quantization.m_Scale, quantization.m_Zero};
    return Value(state);
}

/// The result of a QLinear operator, whose type is that of its zero point.
Value QuantizeResult(const Operator& op, GraphBuilder& graph, const Value& real, size_t scale, size_t zero,
                     DataType otherwise)
{
    const Quantization quantization = ReadQuantization(op, scale, zero);
    return Quantize(op, graph, real, quantization, quantization.m_Zero ? quantization.m_Zero.Type() : otherwise, false);
}

/// The first result of the row of a float operator that has the attributes of this one.
Value Run(const Operator& op, GraphBuilder& graph, Row::Function row, std::vector<Value> inputs, int64_t version)
{
    Operator inner = op.WithInputs(std::move(inputs), version);
    row(inner, graph);
    return inner.Outputs().front();
}

/// The version of float operators whose rows are used.
constexpr int64_t Newest = NewestOpset;

/// f(dequantize(x)) of the operators with inputs X, X_scale, X_zero_point, Y_scale, Y_zero_point.
template <typename F>
void AddQuantizedUnary(Operator& op, GraphBuilder& graph, F f)
{
    const Value& x = op.Input(0);
    const Value y = f(Dequantize(op, graph, x, ReadQuantization(op, 1, 2)));
    op.SetOutput(0, QuantizeResult(op, graph, y, 3, 4, x.Type()));
}

/// The same for pools, which may have channels last.
void AddQuantizedPool(Operator& op, GraphBuilder& graph, Row::Function row)
{
    AddQuantizedUnary(op, graph,
                      [&](const Value& x)
                      {
                          if (op.Int64("channels_last", 0) == 0)
                          {
                              return Run(op, graph, row, {x}, Newest);
                          }
                          const unsigned int rank = x.Rank();
                          if (rank < 3)
                          {
                              op.Fail(fmt::format("shape {} is that of no images", x.Shape().ToString()));
                          }
                          std::vector<unsigned int> toFirst = {0, rank - 1};
                          std::vector<unsigned int> toLast = {0};
                          for (unsigned int i = 1; i + 1 < rank; ++i)
                          {
                              toFirst.push_back(i);
                              toLast.push_back(i + 1);
                          }
                          toLast.push_back(1);
                          return graph.Transpose(Run(op, graph, row, {graph.Transpose(x, toFirst)}, Newest), toLast);
                      });
}

void AddQuantizedBinary(Operator& op, GraphBuilder& graph, BinaryOperation operation)
{
    const Value a = Dequantize(op, graph, op.Input(0), ReadQuantization(op, 1, 2));
    const Value b = Dequantize(op, graph, op.Input(3), ReadQuantization(op, 4, 5));
    op.SetOutput(0, QuantizeResult(op, graph, graph.Binary(operation, a, b), 6, 7, op.Input(0).Type()));
}

/// A scale of one element without dimensions; another one as it is.
Value AsFactor(GraphBuilder& graph, const Value& scale)
{
    return scale.Rank() == 1 && scale.Size(0) == 1 ? graph.AsScalar(scale) : scale;
}

/// bias * (scale of the data * scale of the weights), in Float32; the scales of weights may be one for each channel.
Value DequantizeBias(GraphBuilder& graph, const Value& bias, const Value& dataScale, const Value& weightsScale,
                     float factor = 1.0f)
{
    const auto factorOf = [&](const Value& scale) { return AsFactor(graph, graph.Cast(scale, DataType::Float32)); };
    Value scale = graph.Multiply(factorOf(dataScale), factorOf(weightsScale));
    if (factor != 1.0f)
    {
        scale = graph.WithNumber(BinaryOperation::Mul, scale, static_cast<double>(factor));
    }
    return graph.Multiply(graph.Cast(bias, DataType::Float32), scale);
}

/// Throws unless x is int8 or uint8, as is its zero point.
void CheckBytes(const Operator& op, const Value& x, const Value& zero)
{
    CheckStored(op, x, zero);
    if (x.Type() != DataType::Signed8 && x.Type() != DataType::Unsigned8)
    {
        op.Refuse(fmt::format("operands of type {} are not supported", GetDataTypeName(x.Type())));
    }
}

/// An operand of a product of integers: int8, less 128 if it is uint8, and its zero point as int32 in a shape that
/// broadcasts to the operand, changed likewise.
struct SignedOperand
{
    Value m_Data;
    Value m_Zero; ///< absent: 0
};

SignedOperand ToSigned(const Operator& op, GraphBuilder& graph, const Value& x, const Value& zero, int64_t axis)
{
    constexpr double Bias = 128.0;
    const bool isUnsigned = x.Type() == DataType::Unsigned8;
    CheckBytes(op, x, zero);
    SignedOperand operand{x, {}};
    if (!IsZero(zero) || isUnsigned)
    {
        operand.m_Zero = zero ? graph.Cast(Spread(op, graph, zero, x, {{}, {}, axis, 0, true}), DataType::Signed32)
                              : GraphBuilder::Scalar(DataType::Signed32, 0.0);
    }
    if (isUnsigned)
    {
        operand.m_Data = graph.Cast(graph.WithNumber(BinaryOperation::Sub, graph.Cast(x, DataType::Signed32), Bias),
                                    DataType::Signed8);
        operand.m_Zero = graph.WithNumber(BinaryOperation::Sub, operand.m_Zero, Bias);
    }
    return operand;
}

/// (a - zeroA) x (b - zeroB) in int32, of matrices: a b - zeroA colsum(b) - rowsum(a) zeroB + depth zeroA zeroB. zeroA
/// may differ by row, zeroB by column.
Value MultiplyMatrices(const Operator& op, GraphBuilder& graph, const Value& x, const Value& zeroX, const Value& y,
                       const Value& zeroY)
{
    const unsigned int rankX = x.Rank();
    const unsigned int rankY = y.Rank();
    const SignedOperand a = ToSigned(op, graph, x, zeroX, int64_t{rankX} - 2);
    const SignedOperand b = ToSigned(op, graph, y, zeroY, int64_t{rankY} - 1);
    const auto sum = [&](const Value& operand, unsigned int axis)
    { return graph.Reduce(ReduceOperation::Sum, graph.Cast(operand, DataType::Signed32), {axis}, true); };
    Value product = graph.MatMul(a.m_Data, b.m_Data, false, false, DataType::Signed32);
    if (a.m_Zero)
    {
        product = graph.Subtract(product, graph.Multiply(a.m_Zero, sum(b.m_Data, rankY - 2)));
    }
    if (b.m_Zero)
    {
        Value rows = sum(a.m_Data, rankX - 1);
        if (a.m_Zero)
        {
            const Value depth =
                graph.Gather(graph.ShapeOf(x), GraphBuilder::ScalarInt(DataType::Signed64, rankX - 1), 0);
            rows = graph.Subtract(rows, graph.Multiply(a.m_Zero, graph.Cast(depth, DataType::Signed32)));
        }
        product = graph.Subtract(product, graph.Multiply(rows, b.m_Zero));
    }
    return product;
}

/// The same, with one dimension as in numpy.matmul.
Value MultiplyIntegers(const Operator& op, GraphBuilder& graph, const Value& x, const Value& zeroX, const Value& y,
                       const Value& zeroY)
{
    return MultiplyAsNumpy(op, graph, x, y,
                           [&](const Value& a, const Value& b)
                           { return MultiplyMatrices(op, graph, a, zeroX, b, zeroY); });
}

/// Outputs of DynamicQuantizeLinear: uint8, whose range covers all numbers and 0.
struct Dynamic
{
    Value m_Data;
    Value m_Scale; ///< no dimensions
    Value m_Zero;  ///< uint8, no dimensions
};

Dynamic QuantizeDynamically(const Operator& op, GraphBuilder& graph, const Value& x)
{
    constexpr double Max = 255.0;
    const Value flat = graph.Reshape(x, {OpenSize});
    const Value zero = GraphBuilder::Scalar(DataType::Float32, 0.0);
    const Value low =
        graph.Binary(BinaryOperation::Minimum, graph.Reduce(ReduceOperation::Min, flat, {0}, false), zero);
    const Value high =
        graph.Binary(BinaryOperation::Maximum, graph.Reduce(ReduceOperation::Max, flat, {0}, false), zero);
    const Value width = graph.WithNumber(BinaryOperation::Div, graph.Subtract(high, low), Max);
    const Value scale = graph.Select(graph.Compare(ComparisonOperation::Equal, width, zero),
                                     GraphBuilder::Scalar(DataType::Float32, 1.0), width);
    Value zeroPoint = graph.Unary(UnaryOperation::Round, graph.Subtract(zero, graph.Divide(low, scale)));
    zeroPoint =
        graph.WithNumber(BinaryOperation::Minimum, graph.WithNumber(BinaryOperation::Maximum, zeroPoint, 0.0), Max);
    zeroPoint = graph.Cast(zeroPoint, DataType::Unsigned8);
    return {Quantize(op, graph, x, {scale, zeroPoint, 0, 0}, DataType::Unsigned8, false), scale, zeroPoint};
}

/// y = product * scale + bias.
Value ScaleProduct(GraphBuilder& graph, const Value& product, const Value& scale, const Value& bias)
{
    const Value real = graph.Multiply(graph.Cast(product, DataType::Float32), scale);
    return bias ? graph.Add(real, bias) : real;
}

} // namespace

// ai.onnx and com.microsoft.

void AddQuantizeLinear(Operator& op, GraphBuilder& graph)
{
    const Quantization quantization = ReadLinear(op);
    const Value& x = op.Input(0);
    if (!x.IsFloat() && x.Type() != DataType::Signed32)
    {
        op.Fail(fmt::format("data of type {} are not to be quantized", GetDataTypeName(x.Type())));
    }
    const ElementType precision = ReadElementType(op, "precision");
    if (precision != ElementType::Undefined && precision != ElementType::Float)
    {
        op.Refuse(fmt::format("attribute 'precision' is {}; only FLOAT is supported", NameOf(precision)));
    }
    DataType stored = StoredTypeOf(quantization.m_Zero);
    bool isFourBits = IsFourBits(quantization.m_Zero);
    if (const ElementType type = ReadElementType(op, "output_dtype"); type != ElementType::Undefined)
    {
        const DataType wanted = ToConstantType(type);
        if (quantization.m_Zero && (wanted != stored || IsFourBits(type) != isFourBits))
        {
            op.Fail(fmt::format("attribute 'output_dtype' is {}, but the zero point is of type {}", NameOf(type),
                                NameOfStored(quantization.m_Zero)));
        }
        stored = wanted;
        isFourBits = IsFourBits(type);
    }
    Value y = Quantize(op, graph, x, quantization, stored, isFourBits);
    if (isFourBits)
    {
        y.GetState()->m_Bits = 4;
    }
    op.SetOutput(0, y);
}

void AddDequantizeLinear(Operator& op, GraphBuilder& graph)
{
    const Quantization quantization = ReadLinear(op);
    const ElementType type = ReadElementType(op, "output_dtype");
    const DataType wanted = type != ElementType::Undefined ? ToLayerType(type) : quantization.m_Scale.Type();
    if (!IsFloatType(wanted))
    {
        op.Fail(fmt::format("attribute 'output_dtype' is {}, which is no type of floats", NameOf(type)));
    }
    op.SetOutput(0, graph.Cast(Dequantize(op, graph, op.Input(0), quantization), wanted));
}

void AddDynamicQuantizeLinear(Operator& op, GraphBuilder& graph)
{
    const Dynamic dynamic = QuantizeDynamically(op, graph, op.Input(0));
    op.SetOutputs({dynamic.m_Data, dynamic.m_Scale, dynamic.m_Zero});
}

void AddMatMulInteger(Operator& op, GraphBuilder& graph)
{
    op.SetOutput(0, MultiplyIntegers(op, graph, op.Input(0), op.FindInput(2), op.Input(1), op.FindInput(3)));
}

/// Sums of products are exact in Float32 below 2^24. Deep weights are split into an upper and a lower half of their
/// bits, and if these are too deep, the data as well.
void AddConvInteger(Operator& op, GraphBuilder& graph)
{
    const Value& w = op.Input(1);
    CheckBytes(op, op.Input(0), op.FindInput(2));
    CheckBytes(op, w, op.FindInput(3));
    const Value x = Centred(op, graph, op.Input(0), {{}, op.FindInput(2), 1, 0});
    const Value weights = Centred(op, graph, w, {{}, op.FindInput(3), 0, 0});
    const int64_t depth = ProductOf(w.Sizes(), 1, w.Rank());
    if (depth == OpenSize)
    {
        op.RefuseOpen("the shape of the weights is not known before the run");
    }
    constexpr int64_t Exact = int64_t{1} << 24;
    constexpr int64_t Byte = 255;        // the largest difference of two bytes
    constexpr int64_t NibbleValues = 16; // of half a byte
    const auto convolve = [&](const Value& data, const Value& kernel) {
        return graph.Cast(Run(op, graph, AddConv, {data, kernel}, Newest), DataType::Signed32);
    };
    // value = 16 * upper + lower, lower in [0, 15]
    const auto upper = [&](const Value& value)
    { return graph.Floor(graph.WithNumber(BinaryOperation::Div, value, static_cast<double>(NibbleValues))); };
    const auto lower = [&](const Value& value, const Value& of)
    { return graph.Subtract(value, graph.WithNumber(BinaryOperation::Mul, of, static_cast<double>(NibbleValues))); };
    const auto join = [&](const Value& high, const Value& low)
    { return graph.Add(graph.WithNumber(BinaryOperation::Mul, high, static_cast<double>(NibbleValues)), low); };
    if (depth <= Exact / (Byte * Byte))
    {
        op.SetOutput(0, convolve(x, weights));
        return;
    }
    const Value highWeights = upper(weights);
    const Value lowWeights = lower(weights, highWeights);
    const auto convolveHalves = [&](const Value& data)
    { return join(convolve(data, highWeights), convolve(data, lowWeights)); };
    if (depth <= Exact / (Byte * NibbleValues))
    {
        op.SetOutput(0, convolveHalves(x));
        return;
    }
    if (depth > Exact / (NibbleValues * NibbleValues))
    {
        op.Refuse(fmt::format("sums of {} products are not supported, at most {} are", depth,
                              Exact / (NibbleValues * NibbleValues)));
    }
    const Value high = upper(x);
    op.SetOutput(0, join(convolveHalves(high), convolveHalves(lower(x, high))));
}

void AddQLinearConv(Operator& op, GraphBuilder& graph)
{
    const Value x = Dequantize(op, graph, op.Input(0), ReadQuantization(op, 1, 2));
    const Value w = Dequantize(op, graph, op.Input(3), ReadQuantization(op, 4, 5, 0));
    const Value bias = op.HasInput(8) ? DequantizeBias(graph, op.Input(8), op.Input(1), op.Input(4)) : Value();
    op.SetOutput(0, QuantizeResult(op, graph, Run(op, graph, AddConv, {x, w, bias}, Newest), 6, 7, op.Input(0).Type()));
}

/// Scales and zero points may be one for each row of a, and one for each column of b.
void AddQLinearMatMul(Operator& op, GraphBuilder& graph)
{
    const auto read = [&](size_t i, int64_t axis)
    {
        const Value& operand = op.Input(i);
        const bool isVector = operand.Rank() == 1;
        return Dequantize(op, graph, operand, ReadQuantization(op, i + 1, i + 2, isVector ? 0 : axis, true));
    };
    const Value y = Run(op, graph, AddMatMul, {read(0, -2), read(3, -1)}, Newest);
    op.SetOutput(0, QuantizeResult(op, graph, y, 6, 7, op.Input(0).Type()));
}

// com.microsoft.

void AddQLinearAdd(Operator& op, GraphBuilder& graph)
{
    AddQuantizedBinary(op, graph, BinaryOperation::Add);
}

void AddQLinearMul(Operator& op, GraphBuilder& graph)
{
    AddQuantizedBinary(op, graph, BinaryOperation::Mul);
}

/// Y_scale, Y_zero_point, then a tensor with its scale and zero point each.
void AddQLinearConcat(Operator& op, GraphBuilder& graph)
{
    if (op.NumInputs() < 5 || op.NumInputs() % 3 != 2)
    {
        op.Fail(fmt::format("{} inputs are no scale and zero point, and three for each tensor", op.NumInputs()));
    }
    std::vector<Value> parts;
    for (size_t i = 2; i < op.NumInputs(); i += 3)
    {
        parts.push_back(Dequantize(op, graph, op.Input(i), ReadQuantization(op, i + 1, i + 2)));
    }
    const Value y = Run(op, graph, AddConcat, std::move(parts), Newest);
    op.SetOutput(0, QuantizeResult(op, graph, y, 0, 1, op.Input(2).Type()));
}

void AddQLinearSigmoid(Operator& op, GraphBuilder& graph)
{
    AddQuantizedUnary(op, graph, [&](const Value& x) { return Run(op, graph, AddSigmoid, {x}, Newest); });
}

void AddQLinearLeakyRelu(Operator& op, GraphBuilder& graph)
{
    AddQuantizedUnary(op, graph, [&](const Value& x) { return Run(op, graph, AddLeakyRelu, {x}, Newest); });
}

/// The attribute opset says which Softmax of ai.onnx is meant.
void AddQLinearSoftmax(Operator& op, GraphBuilder& graph)
{
    // Without an axis it is the last one, as in the newest version.
    const int64_t version = op.Has("axis") ? op.Int64("opset", Newest) : Newest;
    AddQuantizedUnary(op, graph, [&](const Value& x) { return Run(op, graph, AddSoftmax, {x}, version); });
}

void AddQLinearAveragePool(Operator& op, GraphBuilder& graph)
{
    AddQuantizedPool(op, graph, AddAveragePool);
}

void AddQLinearGlobalAveragePool(Operator& op, GraphBuilder& graph)
{
    AddQuantizedPool(op, graph, AddGlobalAveragePool);
}

void AddQLinearReduceMean(Operator& op, GraphBuilder& graph)
{
    constexpr int64_t WithAxesAttribute = 17;
    AddQuantizedUnary(op, graph, [&](const Value& x) { return Run(op, graph, AddReduceMean, {x}, WithAxesAttribute); });
}

void AddQLinearWhere(Operator& op, GraphBuilder& graph)
{
    const Value a = Dequantize(op, graph, op.Input(1), ReadQuantization(op, 2, 3));
    const Value b = Dequantize(op, graph, op.Input(4), ReadQuantization(op, 5, 6));
    const Value y = graph.Select(op.Input(0), a, b);
    op.SetOutput(0, QuantizeResult(op, graph, y, 7, 8, op.Input(1).Type()));
}

/// alpha * A' B' + C, whose scale is that of the product. Without Y_zero_point the result is Float32.
void AddQGemm(Operator& op, GraphBuilder& graph)
{
    const bool transB = op.Int64("transB", 0) != 0;
    const Value a = Dequantize(op, graph, op.Input(0), ReadQuantization(op, 1, 2));
    const Value b = Dequantize(op, graph, op.Input(3), ReadQuantization(op, 4, 5, transB ? 0 : 1));
    std::vector<Value> inputs = {a, b};
    if (op.HasInput(6))
    {
        inputs.push_back(DequantizeBias(graph, op.Input(6), op.Input(1), op.Input(4), op.Float("alpha", 1.0f)));
    }
    const Value y = Run(op, graph, AddGemm, std::move(inputs), Newest);
    op.SetOutput(0, op.HasInput(8) ? QuantizeResult(op, graph, y, 7, 8, op.Input(0).Type()) : y);
}

/// A is Float32, and quantized as DynamicQuantizeLinear does.
void AddDynamicQuantizeMatMul(Operator& op, GraphBuilder& graph)
{
    const Dynamic a = QuantizeDynamically(op, graph, op.Input(0));
    const Value product = MultiplyIntegers(op, graph, a.m_Data, a.m_Zero, op.Input(1), op.FindInput(3));
    const Value scale = graph.Multiply(a.m_Scale, AsFactor(graph, op.Input(2)));
    op.SetOutput(0, ScaleProduct(graph, product, scale, op.FindInput(4)));
}

void AddMatMulIntegerToFloat(Operator& op, GraphBuilder& graph)
{
    const Value product = MultiplyIntegers(op, graph, op.Input(0), op.FindInput(4), op.Input(1), op.FindInput(5));
    const Value scale = graph.Multiply(AsFactor(graph, op.Input(2)), AsFactor(graph, op.Input(3)));
    op.SetOutput(0, ScaleProduct(graph, product, scale, op.FindInput(6)));
}

} // namespace tenon::onnx::rows
