// SPDX-License-Identifier: Apache-2.0
// Span: a view of consecutive elements, for public headers, which compile as C++14.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

namespace tenon
{

template <typename T>
class Span
{
public:
    constexpr Span() = default;
    constexpr Span(T* data, size_t size) : m_Data(data), m_Size(size) {}
    template <typename U, typename = std::enable_if_t<std::is_convertible<U (*)[], T (*)[]>::value>>
    Span(const std::vector<U>& v) : m_Data(v.data()), m_Size(v.size()) // NOLINT: implicit
    {
    }
    template <typename U, typename = std::enable_if_t<std::is_convertible<U (*)[], T (*)[]>::value>>
    Span(std::vector<U>& v) : m_Data(v.data()), m_Size(v.size()) // NOLINT: implicit
    {
    }
    template <typename U, typename = std::enable_if_t<std::is_convertible<U (*)[], T (*)[]>::value>>
    constexpr Span(Span<U> other) : m_Data(other.data()), m_Size(other.size()) // NOLINT: implicit
    {
    }

    constexpr T* data() const { return m_Data; }
    constexpr size_t size() const { return m_Size; }
    constexpr bool empty() const { return m_Size == 0; }
    constexpr T& operator[](size_t i) const { return m_Data[i]; }
    constexpr T* begin() const { return m_Data; }
    constexpr T* end() const { return m_Data + m_Size; }

private:
    T* m_Data = nullptr;
    size_t m_Size = 0;
};

} // namespace tenon
