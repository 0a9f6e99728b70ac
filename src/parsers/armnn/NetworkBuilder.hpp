// SPDX-License-Identifier: Apache-2.0
// NetworkBuilder: the network under construction from the layers of a .armnn file, in the view of rows.
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

/// The memory of constants: the file, and copies.
using Memory = std::vector<std::shared_ptr<const void>>;

class NetworkBuilder
{
public:
    /// `budget` bounds the bytes that are copied out of the file; both must outlive the builder.
    NetworkBuilder(const Limits& limits, std::shared_ptr<const void> file, ReadBudget& budget);

    INetwork* operator->() { return m_Network.get(); }
    INetworkPtr TakeNetwork() { return std::move(m_Network); }
    const std::shared_ptr<Memory>& GetMemory() const { return m_Memory; }

    /// Counts a layer. Throws ParseException if there are too many.
    void CountLayer() { m_Size.CountLayer(); }
    /// The tensor, whose memory is kept for the network.
    ConstTensor Keep(const parsers::TensorView& tensor);
    /// Transposes weights of a depthwise convolution from [M, I, H, W] to [1, H, W, I * M].
    parsers::TensorView TransposeDepthwiseWeights(const parsers::TensorView& weights);
    /// Old files keep weights and biases in the layer: they become Constant layers, connected to inputs 1 and 2. In
    /// later files they are inputs of the layer like its data, and nothing is done. Throws ParseException if the layer
    /// has both.
    void FeedWeights(const LayerView& op, IConnectableLayer& layer);

private:
    void FeedConstant(const parsers::TensorView& tensor, IConnectableLayer& layer, unsigned int input);

    INetworkPtr m_Network;
    parsers::NetworkSize m_Size;
    ReadBudget& m_Budget;
    std::shared_ptr<Memory> m_Memory;
};

} // namespace tenon::arm_nn
