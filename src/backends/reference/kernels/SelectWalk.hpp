// SPDX-License-Identifier: Apache-2.0
// SelectWalk: the walk of Select through its three inputs under broadcasting, each with strides of its own. Made when
// shapes are known. Used by the kernels of Select of CpuRef and CpuAcc.
#pragma once

#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

#include <array>
#include <cstddef>

namespace tenon::ref
{

/// Neighbouring dimensions that are contiguous in all inputs are merged, so that the innermost row is as long as it can
/// be. In a row each input either moves along or stands still.
class SelectWalk
{
public:
    /// One dimension of the output, and its stride in each input, in elements.
    struct Dimension
    {
        size_t m_Size = 1;
        std::array<size_t, 3> m_Steps{};
    };

    /// The offsets of a row's first element, in each input.
    struct Position
    {
        std::array<size_t, 3> m_At{};
        std::array<size_t, MaxNumOfTensorDimensions> m_Index{};
    };

    /// Throws LayerValidationException when the inputs do not broadcast to the output, which has elements.
    explicit SelectWalk(const ReshapeArgs& args)
    {
        const TensorShape& output = args.GetOutput(0).GetShape();
        m_Elements = output.GetNumElements();
        std::array<Extents, 3> steps{};
        for (size_t i = 0; i < 3; ++i)
        {
            const TensorShape& input = args.GetInput(i).GetShape();
            const bool isBySlice =
                i == 0 && args.GetDescriptor<SelectDescriptor>().m_ConditionBySlice && input.GetNumDimensions() == 1;
            steps[i] = GetSteps(input, output, isBySlice);
        }
        for (unsigned int d = output.GetNumDimensions(); d-- > 0;)
        {
            if (output[d] == 1)
            {
                continue;
            }
            Dimension dimension{output[d], {}};
            for (size_t i = 0; i < 3; ++i)
            {
                dimension.m_Steps[i] = static_cast<size_t>(steps[i][d]);
            }
            Add(dimension);
        }
    }

    size_t GetElements() const { return m_Elements; }
    /// The innermost dimension: steps of 0 or 1.
    const Dimension& GetRow() const { return m_Dimensions[0]; }

    Position Find(size_t row) const
    {
        Position position;
        for (unsigned int d = 1; d < m_NumDimensions; ++d)
        {
            const Dimension& dimension = m_Dimensions[d];
            position.m_Index[d] = row % dimension.m_Size;
            row /= dimension.m_Size;
            for (size_t i = 0; i < 3; ++i)
            {
                position.m_At[i] += position.m_Index[d] * dimension.m_Steps[i];
            }
        }
        return position;
    }

    /// Moves to the next row; from the last row back to the first.
    void Step(Position& position) const
    {
        for (unsigned int d = 1; d < m_NumDimensions; ++d)
        {
            const Dimension& dimension = m_Dimensions[d];
            const bool ends = ++position.m_Index[d] == dimension.m_Size;
            for (size_t i = 0; i < 3; ++i)
            {
                position.m_At[i] += dimension.m_Steps[i];
                position.m_At[i] -= ends ? dimension.m_Steps[i] * dimension.m_Size : 0;
            }
            if (!ends)
            {
                return;
            }
            position.m_Index[d] = 0;
        }
    }

private:
    static Extents GetSteps(const TensorShape& input, const TensorShape& output, bool alignFirst)
    {
        Extents steps{};
        if (input.GetNumElements64() == 1)
        {
            return steps;
        }
        const unsigned int rank = output.GetNumDimensions();
        const unsigned int inputRank = input.GetNumDimensions();
        const Extents strides = GetStrides(input);
        bool fits = inputRank <= rank;
        for (unsigned int i = 0; fits && i < inputRank; ++i)
        {
            const unsigned int d = alignFirst ? i : rank - inputRank + i;
            fits = input[i] == 1 || input[i] == output[d];
            steps[d] = input[i] == 1 ? 0 : strides[i];
        }
        if (!fits)
        {
            throw LayerValidationException("an input of shape " + input.ToString() +
                                           " does not broadcast to the output's " + output.ToString());
        }
        return steps;
    }

    /// Merges the dimension with the one inside it if all inputs are contiguous over both.
    void Add(const Dimension& dimension)
    {
        Dimension& inner = m_Dimensions[m_NumDimensions - 1];
        const bool isFirst = m_NumDimensions == 1 && inner.m_Size == 1;
        bool joins = !isFirst;
        for (size_t i = 0; i < 3; ++i)
        {
            joins = joins && dimension.m_Steps[i] == inner.m_Steps[i] * inner.m_Size;
        }
        if (joins)
        {
            inner.m_Size *= dimension.m_Size;
        }
        else if (isFirst)
        {
            inner = dimension;
        }
        else
        {
            m_Dimensions[m_NumDimensions++] = dimension;
        }
    }

    std::array<Dimension, MaxNumOfTensorDimensions> m_Dimensions{}; ///< innermost first
    unsigned int m_NumDimensions = 1;
    size_t m_Elements = 0;
};

} // namespace tenon::ref
