// SPDX-License-Identifier: Apache-2.0
// Elements of every real type to and from double.
#include "harness/TestTensor.hpp"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>

namespace tenon::test
{

namespace
{

/// Calls f with a value of the C++ type that holds an element.
template <typename F>
auto WithElement(DataType type, F f)
{
    switch (type)
    {
    case DataType::Float16: return f(Eigen::half());
    case DataType::BFloat16: return f(Eigen::bfloat16());
    case DataType::Float32: return f(float());
    case DataType::Float64: return f(double());
    case DataType::QAsymmU8:
    case DataType::Boolean:
    case DataType::Unsigned8: return f(uint8_t());
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::Signed8: return f(int8_t());
    case DataType::QSymmS16:
    case DataType::Signed16: return f(int16_t());
    case DataType::Unsigned16: return f(uint16_t());
    case DataType::Signed32: return f(int32_t());
    case DataType::Unsigned32: return f(uint32_t());
    case DataType::Signed64: return f(int64_t());
    case DataType::Unsigned64: return f(uint64_t());
    default: break;
    }
    throw std::invalid_argument(std::string("the operator harness has no elements of type ") + GetDataTypeName(type));
}

template <typename T>
constexpr bool IsInteger = std::is_integral_v<T>;

template <typename T>
T FromDouble(double value)
{
    if constexpr (IsInteger<T>)
    {
        // Above the largest double below 2^64 and 2^63 the conversion would overflow.
        const auto most = static_cast<double>(std::numeric_limits<T>::max());
        if (value >= most)
        {
            return std::numeric_limits<T>::max();
        }
        return static_cast<T>(std::max(std::round(value), static_cast<double>(std::numeric_limits<T>::min())));
    }
    else
    {
        return static_cast<T>(static_cast<std::conditional_t<sizeof(T) == 8, double, float>>(value));
    }
}

/// Scale and zero point of one element; 1 and 0 for types without.
std::pair<double, double> GetQuantization(const TensorInfo& info, size_t element)
{
    // Biases are integers whose scale is that of the products.
    const bool isSum = info.GetDataType() == DataType::Signed32 || info.GetDataType() == DataType::Signed64;
    if (!(info.IsQuantized() || isSum) || !info.HasQuantization())
    {
        return {1.0, 0.0};
    }
    const std::vector<float> scales = info.GetQuantizationScales();
    const std::vector<int32_t> offsets = info.GetQuantizationOffsets();
    size_t slice = 0;
    if (scales.size() > 1)
    {
        const unsigned int dim = info.GetQuantizationDim().value();
        size_t inner = 1;
        for (unsigned int i = dim + 1; i < info.GetNumDimensions(); ++i)
        {
            inner *= info.GetShape()[i];
        }
        slice = element / inner % scales.size();
    }
    return {scales[slice], offsets.empty() ? 0.0 : offsets[offsets.size() > 1 ? slice : 0]};
}

void SetStored(const TensorInfo& info, std::byte* data, size_t i, double value)
{
    WithElement(info.GetDataType(),
                [&](auto zero)
                {
                    const auto element = FromDouble<decltype(zero)>(value);
                    std::memcpy(data + i * sizeof(element), &element, sizeof(element));
                });
}

template <typename F>
TestTensor Generate(const TensorInfo& info, F stored)
{
    TestTensor tensor;
    tensor.m_Info = info;
    tensor.m_Bytes.resize(info.GetNumBytes());
    for (size_t i = 0; i < info.GetNumElements(); ++i)
    {
        SetStored(info, tensor.m_Bytes.data(), i, stored(i));
    }
    return tensor;
}

void RequireCount(const TensorInfo& info, size_t count)
{
    if (info.GetNumElements() != count)
    {
        throw std::invalid_argument("a test gives " + std::to_string(count) + " values for " + info.ToString());
    }
}

} // namespace

TestTensor Values(const TensorInfo& info, const std::vector<double>& real)
{
    RequireCount(info, real.size());
    return Generate(info, [&](size_t i) { return ToStored(info, real[i], i); });
}

TestTensor Stored(const TensorInfo& info, const std::vector<double>& stored)
{
    RequireCount(info, stored.size());
    return Generate(info, [&](size_t i) { return stored[i]; });
}

TestTensor Random(const TensorInfo& info, uint32_t seed, double low, double high)
{
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> distribution(low, high);
    return Generate(info, [&](size_t i) { return ToStored(info, distribution(engine), i); });
}

TestTensor Random(const TensorInfo& info, uint32_t seed)
{
    const auto range = WithElement(info.GetDataType(),
                                   [](auto zero) -> std::pair<double, double>
                                   {
                                       using T = decltype(zero);
                                       if constexpr (IsInteger<T> && sizeof(T) <= 2)
                                       {
                                           return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
                                       }
                                       return {-1.0, 1.0};
                                   });
    const bool boolean = info.GetDataType() == DataType::Boolean;
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> distribution(boolean ? 0.0 : range.first, boolean ? 1.0 : range.second);
    return Generate(info, [&](size_t) { return distribution(engine); });
}

TestTensor Constant(TestTensor tensor)
{
    tensor.m_Constant = true;
    return tensor;
}

TestTensor NotConnected()
{
    TestTensor tensor;
    tensor.m_Connected = false;
    return tensor;
}

std::vector<double> GetStored(const TensorInfo& info, const std::byte* data)
{
    std::vector<double> values(info.GetNumElements());
    WithElement(info.GetDataType(),
                [&](auto element)
                {
                    for (size_t i = 0; i < values.size(); ++i)
                    {
                        std::memcpy(&element, data + i * sizeof(element), sizeof(element));
                        values[i] = static_cast<double>(element);
                    }
                });
    return values;
}

RealTensor GetReal(const TensorInfo& info, const std::byte* data)
{
    RealTensor real{info.GetShape(), GetStored(info, data)};
    for (size_t i = 0; i < real.m_Values.size(); ++i)
    {
        const auto [scale, zeroPoint] = GetQuantization(info, i);
        real.m_Values[i] = (real.m_Values[i] - zeroPoint) * scale;
    }
    return real;
}

double ToStored(const TensorInfo& info, double real, size_t element)
{
    const auto [scale, zeroPoint] = GetQuantization(info, element);
    return WithElement(info.GetDataType(),
                       [value = real / scale, zero = zeroPoint](auto type)
                       {
                           using T = decltype(type);
                           const double steps = IsInteger<T> ? std::round(value) + zero : value;
                           return static_cast<double>(FromDouble<T>(steps));
                       });
}

} // namespace tenon::test
