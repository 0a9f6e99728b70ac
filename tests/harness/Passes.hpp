// SPDX-License-Identifier: Apache-2.0
// Code that the tests of passes share: the optimized graph, runs, and the comparison of a network with all passes to
// the same network with the necessary passes alone.
#pragma once

#include "graph/OptimizedNetwork.hpp"
#include "harness/Networks.hpp"
#include "optimizer/Pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace tenon::test
{

inline const Graph& GraphOf(const IOptimizedNetworkPtr& network)
{
    return static_cast<const OptimizedNetwork&>(*network).GetGraph();
}

inline size_t Count(const Graph& graph, LayerType type)
{
    return static_cast<size_t>(std::count_if(graph.Layers().begin(), graph.Layers().end(),
                                             [&](const auto& layer) { return layer->GetType() == type; }));
}

/// The layer of a name, or null.
inline const Layer* Find(const Graph& graph, const std::string& name, LayerType type)
{
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetNameStr() == name && layer->GetType() == type)
        {
            return layer.get();
        }
    }
    return nullptr;
}

/// A constant of floats.
inline IConnectableLayer* AddFloats(INetwork& network, const TensorShape& shape, const std::vector<float>& values,
                                    const char* name = "constant")
{
    auto owner = std::make_shared<std::vector<float>>(values);
    return network.AddConstantLayer(ConstTensor(TensorInfo(shape, DataType::Float32, 0.0f, 0, true), *owner), owner,
                                    name);
}

/// A constant of 32-bit integers.
inline IConnectableLayer* AddInts(INetwork& network, const TensorShape& shape, const std::vector<int32_t>& values,
                                  const char* name = "constant")
{
    auto owner = std::make_shared<std::vector<int32_t>>(values);
    return network.AddConstantLayer(ConstTensor(TensorInfo(shape, DataType::Signed32, 0.0f, 0, true), *owner), owner,
                                    name);
}

/// One output: info and bytes.
struct Result
{
    TensorInfo m_Info;
    std::vector<std::byte> m_Bytes;

    std::vector<float> Floats() const
    {
        std::vector<float> values(m_Bytes.size() / sizeof(float));
        if (!values.empty()) // an empty tensor has a byte, for an address
        {
            std::memcpy(values.data(), m_Bytes.data(), values.size() * sizeof(float));
        }
        return values;
    }
};
using Results = std::map<LayerBindingId, Result>;

inline Results RunNetwork(IRuntime& runtime, NetworkId id, const InputTensors& inputs)
{
    Results results;
    runtime.EnqueueWorkload(id, inputs,
                            [&](LayerBindingId output, const TensorInfo& info)
                            {
                                Result& result = results[output];
                                result.m_Info = info;
                                result.m_Bytes.resize(std::max<size_t>(info.GetNumBytes(), 1));
                                return result.m_Bytes.data();
                            });
    return results;
}

/// Random-looking floats as the inputs 0, 1, ... of these shapes.
class FloatInputs
{
public:
    explicit FloatInputs(const std::vector<TensorShape>& shapes)
    {
        uint32_t state = 12345;
        for (const TensorShape& shape : shapes)
        {
            std::vector<float>& values = m_Values.emplace_back(shape.GetNumElements());
            for (float& value : values)
            {
                state = state * 1664525U + 1013904223U;
                value = static_cast<float>(state >> 16) / 8192.0f - 4.0f;
            }
            m_Infos.emplace_back(shape, DataType::Float32, 0.0f, 0, true);
        }
    }
    InputTensors Tensors() const
    {
        InputTensors tensors;
        for (size_t i = 0; i < m_Values.size(); ++i)
        {
            tensors.emplace_back(static_cast<LayerBindingId>(i), ConstTensor(m_Infos[i], m_Values[i]));
        }
        return tensors;
    }

private:
    std::vector<TensorInfo> m_Infos;
    std::vector<std::vector<float>> m_Values;
};

/// A network loaded twice: with all passes and with the necessary ones alone.
class BothWays
{
public:
    explicit BothWays(const INetwork& network, const std::vector<Pass>& extra = {}) : m_Runtime(IRuntime::Create({}))
    {
        std::vector<Pass> all(GetPasses().begin(), GetPasses().end());
        all.insert(all.end(), extra.begin(), extra.end());
        std::vector<Pass> necessary;
        std::copy_if(all.begin(), all.end(), std::back_inserter(necessary),
                     [](const Pass& pass) { return pass.m_Kind == Pass::Kind::Necessary; });
        auto optimized = Make(network, all);
        m_Graph = GraphOf(optimized).Clone();
        m_Runtime->LoadNetwork(m_Optimized, std::move(optimized));
        m_Runtime->LoadNetwork(m_Plain, Make(network, necessary));
    }

    /// The graph with all passes.
    const Graph& Optimized() const { return *m_Graph; }

    /// Expects outputs of the same info (except the flag IsConstant), equal within `tolerance`; if it is 0, or the type
    /// is not Float32, the bytes must be equal.
    Results ExpectEqual(const InputTensors& inputs, float tolerance = 0.0f)
    {
        Results plain = RunNetwork(*m_Runtime, m_Plain, inputs);
        const Results optimized = RunNetwork(*m_Runtime, m_Optimized, inputs);
        EXPECT_EQ(plain.size(), optimized.size());
        for (const auto& [id, want] : plain)
        {
            const Result& got = optimized.at(id);
            EXPECT_EQ(got.m_Info.GetShape(), want.m_Info.GetShape());
            EXPECT_TRUE(got.m_Info.IsTypeSpaceMatch(want.m_Info)) << got.m_Info.ToString() << want.m_Info.ToString();
            if (tolerance == 0.0f || want.m_Info.GetDataType() != DataType::Float32)
            {
                EXPECT_EQ(got.m_Bytes, want.m_Bytes) << "output " << id;
                continue;
            }
            const std::vector<float> a = got.Floats();
            const std::vector<float> b = want.Floats();
            for (size_t i = 0; i < std::min(a.size(), b.size()); ++i)
            {
                EXPECT_NEAR(a[i], b[i], tolerance) << "output " << id << ", element " << i;
            }
        }
        return plain;
    }
    Results ExpectEqual(const std::vector<TensorShape>& shapes, float tolerance = 0.0f)
    {
        return ExpectEqual(FloatInputs(shapes).Tensors(), tolerance);
    }

    /// Expects that shapes which are refused without the passes are refused with them.
    void ExpectRefused(const std::vector<TensorShape>& shapes)
    {
        const FloatInputs inputs(shapes);
        EXPECT_THROW(RunNetwork(*m_Runtime, m_Plain, inputs.Tensors()), Exception);
        EXPECT_THROW(RunNetwork(*m_Runtime, m_Optimized, inputs.Tensors()), Exception);
    }

private:
    IOptimizedNetworkPtr Make(const INetwork& network, const std::vector<Pass>& passes)
    {
        return OptimizeWithPasses(network, {"CpuRef"}, m_Runtime->GetDeviceSpec(), {}, EmptyOptional(), passes);
    }

    IRuntimePtr m_Runtime;
    std::unique_ptr<Graph> m_Graph;
    NetworkId m_Optimized = 0;
    NetworkId m_Plain = 0;
};

} // namespace tenon::test
