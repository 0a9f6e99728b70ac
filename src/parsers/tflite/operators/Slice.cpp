// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that cut tensors and join them.
#include "parsers/tflite/operators/Rows.hpp"
#include "parsers/tflite/operators/StoredValues.hpp"

namespace tenon::tflite
{

namespace
{

/// The axis of an output that has `extra` dimensions more than the inputs: counted from the start where an input tells
/// the rank. Elsewhere the layer gets it as it is, and resolves it when shapes are known.
unsigned int JoinAxis(const OperatorView& op, uint32_t extra)
{
    const int32_t axis = op.Int("axis", 0);
    std::optional<uint32_t> rank;
    for (size_t i = 0; i < op.NumInputs() && !rank.has_value(); ++i)
    {
        rank = op.InputRank(i);
    }
    const int64_t dimensions = rank.has_value() ? int64_t{*rank} + extra : int64_t{MaxNumOfTensorDimensions};
    if (axis < -dimensions || axis >= dimensions)
    {
        op.Fail(fmt::format("option axis is {}, outside of rank {}", axis, dimensions));
    }
    return static_cast<unsigned int>(rank.has_value() && axis < 0 ? axis + dimensions : axis);
}

ViewsDescriptor MakeViews(const OperatorView& op)
{
    op.CheckNumOutputs("num_splits", op.Int("num_splits", 0));
    ViewsDescriptor descriptor(static_cast<uint32_t>(op.NumOutputs()), 0);
    descriptor.m_ParametersAsInputs = true;
    return descriptor;
}

void AddSlice(const OperatorView& op, NetworkBuilder& builder)
{
    SliceDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddSliceLayer(descriptor, op.LayerName().c_str()), {0, 1, 2});
}

void AddStridedSlice(const OperatorView& op, NetworkBuilder& builder)
{
    StridedSliceDescriptor descriptor;
    descriptor.m_BeginMask = op.Int("begin_mask", 0);
    descriptor.m_EndMask = op.Int("end_mask", 0);
    descriptor.m_EllipsisMask = op.Int("ellipsis_mask", 0);
    descriptor.m_NewAxisMask = op.Int("new_axis_mask", 0);
    descriptor.m_ShrinkAxisMask = op.Int("shrink_axis_mask", 0);
    descriptor.m_Offset = op.Bool("offset", false);
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddStridedSliceLayer(descriptor, op.LayerName().c_str()), {0, 1, 2, 3});
}

void AddConcatenation(const OperatorView& op, NetworkBuilder& builder)
{
    ConcatDescriptor descriptor(static_cast<uint32_t>(op.NumInputs()), op.InputRank(0).value_or(0));
    descriptor.SetConcatAxis(JoinAxis(op, 0));
    IConnectableLayer* layer = builder.Network().AddConcatLayer(descriptor, op.LayerName().c_str());
    // TFLite brings uint8 to the output's quantization and copies stored values of 16 bits. It refuses int8 of
    // different quantizations, which mean the same here once they are brought to the output's.
    if (op.Output(0).m_Info.GetDataType() == DataType::QSymmS16)
    {
        builder.WireStored(op, layer, AllInputs(op), GetActivation(op));
        return;
    }
    builder.Wire(op, layer, AllInputs(op), GetActivation(op));
}

void AddPack(const OperatorView& op, NetworkBuilder& builder)
{
    op.CheckNumInputs("values_count", op.Int("values_count", 0));
    CheckSameQuantization(op);
    const StackDescriptor descriptor(JoinAxis(op, 1), static_cast<uint32_t>(op.NumInputs()), TensorShape());
    builder.Wire(op, builder.Network().AddStackLayer(descriptor, op.LayerName().c_str()), AllInputs(op));
}

/// One slice per output, which takes an index and drops its dimension: [:, :, i] for axis 2, [..., i, :] for axis -2.
void AddUnpack(const OperatorView& op, NetworkBuilder& builder)
{
    op.CheckNumOutputs("num", op.Int("num", 0));
    CheckSameQuantization(op);
    const int32_t axis = op.Int("axis", 0);
    if (axis < -static_cast<int32_t>(MaxNumOfTensorDimensions) ||
        axis >= static_cast<int32_t>(MaxNumOfTensorDimensions))
    {
        op.Fail(fmt::format("option axis is {}, outside of rank {}", axis, MaxNumOfTensorDimensions));
    }
    const TensorShape& shape = op.Input(0).m_Info.GetShape();
    if (shape.AreAllDimensionsSpecified())
    {
        const int64_t rank = shape.GetNumDimensions();
        const int64_t canonical = axis < 0 ? axis + rank : axis;
        if (canonical < 0 || canonical >= rank || shape[static_cast<unsigned int>(canonical)] != op.NumOutputs())
        {
            op.Fail(
                fmt::format("unpacks axis {} of shape {} into {} outputs", axis, shape.ToString(), op.NumOutputs()));
        }
    }
    const auto entries = static_cast<unsigned int>(axis < 0 ? 1 - axis : axis + 1);
    const unsigned int taken = axis < 0 ? 1U : static_cast<unsigned int>(axis);
    const unsigned int full = ((1U << entries) - 1U) & ~(1U << taken);
    for (unsigned int i = 0; i < op.NumOutputs(); ++i)
    {
        StridedSliceDescriptor descriptor(std::vector<int>(entries, 0), std::vector<int>(entries, 0),
                                          std::vector<int>(entries, 1));
        descriptor.m_Begin[taken] = static_cast<int>(i);
        descriptor.m_End[taken] = static_cast<int>(i) + 1;
        descriptor.m_BeginMask = static_cast<int32_t>(full);
        descriptor.m_EndMask = static_cast<int32_t>(full);
        descriptor.m_ShrinkAxisMask = static_cast<int32_t>(1U << taken);
        descriptor.m_EllipsisMask = axis < 0 ? 1 : 0;
        descriptor.m_DataLayout = DataLayout::NHWC;
        IConnectableLayer* layer =
            builder.Network().AddStridedSliceLayer(descriptor, op.LayerName(std::to_string(i)).c_str());
        builder.WireOutput(op, layer, {0}, i);
    }
}

/// Inputs: the axis and the value.
void AddSplit(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddSplitterLayer(MakeViews(op), op.LayerName().c_str()), {1, 0});
}

/// Inputs: the value, the sizes of the pieces (one may be -1: the rest) and the axis.
void AddSplitV(const OperatorView& op, NetworkBuilder& builder)
{
    ViewsDescriptor descriptor = MakeViews(op);
    descriptor.m_SizesAsInput = true;
    builder.Wire(op, builder.Network().AddSplitterLayer(descriptor, op.LayerName().c_str()), {0, 2, 1});
}

} // namespace

Span<const OperatorRow> GetSliceRows()
{
    static constexpr OperatorRow rows[] = {
        {"CONCATENATION", AddConcatenation, 1, Any, 1, 1},
        {"PACK", AddPack, 1, Any, 1, 1},
        {"SLICE", AddSlice, 3, 3, 1, 1},
        {"SPLIT", AddSplit, 2, 2, 1, Any},
        {"SPLIT_V", AddSplitV, 3, 3, 1, Any},
        {"STRIDED_SLICE", AddStridedSlice, 4, 4, 1, 1},
        {"UNPACK", AddUnpack, 1, 1, 1, Any},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
