// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: an iterator that applies a function to the values of another one.
#pragma once

#include <armnn/Namespace.hpp>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

namespace tenon
{

/// The template parameters behind Iterator are, by default, the iterator's own types, or the function's result. It
/// moves as the iterator does: `it++` gives where it was, `it[n]` is `*(it + n)`.
template <typename Function, typename Iterator,
          typename Category = typename std::iterator_traits<Iterator>::iterator_category,
          typename T = typename std::iterator_traits<Iterator>::value_type,
          typename Distance = typename std::iterator_traits<Iterator>::difference_type,
          typename Pointer = typename std::iterator_traits<Iterator>::pointer,
          typename Reference = decltype(std::declval<const Function>()(
              std::declval<typename std::iterator_traits<Iterator>::reference>()))>
class TransformIterator
{
public:
    using iterator_category = Category;
    using value_type = T;
    using difference_type = Distance;
    using pointer = Pointer;
    using reference = Reference;

    TransformIterator() = default;
    TransformIterator(const TransformIterator& other) = default;
    TransformIterator(TransformIterator&& other) = default;
    TransformIterator(Iterator& it, Function fn) : m_Iterator(it), m_Function(fn) {}
    TransformIterator(Iterator&& it, Function fn) : m_Iterator(std::move(it)), m_Function(fn) {}
    ~TransformIterator() = default;

    // A lambda has a copy constructor and no assignment, so the function is made anew.
    TransformIterator& operator=(const TransformIterator& other)
    {
        static_assert(std::is_nothrow_copy_constructible<Function>::value || std::is_copy_assignable<Function>::value,
                      "the function of an iterator that is assigned to can be assigned, or copied without exceptions");
        if (this != &other)
        {
            m_Iterator = other.m_Iterator;
            AssignFunction(other.m_Function, std::is_copy_assignable<Function>());
        }
        return *this;
    }
    TransformIterator& operator=(TransformIterator&& other) { return *this = static_cast<TransformIterator&>(other); }

    TransformIterator& operator++()
    {
        ++m_Iterator;
        return *this;
    }
    TransformIterator& operator--()
    {
        --m_Iterator;
        return *this;
    }
    TransformIterator operator++(int)
    {
        TransformIterator before = *this;
        ++m_Iterator;
        return before;
    }
    TransformIterator operator--(int)
    {
        TransformIterator before = *this;
        --m_Iterator;
        return before;
    }

    Reference operator[](Distance n) const { return m_Function(m_Iterator[n]); }
    Distance operator-(const TransformIterator& other) const { return m_Iterator - other.m_Iterator; }
    TransformIterator operator-(const Distance n) const { return {m_Iterator - n, m_Function}; }
    TransformIterator operator+(const Distance n) const { return {m_Iterator + n, m_Function}; }

    bool operator>(const TransformIterator& other) const { return m_Iterator > other.m_Iterator; }
    bool operator<(const TransformIterator& other) const { return m_Iterator < other.m_Iterator; }
    bool operator>=(const TransformIterator& other) const { return m_Iterator >= other.m_Iterator; }
    bool operator<=(const TransformIterator& other) const { return m_Iterator <= other.m_Iterator; }
    bool operator==(const TransformIterator& other) const { return m_Iterator == other.m_Iterator; }
    bool operator!=(const TransformIterator& other) const { return !(m_Iterator == other.m_Iterator); }

    Reference operator*() const { return m_Function(*m_Iterator); }

private:
    void AssignFunction(const Function& other, std::true_type) { m_Function = other; }
    void AssignFunction(const Function& other, std::false_type)
    {
        m_Function.~Function();
        ::new (static_cast<void*>(&m_Function)) Function(other);
    }

    Iterator m_Iterator;
    Function m_Function;
};

template <typename Function, typename Iterator>
constexpr TransformIterator<Function, Iterator> MakeTransformIterator(Iterator i, Function f)
{
    return TransformIterator<Function, Iterator>(i, f);
}

} // namespace tenon
