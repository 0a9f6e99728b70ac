// SPDX-License-Identifier: Apache-2.0
// Optional: a value that may be absent, with Arm NN's interface. Unlike std::optional it may hold a reference, and it
// has one layout in C++14 and later.
#pragma once

#include <tenon/Exceptions.hpp>

#include <new>
#include <type_traits>
#include <utility>

namespace tenon
{

/// What an absent value is written as: `Optional<int> x = EmptyOptional();`
struct EmptyOptional
{
};

/// Tag of the constructor that makes the value in place.
struct ConstructInPlace
{
};

template <typename T>
class Optional
{
public:
    Optional() noexcept {}
    Optional(EmptyOptional) noexcept {}                  // NOLINT: implicit, as Arm NN's
    Optional(const T& value) { Construct(value); }       // NOLINT
    Optional(T&& value) { Construct(std::move(value)); } // NOLINT
    Optional(const Optional& other) { Take(other); }
    Optional(Optional&& other) noexcept(std::is_nothrow_move_constructible<T>::value) { Take(std::move(other)); }
    template <typename... Args>
    explicit Optional(ConstructInPlace, Args&&... args)
    {
        Construct(std::forward<Args>(args)...);
    }
    ~Optional() { reset(); }

    Optional& operator=(EmptyOptional) noexcept
    {
        reset();
        return *this;
    }
    Optional& operator=(const Optional& other)
    {
        if (this != &other)
        {
            *this = Optional(other);
        }
        return *this;
    }
    Optional& operator=(Optional&& other) noexcept(std::is_nothrow_move_constructible<T>::value)
    {
        if (this != &other)
        {
            reset();
            Take(std::move(other));
        }
        return *this;
    }

    bool has_value() const noexcept { return m_HasValue; }
    explicit operator bool() const noexcept { return m_HasValue; }
    void reset() noexcept
    {
        if (m_HasValue)
        {
            m_HasValue = false;
            m_Value.~T();
        }
    }

    /// Throws BadOptionalAccessException when empty.
    const T& value() const
    {
        Check();
        return m_Value;
    }
    T& value()
    {
        Check();
        return m_Value;
    }
    template <typename U>
    T value_or(U&& otherwise) const
    {
        return m_HasValue ? m_Value : static_cast<T>(std::forward<U>(otherwise));
    }

    /// Both are empty, or both have values, which are equal.
    friend bool operator==(const Optional& a, const Optional& b)
    {
        return a.m_HasValue && b.m_HasValue ? a.m_Value == b.m_Value : a.m_HasValue == b.m_HasValue;
    }
    friend bool operator!=(const Optional& a, const Optional& b) { return !(a == b); }

private:
    template <typename... Args>
    void Construct(Args&&... args)
    {
        ::new (static_cast<void*>(&m_Value)) T(std::forward<Args>(args)...);
        m_HasValue = true;
    }
    template <typename Other>
    void Take(Other&& other)
    {
        if (other.m_HasValue)
        {
            Construct(std::forward<Other>(other).m_Value);
        }
    }
    void Check() const
    {
        if (!m_HasValue)
        {
            throw BadOptionalAccessException("Optional holds no value; ask has_value() first");
        }
    }

    bool m_HasValue = false;
    union
    {
        std::remove_const_t<T> m_Value;
    };
};

/// An optional reference. The referred object must outlive it.
template <typename T>
class Optional<T&>
{
public:
    Optional() = default;
    Optional(EmptyOptional) {}              // NOLINT
    Optional(T& value) : m_Value(&value) {} // NOLINT

    bool has_value() const noexcept { return m_Value != nullptr; }
    explicit operator bool() const noexcept { return m_Value != nullptr; }
    void reset() noexcept { m_Value = nullptr; }

    /// Throws BadOptionalAccessException when empty.
    T& value() const
    {
        if (m_Value == nullptr)
        {
            throw BadOptionalAccessException("Optional holds no reference; ask has_value() first");
        }
        return *m_Value;
    }

private:
    T* m_Value = nullptr;
};

template <typename T, typename... Args>
Optional<T> MakeOptional(Args&&... args)
{
    return Optional<T>(ConstructInPlace{}, std::forward<Args>(args)...);
}

} // namespace tenon

#define TENON_CONSTRUCT_IN_PLACE                                                                                       \
    ::tenon::ConstructInPlace {}
