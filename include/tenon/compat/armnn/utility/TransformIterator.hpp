// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: an iterator that applies a function to the elements of another iterator.
#pragma once

#include <armnn/Namespace.hpp>
#include <iterator>
#include <type_traits>
#include <utility>

namespace tenon
{

/// The parameters behind Iterator are the iterator's own types by default, and Reference is the function's result. The
/// iterator moves as the other one does: `it++` returns the old position, and `it[n]` is `*(it + n)`.
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

    // A lambda has no assignment in C++14: the iterator that is assigned to keeps its own, which is of the same type.
    TransformIterator& operator=(const TransformIterator& other)
    {
        m_Iterator = other.m_Iterator;
        AssignFunction(other.m_Function, std::is_copy_assignable<Function>());
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
    void AssignFunction(const Function&, std::false_type) {}

    Iterator m_Iterator;
    Function m_Function;
};

template <typename Function, typename Iterator>
constexpr TransformIterator<Function, Iterator> MakeTransformIterator(Iterator i, Function f)
{
    return TransformIterator<Function, Iterator>(i, f);
}

} // namespace tenon
