// SPDX-License-Identifier: Apache-2.0
// TensorShape: the only place that multiplies dimensions. All parts use it.
#include "common/CheckedMath.hpp"

#include <tenon/Tensor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>

namespace tenon
{

namespace
{

unsigned int CheckRank(size_t rank)
{
    if (rank > MaxNumOfTensorDimensions)
    {
        throw InvalidArgumentException(
            fmt::format("a tensor of {} dimensions: at most {} are possible", rank, MaxNumOfTensorDimensions));
    }
    return static_cast<unsigned int>(rank);
}

} // namespace

TensorShape::TensorShape(Dimensionality dimensionality)
    : m_NumDimensions(dimensionality == Dimensionality::Specified ? 1 : 0), m_Dimensionality(dimensionality),
      m_IsDefault(false)
{
}

TensorShape::TensorShape(unsigned int numDimensions, bool initDimensionsSpecificity)
    : m_NumDimensions(static_cast<uint8_t>(CheckRank(numDimensions))),
      m_Dimensionality(numDimensions == 0 ? Dimensionality::Scalar : Dimensionality::Specified), m_IsDefault(false)
{
    m_Known = initDimensionsSpecificity ? AllKnown(numDimensions) : 0;
}

TensorShape::TensorShape(unsigned int numDimensions, const unsigned int* dimensionSizes)
    : TensorShape(numDimensions, true)
{
    std::copy_n(dimensionSizes, numDimensions, m_Dimensions.begin());
}

TensorShape::TensorShape(unsigned int numDimensions, const unsigned int* dimensionSizes,
                         const bool* dimensionsSpecificity)
    : TensorShape(numDimensions, false)
{
    for (unsigned int i = 0; i < numDimensions; ++i)
    {
        if (dimensionsSpecificity[i])
        {
            SetDimensionSize(i, dimensionSizes[i]);
        }
    }
}

TensorShape::TensorShape(std::initializer_list<unsigned int> dimensionSizes)
    : TensorShape(CheckRank(dimensionSizes.size()), dimensionSizes.begin())
{
}

TensorShape::TensorShape(std::initializer_list<unsigned int> dimensionSizes,
                         std::initializer_list<bool> dimensionsSpecificity)
    : TensorShape(CheckRank(dimensionSizes.size()), false)
{
    if (dimensionsSpecificity.size() != dimensionSizes.size())
    {
        throw InvalidArgumentException(fmt::format("a shape of {} sizes but {} marks of which are known",
                                                   dimensionSizes.size(), dimensionsSpecificity.size()));
    }
    for (unsigned int i = 0; i < m_NumDimensions; ++i)
    {
        if (dimensionsSpecificity.begin()[i])
        {
            SetDimensionSize(i, dimensionSizes.begin()[i]);
        }
    }
}

void TensorShape::SetDimensionSize(unsigned int i, unsigned int dimensionSize)
{
    CheckDimensionIndex(i);
    m_Dimensions[i] = dimensionSize;
    m_Known = static_cast<uint8_t>(m_Known | (1U << i));
}

void TensorShape::SetDimensionUnknown(unsigned int i)
{
    CheckDimensionIndex(i);
    m_Dimensions[i] = 0;
    m_Known = static_cast<uint8_t>(m_Known & ~(1U << i));
}

void TensorShape::SetNumDimensions(unsigned int numDimensions, bool initDimensionsSpecificity)
{
    if (m_Dimensionality != Dimensionality::NotSpecified)
    {
        throw InvalidArgumentException(
            fmt::format("the rank of shape {} cannot be set to {}: it is known already", ToString(), numDimensions));
    }
    *this = TensorShape(numDimensions, initDimensionsSpecificity);
}

unsigned int TensorShape::GetNumElements() const
{
    const uint64_t elements = GetNumElements64();
    if (elements > std::numeric_limits<unsigned int>::max())
    {
        throw InvalidArgumentException(fmt::format("shape {} has more elements than 32 bits count", ToString()));
    }
    return static_cast<unsigned int>(elements);
}

uint64_t TensorShape::GetNumElements64() const
{
    if (m_IsDefault)
    {
        return 0;
    }
    if (!AreAllDimensionsSpecified())
    {
        throw InvalidArgumentException(
            fmt::format("the number of elements of shape {} is not known before all its sizes are", ToString()));
    }
    const auto elements = CheckedProduct<uint64_t>(std::span(m_Dimensions.data(), m_NumDimensions));
    if (!elements)
    {
        throw InvalidArgumentException(fmt::format("shape {} has more elements than 64 bits count", ToString()));
    }
    return *elements;
}

bool TensorShape::GetDimensionSpecificity(unsigned int i) const
{
    CheckDimensionIndex(i);
    return ((m_Known >> i) & 1U) != 0;
}

bool TensorShape::IsAtLeastOneDimensionSpecified() const
{
    return m_Known != 0;
}

std::string TensorShape::ToString() const
{
    if (m_Dimensionality == Dimensionality::NotSpecified)
    {
        return "[unknown rank]";
    }
    std::string text = "[";
    for (unsigned int i = 0; i < m_NumDimensions; ++i)
    {
        text += i == 0 ? "" : ",";
        text += ((m_Known >> i) & 1U) != 0 ? std::to_string(m_Dimensions[i]) : "?";
    }
    return text + "]";
}

void TensorShape::CheckDimensionIndex(unsigned int i) const
{
    if (i >= m_NumDimensions)
    {
        ThrowBadDimension(i);
    }
}

void TensorShape::ThrowBadDimension(unsigned int i) const
{
    if (m_Dimensionality == Dimensionality::NotSpecified)
    {
        throw InvalidArgumentException(fmt::format("dimension {} of a shape of unknown rank", i));
    }
    if (i >= m_NumDimensions)
    {
        throw InvalidArgumentException(
            fmt::format("dimension {} of shape {}, whose rank is {}", i, ToString(), m_NumDimensions));
    }
    throw InvalidArgumentException(fmt::format("the size of dimension {} of shape {} is not known", i, ToString()));
}

void TensorShape::ThrowUnknownRank()
{
    throw InvalidArgumentException("the rank of a shape was asked for that is not known yet");
}

} // namespace tenon
