// SPDX-License-Identifier: Apache-2.0
// NetworkBuilder: the network that the layers of a .armnn file become, as rows see it.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/armnn/LayerView.hpp"
#include "parsers/common/NetworkSize.hpp"

#include <tenon/INetwork.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Optional.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace tenon::arm_nn
{

/// What constants lie in: the file, and copies.
using Memory = std::vector<std::shared_ptr<const void>>;

class NetworkBuilder
{
public:
    /// `budget` bounds what is copied out of the file; it must outlive the builder, as the file does.
    NetworkBuilder(const Limits& limits, std::shared_ptr<const void> file, ReadBudget& budget);

    INetwork* operator->() { return m_Network.get(); }
    INetworkPtr TakeNetwork() { return std::move(m_Network); }
    const std::shared_ptr<Memory>& GetMemory() const { return m_Memory; }

    /// Throws ParseException where there are too many.
    void CountLayer() { m_Size.CountLayer(); }
    /// The tensor; what it lies in is kept for the network.
    ConstTensor Keep(const parsers::TensorView& tensor);
    /// Of a depthwise convolution: weights that are stored as [M, I, H, W] are turned to [1, H, W, I * M].
    parsers::TensorView TurnDepthwise(const parsers::TensorView& weights);
    /// Old files keep weights and biases in the layer: they become Constant layers, connected to inputs 1 and 2. In
    /// later files they are inputs of the layer as its data is, and nothing is done. Throws ParseException where the
    /// layer has both.
    void FeedWeights(const LayerView& op, IConnectableLayer& layer, bool isDepthwise = false);

private:
    void FeedConstant(const parsers::TensorView& tensor, IConnectableLayer& layer, unsigned int input);

    INetworkPtr m_Network;
    parsers::NetworkSize m_Size;
    ReadBudget& m_Budget;
    std::shared_ptr<Memory> m_Memory;
};

} // namespace tenon::arm_nn
