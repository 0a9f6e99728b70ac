// SPDX-License-Identifier: Apache-2.0
// Arithmetic: see Arithmetic.hpp.
#include "parsers/onnx/Arithmetic.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::onnx
{

namespace
{

/// Sums and products of int64 that wrap around without undefined behaviour.
int64_t Wrap(uint64_t value)
{
    return static_cast<int64_t>(value);
}

std::optional<int64_t> ComputeInts(BinaryOperation operation, int64_t a, int64_t b)
{
    const auto ua = static_cast<uint64_t>(a);
    const auto ub = static_cast<uint64_t>(b);
    const bool divides = b != 0 && !(a == std::numeric_limits<int64_t>::min() && b == -1);
    switch (operation)
    {
    case BinaryOperation::Add: return Wrap(ua + ub);
    case BinaryOperation::Sub: return Wrap(ua - ub);
    case BinaryOperation::Mul: return Wrap(ua * ub);
    case BinaryOperation::Div: return divides ? std::optional(a / b) : std::nullopt;
    case BinaryOperation::FloorMod:
        return divides ? std::optional((a % b != 0 && (a % b < 0) != (b < 0)) ? a % b + b : a % b) : std::nullopt;
    case BinaryOperation::Maximum: return std::max(a, b);
    case BinaryOperation::Minimum: return std::min(a, b);
    default: return std::nullopt;
    }
}

std::optional<double> ComputeReals(BinaryOperation operation, double a, double b)
{
    switch (operation)
    {
    case BinaryOperation::Add: return a + b;
    case BinaryOperation::Sub: return a - b;
    case BinaryOperation::Mul: return a * b;
    case BinaryOperation::Div: return a / b;
    case BinaryOperation::Maximum: return std::isnan(a) || a > b ? a : b;
    case BinaryOperation::Minimum: return std::isnan(a) || a < b ? a : b;
    default: return std::nullopt;
    }
}

std::optional<double> ComputeReal(UnaryOperation operation, double x)
{
    switch (operation)
    {
    case UnaryOperation::Abs: return std::fabs(x);
    case UnaryOperation::Neg: return -x;
    case UnaryOperation::Ceil: return std::ceil(x);
    case UnaryOperation::Round: return std::nearbyint(x);
    case UnaryOperation::Sqrt: return std::sqrt(x);
    default: return std::nullopt;
    }
}

std::optional<int64_t> ComputeInt(UnaryOperation operation, int64_t x)
{
    switch (operation)
    {
    case UnaryOperation::Abs: return x < 0 ? Wrap(0 - static_cast<uint64_t>(x)) : x;
    case UnaryOperation::Neg: return Wrap(0 - static_cast<uint64_t>(x));
    case UnaryOperation::LogicalNot: return x == 0 ? 1 : 0;
    default: return std::nullopt;
    }
}

template <typename T>
bool Holds(ComparisonOperation operation, T a, T b)
{
    switch (operation)
    {
    case ComparisonOperation::Equal: return a == b;
    case ComparisonOperation::Greater: return a > b;
    case ComparisonOperation::GreaterOrEqual: return a >= b;
    case ComparisonOperation::Less: return a < b;
    case ComparisonOperation::LessOrEqual: return a <= b;
    case ComparisonOperation::NotEqual: return a != b;
    }
    return false;
}

} // namespace

std::optional<Numbers> ComputeUnary(UnaryOperation operation, DataType type, const Numbers& x)
{
    Numbers results(x.size());
    for (size_t i = 0; i < x.size(); ++i)
    {
        if (!x[i].m_IsKnown)
        {
            continue;
        }
        if (IsFloatType(type))
        {
            const std::optional<double> result = ComputeReal(operation, x[i].m_Real);
            if (!result.has_value())
            {
                return std::nullopt;
            }
            results[i] = Convert(Number::Of(*result), DataType::Float64, type);
            continue;
        }
        const std::optional<int64_t> result = ComputeInt(operation, x[i].m_Int);
        if (!result.has_value())
        {
            return std::nullopt;
        }
        results[i] = Convert(Number::Of(*result), DataType::Signed64, type);
    }
    return results;
}

std::optional<Number> ComputeBinary(BinaryOperation operation, DataType type, const Number& a, const Number& b)
{
    if (type == DataType::Unsigned64)
    {
        return std::nullopt; // does not fit the numbers
    }
    if (!a.m_IsKnown || !b.m_IsKnown)
    {
        return Number();
    }
    if (IsFloatType(type))
    {
        const std::optional<double> result = ComputeReals(operation, a.m_Real, b.m_Real);
        return result.has_value() ? std::optional(Convert(Number::Of(*result), DataType::Float64, type)) : std::nullopt;
    }
    const std::optional<int64_t> result = ComputeInts(operation, a.m_Int, b.m_Int);
    return result.has_value() ? std::optional(Convert(Number::Of(*result), DataType::Signed64, type)) : std::nullopt;
}

Number ComputeComparison(ComparisonOperation operation, DataType type, const Number& a, const Number& b)
{
    if (!a.m_IsKnown || !b.m_IsKnown)
    {
        return {};
    }
    const bool holds = IsFloatType(type) ? Holds(operation, a.m_Real, b.m_Real) : Holds(operation, a.m_Int, b.m_Int);
    return Number::Of(int64_t{holds});
}

std::vector<int64_t> Strides(const TensorShape& shape)
{
    const unsigned int rank = shape.GetNumDimensions();
    std::vector<int64_t> strides(rank);
    int64_t stride = 1;
    for (unsigned int i = rank; i-- > 0;)
    {
        strides[i] = stride;
        stride *= shape[i];
    }
    return strides;
}

std::vector<size_t> StridedIndices(const std::vector<int64_t>& sizes, int64_t first,
                                   const std::vector<int64_t>& strides)
{
    std::vector<size_t> indices(ToShape(sizes).GetNumElements64());
    std::vector<int64_t> place(sizes.size());
    int64_t next = first;
    for (size_t& index : indices)
    {
        index = static_cast<size_t>(next);
        for (size_t i = sizes.size(); i-- > 0;)
        {
            next += strides[i];
            if (++place[i] < sizes[i])
            {
                break;
            }
            next -= strides[i] * sizes[i];
            place[i] = 0;
        }
    }
    return indices;
}

std::vector<size_t> BroadcastIndices(const TensorShape& from, const TensorShape& shape)
{
    const unsigned int rank = shape.GetNumDimensions();
    const unsigned int added = rank - from.GetNumDimensions();
    const std::vector<int64_t> fromStrides = Strides(from);
    std::vector<int64_t> sizes(rank);
    std::vector<int64_t> strides(rank);
    for (unsigned int i = 0; i < rank; ++i)
    {
        sizes[i] = shape[i];
        strides[i] = i < added || from[i - added] == 1 ? 0 : fromStrides[i - added];
    }
    return StridedIndices(sizes, 0, strides);
}

std::optional<Numbers> ComputeReduction(ReduceOperation operation, DataType type, const TensorShape& shape,
                                        const Numbers& x, const std::vector<unsigned int>& axes)
{
    BinaryOperation step = BinaryOperation::Add;
    switch (operation)
    {
    case ReduceOperation::Sum: break;
    case ReduceOperation::Max: step = BinaryOperation::Maximum; break;
    case ReduceOperation::Min: step = BinaryOperation::Minimum; break;
    case ReduceOperation::Prod: step = BinaryOperation::Mul; break;
    default: return std::nullopt;
    }
    if (x.empty())
    {
        return std::nullopt;
    }
    // Each element goes to the place that it has in the result, whose dimensions along the axes have size 1.
    TensorShape kept = shape;
    for (const unsigned int axis : axes)
    {
        kept.SetDimensionSize(axis, 1);
    }
    const std::vector<size_t> places = BroadcastIndices(kept, shape);
    Numbers results(kept.GetNumElements64());
    std::vector<bool> isSet(results.size());
    for (size_t i = 0; i < x.size(); ++i)
    {
        const size_t place = places[i];
        if (!isSet[place])
        {
            results[place] = x[i];
            isSet[place] = true;
            continue;
        }
        const std::optional<Number> next = ComputeBinary(step, type, results[place], x[i]);
        if (!next.has_value())
        {
            return std::nullopt;
        }
        results[place] = *next;
    }
    return results;
}

} // namespace tenon::onnx
