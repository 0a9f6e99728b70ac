// SPDX-License-Identifier: Apache-2.0
// ReversedAxes: the axes that ReverseV2 reverses. Used by its kernels of CpuRef and CpuAcc.
#pragma once

#include "backends/reference/kernels/IndexInput.hpp"

#include <tenon/Exceptions.hpp>

#include <cstddef>
#include <string>

namespace tenon::ref
{

class ReversedAxes
{
public:
    explicit ReversedAxes(const ReshapeArgs& args)
        : m_Rank(args.GetInput(0).GetNumDimensions()), m_Count(args.GetInput(1).GetNumElements()), m_Axes(args, 1)
    {
    }

    /// Bit i: axis i is reversed. Throws RuntimeException for axes that do not exist, or are named twice.
    unsigned int Read(const ExecuteArgs& args) const
    {
        unsigned int seen = 0;
        for (size_t i = 0; i < m_Count; ++i)
        {
            const int64_t given = m_Axes.Read(args, i, -static_cast<int64_t>(m_Rank), m_Rank);
            const auto axis = static_cast<unsigned int>(given < 0 ? given + m_Rank : given);
            if (((seen >> axis) & 1U) != 0)
            {
                throw RuntimeException("element " + std::to_string(i) + " of input 1 names axis " +
                                       std::to_string(axis) + " a second time; it can be reversed once");
            }
            seen |= 1U << axis;
        }
        return seen;
    }

private:
    unsigned int m_Rank;
    size_t m_Count;
    IndexInput m_Axes;
};

} // namespace tenon::ref
