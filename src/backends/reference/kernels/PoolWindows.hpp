// SPDX-License-Identifier: Apache-2.0
// The windows of MaxPool2dWithIndices and MaxUnpool2d in an NHWC image. Used by their kernels on CpuRef and CpuAcc.
#pragma once

#include "backends/reference/kernels/ConvolutionGeometry.hpp"

#include <tenon/Tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace tenon::ref
{

/// The values of a window without larger elements.
constexpr float LowestPooled = std::numeric_limits<float>::lowest();
/// MediaPipe's indices are floats that end in it.
constexpr float IndexFraction = 0.1f;

/// One window for each pixel of the pooled image.
struct PoolWindows
{
    size_t m_Batches = 0;
    size_t m_Channels = 0;
    WindowAxis m_Y; ///< from the image to the pooled image
    WindowAxis m_X;

    /// `pool`: a descriptor of either layer.
    template <typename Descriptor>
    PoolWindows(const TensorShape& image, const TensorShape& pooled, const Descriptor& pool)
        : m_Batches(image[0]), m_Channels(image[3]),
          m_Y(MakeAxis(image[1], pooled[1], pool.m_PoolHeight, pool.m_StrideY)),
          m_X(MakeAxis(image[2], pooled[2], pool.m_PoolWidth, pool.m_StrideX))
    {
    }

    /// The first channel of a pixel of the image.
    size_t FindPixel(size_t batch, size_t y, size_t x) const
    {
        return ((batch * m_Y.m_Input + y) * m_X.m_Input + x) * m_Channels;
    }

private:
    /// Paddings are those of TFLite's Same.
    static WindowAxis MakeAxis(size_t image, size_t pooled, uint32_t size, uint32_t stride)
    {
        const int64_t reach = (static_cast<int64_t>(pooled) - 1) * stride + size;
        return {image, pooled, size, stride, 1, std::max<int64_t>(reach - static_cast<int64_t>(image), 0) / 2};
    }
};

} // namespace tenon::ref
