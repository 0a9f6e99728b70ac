// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that move elements to other places, or pick them by index. What they need to know is always an
// input; the optimizer folds constant ones.
#include "parsers/tflite/operators/Rows.hpp"
#include "parsers/tflite/operators/StoredValues.hpp"

namespace tenon::tflite
{

namespace
{

PadDescriptor MakePad(PaddingMode mode)
{
    PadDescriptor descriptor;
    descriptor.m_PaddingMode = mode;
    descriptor.m_ParametersAsInputs = true;
    return descriptor;
}

SpaceToDepthDescriptor MakeBlock(const OperatorView& op)
{
    return {op.Unsigned("block_size", 0, 1), DataLayout::NHWC};
}

void AddTranspose(const OperatorView& op, NetworkBuilder& builder)
{
    TransposeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddTransposeLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

/// PAD and PADV2 alike may have the value as input 2. Without one they pad with real 0, which a quantized output stores
/// as its zero point.
void AddPad(const OperatorView& op, NetworkBuilder& builder)
{
    PadDescriptor descriptor = MakePad(PaddingMode::Constant);
    descriptor.m_ValueAsInput = op.HasInput(2);
    if (descriptor.m_ValueAsInput)
    {
        CheckSameQuantization(op, 2, 0);
    }
    else
    {
        descriptor.m_PadValue = static_cast<float>(op.Output(0).m_Info.GetQuantizationOffset());
    }
    builder.Wire(op, builder.Network().AddPadLayer(descriptor, op.LayerName().c_str()),
                 descriptor.m_ValueAsInput ? std::vector<size_t>{0, 1, 2} : std::vector<size_t>{0, 1});
}

void AddMirrorPad(const OperatorView& op, NetworkBuilder& builder)
{
    CheckSameQuantization(op, 0, 0);
    const PadDescriptor descriptor = MakePad(GetMirrorMode(op));
    builder.Wire(op, builder.Network().AddPadLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddTile(const OperatorView& op, NetworkBuilder& builder)
{
    TileDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddTileLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddReverseV2(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddReverseV2Layer(op.LayerName().c_str()), {0, 1});
}

void AddRoll(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddRollLayer(op.LayerName().c_str()), {0, 1, 2});
}

void AddSpaceToDepth(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddSpaceToDepthLayer(MakeBlock(op), op.LayerName().c_str()), {0});
}

void AddDepthToSpace(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddDepthToSpaceLayer(MakeBlock(op), op.LayerName().c_str()), {0});
}

void AddSpaceToBatchNd(const OperatorView& op, NetworkBuilder& builder)
{
    CheckSameQuantization(op, 0, 0);
    SpaceToBatchNdDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddSpaceToBatchNdLayer(descriptor, op.LayerName().c_str()), {0, 1, 2});
}

void AddBatchToSpaceNd(const OperatorView& op, NetworkBuilder& builder)
{
    CheckSameQuantization(op, 0, 0);
    BatchToSpaceNdDescriptor descriptor;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddBatchToSpaceNdLayer(descriptor, op.LayerName().c_str()), {0, 1, 2});
}

void AddGather(const OperatorView& op, NetworkBuilder& builder)
{
    GatherDescriptor descriptor(op.Int("axis", 0));
    descriptor.m_BatchDims = op.Int("batch_dims", 0);
    builder.Wire(op, builder.Network().AddGatherLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddGatherNd(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddGatherNdLayer(op.LayerName().c_str()), {0, 1});
}

/// Inputs: indices, updates and the output's shape. Updates of one place add up.
void AddScatterNd(const OperatorView& op, NetworkBuilder& builder)
{
    const ScatterNdDescriptor descriptor(ScatterNdFunction::Add, false);
    builder.Wire(op, builder.Network().AddScatterNdLayer(descriptor, op.LayerName().c_str()), {2, 0, 1});
}

} // namespace

Span<const OperatorRow> GetRearrangeRows()
{
    static constexpr OperatorRow rows[] = {
        {"BATCH_TO_SPACE_ND", AddBatchToSpaceNd, 3, 3, 1, 1},
        {"DEPTH_TO_SPACE", AddDepthToSpace, 1, 1, 1, 1},
        {"GATHER", AddGather, 2, 2, 1, 1},
        {"GATHER_ND", AddGatherNd, 2, 2, 1, 1},
        {"MIRROR_PAD", AddMirrorPad, 2, 2, 1, 1},
        {"PAD", AddPad, 2, 3, 1, 1},
        {"PADV2", AddPad, 2, 3, 1, 1},
        {"REVERSE_V2", AddReverseV2, 2, 2, 1, 1},
        {"SCATTER_ND", AddScatterNd, 3, 3, 1, 1},
        {"SPACE_TO_BATCH_ND", AddSpaceToBatchNd, 3, 3, 1, 1},
        {"SPACE_TO_DEPTH", AddSpaceToDepth, 1, 1, 1, 1},
        {"TILE", AddTile, 2, 2, 1, 1},
        {"TRANSPOSE", AddTranspose, 2, 2, 1, 1},
        {"Roll", AddRoll, 3, 3, 1, 1, IsCustom},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
