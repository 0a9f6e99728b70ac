// SPDX-License-Identifier: Apache-2.0
// See TensorJson.hpp.
#include "runtime/TensorJson.hpp"

#include "common/HalfFloat.hpp"
#include "json/JsonWriter.hpp"
#include "runtime/StoredInt4.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <iterator>
#include <optional>
#include <type_traits>

namespace tenon
{

namespace
{

template <typename T>
void AppendValue(std::string& text, T value)
{
    if constexpr (std::is_floating_point_v<T>)
    {
        if (!std::isfinite(value))
        {
            text += std::isnan(value) ? "\"NaN\"" : (value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
            return;
        }
    }
    fmt::format_to(std::back_inserter(text), "{}", value);
}

template <typename T>
void AppendValue(std::string& text, std::complex<T> value)
{
    text += '[';
    AppendValue(text, value.real());
    text += ", ";
    AppendValue(text, value.imag());
    text += ']';
}

/// Writes the result of `load` for each element.
template <typename Load>
class Writer
{
public:
    Writer(std::string& text, const TensorShape& shape, Load load) : m_Text(text), m_Shape(shape), m_Load(load) {}

    void Write()
    {
        const size_t count = m_Shape.GetNumElements();
        WriteBounds(count);
        m_Text += ", \"data\": ";
        if (count == 0)
        {
            m_Text += "[]";
            return;
        }
        size_t index = 0;
        WriteNested(0, index);
    }

private:
    using Value = std::invoke_result_t<Load, size_t>;

    void WriteBounds(size_t count)
    {
        std::optional<Value> min;
        std::optional<Value> greatest;
        if constexpr (std::is_arithmetic_v<Value>)
        {
            for (size_t i = 0; i < count; ++i)
            {
                const Value value = m_Load(i);
                if (value != value) // NaN
                {
                    continue;
                }
                min = min && *min < value ? *min : value;
                greatest = greatest && *greatest > value ? *greatest : value;
            }
        }
        m_Text += ", \"min\": ";
        WriteBound(min);
        m_Text += ", \"max\": ";
        WriteBound(greatest);
    }

    void WriteBound(const std::optional<Value>& bound)
    {
        if (bound)
        {
            AppendValue(m_Text, *bound);
        }
        else
        {
            m_Text += "null";
        }
    }

    void WriteNested(unsigned int dimension, size_t& index)
    {
        if (dimension == m_Shape.GetNumDimensions())
        {
            AppendValue(m_Text, m_Load(index++));
            return;
        }
        for (unsigned int i = 0; i < m_Shape[dimension]; ++i)
        {
            m_Text += i == 0 ? "[" : ", ";
            WriteNested(dimension + 1, index);
        }
        m_Text += ']';
    }

    std::string& m_Text;
    const TensorShape& m_Shape;
    Load m_Load;
};

template <typename T>
T LoadElement(const void* memory, size_t index)
{
    T value{};
    std::memcpy(&value, static_cast<const std::byte*>(memory) + index * sizeof(T), sizeof(T));
    return value;
}

/// Calls `write` with a function that returns the value of element i.
template <typename Write>
void WithLoader(DataType type, const void* memory, const Write& write)
{
    const auto plain = [&](auto tag) { write([memory](size_t i) { return LoadElement<decltype(tag)>(memory, i); }); };
    switch (type)
    {
    case DataType::Float16: write([memory](size_t i) { return HalfToFloat(LoadElement<uint16_t>(memory, i)); }); return;
    case DataType::BFloat16:
        write([memory](size_t i) { return BFloat16ToFloat(LoadElement<uint16_t>(memory, i)); });
        return;
    case DataType::Boolean: write([memory](size_t i) { return LoadElement<uint8_t>(memory, i) != 0; }); return;
    case DataType::QSymmS4:
        write([memory](size_t i) { return LoadInt4(static_cast<const std::byte*>(memory), i); });
        return;
    case DataType::Float32: plain(float{}); return;
    case DataType::Float64: plain(double{}); return;
    case DataType::QAsymmU8:
    case DataType::Unsigned8: plain(uint8_t{}); return;
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::Signed8: plain(int8_t{}); return;
    case DataType::QSymmS16:
    case DataType::Signed16: plain(int16_t{}); return;
    case DataType::Unsigned16: plain(uint16_t{}); return;
    case DataType::Signed32: plain(int32_t{}); return;
    case DataType::Unsigned32: plain(uint32_t{}); return;
    case DataType::Signed64: plain(int64_t{}); return;
    case DataType::Unsigned64: plain(uint64_t{}); return;
    case DataType::Complex64: plain(std::complex<float>{}); return;
    case DataType::Complex128: plain(std::complex<double>{}); return;
    }
    throw InvalidArgumentException(fmt::format("element type {} is not known", static_cast<int>(type)));
}

} // namespace

std::string FormatTensorJson(const Layer& layer, unsigned int output, const TensorInfo& info, const void* memory)
{
    std::string shape;
    for (unsigned int i = 0; i < info.GetNumDimensions(); ++i)
    {
        shape += fmt::format("{}{}", i == 0 ? "" : ", ", info.GetShape()[i]);
    }
    std::string text = fmt::format("{{\"layerGuid\": {}, \"layerName\": {}, \"outputSlot\": {}, \"type\": \"{}\", "
                                   "\"shape\": [{}]",
                                   static_cast<uint64_t>(layer.GetGuid()), QuoteJson(layer.GetNameStr()), output,
                                   GetDataTypeName(info.GetDataType()), shape);
    WithLoader(info.GetDataType(), memory, [&](auto load) { Writer(text, info.GetShape(), load).Write(); });
    return text + "}\n";
}

} // namespace tenon
