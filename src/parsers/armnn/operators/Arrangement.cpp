// SPDX-License-Identifier: Apache-2.0
// Rows of layers that move elements: reshape, permute, pad, tile, fill, and exchange of space, depth and batch.
#include "parsers/armnn/operators/Rows.hpp"

#include <limits>

namespace tenon::arm_nn
{

TensorShape ToShape(const std::vector<uint32_t>& sizes)
{
    return sizes.empty() ? TensorShape(Dimensionality::Scalar)
                         : TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

namespace
{

IConnectableLayer* AddReshape(const LayerView& op, NetworkBuilder& network)
{
    const std::vector<uint32_t> sizes = op.Numbers("targetShape");
    ReshapeDescriptor descriptor(ToShape(sizes));
    constexpr uint32_t computed = std::numeric_limits<uint32_t>::max(); // Arm NN's -1
    for (unsigned int i = 0; i < sizes.size(); ++i)
    {
        if (sizes[i] == computed)
        {
            descriptor.m_TargetShape.SetDimensionUnknown(i);
        }
    }
    return network->AddReshapeLayer(descriptor, op.LayerName());
}

PermutationVector GetMappings(const LayerView& op)
{
    const std::vector<uint32_t> mappings = op.Numbers("dimMappings");
    return {mappings.data(), static_cast<PermutationVector::SizeType>(mappings.size())};
}

IConnectableLayer* AddPermute(const LayerView& op, NetworkBuilder& network)
{
    return network->AddPermuteLayer(PermuteDescriptor(GetMappings(op)), op.LayerName());
}

IConnectableLayer* AddTranspose(const LayerView& op, NetworkBuilder& network)
{
    return network->AddTransposeLayer(TransposeDescriptor(GetMappings(op)), op.LayerName());
}

SpaceToDepthDescriptor GetBlock(const LayerView& op)
{
    return {op.Number("blockSize"), op.Enumerator("dataLayout", DataLayout::NHWC)};
}

IConnectableLayer* AddSpaceToDepth(const LayerView& op, NetworkBuilder& network)
{
    return network->AddSpaceToDepthLayer(GetBlock(op), op.LayerName());
}

IConnectableLayer* AddDepthToSpace(const LayerView& op, NetworkBuilder& network)
{
    return network->AddDepthToSpaceLayer(GetBlock(op), op.LayerName());
}

IConnectableLayer* AddSpaceToBatchNd(const LayerView& op, NetworkBuilder& network)
{
    SpaceToBatchNdDescriptor descriptor(op.Numbers("blockShape"), op.Pairs("padList"));
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NHWC);
    return network->AddSpaceToBatchNdLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddBatchToSpaceNd(const LayerView& op, NetworkBuilder& network)
{
    BatchToSpaceNdDescriptor descriptor(op.Numbers("blockShape"), op.Pairs("crops"));
    descriptor.m_DataLayout = op.Enumerator("dataLayout", DataLayout::NHWC);
    return network->AddBatchToSpaceNdLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddChannelShuffle(const LayerView& op, NetworkBuilder& network)
{
    return network->AddChannelShuffleLayer(ChannelShuffleDescriptor(op.Number("numGroups"), op.Number("axis")),
                                           op.LayerName());
}

IConnectableLayer* AddPad(const LayerView& op, NetworkBuilder& network)
{
    const PadDescriptor descriptor(op.Pairs("padList"), op.Float("padValue", 0.0f),
                                   op.Enumerator("paddingMode", PaddingMode::Constant));
    return network->AddPadLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddTile(const LayerView& op, NetworkBuilder& network)
{
    return network->AddTileLayer(TileDescriptor(op.Numbers("m_Multiples")), op.LayerName());
}

IConnectableLayer* AddFill(const LayerView& op, NetworkBuilder& network)
{
    return network->AddFillLayer(FillDescriptor(op.Float("value", 0.0f)), op.LayerName());
}

constexpr LayerRow ArrangementRows[] = {
    {"BatchToSpaceNd", AddBatchToSpaceNd},
    {"ChannelShuffle", AddChannelShuffle},
    {"DepthToSpace", AddDepthToSpace},
    {"Fill", AddFill},
    {"Pad", AddPad},
    {"Permute", AddPermute},
    {"Reshape", AddReshape},
    {"ReverseV2", AddPlain<&INetwork::AddReverseV2Layer>},
    {"SpaceToBatchNd", AddSpaceToBatchNd},
    {"SpaceToDepth", AddSpaceToDepth},
    {"Tile", AddTile},
    {"Transpose", AddTranspose},
};

} // namespace

Span<const LayerRow> GetArrangementRows()
{
    return {ArrangementRows, std::size(ArrangementRows)};
}

} // namespace tenon::arm_nn
