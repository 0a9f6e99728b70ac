// SPDX-License-Identifier: Apache-2.0
// Elements of every real type to and from double.
#include "harness/TestTensor.hpp"

#include "common/FourBits.hpp"
#include "harness/RunMemory.hpp"

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
        const auto max = static_cast<double>(std::numeric_limits<T>::max());
        if (value >= max)
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

/// Scales and zero points of a tensor's elements; 1 and 0 for types without.
class Quantization
{
public:
    explicit Quantization(const TensorInfo& info)
    {
        // Biases are integers whose scale is that of the products.
        const bool isSum = info.GetDataType() == DataType::Signed32 || info.GetDataType() == DataType::Signed64;
        if (!(info.IsQuantized() || isSum) || !info.HasQuantization())
        {
            return;
        }
        const std::vector<float> scales = info.GetQuantizationScales();
        const std::vector<int32_t> offsets = info.GetQuantizationOffsets();
        m_Slices.clear();
        for (size_t i = 0; i < scales.size(); ++i)
        {
            m_Slices.emplace_back(scales[i], offsets.empty() ? 0.0 : offsets[offsets.size() > 1 ? i : 0]);
        }
        if (scales.size() > 1)
        {
            for (unsigned int i = info.GetQuantizationDim().value() + 1; i < info.GetNumDimensions(); ++i)
            {
                m_Inner *= info.GetShape()[i];
            }
            m_BlockSize = info.GetQuantizationBlockSize();
        }
    }

    const std::pair<double, double>& At(size_t element) const
    {
        if (m_BlockSize != 0)
        {
            return m_Slices.at(element / m_Inner / m_BlockSize * m_Inner + element % m_Inner);
        }
        return m_Slices.size() == 1 ? m_Slices.front() : m_Slices[element / m_Inner % m_Slices.size()];
    }

private:
    std::vector<std::pair<double, double>> m_Slices = {{1.0, 0.0}}; ///< or of blocks
    size_t m_Inner = 1;                                             ///< elements of a slice that lie together
    size_t m_BlockSize = 0;                                         ///< 0: not blockwise
};

/// The info of 4-bit elements that have a byte each.
TensorInfo WithBytes(const TensorInfo& info)
{
    TensorInfo bytes = info;
    bytes.SetDataType(info.GetDataType() == DataType::QSymmS4 ? DataType::QSymmS8 : info.GetDataType());
    return bytes;
}

/// What elements of type T store for a real value.
template <typename T>
T Quantize(double real, const std::pair<double, double>& scaleAndZeroPoint)
{
    const double value = real / scaleAndZeroPoint.first;
    const double steps = IsInteger<T> ? std::round(value) + scaleAndZeroPoint.second : value;
    return FromDouble<T>(steps);
}

template <typename T>
void SetElement(std::byte* data, size_t i, T element)
{
    std::memcpy(data + i * sizeof(element), &element, sizeof(element));
}

/// A tensor of these stored values, each of which `stored` gives in turn.
template <typename F>
TestTensor GenerateStored(const TensorInfo& info, F stored)
{
    TestTensor tensor;
    tensor.m_Info = info;
    tensor.m_Bytes.resize(WithBytes(info).GetNumBytes());
    WithElement(WithBytes(info).GetDataType(),
                [&, count = info.GetNumElements()](auto zero)
                {
                    for (size_t i = 0; i < count; ++i)
                    {
                        SetElement(tensor.m_Bytes.data(), i, FromDouble<decltype(zero)>(stored(i)));
                    }
                });
    if (info.GetDataType() == DataType::QSymmS4)
    {
        PackFourBits(tensor.m_Bytes.data(), tensor.m_Bytes.size(), tensor.m_Bytes.data());
        tensor.m_Bytes.resize(info.GetNumBytes());
    }
    return tensor;
}

