// SPDX-License-Identifier: Apache-2.0
// Value: see Value.hpp.
#include "parsers/onnx/Value.hpp"

#include "common/HalfFloat.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tenon::onnx
{

namespace
{

template <typename T>
Numbers ReadAs(Span<const uint8_t> data)
{
    Numbers numbers(data.size() / sizeof(T));
    for (size_t i = 0; i < numbers.size(); ++i)
    {
        T element;
        std::memcpy(&element, data.data() + i * sizeof(T), sizeof(T));
        if constexpr (std::is_floating_point_v<T>)
        {
            numbers[i] = Number::Of(static_cast<double>(element));
        }
        else
        {
            numbers[i] = Number::Of(static_cast<int64_t>(element));
        }
    }
    return numbers;
}

template <typename ToFloat>
Numbers ReadF16(Span<const uint8_t> data, ToFloat toFloat)
{
    Numbers numbers(data.size() / sizeof(uint16_t));
    for (size_t i = 0; i < numbers.size(); ++i)
    {
        uint16_t bits = 0;
        std::memcpy(&bits, data.data() + i * sizeof(bits), sizeof(bits));
        numbers[i] = Number::Of(static_cast<double>(toFloat(bits)));
    }
    return numbers;
}

template <typename T, typename ToElement>
std::vector<uint8_t> WriteAs(const Numbers& numbers, ToElement toElement)
{
    std::vector<uint8_t> bytes(numbers.size() * sizeof(T));
    for (size_t i = 0; i < numbers.size(); ++i)
    {
        const T element = static_cast<T>(toElement(numbers[i]));
        std::memcpy(bytes.data() + i * sizeof(T), &element, sizeof(T));
    }
    return bytes;
}

template <typename T>
std::vector<uint8_t> WriteInts(const Numbers& numbers)
{
    return WriteAs<T>(numbers, [](const Number& number) { return number.m_Int; });
}

/// As the layer Cast does: cut towards zero, saturated at the ends of the type; NaN is the largest integer.
int64_t ToInteger(double value)
{
    constexpr double limit = 9223372036854775808.0; // 2^63
    if (std::isnan(value) || value >= limit)
    {
        return std::numeric_limits<int64_t>::max();
    }
    return value < -limit ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

/// The value as the integer type holds it. Integers wrap around, values of floats saturate.
int64_t Fit(int64_t value, DataType type, bool fromFloat)
{
    const auto fit = [&](auto zero) -> int64_t
    {
        using T = decltype(zero);
        if (fromFloat)
        {
            return std::clamp(value, static_cast<int64_t>(std::numeric_limits<T>::min()),
                              static_cast<int64_t>(std::numeric_limits<T>::max()));
        }
        return static_cast<int64_t>(static_cast<T>(value));
    };
    switch (type)
    {
    case DataType::Boolean: return value != 0 ? 1 : 0;
    case DataType::Signed8: return fit(int8_t{});
    case DataType::Unsigned8: return fit(uint8_t{});
    case DataType::Signed16: return fit(int16_t{});
    case DataType::Unsigned16: return fit(uint16_t{});
    case DataType::Signed32: return fit(int32_t{});
    case DataType::Unsigned32: return fit(uint32_t{});
    default: return value;
    }
}

} // namespace

bool IsFloatType(DataType type)
{
    return type == DataType::Float32 || type == DataType::Float16 || type == DataType::BFloat16 ||
           type == DataType::Float64;
}

bool IsIntegerType(DataType type)
{
    switch (type)
    {
    case DataType::Signed8:
    case DataType::Unsigned8:
    case DataType::Signed16:
    case DataType::Unsigned16:
    case DataType::Signed32:
    case DataType::Unsigned32:
    case DataType::Signed64:
    case DataType::Unsigned64: return true;
    default: return false;
    }
}

TensorShape ToShape(const std::vector<int64_t>& sizes)
{
    if (sizes.empty())
    {
        return TensorShape(Dimensionality::Scalar);
    }
    if (sizes.size() > MaxNumOfTensorDimensions)
    {
        throw UnimplementedException(
            fmt::format("a tensor has {} dimensions, at most {} are possible", sizes.size(), MaxNumOfTensorDimensions));
    }
    TensorShape shape(static_cast<unsigned int>(sizes.size()), false);
    for (unsigned int i = 0; i < sizes.size(); ++i)
    {
        if (sizes[i] > std::numeric_limits<uint32_t>::max())
        {
            throw ParseException(fmt::format("dimension {} has size {}, which is too large", i, sizes[i]));
        }
        if (sizes[i] >= 0)
        {
            shape.SetDimensionSize(i, static_cast<unsigned int>(sizes[i]));
        }
    }
    return shape;
}

int64_t ProductOf(const std::vector<int64_t>& sizes, size_t first, size_t last)
{
    constexpr int64_t max = int64_t{1} << 62;
    int64_t product = 1;
    for (size_t i = first; i < last; ++i)
    {
        if (sizes[i] == OpenSize)
        {
            return OpenSize;
        }
        product = sizes[i] != 0 && product > max / sizes[i] ? max : product * sizes[i];
    }
    return product;
}

std::vector<int64_t> ToSizes(const TensorShape& shape)
{
    std::vector<int64_t> sizes(shape.GetNumDimensions());
    for (unsigned int i = 0; i < sizes.size(); ++i)
    {
        sizes[i] = shape.GetDimensionSpecificity(i) ? int64_t{shape[i]} : OpenSize;
    }
    return sizes;
}

TensorShape OpenShape(int64_t count)
{
    if (count == OpenSize)
    {
        return {};
    }
    const int64_t tooMany = int64_t{MaxNumOfTensorDimensions} + 1;
    if (count >= tooMany)
    {
        throw UnimplementedException(
            fmt::format("a tensor has {} dimensions, at most {} are possible", count, MaxNumOfTensorDimensions));
    }
    return ToShape(std::vector<int64_t>(static_cast<size_t>(count), OpenSize));
}

Numbers ReadNumbers(DataType type, Span<const uint8_t> data)
{
    switch (type)
    {
    case DataType::Float32: return ReadAs<float>(data);
    case DataType::Float64: return ReadAs<double>(data);
    case DataType::Float16: return ReadF16(data, &HalfToFloat);
    case DataType::BFloat16: return ReadF16(data, &BFloat16ToFloat);
    case DataType::Boolean:
    case DataType::Unsigned8: return ReadAs<uint8_t>(data);
    case DataType::Signed8: return ReadAs<int8_t>(data);
    case DataType::Signed16: return ReadAs<int16_t>(data);
    case DataType::Unsigned16: return ReadAs<uint16_t>(data);
    case DataType::Signed32: return ReadAs<int32_t>(data);
    case DataType::Unsigned32: return ReadAs<uint32_t>(data);
    case DataType::Signed64: return ReadAs<int64_t>(data);
    default: return {};
    }
}

std::vector<uint8_t> WriteNumbers(DataType type, const Numbers& numbers)
{
    const auto real = [](const Number& number) { return number.m_Real; };
    switch (type)
    {
    case DataType::Float32: return WriteAs<float>(numbers, real);
    case DataType::Float64: return WriteAs<double>(numbers, real);
    case DataType::Float16:
        return WriteAs<uint16_t>(numbers, [](const Number& n) { return FloatToHalf(static_cast<float>(n.m_Real)); });
    case DataType::BFloat16:
        return WriteAs<uint16_t>(numbers,
                                 [](const Number& n) { return FloatToBFloat16(static_cast<float>(n.m_Real)); });
    case DataType::Boolean:
    case DataType::Unsigned8: return WriteInts<uint8_t>(numbers);
    case DataType::Signed8: return WriteInts<int8_t>(numbers);
    case DataType::Signed16: return WriteInts<int16_t>(numbers);
    case DataType::Unsigned16: return WriteInts<uint16_t>(numbers);
    case DataType::Signed32: return WriteInts<int32_t>(numbers);
    case DataType::Unsigned32: return WriteInts<uint32_t>(numbers);
    case DataType::Signed64: return WriteInts<int64_t>(numbers);
    case DataType::Unsigned64: return WriteInts<uint64_t>(numbers);
    default: throw UnimplementedException(fmt::format("constants of type {} cannot be made", GetDataTypeName(type)));
    }
}

Number Convert(const Number& number, DataType from, DataType to)
{
    if (!number.m_IsKnown)
    {
        return {};
    }
    if (to == DataType::Boolean)
    {
        return Number::Of(int64_t{IsFloatType(from) ? number.m_Real != 0.0 : number.m_Int != 0});
    }
    if (!IsFloatType(to))
    {
        const bool fromFloat = IsFloatType(from);
        return Number::Of(Fit(fromFloat ? ToInteger(number.m_Real) : number.m_Int, to, fromFloat));
    }
    const double value = IsFloatType(from) ? number.m_Real : static_cast<double>(number.m_Int);
    switch (to)
    {
    case DataType::Float32: return Number::Of(static_cast<double>(static_cast<float>(value)));
    case DataType::Float16: return Number::Of(static_cast<double>(HalfToFloat(FloatToHalf(static_cast<float>(value)))));
    case DataType::BFloat16:
        return Number::Of(static_cast<double>(BFloat16ToFloat(FloatToBFloat16(static_cast<float>(value)))));
    default: return Number::Of(value);
    }
}

bool Value::IsFloat() const
{
    return IsFloatType(Type());
}

bool Value::IsInteger() const
{
    return IsIntegerType(Type());
}

unsigned int Value::Rank() const
{
    if (!HasRank())
    {
        throw OpenSizeException(fmt::format("the rank of '{}' is not known before the run; give the shapes of the "
                                            "model's inputs",
                                            m_State->m_Name));
    }
    return Shape().GetNumDimensions();
}

int64_t Value::Size(unsigned int dimension) const
{
    return HasRank() && dimension < Shape().GetNumDimensions() && Shape().GetDimensionSpecificity(dimension)
               ? int64_t{Shape()[dimension]}
               : OpenSize;
}

std::vector<int64_t> Value::Sizes() const
{
    Rank(); // must be known
    return ToSizes(Shape());
}

const Numbers* Value::FindNumbers() const
{
    if (m_State->m_Numbers.has_value() || !HasSizes())
    {
        return m_State->m_Numbers.has_value() ? &*m_State->m_Numbers : nullptr;
    }
    if (Shape().GetNumElements64() == 0)
    {
        m_State->m_Numbers.emplace(); // nothing to know
    }
    else if (m_State->m_IsConstant && Shape().GetNumElements64() <= MaxNumbers)
    {
        Numbers numbers = ReadNumbers(Type(), m_State->m_Data);
        if (numbers.size() == Shape().GetNumElements64())
        {
            m_State->m_Numbers = std::move(numbers);
        }
    }
    return m_State->m_Numbers.has_value() ? &*m_State->m_Numbers : nullptr;
}

std::optional<std::vector<int64_t>> Value::FindInts() const
{
    const Numbers* const numbers = IsTensor() ? FindNumbers() : nullptr;
    if (numbers == nullptr || IsFloat() ||
        !std::all_of(numbers->begin(), numbers->end(), [](const Number& n) { return n.m_IsKnown; }))
    {
        return std::nullopt;
    }
    std::vector<int64_t> ints;
    for (const Number& number : *numbers)
    {
        ints.push_back(number.m_Int);
    }
    return ints;
}

std::optional<std::vector<double>> Value::FindReals() const
{
    const Numbers* const numbers = IsTensor() ? FindNumbers() : nullptr;
    if (numbers == nullptr ||
        !std::all_of(numbers->begin(), numbers->end(), [](const Number& n) { return n.m_IsKnown; }))
    {
        return std::nullopt;
    }
    std::vector<double> reals;
    for (const Number& number : *numbers)
    {
        reals.push_back(IsFloat() ? number.m_Real : static_cast<double>(number.m_Int));
    }
    return reals;
}

} // namespace tenon::onnx
