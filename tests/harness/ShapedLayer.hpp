// SPDX-License-Identifier: Apache-2.0
// ShapedLayer: one layer as a workload of a backend, without a network and a runtime.
#pragma once

#include "common/OneThread.hpp"

#include <tenon/backend/IBackend.hpp>
#include <tenon/backend/IWorkload.hpp>
#include <tenon/backend/IWorkloadFactory.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <climits>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tenon::test
{

/// A layer with the infos of its tensors.
struct ShapedLayer
{
    LayerType m_Type = LayerType::ElementwiseUnary;  ///< or BatchMatMul; descriptors are the default ones
    std::vector<std::optional<TensorInfo>> m_Inputs; ///< none: not connected
    std::vector<TensorInfo> m_Outputs;
    std::string m_Name = "layer";
    unsigned int m_MaxThreads = UINT_MAX;
    size_t m_OutputPitch = 0;

    const BaseDescriptor& Descriptor() const
    {
        static const ElementwiseUnaryDescriptor unary;
        static const BatchMatMulDescriptor product;
        return m_Type == LayerType::BatchMatMul ? static_cast<const BaseDescriptor&>(product) : unary;
    }
    /// Calls f with the infos of the inputs and outputs.
    template <typename F>
    auto With(F f) const
    {
        std::vector<const TensorInfo*> inputs;
        std::vector<const TensorInfo*> outputs;
        for (const std::optional<TensorInfo>& input : m_Inputs)
        {
            inputs.push_back(input.has_value() ? &*input : nullptr);
        }
        for (const TensorInfo& output : m_Outputs)
        {
            outputs.push_back(&output);
        }
        return f(Span<const TensorInfo* const>(inputs), Span<const TensorInfo* const>(outputs));
    }
    /// Calls f with the arguments of the layer's Reshape.
    template <typename F>
    auto WithArgs(F f) const
    {
        return With(
            [&](auto inputs, auto outputs)
            {
                const std::vector<const void*> constants(inputs.size(), nullptr);
                ReshapeArgs args;
                args.m_Descriptor = &Descriptor();
                args.m_Inputs = inputs;
                args.m_Outputs = outputs;
                args.m_ConstantData = constants;
                args.m_Name = &m_Name;
                args.m_MaxThreads = m_MaxThreads;
                args.m_OutputPitch = m_OutputPitch;
                return f(args);
            });
    }
    /// Calls f with the layer as a backend sees it.
    template <typename F>
    auto WithView(F f) const
    {
        return With(
            [&](auto inputs, auto outputs)
            {
                LayerView view;
                view.m_Type = m_Type;
                view.m_Name = &m_Name;
                view.m_Descriptor = &Descriptor();
                view.m_Inputs = inputs;
                view.m_Outputs = outputs;
                return f(view);
            });
    }
    std::unique_ptr<IWorkload> Create(const IBackend& backend) const
    {
        return WithView([&](const LayerView& view) { return backend.CreateWorkloadFactory({})->CreateWorkload(view); });
    }
    std::unique_ptr<IShapedWorkload> Reshape(const IWorkload& workload) const
    {
        return WithArgs([&](const ReshapeArgs& args) { return workload.Reshape(args); });
    }
};

/// A layer with inputs and one output of Float32.
inline ShapedLayer MakeFloatLayer(const std::vector<TensorShape>& inputs, const TensorShape& output,
                                  LayerType type = LayerType::ElementwiseUnary)
{
    ShapedLayer layer;
    layer.m_Type = type;
    for (const TensorShape& input : inputs)
    {
        layer.m_Inputs.emplace_back(TensorInfo(input, DataType::Float32));
    }
    layer.m_Outputs = {TensorInfo(output, DataType::Float32)};
    return layer;
}

/// Executes a workload of inputs and one output of Float32; returns `count` elements of the output.
inline std::vector<float> ExecuteFloat(const IShapedWorkload& shaped, const std::vector<std::vector<float>>& inputs,
                                       size_t count)
{
    std::vector<const void*> in;
    for (const std::vector<float>& input : inputs)
    {
        in.push_back(input.data());
    }
    std::vector<float> output(count);
    void* const out[] = {output.data()};
    OneThread parallel;
    ExecuteArgs args;
    args.m_Inputs = in;
    args.m_Outputs = {out, 1};
    args.m_Parallel = &parallel;
    shaped.Execute(args);
    return output;
}

} // namespace tenon::test
