// SPDX-License-Identifier: Apache-2.0
// BroadcastLoop: the loops of an elementwise operation on two inputs under numpy's broadcasting rules. Made in a
// kernel's prepare step, run per inference. Used by ElementwiseBinary and similar kernels; CpuAcc takes the dimensions
// from it.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace tenon::ref
{

/// Neighbouring dimensions in which both inputs move alike are merged, so that the innermost row is as long as it can
/// be. In a row each input either moves along or stands still.
class BroadcastLoop
{
public:
    struct Dimension
    {
        size_t m_Size = 1;
        size_t m_StepA = 0; ///< elements from one index to the next; 0: broadcast
        size_t m_StepB = 0;
    };

    /// Throws LayerValidationException when a and b do not broadcast to `output`.
    BroadcastLoop(const TensorShape& a, const TensorShape& b, const TensorShape& output)
    {
        const unsigned int rank = output.GetNumDimensions();
        if (a.GetNumDimensions() > rank || b.GetNumDimensions() > rank)
        {
            ThrowMismatch(a, b, output);
        }
        Dimension row{1, 1, 1};
        bool started = false;
        size_t strideA = 1;
        size_t strideB = 1;
        for (unsigned int i = 0; i < rank; ++i)
        {
            const size_t size = output[rank - 1 - i];
            const size_t sizeA = i < a.GetNumDimensions() ? a[a.GetNumDimensions() - 1 - i] : 1;
            const size_t sizeB = i < b.GetNumDimensions() ? b[b.GetNumDimensions() - 1 - i] : 1;
            if ((sizeA != 1 && sizeA != size) || (sizeB != 1 && sizeB != size) ||
                (sizeA == 1 && sizeB == 1 && size != 1))
            {
                ThrowMismatch(a, b, output);
            }
            const Dimension dimension{size, sizeA == 1 ? 0 : strideA, sizeB == 1 ? 0 : strideB};
            strideA *= sizeA;
            strideB *= sizeB;
            if (size == 1)
            {
                continue;
            }
            Dimension& inner = m_NumOuter == 0 ? row : m_Outer[m_NumOuter - 1];
            if (!started)
            {
                row = dimension;
                started = true;
            }
            else if (dimension.m_StepA == inner.m_StepA * inner.m_Size &&
                     dimension.m_StepB == inner.m_StepB * inner.m_Size)
            {
                inner.m_Size *= size;
            }
            else
            {
                m_Outer[m_NumOuter++] = dimension;
            }
        }
        m_Row = row;
        m_NumRows = m_Row.m_Size == 0 ? 0 : 1;
        for (unsigned int i = 0; i < m_NumOuter; ++i)
        {
            m_NumRows *= m_Outer[i].m_Size;
        }
    }

    bool IsEmpty() const { return m_NumRows == 0; }
    size_t GetNumRows() const { return m_NumRows; }
    /// The innermost dimension: steps of 0 or 1.
    const Dimension& GetRow() const { return m_Row; }
    /// The outer dimensions, innermost first; the product of their sizes is the number of rows.
    std::span<const Dimension> GetOuter() const { return std::span(m_Outer).first(m_NumOuter); }

    /// out[i] = op(a[j], b[k]) for all elements. `out` may be the memory of a or b if that has as many elements.
    template <typename In, typename Out, typename Op>
    void Run(const In* a, const In* b, Out* out, const Op& op) const
    {
        const size_t length = m_Row.m_Size;
        std::array<size_t, MaxNumOfTensorDimensions> index{};
        for (size_t row = 0; row < m_NumRows; ++row, out += length)
        {
            if (m_Row.m_StepB == 0)
            {
                const In fixed = *b;
                for (size_t i = 0; i < length; ++i)
                {
                    out[i] = op(a[i], fixed);
                }
            }
            else if (m_Row.m_StepA == 0)
            {
                const In fixed = *a;
                for (size_t i = 0; i < length; ++i)
                {
                    out[i] = op(fixed, b[i]);
                }
            }
            else
            {
                for (size_t i = 0; i < length; ++i)
                {
                    out[i] = op(a[i], b[i]);
                }
            }
            for (unsigned int d = 0; d < m_NumOuter; ++d)
            {
                const Dimension& dimension = m_Outer[d];
                a += dimension.m_StepA;
                b += dimension.m_StepB;
                if (++index[d] < dimension.m_Size)
                {
                    break;
                }
                index[d] = 0;
                a -= dimension.m_StepA * dimension.m_Size;
                b -= dimension.m_StepB * dimension.m_Size;
            }
        }
    }

private:
    [[noreturn]] static void ThrowMismatch(const TensorShape& a, const TensorShape& b, const TensorShape& output)
    {
        throw LayerValidationException("inputs of shapes " + a.ToString() + " and " + b.ToString() +
                                       " do not broadcast to the output's " + output.ToString());
    }

    Dimension m_Row;
    std::array<Dimension, MaxNumOfTensorDimensions> m_Outer{}; ///< innermost first, without the row
    unsigned int m_NumOuter = 0;
    size_t m_NumRows = 0;
};

} // namespace tenon::ref
