// SPDX-License-Identifier: Apache-2.0
// Packing of the weights of products of bytes, from blocks that may be forged, for tests.
#pragma once

#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"

#include <tenon/Tensor.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test
{

/// What a layer's weights become, and from which blocks.
class Packing
{
public:
    Packing(const TensorInfo& data, const TensorInfo& weights, std::vector<uint8_t> bytes, const TensorInfo& output)
        : m_Data(data), m_Weights(weights), m_Bytes(std::move(bytes)), m_Output(output)
    {
    }

    /// What use(view) gives for a layer of this type with these data, weights and output.
    template <typename F>
    auto WithView(LayerType type, const BaseDescriptor* descriptor, const F& use) const
    {
        const std::string name = "layer";
        const std::vector<const TensorInfo*> inputs = {&m_Data, &m_Weights};
        const std::vector<const TensorInfo*> outputs = {&m_Output};
        const std::vector<const void*> constants = {nullptr, m_Bytes.data()};
        LayerView view;
        view.m_Type = type;
        view.m_Name = &name;
        view.m_Descriptor = descriptor;
        view.m_Inputs = inputs;
        view.m_Outputs = outputs;
        view.m_ConstantData = constants;
        return use(view);
    }

    /// `mayStay`: few rows may read the weights where they are. `paddedRunBytes`: see GemmShapeInt8.
    std::unique_ptr<cpu::PackedWeightsInt8> Pack(backends::PackedStore& store, size_t rows = 8, bool mayStay = false,
                                                 size_t paddedRunBytes = 0) const
    {
        cpu::GemmShapeInt8 shape = {m_Weights.GetShape()[0], m_Weights.GetShape()[1], rows};
        shape.m_MayStayUnpacked = mayStay;
        shape.m_PaddedRunBytes = paddedRunBytes;
        return WithView(LayerType::FullyConnected, nullptr,
                        [&](const LayerView& view)
                        { return std::make_unique<cpu::PackedWeightsInt8>(view, shape, store); });
    }

private:
    TensorInfo m_Data;
    TensorInfo m_Weights;
    std::vector<uint8_t> m_Bytes;
    TensorInfo m_Output;
};

/// Gives the blocks that another one recorded, or fills the last one anew.
class ForgedStore final : public backends::PackedStore
{
public:
    std::vector<std::vector<std::byte>> m_Blocks;
    bool m_IsRecording = true;
    bool m_FillsLast = false;

    backends::PackedBlock GetBlock(size_t bytes, FunctionRef<void(std::byte*)> fill) override
    {
        if (m_IsRecording)
        {
            const backends::PackedBlock block = backends::MakeBlock(bytes, fill);
            m_Blocks.emplace_back(block.Data(), block.Data() + bytes);
            return block;
        }
        const std::vector<std::byte>& block = m_Blocks.at(m_Next++);
        if (m_FillsLast && m_Next == m_Blocks.size())
        {
            return backends::MakeBlock(bytes, fill);
        }
        EXPECT_EQ(block.size(), bytes);
        return backends::MakeBlock(bytes, [&](std::byte* to) { std::copy(block.begin(), block.end(), to); });
    }

private:
    size_t m_Next = 0;
};

} // namespace tenon::test
