// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that change or tell shapes.
#include "parsers/tflite/operators/Rows.hpp"
#include "parsers/tflite/operators/StoredValues.hpp"

namespace tenon::tflite
{

namespace
{

/// The target shape in RESHAPE's options. Old files write a scalar as {0}.
TensorShape ToTarget(const OperatorView& op, const std::vector<int32_t>& sizes)
{
    if (sizes.empty() || (sizes.size() == 1 && sizes.front() == 0))
    {
        return TensorShape(Dimensionality::Scalar);
    }
    TensorShape target(static_cast<unsigned int>(sizes.size()), false);
    for (unsigned int i = 0; i < sizes.size(); ++i)
    {
        if (sizes[i] < -1)
        {
            op.Fail(fmt::format("option new_shape has size {}", sizes[i]));
        }
        if (sizes[i] >= 0)
        {
            target.SetDimensionSize(i, static_cast<unsigned int>(sizes[i]));
        }
    }
    return target;
}

void AddReshapeTo(const OperatorView& op, NetworkBuilder& builder, const TensorShape& target)
{
    builder.Wire(op, builder.Network().AddReshapeLayer(ReshapeDescriptor(target), op.LayerName().c_str()), {0});
}

/// The target is input 1. Where that is missing, or no list (a scalar in some old files), it is in the options.
void AddReshape(const OperatorView& op, NetworkBuilder& builder)
{
    if (!op.HasInput(1) || op.InputRank(1).value_or(1) != 1)
    {
        const std::vector<int32_t> sizes = op.Ints("new_shape");
        if (sizes.size() > MaxNumOfTensorDimensions)
        {
            op.Fail(fmt::format("option new_shape has rank {}, at most {} is possible", sizes.size(),
                                MaxNumOfTensorDimensions));
        }
        AddReshapeTo(op, builder, ToTarget(op, sizes));
        return;
    }
    ReshapeDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddReshapeLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddSqueeze(const OperatorView& op, NetworkBuilder& builder)
{
    SqueezeDescriptor descriptor;
    descriptor.m_Axis = op.Ints("squeeze_dims");
    builder.Wire(op, builder.Network().AddSqueezeLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddExpandDims(const OperatorView& op, NetworkBuilder& builder)
{
    CheckSameQuantization(op, 0, 0);
    ExpandDimsDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddExpandDimsLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

/// As in TFLite the option decides on the type, not the output's tensor.
void AddShape(const OperatorView& op, NetworkBuilder& builder)
{
    const DataType type = GetIntegerType(op, "out_type");
    builder.WireAs(op, builder.Network().AddShapeLayer(op.LayerName().c_str()), {0}, type);
}

void AddRank(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddRankLayer(op.LayerName().c_str()), {0});
}

void AddFill(const OperatorView& op, NetworkBuilder& builder)
{
    CheckSameQuantization(op, 1, 0);
    FillDescriptor descriptor;
    descriptor.m_ValueAsInput = true;
    builder.Wire(op, builder.Network().AddFillLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddBroadcastTo(const OperatorView& op, NetworkBuilder& builder)
{
    BroadcastToDescriptor descriptor;
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddBroadcastToLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

} // namespace

Span<const OperatorRow> GetReshapeRows()
{
    static constexpr OperatorRow rows[] = {
        {"BROADCAST_TO", AddBroadcastTo, 2, 2, 1, 1},
        {"EXPAND_DIMS", AddExpandDims, 2, 2, 1, 1},
        {"FILL", AddFill, 2, 2, 1, 1},
        {"RANK", AddRank, 1, 1, 1, 1},
        {"RESHAPE", AddReshape, 1, 2, 1, 1},
        {"SHAPE", AddShape, 1, 1, 1, 1},
        {"SQUEEZE", AddSqueeze, 1, 1, 1, 1},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
