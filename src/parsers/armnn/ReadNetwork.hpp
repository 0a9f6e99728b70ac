// SPDX-License-Identifier: Apache-2.0
// The front end of .armnn files, which Arm NN's serializer writes. The deserializer calls it.
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
    /// Keeps the memory of the network's constants: the file, and copies of constants that could not be used in place.
    std::shared_ptr<const void> m_Memory;
};

/// The network of a file. Its Input layers come first, then layers that compute, each after the layers that feed it,
/// then its Output layers. Inputs and outputs are in the file's order. Throws ParseException for a file that is
/// corrupt, contradicts itself or exceeds a limit, and UnimplementedException for kinds of layers that are not
/// supported; its text lists all of them.
ArmnnNetwork ReadNetwork(ModelBytes bytes, const Limits& limits);

} // namespace tenon::arm_nn
