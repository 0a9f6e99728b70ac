// SPDX-License-Identifier: Apache-2.0
// SliceIndices: reads index tuples, checks them and computes their slice numbers, many at a time. Called by Gather.cpp.
#pragma once

#include "backends/cpu/move/CopyPlane.hpp"
#include "backends/reference/kernels/IndexInput.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

class SliceIndices
{
public:
    /// Input `input` holds tuples of `length` indices, for `length` dimensions of `data` from `dimension` on.
    /// `fromEnd`: negative indices count from the end.
    SliceIndices(const ReshapeArgs& args, size_t input, const TensorShape& data, unsigned int dimension,
                 unsigned int length, bool fromEnd = false);

    /// Loads the slice numbers, row-major, of the `count` tuples from `first` on; there are at most 2^32 slices. Throws
    /// RuntimeException for an index outside of its dimension.
    void Load(const ExecuteArgs& args, size_t first, size_t count, uint32_t* slices) const
    {
        if (!m_Load(*this, args.m_Inputs[m_Input], first, count, slices))
        {
            ThrowOutside(args, first, count);
        }
    }

    /// The same slice numbers: a pointer into the index tensor if it holds exactly these, else to `memory`. Callers may
    /// read them repeatedly while slices are copied: like each input, the tensor must not change during a run.
    const uint32_t* Find(const ExecuteArgs& args, size_t first, size_t count, uint32_t* memory) const
    {
        if (m_IsEachBelow == nullptr)
        {
            Load(args, first, count, memory);
            return memory;
        }
        const uint32_t* const slices = static_cast<const uint32_t*>(args.m_Inputs[m_Input]) + first;
        if (!m_IsEachBelow(slices, count, m_Limit))
        {
            ThrowOutside(args, first, count);
        }
        return slices;
    }

private:
    /// False if an index is outside of its dimension.
    template <typename T>
    static bool LoadAs(const SliceIndices& self, const void* indices, size_t first, size_t count, uint32_t* slices);
    /// The same for indices that may count from the end.
    template <typename T>
    static bool LoadFromEnd(const SliceIndices& self, const void* indices, size_t first, size_t count,
                            uint32_t* slices);

    void ThrowOutside(const ExecuteArgs& args, size_t first, size_t count) const;

    bool (*m_Load)(const SliceIndices& self, const void* indices, size_t first, size_t count, uint32_t* slices);
    IsEachBelowFunction m_IsEachBelow = nullptr; ///< null if indices have to be converted to slice numbers
    uint32_t m_Limit = 0;                        ///< upper limit of slice numbers
    ref::IndexInput m_Indices;
    size_t m_Input;
    size_t m_Length;
    bool m_FromEnd;
    std::array<size_t, MaxNumOfTensorDimensions> m_Sizes{};
};

} // namespace tenon::cpu
