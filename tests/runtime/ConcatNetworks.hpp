// SPDX-License-Identifier: Apache-2.0
// Networks of layers that join and cut out rows, as tests of the plan build them, and their runs.
#pragma once

#include "harness/Networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace tenon::test
{

using Floats = std::vector<float>;

/// A row is as many bytes as tensors are aligned to.
constexpr unsigned int Row = 16;

inline IConnectableLayer* AddUnary(INetwork& network, IConnectableLayer* from,
                                   UnaryOperation operation = UnaryOperation::Neg, unsigned int output = 0)
{
    IConnectableLayer* layer = network.AddElementwiseUnaryLayer(ElementwiseUnaryDescriptor(operation), "unary");
    Connect(from, layer, 0, output);
    return layer;
}

inline IConnectableLayer* AddConcat(INetwork& network, const std::vector<IConnectableLayer*>& parts, unsigned int axis,
                                    unsigned int rank = 2)
{
    OriginsDescriptor descriptor(static_cast<uint32_t>(parts.size()), rank);
    descriptor.SetConcatAxis(axis);
    IConnectableLayer* layer = network.AddConcatLayer(descriptor, "concat");
    for (unsigned int i = 0; i < parts.size(); ++i)
    {
        Connect(parts[i], layer, i);
    }
    return layer;
}

inline IConnectableLayer* AddRows(INetwork& network, IConnectableLayer* from, unsigned int first, unsigned int count)
{
    IConnectableLayer* layer = network.AddSliceLayer(SliceDescriptor({first, 0}, {count, Row}), "slice");
    Connect(from, layer);
    return layer;
}

/// Row `count` and all after it become output 1.
inline IConnectableLayer* AddSplit(INetwork& network, IConnectableLayer* from, unsigned int count, unsigned int rows,
                                   unsigned int output = 0)
{
    ViewsDescriptor descriptor(2, 2);
    descriptor.SetViewOriginCoord(1, 0, count);
    for (uint32_t view = 0; view < 2; ++view)
    {
        descriptor.SetViewSize(view, 0, view == 0 ? count : rows - count);
        descriptor.SetViewSize(view, 1, Row);
    }
    IConnectableLayer* layer = network.AddSplitterLayer(descriptor, "split");
    Connect(from, layer, 0, output);
    return layer;
}

inline void AddOutputs(INetwork& network, const std::vector<IConnectableLayer*>& layers)
{
    for (unsigned int i = 0; i < layers.size(); ++i)
    {
        Connect(layers[i], network.AddOutputLayer(static_cast<LayerBindingId>(i)));
    }
}

/// All outputs for these inputs.
inline std::vector<Floats> RunAll(const INetwork& network, const BackendId& backend, const std::vector<Floats>& inputs)
{
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, network, {backend});
    InputTensors given;
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        TensorInfo info = runtime->GetInputTensorInfo(id, static_cast<LayerBindingId>(i));
        info.SetConstant();
        given.emplace_back(static_cast<LayerBindingId>(i), ConstTensor(info, inputs[i].data()));
    }
    std::vector<Floats> results;
    results.reserve(16);
    runtime->EnqueueWorkload(id, given,
                             [&](LayerBindingId binding, const TensorInfo& info)
                             {
                                 results.resize(std::max(results.size(), static_cast<size_t>(binding) + 1));
                                 Floats& result = results[static_cast<size_t>(binding)];
                                 result.resize(info.GetNumElements());
                                 return result.data();
                             });
    return results;
}

inline Floats Negated(Floats values)
{
    for (float& value : values)
    {
        value = -value;
    }
    return values;
}

inline Floats Joined(Floats first, const Floats& second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// So many of the caller's threads for each layer of CpuAcc.
inline OptimizerOptionsOpaque LimitedThreads(unsigned int threads)
{
    OptimizerOptionsOpaque options;
    options.AddModelOption(BackendOptions("CpuAcc", {{"NumberOfThreads", threads}}));
    return options;
}

/// All outputs of a loaded network for random inputs, of the second one of two runs.
inline std::vector<Floats> RunRandom(IRuntime& runtime, NetworkId id, const INetwork& network)
{
    std::vector<Floats> values;
    InputTensors inputs;
    values.reserve(8);
    std::mt19937 random(7);
    std::uniform_real_distribution<float> distribution(-1.0f, 1.0f);
    struct CountInputs : IStrategy
    {
        void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                             const char*, const LayerBindingId) override
        {
            m_Inputs += layer->GetType() == LayerType::Input ? 1 : 0;
            m_Outputs += layer->GetType() == LayerType::Output ? 1 : 0;
        }
        int m_Inputs = 0;
        int m_Outputs = 0;
    } counts;
    network.ExecuteStrategy(counts);
    for (LayerBindingId i = 0; i < counts.m_Inputs; ++i)
    {
        TensorInfo info = runtime.GetInputTensorInfo(id, i);
        info.SetConstant();
        Floats& data = values.emplace_back(info.GetNumElements());
        std::generate(data.begin(), data.end(), [&] { return distribution(random); });
        inputs.emplace_back(i, ConstTensor(info, data.data()));
    }
    std::vector<Floats> results(static_cast<size_t>(counts.m_Outputs));
    for (int run = 0; run < 2; ++run) // the second one finds what the first one left
    {
        runtime.EnqueueWorkload(id, inputs,
                                [&](LayerBindingId binding, const TensorInfo& info)
                                {
                                    Floats& result = results[static_cast<size_t>(binding)];
                                    result.resize(info.GetNumElements());
                                    return result.data();
                                });
    }
    return results;
}

/// All outputs, on `threads` threads, of random inputs. Where layers are to run one by one, a debug callback looks on.
inline std::vector<Floats> RunNetwork(const INetwork& network, const BackendId& backend, unsigned int threads,
                                      bool together, OptimizerOptionsOpaque options = {})
{
    const IRuntimePtr runtime = IRuntime::Create({});
    options.SetDebugEnabled(!together);
    auto optimized = Optimize(network, {backend}, runtime->GetDeviceSpec(), options);
    INetworkProperties properties;
    properties.m_NumberOfThreads = threads;
    NetworkId id = 0;
    std::string error;
    EXPECT_EQ(runtime->LoadNetwork(id, std::move(optimized), error, properties), Status::Success) << error;
    if (!together)
    {
        runtime->RegisterDebugCallback(id, [](LayerGuid, unsigned int, ITensorHandle*) {});
    }
    return RunRandom(*runtime, id, network);
}

inline IConnectableLayer* AddBinary(INetwork& network, BinaryOperation operation, IConnectableLayer* a,
                                    IConnectableLayer* b)
{
    IConnectableLayer* layer = network.AddElementwiseBinaryLayer(ElementwiseBinaryDescriptor(operation), "binary");
    Connect(a, layer, 0);
    Connect(b, layer, 1);
    return layer;
}

inline IConnectableLayer* AddProduct(INetwork& network, IConnectableLayer* x, IConnectableLayer* y)
{
    IConnectableLayer* layer = network.AddBatchMatMulLayer(BatchMatMulDescriptor(), "product");
    Connect(x, layer, 0);
    Connect(y, layer, 1);
    return layer;
}

inline IConnectableLayer* AddSoftmax(INetwork& network, IConnectableLayer* from)
{
    IConnectableLayer* layer = network.AddSoftmaxLayer(SoftmaxDescriptor(), "softmax");
    Connect(from, layer);
    return layer;
}

} // namespace tenon::test
