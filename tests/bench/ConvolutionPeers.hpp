// SPDX-License-Identifier: Apache-2.0
// Single convolutions on other libraries, for bench_convolutions. Each peer is in a translation unit of its own, which
// is built if the library is installed.
#pragma once

#include "KernelNetworks.hpp"

#include <memory>

namespace tenon::bench
{

/// A convolution of a square image, padded so that stride 1 keeps its size.
struct ConvolutionSizes
{
    const char* m_Model = "";
    unsigned int m_Size = 1;
    unsigned int m_Inputs = 1;  ///< channels
    unsigned int m_Outputs = 1; ///< channels
    Window m_Window;
    bool m_IsDepthwise = false;

    unsigned int GetOutputSize() const { return (m_Size + m_Window.m_Stride - 1) / m_Window.m_Stride; }
    /// The padding of both sides together.
    unsigned int GetPadding() const
    {
        const unsigned int needed = (GetOutputSize() - 1) * m_Window.m_Stride + m_Window.m_Size;
        return needed > m_Size ? needed - m_Size : 0;
    }
};

/// A convolution that is ready to run, on one thread.
class ConvolutionPeer
{
public:
    virtual ~ConvolutionPeer() = default;
    virtual void Run() = 0;
};

/// The convolution with the weights and bias of `network`, of Float32 or Int8; null if the library refuses it.
std::unique_ptr<ConvolutionPeer> MakeXnnpackConvolution(const ConvolutionSizes& sizes, const LayerNetwork& network);
std::unique_ptr<ConvolutionPeer> MakeOneDnnConvolution(const ConvolutionSizes& sizes, const LayerNetwork& network);

} // namespace tenon::bench
