// SPDX-License-Identifier: Apache-2.0
// Elements as text, both ways: see Elements.hpp.
#include "tools/common/Elements.hpp"
#include "tools/common/Float16.hpp"
#include "tools/common/Storage.hpp"

#include <fmt/format.h>

#include <charconv>
#include <complex>
#include <iterator>
#include <string>
#include <system_error>

namespace tenon::tools
{
namespace
{

/// The number at the start of `text`, which is shortened by it. A leading '+' is allowed.
template <typename T>
bool TakeNumber(std::string_view& text, T& value)
{
    if (text.size() > 1 && text[0] == '+' && text[1] != '-')
    {
        text.remove_prefix(1);
    }
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc())
    {
        return false;
    }
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return true;
}

template <typename T>
bool ParseElement(std::string_view text, T& value)
{
    return TakeNumber(text, value) && text.empty();
}

bool ParseBool(std::string_view text, bool& value)
{
    const bool isTrue = text == "1" || text == "true" || text == "True";
    value = isTrue;
    return isTrue || text == "0" || text == "false" || text == "False";
}

template <typename T>
bool ParseComplex(std::string_view text, std::complex<T>& value)
{
    T real{};
    T imaginary{};
    if (!TakeNumber(text, real))
    {
        return false;
    }
    if (text == "j") // the number was the imaginary part
    {
        value = {T{}, real};
        return true;
    }
    if (!text.empty() && (!TakeNumber(text, imaginary) || text != "j"))
    {
        return false;
    }
    value = {real, imaginary};
    return true;
}

} // namespace

void AppendElement(DataType type, const std::byte* data, size_t i, std::string& text)
{
    auto out = std::back_inserter(text);
    VisitStorage(type,
                 [&](auto storage)
                 {
                     using T = decltype(storage);
                     if constexpr (std::is_same_v<T, Half>)
                     {
                         fmt::format_to(out, "{:.5g}", HalfToFloat(Load<uint16_t>(data, i)));
                     }
                     else if constexpr (std::is_same_v<T, BFloat>)
                     {
                         fmt::format_to(out, "{:.4g}", BFloat16ToFloat(Load<uint16_t>(data, i)));
                     }
                     else if constexpr (std::is_same_v<T, Int4>)
                     {
                         fmt::format_to(out, "{}", LoadInt4(data, i));
                     }
                     else if constexpr (std::is_same_v<T, bool>)
                     {
                         text += Load<uint8_t>(data, i) != 0 ? "true" : "false";
                     }
                     else if constexpr (IsComplex<T>)
                     {
                         const T value = Load<T>(data, i);
                         fmt::format_to(out, "{}{:+}j", value.real(), value.imag());
                     }
                     else
                     {
                         fmt::format_to(out, "{}", Load<T>(data, i));
                     }
                 });
}

void AppendPlainElement(DataType type, const std::byte* data, size_t i, std::string& text)
{
    if (type == DataType::Boolean)
    {
        text += Load<uint8_t>(data, i) != 0 ? '1' : '0';
        return;
    }
    AppendElement(type, data, i, text);
}

bool ParseElement(DataType type, std::string_view text, std::byte* data, size_t i)
{
    return VisitStorage(type,
                        [&](auto storage) -> bool
                        {
                            using T = decltype(storage);
                            if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat>)
                            {
                                float value = 0.0f;
                                if (!ParseElement(text, value))
                                {
                                    return false;
                                }
                                SetElement(type, data, i, value);
                                return true;
                            }
                            else if constexpr (std::is_same_v<T, Int4>)
                            {
                                int value = 0;
                                if (!ParseElement(text, value) || value < -8 || value > 7)
                                {
                                    return false;
                                }
                                StoreInt4(data, i, value);
                                return true;
                            }
                            else
                            {
                                T value{};
                                bool parsed = false;
                                if constexpr (std::is_same_v<T, bool>)
                                {
                                    parsed = ParseBool(text, value);
                                }
                                else if constexpr (IsComplex<T>)
                                {
                                    parsed = ParseComplex(text, value);
                                }
                                else
                                {
                                    parsed = ParseElement(text, value);
                                }
                                if (parsed)
                                {
                                    Store(data, i, value);
                                }
                                return parsed;
                            }
                        });
}

} // namespace tenon::tools
