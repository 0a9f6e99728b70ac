// SPDX-License-Identifier: Apache-2.0
// PermutationVector: orderings of dimensions, of Permute and Transpose. Checked on construction, so that every other
// user may index with its entries.
#include <tenon/Types.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tenon
{

PermutationVector::PermutationVector(const ValueType* mappings, SizeType size)
{
    if (size > MaxNumOfTensorDimensions)
    {
        throw InvalidArgumentException(
            fmt::format("a permutation of {} dimensions: at most {} are possible", size, MaxNumOfTensorDimensions));
    }
    unsigned int seen = 0;
    for (SizeType i = 0; i < size; ++i)
    {
        if (mappings[i] >= size || ((seen >> mappings[i]) & 1U) != 0)
        {
            throw InvalidArgumentException(fmt::format("[{}] is no permutation: it must hold each of 0 to {} once",
                                                       fmt::join(mappings, mappings + size, ","), size - 1));
        }
        seen |= 1U << mappings[i];
        m_Mappings[i] = mappings[i];
    }
    m_Size = size;
}

PermutationVector::PermutationVector(std::initializer_list<ValueType> mappings)
    : PermutationVector(mappings.begin(), static_cast<SizeType>(mappings.size()))
{
}

bool PermutationVector::IsEqual(const PermutationVector& other) const
{
    return std::equal(begin(), end(), other.begin(), other.end());
}

bool PermutationVector::IsInverse(const PermutationVector& other) const
{
    if (m_Size != other.m_Size)
    {
        return false;
    }
    for (SizeType i = 0; i < m_Size; ++i)
    {
        if (other.m_Mappings[m_Mappings[i]] != i)
        {
            return false;
        }
    }
    return true;
}

PermutationVector PermutationVector::Inverse() const
{
    PermutationVector inverse;
    inverse.m_Size = m_Size;
    for (SizeType i = 0; i < m_Size; ++i)
    {
        inverse.m_Mappings[m_Mappings[i]] = i;
    }
    return inverse;
}

} // namespace tenon
