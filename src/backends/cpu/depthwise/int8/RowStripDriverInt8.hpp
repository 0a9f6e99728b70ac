// SPDX-License-Identifier: Apache-2.0
// The driver of row strips: for the strip blocks of a layer, sets up the rows, padding and outputs of the strips that
// one call of m_RunRowStrips computes, and prepares the requantization of each block once.
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

class RowStripDriverInt8
{
public:
    /// `min`, `max`: clamp of the int8 outputs. The weights have to outlive the driver.
    RowStripDriverInt8(const PackedDepthwiseInt8& weights, const ref::ConvolutionGeometry& geometry, int32_t min,
                       int32_t max);

    /// Computes the strip blocks among `blocks` for a range of pixels in a range of strips. `range`: the image columns
    /// that their windows read; `padding`: the bytes of a pixel in the padding; `to`: the output's image.
    void Write(const uint8_t* image, const IndexRange& strips, const IndexRange& pixels, const IndexRange& blocks,
               const RowRingBufferInt8::ColumnRange& range, const uint8_t* padding, uint8_t* to) const;

private:
    void SetStrip(RowStripsInt8& strips, size_t slot, size_t strip, const uint8_t* image, size_t firstColumn) const;

    const PackedDepthwiseInt8* m_Weights;
    ref::ConvolutionGeometry m_Geometry;
    ScaleInt8 m_Scale = ScaleInt8::Any; ///< see RowStripsInt8
    /// The requantization constants of all strip blocks, one after the other
    /// (DepthwiseMicrokernelsInt8::m_PrepareStripRequantization). Copies of a workload share them.
    std::shared_ptr<const AlignedMemory> m_Requantization;
};

} // namespace tenon::cpu
