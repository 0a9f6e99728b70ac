// SPDX-License-Identifier: Apache-2.0
// Networks of layers that join and cut out rows, as tests of the plan build them.
#pragma once

#include "harness/Networks.hpp"

#include <algorithm>
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

} // namespace tenon::test
