// SPDX-License-Identifier: Apache-2.0
// Output rows of 8-bit depthwise convolutions that are computed from the image itself: those blocks of channels that
// PackedDepthwise8 has in strips.
#pragma once

#include "backends/cpu/depthwise/int8/PackedDepthwiseInt8.hpp"
#include "backends/cpu/depthwise/int8/RowRingBufferInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenon::cpu
{

class DepthwiseBands8
{
public:
    /// `min`, `max`: of the stored outputs. The weights have to outlive it.
    DepthwiseBands8(const PackedDepthwise8& weights, const ref::ConvolutionGeometry& geometry, int32_t min,
                    int32_t max);

    /// Writes the blocks in strips: pixels of strips of output rows. `range`: the columns that windows of these pixels
    /// see; `padding`: the bytes of a pixel outside of the image; `to`: the output's image.
    void Write(const uint8_t* image, const Part& strips, const Part& pixels, const DepthwiseRing8::Line& line,
               const uint8_t* padding, uint8_t* to) const;

private:
    void SetStrip(DepthwiseStrips8& strips, size_t part, size_t strip, const uint8_t* image, size_t firstColumn) const;

    const PackedDepthwise8* m_Weights;
    ref::ConvolutionGeometry m_Geometry;
    bool m_IsPositive = false; ///< see DepthwiseStrips8
    /// What DepthwiseEngine8::m_PrepareStrips writes for the blocks in strips, one after the other. Copies of a kernel
    /// share it.
    std::shared_ptr<const AlignedMemory> m_Columns;
};

} // namespace tenon::cpu
