// SPDX-License-Identifier: Apache-2.0
// CopyTensor: see CopyTensor.hpp.
#include "armnn/CopyTensor.hpp"

#include <tenon/Exceptions.hpp>

#include <cstring>

namespace tenon
{

namespace
{

struct Copy
{
    const TensorShape& m_Shape;
    const TensorShape& m_Source;
    const TensorShape& m_Target;
    unsigned int m_FirstDense; ///< from this dimension on both are without gaps

    void Run(const std::byte* source, std::byte* target, unsigned int dim, size_t denseBytes) const
    {
        if (dim == m_FirstDense)
        {
            std::memcpy(target, source, denseBytes);
            return;
        }
        for (unsigned int i = 0; i < m_Shape[dim]; ++i)
        {
            Run(source + size_t{m_Source[dim]} * i, target + size_t{m_Target[dim]} * i, dim + 1, denseBytes);
        }
    }
};

} // namespace

void CopyTensor(const StridedTensor<const std::byte>& source, const StridedTensor<std::byte>& target,
                const TensorShape& shape, size_t elementBytes)
{
    const unsigned int rank = shape.GetNumDimensions();
    if (source.m_Strides.GetNumDimensions() != rank || target.m_Strides.GetNumDimensions() != rank)
    {
        throw InvalidArgumentException("a tensor handle of shape " + shape.ToString() + " has strides " +
                                       source.m_Strides.ToString() + " and " + target.m_Strides.ToString() +
                                       ", which are not one a dimension");
    }
    unsigned int dense = rank;
    size_t bytes = elementBytes;
    while (dense > 0 && source.m_Strides[dense - 1] == bytes && target.m_Strides[dense - 1] == bytes)
    {
        bytes *= shape[--dense];
    }
    if (shape.GetNumElements64() != 0)
    {
        Copy{shape, source.m_Strides, target.m_Strides, dense}.Run(source.m_Memory, target.m_Memory, 0, bytes);
    }
}

} // namespace tenon
