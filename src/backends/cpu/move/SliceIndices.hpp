// SPDX-License-Identifier: Apache-2.0
// SliceIndices: which slices of a tensor an index tensor names, many at a time, each checked. Used by the kernels that
// gather.
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
    /// Input `input` holds tuples of `length` indices of the first `length` of `data`'s dimensions from `dimension` on.
    /// `fromEnd`: negative ones count from the end.
    SliceIndices(const ReshapeArgs& args, size_t input, const TensorShape& data, unsigned int dimension,
                 unsigned int length, bool fromEnd = false);

    /// The slices that `count` tuples from `first` on name, counted row-major; there are at most 2^32. Throws
    /// RuntimeException for an index outside its dimension.
    void Load(const ExecuteArgs& args, size_t first, size_t count, uint32_t* slices) const
    {
        if (!m_Load(*this, args.m_Inputs[m_Input], first, count, slices))
        {
            ThrowOutside(args, first, count);
        }
    }

    /// The same, in the tensor itself where it holds just these, else in `memory`. They are read again while slices are
    /// copied: as any input, the tensor must not change during a run.
    const uint32_t* Find(const ExecuteArgs& args, size_t first, size_t count, uint32_t* memory) const
    {
        if (m_AreBelow == nullptr)
        {
            Load(args, first, count, memory);
            return memory;
        }
        const uint32_t* const slices = static_cast<const uint32_t*>(args.m_Inputs[m_Input]) + first;
        if (!m_AreBelow(slices, count, m_Limit))
        {
            ThrowOutside(args, first, count);
        }
        return slices;
    }

private:
    /// False where an index is outside its dimension.
    template <typename T>
    static bool LoadAs(const SliceIndices& self, const void* indices, size_t first, size_t count, uint32_t* slices);
    /// The same of indices that may count from the end.
    template <typename T>
    static bool LoadFromEnd(const SliceIndices& self, const void* indices, size_t first, size_t count,
                            uint32_t* slices);

    void ThrowOutside(const ExecuteArgs& args, size_t first, size_t count) const;

    bool (*m_Load)(const SliceIndices& self, const void* indices, size_t first, size_t count, uint32_t* slices);
    AreBelowFunction m_AreBelow = nullptr; ///< null: indices are no slices
    uint32_t m_Limit = 0;                  ///< of slices that indices can name
    ref::IndexInput m_Indices;
    size_t m_Input;
    size_t m_Length;
    bool m_FromEnd;
    std::array<size_t, MaxNumOfTensorDimensions> m_Sizes{};
};

} // namespace tenon::cpu
