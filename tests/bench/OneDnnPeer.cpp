// SPDX-License-Identifier: Apache-2.0
// Convolutions of oneDNN 2: data as channels last, weights in the form that the library prefers, set up once.
#include "ConvolutionPeers.hpp"

#include <dnnl.hpp>
#include <unordered_map>

namespace tenon::bench
{

namespace
{

using dnnl::memory;

class OneDnnConvolution final : public ConvolutionPeer
{
public:
    OneDnnConvolution(const ConvolutionSizes& s, const LayerNetwork& network)
        : m_Engine(dnnl::engine::kind::cpu, 0), m_Stream(m_Engine)
    {
        using Type = memory::data_type;
        using Tag = memory::format_tag;
        const bool isFloat = network.m_Element == Element::Float32;
        const Type type = isFloat ? Type::f32 : Type::s8;
        const memory::dim outputs = s.m_Outputs;
        const memory::dim side = s.m_Window.m_Size;
        const memory::dim stride = s.m_Window.m_Stride;
        const memory::dim before = s.GetPadding() / 2;
        const memory::dim behind = s.GetPadding() - s.GetPadding() / 2;
        const memory::desc input({1, s.m_Inputs, s.m_Size, s.m_Size}, type, Tag::nhwc);
        const memory::desc output({1, outputs, s.GetOutputSize(), s.GetOutputSize()}, type, Tag::nhwc);
        const memory::desc bias({outputs}, isFloat ? Type::f32 : Type::s32, Tag::x);
        const memory::dims dims =
            s.m_IsDepthwise ? memory::dims{outputs, 1, 1, side, side} : memory::dims{outputs, s.m_Inputs, side, side};
        dnnl::primitive_attr attributes;
        if (!isFloat)
        {
            attributes.set_output_scales(1 << 1, std::vector<float>(s.m_Outputs, 1.0f / 2048.0f));
        }
        const dnnl::convolution_forward::primitive_desc description({dnnl::prop_kind::forward_inference,
                                                                     dnnl::algorithm::convolution_direct,
                                                                     input,
                                                                     {dims, type, Tag::any},
                                                                     bias,
                                                                     output,
                                                                     {stride, stride},
                                                                     {before, before},
                                                                     {behind, behind}},
                                                                    attributes, m_Engine);
        memory given({dims, type, s.m_IsDepthwise ? Tag::hwigo : Tag::ohwi}, m_Engine, network.m_Constants[0]->data());
        memory weights(description.weights_desc(), m_Engine);
        dnnl::reorder(given, weights).execute(m_Stream, given, weights);
        m_Arguments = {{DNNL_ARG_SRC, memory(input, m_Engine)},
                       {DNNL_ARG_WEIGHTS, weights},
                       {DNNL_ARG_BIAS, memory(bias, m_Engine, network.m_Constants[1]->data())},
                       {DNNL_ARG_DST, memory(output, m_Engine)}};
        auto* const data = static_cast<char*>(m_Arguments[DNNL_ARG_SRC].get_data_handle());
        std::fill_n(data, input.get_size(), char{1});
        m_Convolution = dnnl::convolution_forward(description);
        m_Stream.wait();
    }

    void Run() override
    {
        m_Convolution.execute(m_Stream, m_Arguments);
        m_Stream.wait();
    }

private:
    dnnl::engine m_Engine;
    dnnl::stream m_Stream;
    dnnl::convolution_forward m_Convolution;
    std::unordered_map<int, memory> m_Arguments;
};

} // namespace

std::unique_ptr<ConvolutionPeer> MakeOneDnnConvolution(const ConvolutionSizes& sizes, const LayerNetwork& network)
{
    try
    {
        return std::make_unique<OneDnnConvolution>(sizes, network);
    }
    catch (const dnnl::error&)
    {
        return nullptr;
    }
}

} // namespace tenon::bench
