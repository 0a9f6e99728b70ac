// SPDX-License-Identifier: Apache-2.0
// The front end of .armnn files, networks as Arm NN's serializer writes them. The deserializer calls it.
#pragma once

#include "common/ModelBytes.hpp"

#include <tenon/INetwork.hpp>
#include <tenon/Limits.hpp>

#include <memory>

namespace tenon::arm_nn
{

struct ArmnnNetwork
{
    INetworkPtr m_Network{nullptr, &INetwork::Destroy};
    /// Keeps what the constants of the network lie in: the file, and the copies of what could not be used in it.
    std::shared_ptr<const void> m_Memory;
};

/// The network of a file. Its Input layers come first, then what computes, each layer behind those that feed it, then
/// its Output layers; inputs and outputs are in the order in which the file lists them. Throws ParseException for a
/// file that is corrupt, contradicts itself or exceeds a limit, and UnimplementedException, which lists all of them,
/// for kinds of layers that are not read.
ArmnnNetwork ReadNetwork(ModelBytes bytes, const Limits& limits);

} // namespace tenon::arm_nn
