// SPDX-License-Identifier: Apache-2.0
// The windows that convolutions and pools slide over spatial dimensions: their sizes, steps and paddings as ONNX's
// attributes give them.
#pragma once

#include "parsers/onnx/Operator.hpp"

#include <cstdint>
#include <vector>

namespace tenon::onnx
{

struct SlidingWindow
{
    enum class AutoPad : uint8_t
    {
        NotSet,
        SameUpper, ///< the output has ceil(input / stride) elements; the odd pad goes to the end
        SameLower, ///< the same, but the odd pad goes to the start
        Valid
    };

    // One number for each spatial dimension.
    std::vector<int64_t> m_Kernel;
    std::vector<int64_t> m_Strides;
    std::vector<int64_t> m_Dilations;
    std::vector<int64_t> m_Before;
    std::vector<int64_t> m_After;
    AutoPad m_AutoPad = AutoPad::NotSet;

    size_t Rank() const { return m_Kernel.size(); }
    /// The number of elements that a window spans.
    int64_t Extent(size_t i) const { return (m_Kernel[i] - 1) * m_Dilations[i] + 1; }
    bool HasDilation() const;
    /// Adds a first dimension of size 1: a line becomes an image of height 1.
    void AddDimension();
};

/// The spatial sizes of [N, C, spatial...]. Throws ParseException if there are none.
std::vector<int64_t> SpatialSizes(const Value& x);

/// Reads kernel_shape, strides, dilations, pads and auto_pad. `kernel`: the sizes of weights, which are used if the
/// attribute is missing. Throws ParseException for numbers that do not fit.
SlidingWindow ReadSlidingWindow(const Operator& op, size_t spatialRank, const std::vector<int64_t>& kernel);

/// Makes paddings that follow from sizes explicit: SAME_LOWER, and with `upperToo` also SAME_UPPER. `sizes`: the
/// spatial sizes. Throws UnimplementedException if a needed size is open.
void ResolvePads(const Operator& op, SlidingWindow& windows, const std::vector<int64_t>& sizes, bool upperToo);

} // namespace tenon::onnx
