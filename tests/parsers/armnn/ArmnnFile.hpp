// SPDX-License-Identifier: Apache-2.0
// .armnn files as object trees, for tests that bend or write them.
#pragma once

#include <armnn_generated.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon::test
{

namespace armnn_schema = tenon::arm_nn::schema;

using ArmnnTree = armnn_schema::SerializedGraphT;

inline std::unique_ptr<ArmnnTree> Unpack(const std::vector<uint8_t>& bytes)
{
    return std::unique_ptr<ArmnnTree>(armnn_schema::GetSerializedGraph(bytes.data())->UnPack());
}

/// The content of a layer by its place in the file.
template <typename LayerT>
LayerT& LayerAt(ArmnnTree& tree, size_t place)
{
    return *static_cast<LayerT*>(tree.layers.at(place)->layer.value);
}

/// Without an identifier, as Arm NN's serializer writes files.
inline std::vector<uint8_t> Pack(const ArmnnTree& tree)
{
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(armnn_schema::SerializedGraph::Pack(builder, &tree));
    return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

} // namespace tenon::test
