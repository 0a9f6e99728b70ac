// SPDX-License-Identifier: Apache-2.0
// FlexOptions: see FlexOptions.hpp. Reads the map itself: the verifier that comes with FlexBuffers may take time that
// grows with the square of the bytes, and lets keys without an end pass.
//
// The format, as far as it matters here: a value is a number in place, or an offset that counts backwards to what it
// stands for. A type byte has the kind in its upper six bits, and in its lower two the width (log2) of what the offset
// leads to. A vector is its size, its elements and, if untyped, a type byte for each; a map is a vector of values, with
// the keys' width and an offset to them in front. The file ends with the root, its type byte and its width.
#include "parsers/tflite/FlexOptions.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace tenon::tflite
{

namespace
{

using parsers::Attribute;

/// The format's numbers.
enum Kind : uint8_t
{
    Null = 0,
    Int = 1,
    UInt = 2,
    Float = 3,
    Key = 4,
    String = 5,
    IndirectInt = 6,
    IndirectUInt = 7,
    IndirectFloat = 8,
    Map = 9,
    Vector = 10,
    VectorInt = 11,
    VectorUInt = 12,
    VectorFloat = 13,
    FirstFixedVector = 16, ///< pairs of Int, UInt, Float; then triples, then quadruples
    LastFixedVector = 24,
    Blob = 25,
    Bool = 26,
    VectorBool = 36
};

/// Elements of one kind and width.
struct Elements
{
    size_t m_At = 0;
    size_t m_Count = 0;
    uint8_t m_Width = 1;
};

class Reader
{
public:
    Reader(ReadBudget& budget, Span<const uint8_t> bytes) : m_Budget(budget), m_Bytes(bytes) {}

    std::vector<Attribute> ReadRoot()
    {
        constexpr size_t trailer = 2;
        Check(m_Bytes.size() > trailer, "is cut short");
        const size_t width = m_Bytes[m_Bytes.size() - 1];
        const uint8_t type = m_Bytes[m_Bytes.size() - trailer];
        Check(width == 1 || width == 2 || width == 4 || width == 8, "has a root of impossible width");
        Check(m_Bytes.size() - trailer >= width, "is cut short");
        Check(type >> 2 == Map, "is no map");
        return ReadMap(Target(m_Bytes.size() - trailer - width, static_cast<uint8_t>(width)), WidthOf(type));
    }

private:
    static uint8_t WidthOf(uint8_t type) { return static_cast<uint8_t>(1U << (type & 3U)); }

    static void Check(bool holds, const char* text)
    {
        if (!holds)
        {
            throw InvalidArgumentException(text);
        }
    }

    template <typename Narrow, typename Result>
    Result LoadAs(size_t at) const
    {
        Narrow value;
        std::memcpy(&value, m_Bytes.data() + at, sizeof(Narrow));
        return static_cast<Result>(value);
    }

    void CheckRange(size_t at, uint8_t width) const
    {
        Check(at <= m_Bytes.size() && m_Bytes.size() - at >= width, "has an offset that leads outside");
    }

    uint64_t Unsigned(size_t at, uint8_t width) const
    {
        CheckRange(at, width);
        switch (width)
        {
        case 1: return LoadAs<uint8_t, uint64_t>(at);
        case 2: return LoadAs<uint16_t, uint64_t>(at);
        case 4: return LoadAs<uint32_t, uint64_t>(at);
        default: return LoadAs<uint64_t, uint64_t>(at);
        }
    }

    int64_t Signed(size_t at, uint8_t width) const
    {
        CheckRange(at, width);
        switch (width)
        {
        case 1: return LoadAs<int8_t, int64_t>(at);
        case 2: return LoadAs<int16_t, int64_t>(at);
        case 4: return LoadAs<int32_t, int64_t>(at);
        default: return LoadAs<int64_t, int64_t>(at);
        }
    }

    /// Where the offset at `at` leads.
    size_t Target(size_t at, uint8_t width) const
    {
        const uint64_t offset = Unsigned(at, width);
        Check(offset <= at, "has an offset that leads outside");
        return at - static_cast<size_t>(offset);
    }

    /// The elements at `at`, whose number is in front of them.
    Elements Sized(size_t at, uint8_t width) const
    {
        Check(at >= width, "has an offset that leads outside");
        const uint64_t count = Unsigned(at - width, width);
        Check(at <= m_Bytes.size() && count <= (m_Bytes.size() - at) / width, "has a list that leads outside");
        return {at, static_cast<size_t>(count), width};
    }

    /// A number in place; no value where the kind is no number, or one that its type cannot hold.
    Attribute::Value Number(uint8_t kind, size_t at, uint8_t width) const
    {
        if (kind == Int)
        {
            return Signed(at, width);
        }
        if (kind == UInt || kind == Bool)
        {
            const uint64_t value = Unsigned(at, width);
            return kind == Bool         ? Attribute::Value(value != 0)
                   : value <= INT64_MAX ? Attribute::Value(static_cast<int64_t>(value))
                                        : Attribute::Value();
        }
        if (kind == Float && width >= sizeof(float))
        {
            CheckRange(at, width);
            return width == sizeof(float) ? LoadAs<float, double>(at) : LoadAs<double, double>(at);
        }
        return {};
    }

    /// Elements all of the same kind T: those of a typed vector, or `types` has one byte for each.
    template <typename T>
    Attribute::Value Numbers(const Elements& elements, uint8_t kind, const uint8_t* types) const
    {
        m_Budget.Charge(elements.m_Count * sizeof(T));
        std::vector<T> values;
        values.reserve(elements.m_Count);
        for (size_t i = 0; i < elements.m_Count; ++i)
        {
            const auto itsKind = static_cast<uint8_t>(types != nullptr ? types[i] >> 2 : kind);
            const Attribute::Value value = Number(itsKind, elements.m_At + i * elements.m_Width, elements.m_Width);
            if (const T* number = std::get_if<T>(&value))
            {
                values.push_back(*number);
            }
            else if (const bool* flag = std::get_if<bool>(&value))
            {
                values.push_back(static_cast<T>(*flag));
            }
            else
            {
                return {};
            }
        }
        return values;
    }

    Attribute::Value List(const Elements& elements, uint8_t kind, const uint8_t* types = nullptr) const
    {
        const auto first = static_cast<uint8_t>(types != nullptr && elements.m_Count != 0 ? types[0] >> 2 : kind);
        return first == Float ? Numbers<double>(elements, kind, types) : Numbers<int64_t>(elements, kind, types);
    }

    Attribute::Value ReadText(const Elements& text) const
    {
        m_Budget.Charge(text.m_Count);
        const uint8_t* first = m_Bytes.data() + text.m_At;
        return std::string(first, first + text.m_Count);
    }

    Attribute::Value ReadVector(size_t at, uint8_t width) const
    {
        const Elements elements = Sized(at, width);
        const size_t types = at + elements.m_Count * width;
        Check(m_Bytes.size() - types >= elements.m_Count, "has a list that leads outside");
        return List(elements, Int, m_Bytes.data() + types);
    }

    /// The value at `at` in a vector or map whose elements have this width.
    Attribute::Value ReadValue(uint8_t type, size_t at, uint8_t width) const
    {
        const auto kind = static_cast<uint8_t>(type >> 2);
        if (kind == Null || kind == Int || kind == UInt || kind == Float || kind == Bool)
        {
            return Number(kind, at, width);
        }
        const size_t target = Target(at, width);
        const uint8_t itsWidth = WidthOf(type);
        switch (kind)
        {
        case Key: return ReadText({target, KeyAt(target).size(), 1});
        case String:
        case Blob:
        {
            // The number has the width, the elements are bytes.
            Check(target >= itsWidth, "has an offset that leads outside");
            const uint64_t count = Unsigned(target - itsWidth, itsWidth);
            Check(count <= m_Bytes.size() - target, "has a text that leads outside");
            return ReadText({target, static_cast<size_t>(count), 1});
        }
        case IndirectInt: return Number(Int, target, itsWidth);
        case IndirectUInt: return Number(UInt, target, itsWidth);
        case IndirectFloat: return Number(Float, target, itsWidth);
        case Vector: return ReadVector(target, itsWidth);
        case VectorInt: return List(Sized(target, itsWidth), Int);
        case VectorUInt: return List(Sized(target, itsWidth), UInt);
        case VectorFloat: return List(Sized(target, itsWidth), Float);
        case VectorBool: return List(Sized(target, itsWidth), Bool);
        default: break;
        }
        if (kind >= FirstFixedVector && kind <= LastFixedVector)
        {
            const auto index = static_cast<uint8_t>(kind - FirstFixedVector);
            return List({target, index / 3U + 2U, itsWidth}, static_cast<uint8_t>(Int + index % 3U));
        }
        return {};
    }

    std::string_view KeyAt(size_t at) const
    {
        const uint8_t* first = m_Bytes.data() + at;
        const uint8_t* last = std::find(first, m_Bytes.end(), uint8_t{0});
        Check(last != m_Bytes.end(), "has a key without an end");
        m_Budget.Charge(static_cast<size_t>(last - first));
        return {reinterpret_cast<const char*>(first), static_cast<size_t>(last - first)};
    }

    std::vector<Attribute> ReadMap(size_t at, uint8_t width) const
    {
        const Elements values = Sized(at, width);
        const size_t types = at + values.m_Count * width;
        Check(m_Bytes.size() - types >= values.m_Count, "has a list that leads outside");
        Check(at >= size_t{3} * width, "has a map without keys");
        const uint64_t keyWidth = Unsigned(at - size_t{2} * width, width);
        Check(keyWidth == 1 || keyWidth == 2 || keyWidth == 4 || keyWidth == 8, "has keys of impossible width");
        const Elements keys = Sized(Target(at - size_t{3} * width, width), static_cast<uint8_t>(keyWidth));
        Check(keys.m_Count == values.m_Count, "has a map with keys and values of different number");

        m_Budget.Charge(values.m_Count * sizeof(Attribute));
        std::vector<Attribute> attributes;
        attributes.reserve(values.m_Count);
        for (size_t i = 0; i < values.m_Count; ++i)
        {
            const uint8_t type = m_Bytes[types + i];
            if (type >> 2 == Null)
            {
                continue;
            }
            const std::string_view name = KeyAt(Target(keys.m_At + i * keys.m_Width, keys.m_Width));
            attributes.push_back({name, ReadValue(type, values.m_At + i * width, width), true});
        }
        return attributes;
    }

    ReadBudget& m_Budget;
    Span<const uint8_t> m_Bytes;
};

} // namespace

AttributeList ReadFlexOptions(ReadBudget& budget, Span<const uint8_t> bytes)
{
    AttributeList list;
    if (bytes.empty())
    {
        return list;
    }
    try
    {
        list.m_Attributes = Reader(budget, bytes).ReadRoot();
    }
    catch (const InvalidArgumentException& error)
    {
        list.m_Error =
            fmt::format("its custom_options should be a FlexBuffers map, but what is there {}", error.what());
    }
    return list;
}

} // namespace tenon::tflite
