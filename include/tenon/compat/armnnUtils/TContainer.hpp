// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the values of a tensor of some type. In Arm NN it is a
// mapbox::util::variant. It is that class here, too, where <mapbox/variant.hpp> is installed; elsewhere this header has
// a class of that name with the part of its interface that programs use.
#pragma once

#include <armnn/TypesUtils.hpp>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<mapbox/variant.hpp>)
#include <mapbox/variant.hpp>
#else

namespace mapbox
{
namespace util
{
// Another name for linkers than Mapbox's own class has, which other sources of a program may use.
inline namespace made_by_tenon
{

/// Thrown by get<T>() where the value is of another type.
class bad_variant_access : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

namespace detail
{
/// The place of T among the types; how many there are where it is none of them.
template <typename T, typename... Types>
struct index_of : std::integral_constant<size_t, 0>
{
};
template <typename T, typename... Types>
struct index_of<T, T, Types...> : std::integral_constant<size_t, 0>
{
};
template <typename T, typename First, typename... Types>
struct index_of<T, First, Types...> : std::integral_constant<size_t, 1 + index_of<T, Types...>::value>
{
};

template <size_t... Sizes>
struct largest;
template <size_t Size>
struct largest<Size> : std::integral_constant<size_t, Size>
{
};
template <size_t First, size_t Second, size_t... Sizes>
struct largest<First, Second, Sizes...> : largest<(First > Second ? First : Second), Sizes...>
{
};
} // namespace detail

/// A value of one of several types; of the first one at first. The types are different from each other, and moving them
/// does not throw.
template <typename First, typename... Others>
class variant
{
public:
    variant() { ::new (Memory()) First(); }
    /// A value of one of the types.
    template <typename T, size_t Index = detail::index_of<std::decay_t<T>, First, Others...>::value,
              typename = std::enable_if_t<(Index <= sizeof...(Others))>>
    variant(T&& value) : m_Index(Index) // NOLINT: implicit
    {
        ::new (Memory()) std::decay_t<T>(std::forward<T>(value));
    }
    variant(const variant& other) : m_Index(other.m_Index) { other.visit(CopyTo{Memory()}); }
    variant(variant&& other) noexcept : m_Index(other.m_Index) { other.visit(MoveTo{Memory()}); }
    ~variant() { visit(Destroy()); }

    variant& operator=(const variant& other) { return *this = variant(other); }
    variant& operator=(variant&& other) noexcept
    {
        if (this != &other)
        {
            visit(Destroy());
            m_Index = other.m_Index;
            other.visit(MoveTo{Memory()});
        }
        return *this;
    }

    /// The number of the type, from 0 on.
    int which() const { return static_cast<int>(m_Index); }
    template <typename T>
    bool is() const
    {
        return m_Index == detail::index_of<T, First, Others...>::value;
    }
    /// The value. Throws bad_variant_access where it is of another type.
    template <typename T>
    T& get()
    {
        Check(is<T>());
        return *static_cast<T*>(Memory());
    }
    template <typename T>
    const T& get() const
    {
        Check(is<T>());
        return *static_cast<const T*>(Memory());
    }

    /// function(value), which gives the same type for each type of value.
    template <typename Function>
    decltype(auto) visit(Function&& function)
    {
        return Visit<First, Others...>(Memory(), m_Index, function);
    }
    template <typename Function>
    decltype(auto) visit(Function&& function) const
    {
        return Visit<const First, const Others...>(Memory(), m_Index, function);
    }

    friend bool operator==(const variant& a, const variant& b)
    {
        return a.m_Index == b.m_Index && a.visit(EqualTo{b.Memory()});
    }
    friend bool operator!=(const variant& a, const variant& b) { return !(a == b); }

private:
    struct CopyTo
    {
        void* m_Memory;
        template <typename T>
        void operator()(const T& value) const
        {
            ::new (m_Memory) T(value);
        }
    };
    struct MoveTo
    {
        void* m_Memory;
        template <typename T>
        void operator()(T& value) const
        {
            ::new (m_Memory) T(std::move(value));
        }
    };
    struct Destroy
    {
        template <typename T>
        void operator()(T& value) const
        {
            value.~T();
        }
    };
    struct EqualTo
    {
        const void* m_Memory;
        template <typename T>
        bool operator()(const T& value) const
        {
            return value == *static_cast<const T*>(m_Memory);
        }
    };

    template <typename T, typename Pointer, typename Function>
    static decltype(auto) Visit(Pointer memory, size_t, Function&& function)
    {
        return function(*static_cast<T*>(memory));
    }
    template <typename T, typename Next, typename... Rest, typename Pointer, typename Function>
    static decltype(auto) Visit(Pointer memory, size_t index, Function&& function)
    {
        return index == 0 ? function(*static_cast<T*>(memory)) : Visit<Next, Rest...>(memory, index - 1, function);
    }
    static void Check(bool isOfType)
    {
        if (!isOfType)
        {
            throw bad_variant_access("the variant holds a value of another type; ask is<T>() first");
        }
    }
    void* Memory() { return m_Memory; }
    const void* Memory() const { return m_Memory; }

    alignas(First) alignas(Others...) unsigned char m_Memory[detail::largest<sizeof(First), sizeof(Others)...>::value];
    size_t m_Index = 0;
};

template <typename T, typename... Types>
T& get(variant<Types...>& value)
{
    return value.template get<T>();
}
template <typename T, typename... Types>
const T& get(const variant<Types...>& value)
{
    return value.template get<T>();
}

/// visitor(value), which gives the same type for each type of value.
template <typename Visitor, typename Variant>
decltype(auto) apply_visitor(Visitor&& visitor, Variant&& value)
{
    return value.visit(visitor);
}

} // namespace made_by_tenon
} // namespace util
} // namespace mapbox
#endif

namespace armnnUtils
{

using TContainer =
    mapbox::util::variant<std::vector<float>, std::vector<int>, std::vector<unsigned char>, std::vector<int8_t>>;

} // namespace armnnUtils
