// SPDX-License-Identifier: Apache-2.0
// Sizes of the convolutions that run pixel by pixel over volumes: Convolution3d and the transposed convolutions; a 2D
// image is a volume with one layer. Made in their prepare steps, read by their loops.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"
#include "backends/reference/kernels/RunTasks.hpp"

#include <cstddef>

namespace tenon::ref
{

struct VolumeGeometry
{
    size_t m_Batches = 1;
    WindowAxis m_Z;
    WindowAxis m_Y;
    WindowAxis m_X;
    size_t m_InputChannels = 1;
    size_t m_OutputChannels = 1;

    /// The number of output rows in all batches and layers.
    size_t NumRows() const { return m_Batches * m_Z.m_Output * m_Y.m_Output; }
    size_t NumVolumeElements() const { return m_Z.m_Input * m_Y.m_Input * m_X.m_Input * m_InputChannels; }
    bool IsEmpty() const { return NumRows() * m_X.m_Output * m_OutputChannels == 0; }
};

/// The position of an output pixel.
struct VolumePosition
{
    size_t m_Batch = 0;
    size_t m_Z = 0;
    size_t m_Y = 0;
    size_t m_X = 0;
};

/// Calls sum(position, sums), which fills the sums of all output channels, then emit(pixel, batch, sums), for each
/// output pixel. `sums` has room for the sums of MaxTasks pixels.
template <typename Acc, typename Sum, typename Emit>
void ForEachVolumePixel(const VolumeGeometry& g, IParallelFor& parallel, Acc* sums, const Sum& sum, const Emit& emit)
{
    const auto rows = [&](size_t task, size_t begin, size_t end)
    {
        Acc* own = sums + task * g.m_OutputChannels;
        for (size_t row = begin; row < end; ++row)
        {
            VolumePosition position;
            position.m_Y = row % g.m_Y.m_Output;
            position.m_Z = row / g.m_Y.m_Output % g.m_Z.m_Output;
            position.m_Batch = row / g.m_Y.m_Output / g.m_Z.m_Output;
            for (; position.m_X < g.m_X.m_Output; ++position.m_X)
            {
                sum(position, own);
                emit(row * g.m_X.m_Output + position.m_X, position.m_Batch, own);
            }
        }
    };
    RunTasks(parallel, g.NumRows(), rows);
}

/// The same axes of a layer with three dimensions. D: its descriptor; `weights`: dimensions [D, H, W].
template <typename D>
void SetVolumeAxes(const D& descriptor, const TensorShape& data, const TensorShape& weights, const TensorShape& output,
                   VolumeGeometry& g)
{
    g.m_Batches = output[0];
    g.m_Z = {data[1], output[1], weights[0], descriptor.m_StrideZ, descriptor.m_DilationZ, descriptor.m_PadFront};
    g.m_Y = {data[2], output[2], weights[1], descriptor.m_StrideY, descriptor.m_DilationY, descriptor.m_PadTop};
    g.m_X = {data[3], output[3], weights[2], descriptor.m_StrideX, descriptor.m_DilationX, descriptor.m_PadLeft};
    g.m_InputChannels = data[4];
    g.m_OutputChannels = output[4];
}

/// Refuses layouts other than NDHWC, and zero strides and dilations. D: a descriptor with three dimensions.
template <typename D>
SupportResult CheckVolume(const D& descriptor)
{
    if (descriptor.m_DataLayout != DataLayout::NDHWC)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "its data layout is not NDHWC; the optimizer turns NCDHW layers into NDHWC ones");
    }
    if (descriptor.m_StrideX == 0 || descriptor.m_StrideY == 0 || descriptor.m_StrideZ == 0 ||
        descriptor.m_DilationX == 0 || descriptor.m_DilationY == 0 || descriptor.m_DilationZ == 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "a stride or dilation is 0; they start at 1");
    }
    return SupportResult::Yes();
}

} // namespace tenon::ref
