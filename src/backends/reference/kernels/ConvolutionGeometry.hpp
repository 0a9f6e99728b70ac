// SPDX-License-Identifier: Apache-2.0
// The geometry of a convolution: sizes of data, weights and output, and the position of a window in the image. Made in
// the prepare steps of Convolution2d, DepthwiseConvolution2d and FullyConnected (a 1x1 convolution of 1x1 images); read
// by their loops.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

/// A window's extent in one direction.
struct WindowAxis
{
    size_t m_Input = 1; ///< size of the image
    size_t m_Output = 1;
    size_t m_Kernel = 1;
    int64_t m_Stride = 1;
    int64_t m_Dilation = 1;
    int64_t m_Pad = 0; ///< before the image

    /// Image position of the window's first tap at output position `out`; it may lie outside.
    int64_t Origin(size_t out) const { return static_cast<int64_t>(out) * m_Stride - m_Pad; }
    /// First tap inside the image.
    size_t FirstTap(int64_t origin) const
    {
        return origin >= 0 ? 0 : ClampTap((-origin + m_Dilation - 1) / m_Dilation);
    }
    /// One past the last tap inside the image; not below FirstTap.
    size_t EndTap(int64_t origin) const
    {
        const int64_t room = static_cast<int64_t>(m_Input) - origin;
        const size_t end = room <= 0 ? 0 : ClampTap((room - 1) / m_Dilation + 1);
        return std::max(end, FirstTap(origin));
    }

private:
    /// The tap is clamped before it becomes a size_t, which may have 32 bits.
    size_t ClampTap(int64_t tap) const { return static_cast<size_t>(std::min(tap, static_cast<int64_t>(m_Kernel))); }
};

struct ConvolutionGeometry
{
    size_t m_Batches = 1;
    WindowAxis m_Y;
    WindowAxis m_X;
    size_t m_InputChannels = 1;
    size_t m_OutputChannels = 1;
    size_t m_Groups = 1;
    size_t m_GroupInputs = 1;  ///< input channels of a group: I of the weights
    size_t m_GroupOutputs = 1; ///< output channels of a group

    size_t NumPixels() const { return m_Batches * m_Y.m_Output * m_X.m_Output; }
    size_t NumImageElements() const { return m_Y.m_Input * m_X.m_Input * m_InputChannels; }
    /// Products in one output element of a convolution.
    size_t Depth() const { return m_Y.m_Kernel * m_X.m_Kernel * m_GroupInputs; }
    bool IsEmpty() const { return NumPixels() * m_OutputChannels == 0; }
};

/// Convolution2d, NHWC, weights [O, H, W, I]. Throws LayerValidationException when shapes do not fit.
ConvolutionGeometry MakeConvolutionGeometry(const ReshapeArgs& args);
/// DepthwiseConvolution2d, NHWC, weights [1, H, W, O]; groups are the input channels. Throws likewise.
ConvolutionGeometry MakeDepthwiseGeometry(const ReshapeArgs& args);

/// Refuses layouts other than NHWC, and zero strides and dilations. D: a convolution's descriptor.
template <typename D>
SupportResult CheckConvolution(const D& descriptor)
{
    if (descriptor.m_DataLayout != DataLayout::NHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its data layout is not NHWC; the optimizer turns NCHW layers into NHWC ones");
    }
    if (descriptor.m_StrideX == 0 || descriptor.m_StrideY == 0 || descriptor.m_DilationX == 0 ||
        descriptor.m_DilationY == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "a stride or dilation is 0; they start at 1");
    }
    return SupportResult::Yes();
}

} // namespace tenon::ref