/// A tensor of these real values.
template <typename F>
TestTensor GenerateReal(const TensorInfo& info, F real)
{
    TestTensor tensor;
    tensor.m_Info = info;
    tensor.m_Bytes.resize(info.GetNumBytes());
    const Quantization quantization(info);
    WithElement(info.GetDataType(),
                [&, count = info.GetNumElements()](auto zero)
                {
                    for (size_t i = 0; i < count; ++i)
                    {
                        SetElement(tensor.m_Bytes.data(), i, Quantize<decltype(zero)>(real(i), quantization.At(i)));
                    }
                });
    return tensor;
}

/// A random tensor, which `make` makes unless an earlier run of the test's body has.
template <typename F>
TestTensor Remembered(const TensorInfo& info, uint32_t seed, double low, double high, bool isStored, F make)
{
    RunMemory* const memory = RunMemory::Get();
    if (memory == nullptr)
    {
        return make();
    }
    ContentHash hash;
    hash.Add(info);
    hash.Add(seed);
    hash.Add(low);
    hash.Add(high);
    hash.Add(isStored);
    TestTensor tensor;
    if (const std::vector<std::byte>* bytes = memory->FindTensor(hash.GetKey()))
    {
        tensor.m_Info = info;
        tensor.m_Bytes = *bytes;
        return tensor;
    }
    tensor = make();
    memory->AddTensor(hash.GetKey(), tensor.m_Bytes);
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
    return GenerateReal(info, [&](size_t i) { return real[i]; });
}

TestTensor Stored(const TensorInfo& info, const std::vector<double>& stored)
{
    RequireCount(info, stored.size());
    return GenerateStored(info, [&](size_t i) { return stored[i]; });
}

TestTensor Random(const TensorInfo& info, uint32_t seed, double low, double high)
{
    const auto make = [&]
    {
        std::mt19937 engine(seed);
        std::uniform_real_distribution<double> distribution(low, high);
        return GenerateReal(info, [&](size_t) { return distribution(engine); });
    };
    return Remembered(info, seed, low, high, false, make);
}

TestTensor Random(const TensorInfo& info, uint32_t seed)
{
    const bool isInt4 = info.GetDataType() == DataType::QSymmS4;
    const auto range = WithElement(WithBytes(info).GetDataType(),
                                   [isInt4](auto zero) -> std::pair<double, double>
                                   {
                                       using T = decltype(zero);
                                       if (isInt4)
                                       {
                                           return {-8, 7};
                                       }
                                       if constexpr (IsInteger<T> && sizeof(T) <= 2)
                                       {
                                           return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
                                       }
                                       return {-1.0, 1.0};
                                   });
    const bool isBoolean = info.GetDataType() == DataType::Boolean;
    const double low = isBoolean ? 0.0 : range.first;
    const double high = isBoolean ? 1.0 : range.second;
    const auto make = [&]
    {
        std::mt19937 engine(seed);
        std::uniform_real_distribution<double> distribution(low, high);
        return GenerateStored(info, [&](size_t) { return distribution(engine); });
    };
    return Remembered(info, seed, low, high, true, make);
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
    if (info.GetDataType() == DataType::QSymmS4)
    {
        std::vector<int8_t> bytes(values.size());
        UnpackFourBits(data, bytes.size(), true, bytes.data());
        std::copy(bytes.begin(), bytes.end(), values.begin());
        return values;
    }
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
    const Quantization quantization(info);
    for (size_t i = 0; i < real.m_Values.size(); ++i)
    {
        const auto& [scale, zeroPoint] = quantization.At(i);
        real.m_Values[i] = (real.m_Values[i] - zeroPoint) * scale;
    }
    return real;
}

std::vector<double> ToStored(const TensorInfo& info, const double* real, size_t count)
{
    const Quantization quantization(info);
    std::vector<double> stored(count);
    WithElement(info.GetDataType(),
                [&](auto zero)
                {
                    for (size_t i = 0; i < count; ++i)
                    {
                        stored[i] = static_cast<double>(Quantize<decltype(zero)>(real[i], quantization.At(i)));
                    }
                });
    return stored;
}

} // namespace tenon::test
