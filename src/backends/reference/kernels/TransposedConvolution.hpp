// SPDX-License-Identifier: Apache-2.0
// The executor that TransposeConvolution2d and TransposeConvolution3d share: for each output pixel, the sum over the
// taps that spread an input pixel to it. Called by their prepare functions.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/SumRequantizer.hpp"
#include "backends/reference/kernels/VolumeGeometry.hpp"

namespace tenon::ref
{

/// The windows lie in the output: m_Output of an axis is the size of the image, m_Input the number of windows.
struct TransposedConvolutionGeometry : VolumeGeometry
{
    size_t m_TapStep = 1;    ///< weights from one tap to the next
    size_t m_OutputStep = 1; ///< weights from one output channel to the next; input channels are neighbours
};

/// `method`: of quantized outputs. `sumsOf32Bits`: see Convolution2dDescriptor.
backends::Prepared PrepareTransposedConvolution(const ReshapeArgs& args, const TransposedConvolutionGeometry& g,
                                                SumRequantizer::Method method, bool sumsOf32Bits);

} // namespace tenon::ref
