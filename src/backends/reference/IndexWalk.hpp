// SPDX-License-Identifier: Apache-2.0
// IndexWalk: visits all indices of some dimensions, the last one fastest, and keeps N offsets that move along with
// them. Made in a kernel's prepare step, run per inference. Used by the kernels whose loops follow the descriptor:
// ReduceWindow, StablehloGather, StablehloPad, StablehloScatter.
#pragma once

#include <tenon/Types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

template <size_t N>
class IndexWalk
{
public:
    using Offsets = std::array<int64_t, N>;
    using Indices = std::array<int64_t, MaxNumOfTensorDimensions>;

    /// Adds a dimension inside the existing ones; `steps` are the increments of the offsets per index. There may be at
    /// most MaxNumOfTensorDimensions dimensions.
    void Add(size_t size, const Offsets& steps)
    {
        m_Sizes[m_Rank] = static_cast<int64_t>(size);
        m_Steps[m_Rank] = steps;
        ++m_Rank;
        m_Count *= size;
    }

    /// The number of indices.
    size_t GetCount() const { return m_Count; }

    /// visit(indices, offsets) for the indices [begin, end), counted in their order. `offsets` belong to index 0.
    template <typename Visit>
    void Run(size_t begin, size_t end, Offsets offsets, const Visit& visit) const
    {
        if (begin >= end)
        {
            return;
        }
        Indices indices{};
        auto rest = static_cast<int64_t>(begin);
        for (unsigned int i = m_Rank; i-- > 0;)
        {
            indices[i] = rest % m_Sizes[i];
            rest /= m_Sizes[i];
            Move(offsets, i, indices[i]);
        }
        for (size_t left = end - begin;;)
        {
            visit(indices, offsets);
            if (--left == 0)
            {
                return;
            }
            for (unsigned int i = m_Rank; i-- > 0;)
            {
                Move(offsets, i, 1);
                if (++indices[i] < m_Sizes[i])
                {
                    break;
                }
                Move(offsets, i, -m_Sizes[i]);
                indices[i] = 0;
            }
        }
    }
    template <typename Visit>
    void Run(Offsets offsets, const Visit& visit) const
    {
        Run(0, m_Count, offsets, visit);
    }

private:
    void Move(Offsets& offsets, unsigned int dimension, int64_t count) const
    {
        for (size_t k = 0; k < N; ++k)
        {
            offsets[k] += m_Steps[dimension][k] * count;
        }
    }

    std::array<int64_t, MaxNumOfTensorDimensions> m_Sizes{};
    std::array<Offsets, MaxNumOfTensorDimensions> m_Steps{};
    unsigned int m_Rank = 0;
    size_t m_Count = 1;
};

} // namespace tenon::ref
