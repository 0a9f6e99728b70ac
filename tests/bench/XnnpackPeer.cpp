// SPDX-License-Identifier: Apache-2.0
// Convolutions of XNNPACK's operators, without a thread pool.
#include "AlignedBytes.hpp"
#include "ConvolutionPeers.hpp"

#include <limits>
#include <vector>
#include <xnnpack.h>

namespace tenon::bench
{

namespace
{

constexpr float Scale = 1.0f / 128.0f;

class XnnpackConvolution final : public ConvolutionPeer
{
public:
    XnnpackConvolution(const ConvolutionSizes& sizes, const LayerNetwork& network)
        : m_IsReady(xnn_initialize(nullptr) == xnn_status_success &&
                    (network.m_Element == Element::Float32 ? SetUpFloats(sizes, network) : SetUpBytes(sizes, network)))
    {
    }
    ~XnnpackConvolution() override { xnn_delete_operator(m_Operator); }
    XnnpackConvolution(const XnnpackConvolution&) = delete;
    XnnpackConvolution& operator=(const XnnpackConvolution&) = delete;

    bool IsReady() const { return m_IsReady; }
    void Run() override { xnn_run_operator(m_Operator, nullptr); }

private:
    /// Calls one of the functions that make an operator, which agree in their first parameters; `rest` are the others.
    template <typename Create, typename... Rest>
    bool Make(Create create, const ConvolutionSizes& s, Rest... rest)
    {
        const uint32_t side = s.m_Window.m_Size;
        const uint32_t stride = s.m_Window.m_Stride;
        const uint32_t groups = s.m_IsDepthwise ? s.m_Inputs : 1;
        const uint32_t flags =
            XNN_FLAG_TENSORFLOW_SAME_PADDING | (s.m_IsDepthwise ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0U);
        return create(0, 0, 0, 0, side, side, stride, stride, 1, 1, groups, s.m_Inputs / groups, s.m_Outputs / groups,
                      s.m_Inputs, s.m_Outputs, rest..., flags, &m_Operator) == xnn_status_success;
    }

    /// Sets tensors up: XNNPACK may read some bytes behind them.
    template <typename T, typename Setup>
    bool Bind(Setup setup, const ConvolutionSizes& s)
    {
        const size_t outputs = size_t{s.GetOutputSize()} * s.GetOutputSize() * s.m_Outputs;
        m_Input.resize(size_t{s.m_Size} * s.m_Size * s.m_Inputs * sizeof(T) + XNN_EXTRA_BYTES, 1);
        m_Output.resize(outputs * sizeof(T) + XNN_EXTRA_BYTES);
        return setup(m_Operator, 1, s.m_Size, s.m_Size, reinterpret_cast<const T*>(m_Input.data()),
                     reinterpret_cast<T*>(m_Output.data()), nullptr) == xnn_status_success;
    }

    bool SetUpFloats(const ConvolutionSizes& s, const LayerNetwork& network)
    {
        constexpr float infinity = std::numeric_limits<float>::infinity();
        return Make(xnn_create_convolution2d_nhwc_f32, s,
                    reinterpret_cast<const float*>(network.m_Constants[0]->data()),
                    reinterpret_cast<const float*>(network.m_Constants[1]->data()), -infinity, infinity) &&
               Bind<float>(xnn_setup_convolution2d_nhwc_f32, s);
    }

    bool SetUpBytes(const ConvolutionSizes& s, const LayerNetwork& network)
    {
        const std::vector<float> scales(s.m_Outputs, Scale / 2);
        return Make(xnn_create_convolution2d_nhwc_qc8, s, int8_t{-3}, Scale, scales.data(),
                    reinterpret_cast<const int8_t*>(network.m_Constants[0]->data()),
                    reinterpret_cast<const int32_t*>(network.m_Constants[1]->data()), int8_t{-3}, Scale * 8,
                    int8_t{-128}, int8_t{127}) &&
               Bind<int8_t>(xnn_setup_convolution2d_nhwc_qc8, s);
    }

    xnn_operator_t m_Operator = nullptr;
    AlignedBytes m_Input;
    AlignedBytes m_Output;
    bool m_IsReady = false;
};

} // namespace

std::unique_ptr<ConvolutionPeer> MakeXnnpackConvolution(const ConvolutionSizes& sizes, const LayerNetwork& network)
{
    auto peer = std::make_unique<XnnpackConvolution>(sizes, network);
    return peer->IsReady() ? std::move(peer) : nullptr;
}

} // namespace tenon::bench
