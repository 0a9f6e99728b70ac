// SPDX-License-Identifier: Apache-2.0
// PartitionNetwork: the network of some nodes, made by the rows of the .tflite parser from views of the nodes. Used by
// PartitionLoader, also to ask about a single node.
#pragma once

#include "delegate/GraphView.hpp"
#include "delegate/SharedRuntime.hpp"

#include <tenon/INetwork.hpp>
#include <tenon/Limits.hpp>

#include <string>

namespace tenon::delegate
{

/// Before it is optimized.
struct PartitionNetwork
{
    INetworkPtr m_Network{nullptr, nullptr};
    LoadedPartition::Bindings m_Inputs;
    LoadedPartition::Bindings m_Outputs;
    /// All that was read to make it; constants by their addresses and samples of their bytes.
    std::string m_Key;
};

/// Throws tenon::Exception where a row refuses a node, naming it, and where a computed tensor would be of another type
/// than the interpreter has it. With `inferShapes` the sizes of computed tensors are left to be inferred.
PartitionNetwork MakeNetwork(const GraphView& graph, const Partition& partition, bool inferShapes,
                             const Limits& limits);

/// The partition that a node makes by itself.
Partition MakePartition(const GraphView& graph, const Node& node);

} // namespace tenon::delegate
