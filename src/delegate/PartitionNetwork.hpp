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

/// A network before optimization.
struct PartitionNetwork
{
    INetworkPtr m_Network{nullptr, nullptr};
    LoadedPartition::Bindings m_Inputs;
    LoadedPartition::Bindings m_Outputs;
    /// The data that were read to make it; constants by their addresses and samples of their bytes.
    std::string m_Key;
};

/// Throws tenon::Exception, which names the node, if a row refuses a node, and if a computed tensor would have another
/// type than in the interpreter. With `inferShapes` the sizes of computed tensors are left to be inferred.
PartitionNetwork MakeNetwork(const GraphView& graph, const Partition& partition, bool inferShapes,
                             const Limits& limits);

/// A partition of a single node.
Partition MakePartition(const GraphView& graph, const Node& node);

} // namespace tenon::delegate
