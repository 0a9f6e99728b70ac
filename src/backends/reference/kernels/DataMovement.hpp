// SPDX-License-Identifier: Apache-2.0
// Code that the kernels that only move elements share: strided copies of boxes, and 4-bit elements. Used by Concat,
// Gather, Pad, Reshape, Resize, ReverseV2, Slice, Splitter, Stack, StridedSlice, Tile, Transpose and the kernels that
// move blocks. Values are never interpreted, so any element type is supported.
#pragma once

#include "backends/common/KernelTable.hpp"

#include <tenon/Tensor.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tenon::ref
{

/// Sizes or strides of up to MaxNumOfTensorDimensions dimensions.
using Extents = std::array<int64_t, MaxNumOfTensorDimensions>;

/// The sizes of a fully known shape.
Extents GetExtents(const TensorShape& shape);

/// Elements from one index of each dimension to the next, in a contiguous tensor of this shape.
Extents GetStrides(const TensorShape& shape);

/// The product of the sizes [first, last).
size_t CountElements(const TensorShape& shape, unsigned int first, unsigned int last);

/// Bytes of an element while it is moved: 4-bit elements are unpacked to one byte each.
size_t GetMovedBytes(DataType type);

/// Output 0 gets the bytes of input 0, unless both are the same memory.
backends::Prepared PrepareCopy(const TensorInfo& input);

/// Moves the elements of one tensor to another; in both, an element has a whole number of bytes.
using MoveFunction = std::function<void(const std::byte* input, std::byte* output)>;

/// Runs `move` from input 0 to output 0; for 4-bit tensors on unpacked copies in scratch memory.
backends::Prepared PrepareMove(const TensorInfo& input, const TensorInfo& output, MoveFunction move);

/// The same for moves that also read other inputs: indices, axes.
using IndexedMoveFunction = std::function<void(const ExecuteArgs& args, const std::byte* input, std::byte* output)>;
backends::Prepared PrepareIndexedMove(const TensorInfo& input, const TensorInfo& output, IndexedMoveFunction move);

/// Throws LayerValidationException, naming the layer type and the operation, unless the output has the shape of
/// `sizes`.
void CheckOutputShape(const ReshapeArgs& args, const char* layerType, const std::vector<unsigned int>& sizes);

/// The given sizes of `shape`, from dimension `first` up to `last`, at the end of `sizes`.
void AppendSizes(std::vector<unsigned int>& sizes, const TensorShape& shape, unsigned int first, unsigned int last);

/// Repeats the block of `blockBytes` bytes that is in `to` already until there are `bytes` bytes.
void RepeatBlock(std::byte* to, size_t blockBytes, size_t bytes);

/// Copies a box of elements to a contiguous output. Neighbouring dimensions that are contiguous are merged and the
/// longest contiguous run is copied by memcpy.
class BoxCopy
{
public:
    /// `sizes[i]` elements of dimension i, the next one `strides[i]` elements further in the source (negative ones
    /// step back). `first` is the source element that comes first.
    BoxCopy(unsigned int rank, const Extents& sizes, const Extents& strides, int64_t first, size_t elementBytes);

    void operator()(const std::byte* input, std::byte* output) const;

    /// The position of the run in the source, if the copy consists of a single run; else TensorAliases::None.
    size_t FindContiguousOffset() const
    {
        return m_NumLoops == 0 && m_RunBytes != 0 ? static_cast<size_t>(m_First) : TensorAliases::None;
    }

private:
    struct Loop
    {
        int64_t m_Count = 1;
        int64_t m_Step = 0; ///< bytes in the source
    };

    std::array<Loop, MaxNumOfTensorDimensions> m_Loops{}; ///< outermost first, without the run itself
    unsigned int m_NumLoops = 0;
    int64_t m_First = 0;   ///< bytes
    size_t m_RunBytes = 0; ///< bytes copied at a time; 0 when there is nothing to copy
};

/// The same for a box, which may be the whole input in its order, or a contiguous part of it.
backends::Prepared PrepareMove(const TensorInfo& input, const TensorInfo& output, const BoxCopy& move);

} // namespace tenon::ref
