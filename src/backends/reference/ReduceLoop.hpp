// SPDX-License-Identifier: Apache-2.0
// ReduceLoop: the loops of a reduction over some axes of a tensor. Made in a kernel's prepare step, run per inference.
// Used by Reduce and Mean.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Tensor.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace tenon::ref
{

/// Walks over the input in the order of its memory, so that the elements of one output come in that order too.
/// Neighbouring dimensions are merged where all or none of them are reduced.
class ReduceLoop
{
public:
    /// Throws LayerValidationException for an axis that the shape does not have.
    ReduceLoop(const TensorShape& shape, const std::vector<unsigned int>& axes)
    {
        const unsigned int rank = shape.GetNumDimensions();
        std::array<bool, MaxNumOfTensorDimensions> isReduced{};
        for (unsigned int axis : axes)
        {
            if (axis >= rank)
            {
                throw LayerValidationException("axis " + std::to_string(axis) + " is outside the input's shape " +
                                               shape.ToString());
            }
            isReduced[axis] = true;
        }
        for (unsigned int i = rank; i-- > 0;)
        {
            const size_t size = shape[i];
            (isReduced[i] ? m_NumReduced : m_NumOutputs) *= size;
            if (size == 1)
            {
                continue;
            }
            if (m_NumLoops == 0 || m_Loops[m_NumLoops - 1].m_IsReduced != isReduced[i])
            {
                m_Loops[m_NumLoops++] = {size, isReduced[i]};
            }
            else
            {
                m_Loops[m_NumLoops - 1].m_Size *= size;
            }
        }
        m_IsEmpty = m_NumReduced == 0 || m_NumOutputs == 0;
    }

    size_t GetNumOutputs() const { return m_NumOutputs; }
    /// Elements that make one output.
    size_t GetNumReduced() const { return m_NumReduced; }

    /// accumulators[output of i] = step(that, in[i]) for each element i.
    template <typename T, typename Accumulator, typename Step>
    void Run(const T* in, Accumulator* accumulators, const Step& step) const
    {
        if (m_IsEmpty)
        {
            return;
        }
        Accumulator* end = accumulators;
        RunLoop(m_NumLoops, in, end, step);
    }

private:
    struct Loop
    {
        size_t m_Size = 1;
        bool m_IsReduced = false;
    };

    /// Runs the `depth` innermost loops. Moves `in` and, past the outputs of these loops, `out`.
    template <typename T, typename Accumulator, typename Step>
    void RunLoop(unsigned int depth, const T*& in, Accumulator*& out, const Step& step) const
    {
        if (depth == 0)
        {
            *out = step(*out, *in);
            ++in;
            ++out;
            return;
        }
        const Loop loop = m_Loops[depth - 1];
        if (depth == 1 && loop.m_IsReduced)
        {
            Accumulator value = *out;
            for (size_t i = 0; i < loop.m_Size; ++i)
            {
                value = step(value, in[i]);
            }
            *out = value;
            in += loop.m_Size;
            ++out;
            return;
        }
        if (depth == 1)
        {
            for (size_t i = 0; i < loop.m_Size; ++i)
            {
                out[i] = step(out[i], in[i]);
            }
            in += loop.m_Size;
            out += loop.m_Size;
            return;
        }
        Accumulator* const first = out;
        for (size_t i = 0; i < loop.m_Size; ++i)
        {
            if (loop.m_IsReduced)
            {
                out = first;
            }
            RunLoop(depth - 1, in, out, step);
        }
    }

    std::array<Loop, MaxNumOfTensorDimensions> m_Loops{}; ///< innermost first
    unsigned int m_NumLoops = 0;
    size_t m_NumOutputs = 1;
    size_t m_NumReduced = 1;
    bool m_IsEmpty = false;
};

} // namespace tenon::ref
