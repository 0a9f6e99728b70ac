// SPDX-License-Identifier: Apache-2.0
// Writes a network as Arm NN's serializer would: for tests that read it again. It knows the layers of image networks.
#pragma once

#include <tenon/INetwork.hpp>

#include <cstdint>
#include <vector>

namespace tenon::test
{

enum class ArmnnFeatures
{
    First, ///< ids by layers' indices, weights as members of layers, those of depthwise convolutions as [M, I, H, W]
    Last   ///< ids as they are, weights as layers of their own
};

/// The bytes of a .armnn file. Throws std::invalid_argument for a layer that it does not know. Shapes must be declared.
std::vector<uint8_t> WriteArmnn(const INetwork& network, ArmnnFeatures features);

} // namespace tenon::test
