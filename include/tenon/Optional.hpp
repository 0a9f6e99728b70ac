// SPDX-License-Identifier: Apache-2.0
// Optional: a value that may be absent, with Arm NN's interface. Unlike std::optional it may hold a reference.
#pragma once

#include <tenon/Exceptions.hpp>

#include <optional>
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
    Optional() = default;
    Optional(EmptyOptional) {}                         // NOLINT: implicit, as Arm NN's
    Optional(const T& value) : m_Value(value) {}       // NOLINT
    Optional(T&& value) : m_Value(std::move(value)) {} // NOLINT
    template <typename... Args>
    explicit Optional(ConstructInPlace, Args&&... args) : m_Value(std::in_place, std::forward<Args>(args)...)
    {
    }

    Optional& operator=(EmptyOptional)
    {
        m_Value.reset();
        return *this;
    }

    bool has_value() const noexcept { return m_Value.has_value(); }
    explicit operator bool() const noexcept { return m_Value.has_value(); }
    void reset() noexcept { m_Value.reset(); }

    /// Throws BadOptionalAccessException when empty.
    const T& value() const
    {
        Check();
        return *m_Value;
    }
    T& value()
    {
        Check();
        return *m_Value;
    }
    template <typename U>
    T value_or(U&& otherwise) const
    {
        return m_Value.value_or(std::forward<U>(otherwise));
    }

    friend bool operator==(const Optional& a, const Optional& b) { return a.m_Value == b.m_Value; }
    friend bool operator!=(const Optional& a, const Optional& b) { return !(a == b); }

private:
    void Check() const
    {
        if (!m_Value)
        {
            throw BadOptionalAccessException("Optional holds no value; ask has_value() first");
        }
    }

    std::optional<T> m_Value;
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
