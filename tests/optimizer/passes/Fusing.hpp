// SPDX-License-Identifier: Apache-2.0
// What the tests of the fusing passes share: a network of one input and one output is optimized as it is and, with
// debugging on, without what hides intermediate results; both must give the same for inputs of several shapes.
#pragma once

#include "graph/Network.hpp"
#include "graph/OptimizedNetwork.hpp"
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace tenon::test
{

using Backends = std::vector<BackendId>;

/// The layers that compute, in the order in which they run.
inline std::vector<LayerType> ComputingTypes(const Graph& graph)
{
    std::vector<LayerType> types;
    for (const auto& layer : graph.Layers())
    {
        const LayerType type = layer->GetType();
        if (type != LayerType::Input && type != LayerType::Output && type != LayerType::Constant)
        {
            types.push_back(type);
        }
    }
    return types;
}

inline IOptimizedNetworkPtr OptimizeFor(const INetwork& network, bool fuse, const Backends& backends = {"CpuRef"})
{
    const IRuntimePtr runtime = IRuntime::Create({});
    OptimizerOptionsOpaque options;
    options.SetDebugEnabled(!fuse);
    std::vector<std::string> messages;
    return Optimize(network, backends, runtime->GetDeviceSpec(), options,
                    Optional<std::vector<std::string>&>(messages));
}

/// The layers that compute when the network is optimized.
inline std::vector<LayerType> FusedTypes(const INetwork& network, const Backends& backends = {"CpuRef"})
{
    return ComputingTypes(static_cast<const OptimizedNetwork&>(*OptimizeFor(network, true, backends)).GetGraph());
}

/// The output for this input, shape first.
struct RunResult
{
    std::string m_Shape;
    std::vector<std::byte> m_Bytes;
};

inline RunResult RunOnce(const INetwork& network, bool fuse, const TensorInfo& input,
                         const std::vector<std::byte>& bytes, const Backends& backends = {"CpuRef"})
{
    const IRuntimePtr runtime = IRuntime::Create({});
    NetworkId id = 0;
    runtime->LoadNetwork(id, OptimizeFor(network, fuse, backends));
    runtime->RegisterDebugCallback(id, [](LayerGuid, unsigned int, ITensorHandle*) {}); // else values are printed
    TensorInfo info = input;
    info.SetConstant();
    RunResult result;
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, bytes.data())}},
                             [&](LayerBindingId, const TensorInfo& output)
                             {
                                 result.m_Shape = output.GetShape().ToString();
                                 result.m_Bytes.resize(output.GetNumBytes());
                                 return result.m_Bytes.data();
                             });
    return result;
}

/// Any bytes for quantized types, floats in [-4, 4] otherwise.
inline std::vector<std::byte> MakeInput(const TensorInfo& info)
{
    std::mt19937 random(7);
    std::vector<std::byte> bytes(info.GetNumBytes());
    if (info.GetDataType() == DataType::Float32)
    {
        for (size_t i = 0; i < bytes.size(); i += sizeof(float))
        {
            const float value = static_cast<float>(random() % 8001) / 1000.0f - 4.0f;
            std::memcpy(bytes.data() + i, &value, sizeof(float));
        }
        return bytes;
    }
    std::generate(bytes.begin(), bytes.end(), [&random] { return static_cast<std::byte>(random() & 0xFFU); });
    return bytes;
}

/// Fused or not, the network gives the same for inputs like `input` of each shape: floats within `tolerance`, relative
/// and absolute, all else bit for bit.
inline void ExpectSame(const INetwork& network, TensorInfo input, const std::vector<TensorShape>& shapes,
                       double tolerance = 0.0, const Backends& backends = {"CpuRef"})
{
    for (const TensorShape& shape : shapes)
    {
        SCOPED_TRACE(shape.ToString());
        input.SetShape(shape);
        const std::vector<std::byte> bytes = MakeInput(input);
        const RunResult plain = RunOnce(network, false, input, bytes, backends);
        const RunResult fused = RunOnce(network, true, input, bytes, backends);
        EXPECT_EQ(plain.m_Shape, fused.m_Shape);
        ASSERT_EQ(plain.m_Bytes.size(), fused.m_Bytes.size());
        if (tolerance == 0.0)
        {
            EXPECT_EQ(plain.m_Bytes, fused.m_Bytes);
            continue;
        }
        for (size_t i = 0; i < plain.m_Bytes.size(); i += sizeof(float))
        {
            float want = 0;
            float got = 0;
            std::memcpy(&want, plain.m_Bytes.data() + i, sizeof(float));
            std::memcpy(&got, fused.m_Bytes.data() + i, sizeof(float));
            ASSERT_NEAR(got, want, tolerance * (1.0 + std::abs(static_cast<double>(want)))) << "element " << i / 4;
        }
    }
}

/// A Constant layer that owns its values.
template <typename T>
IConnectableLayer* AddOwnedConstant(INetwork& network, TensorInfo info, const std::vector<T>& values)
{
    info.SetConstant();
    const auto owner = std::make_shared<const std::vector<T>>(values);
    return network.AddConstantLayer(ConstTensor(info, *owner), owner, "constant");
}

inline IConnectableLayer* AddFloatConstant(INetwork& network, const TensorShape& shape,
                                           const std::vector<float>& values)
{
    return AddOwnedConstant(network, TensorInfo(shape, DataType::Float32), values);
}

/// Floats in [-1, 1] that differ.
inline std::vector<float> Spread(size_t count)
{
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = static_cast<float>((i * 37 + 11) % 101) / 50.0f - 1.0f;
    }
    return values;
}

} // namespace tenon::test
