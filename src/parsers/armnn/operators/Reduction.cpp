// SPDX-License-Identifier: Apache-2.0
// Rows of reductions along dimensions.
#include "parsers/armnn/operators/Rows.hpp"

namespace tenon::arm_nn
{

namespace
{

IConnectableLayer* AddArgMinMax(const LayerView& op, NetworkBuilder& network)
{
    ArgMinMaxDescriptor descriptor;
    descriptor.m_Function = op.Enumerator("argMinMaxFunction", ArgMinMaxFunction::Min);
    descriptor.m_Axis = op.Int("axis", 0);
    // The format has no field for it.
    descriptor.m_Output_Type = op.OutputType() == DataType::Signed64 ? DataType::Signed64 : DataType::Signed32;
    return network->AddArgMinMaxLayer(descriptor, op.LayerName());
}

IConnectableLayer* AddMean(const LayerView& op, NetworkBuilder& network)
{
    return network->AddMeanLayer(MeanDescriptor(op.Numbers("axis"), op.Bool("keepDims", false)), op.LayerName());
}

IConnectableLayer* AddReduce(const LayerView& op, NetworkBuilder& network)
{
    ReduceDescriptor descriptor;
    descriptor.m_KeepDims = op.Bool("keepDims", false);
    descriptor.m_vAxis = op.Numbers("axis");
    descriptor.m_ReduceOperation = op.Enumerator("reduceOperation", ReduceOperation::Sum);
    return network->AddReduceLayer(descriptor, op.LayerName());
}

constexpr LayerRow ReductionRows[] = {
    {"ArgMinMax", AddArgMinMax},
    {"Mean", AddMean},
    {"Reduce", AddReduce},
};

} // namespace

Span<const LayerRow> GetReductionRows()
{
    return {ReductionRows, std::size(ReductionRows)};
}

} // namespace tenon::arm_nn
