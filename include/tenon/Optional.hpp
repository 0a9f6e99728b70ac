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

/// An absent value, as programs write it: `Optional<int> x = EmptyOptional();`
struct EmptyOptional
{
};

/// Tag of the constructor that makes the value in place.
struct ConstructInPlace
{
};

/// The part of an optional that does not depend on its type.
class OptionalBase
{
public:
    OptionalBase() noexcept = default;

    bool has_value() const noexcept { return m_HasValue; }
    explicit operator bool() const noexcept { return m_HasValue; }

protected:
    explicit OptionalBase(bool hasValue) noexcept : m_HasValue(hasValue) {}

    bool m_HasValue = false;
};

/// The base of Optional<T>: holds a value, or, where IsReference is true and T is a reference, refers to an object that
/// must outlive it. Programs write Optional<T>.
template <bool IsReference, typename T>
class OptionalReferenceSwitch : public OptionalBase
{
public:
    using Base = OptionalBase;

    constexpr OptionalReferenceSwitch() noexcept {}
    OptionalReferenceSwitch(EmptyOptional) noexcept {}                  // NOLINT: implicit, as Arm NN's
    OptionalReferenceSwitch(const T& value) { Construct(value); }       // NOLINT
    OptionalReferenceSwitch(T&& value) { Construct(std::move(value)); } // NOLINT
    OptionalReferenceSwitch(const OptionalReferenceSwitch& other) : Base() { Take(other); }
    OptionalReferenceSwitch(OptionalReferenceSwitch&& other) noexcept(std::is_nothrow_move_constructible<T>::value)
    {
        Take(std::move(other));
    }
    template <typename... Args>
    explicit OptionalReferenceSwitch(ConstructInPlace, Args&&... args)
    {
        Construct(std::forward<Args>(args)...);
    }
    ~OptionalReferenceSwitch() { reset(); }

    OptionalReferenceSwitch& operator=(EmptyOptional) noexcept
    {
        reset();
        return *this;
    }
    OptionalReferenceSwitch& operator=(const OptionalReferenceSwitch& other)
    {
        if (this != &other)
        {
            *this = OptionalReferenceSwitch(other);
        }
        return *this;
    }
    OptionalReferenceSwitch&
    operator=(OptionalReferenceSwitch&& other) noexcept(std::is_nothrow_move_constructible<T>::value)
    {
        if (this != &other)
        {
            reset();
            Take(std::move(other));
        }
        return *this;
    }

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

    union
    {
        EmptyOptional m_None{}; ///< an empty optional is a constant
        std::remove_const_t<T> m_Value;
    };
};

template <typename T>
class OptionalReferenceSwitch<true, T> : public OptionalBase
{
public:
    using Base = OptionalBase;

    OptionalReferenceSwitch() = default;
    OptionalReferenceSwitch(EmptyOptional) {}                          // NOLINT
    OptionalReferenceSwitch(T value) : Base(true), m_Object(&value) {} // NOLINT

    void reset() noexcept
    {
        m_HasValue = false;
        m_Object = nullptr;
    }

    /// Throws BadOptionalAccessException when empty.
    T value() const
    {
        if (!m_HasValue)
        {
            throw BadOptionalAccessException("Optional holds no reference; ask has_value() first");
        }
        return *m_Object;
    }

private:
    std::remove_reference_t<T>* m_Object = nullptr;
};

template <typename T>
class Optional : public OptionalReferenceSwitch<std::is_reference<T>::value, T>
{
public:
    using BaseSwitch = OptionalReferenceSwitch<std::is_reference<T>::value, T>;
    using BaseSwitch::BaseSwitch;

    Optional() = default;
    Optional(const BaseSwitch& other) : BaseSwitch(other) {} // NOLINT: implicit, as Arm NN's

    /// Both are empty, or both have values, which are equal.
    friend bool operator==(const Optional& a, const Optional& b)
    {
        return a.has_value() && b.has_value() ? a.value() == b.value() : a.has_value() == b.has_value();
    }
    friend bool operator!=(const Optional& a, const Optional& b) { return !(a == b); }
};

template <typename T, typename... Args>
Optional<T> MakeOptional(Args&&... args)
{
    return Optional<T>(ConstructInPlace{}, std::forward<Args>(args)...);
}

} // namespace tenon

#define TENON_CONSTRUCT_IN_PLACE                                                                                       \
    ::tenon::ConstructInPlace {}
