// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that reduce along axes. The axes are always an input; the optimizer folds constant ones.
#include "parsers/tflite/operators/Rows.hpp"
#include "parsers/tflite/operators/StoredValues.hpp"

namespace tenon::tflite
{

namespace
{

void AddReduce(const OperatorView& op, NetworkBuilder& builder, ReduceOperation operation)
{
    ReduceDescriptor descriptor;
    descriptor.m_ReduceOperation = operation;
    descriptor.m_KeepDims = op.Bool("keep_dims", false);
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddReduceLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

/// As in TFLite the option decides on the type, not the output's tensor.
void AddArgMinMax(const OperatorView& op, NetworkBuilder& builder, ArgMinMaxFunction function)
{
    ArgMinMaxDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_Output_Type = GetIntegerType(op, "output_type");
    descriptor.m_ParametersAsInputs = true;
    builder.WireAs(op, builder.Network().AddArgMinMaxLayer(descriptor, op.LayerName().c_str()), {0, 1},
                   descriptor.m_Output_Type);
}

void AddMean(const OperatorView& op, NetworkBuilder& builder)
{
    MeanDescriptor descriptor;
    descriptor.m_KeepDims = op.Bool("keep_dims", false);
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddMeanLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddSum(const OperatorView& op, NetworkBuilder& builder)
{
    AddReduce(op, builder, ReduceOperation::Sum);
}

void AddReduceMax(const OperatorView& op, NetworkBuilder& builder)
{
    CheckSameQuantization(op, 0, 0);
    AddReduce(op, builder, ReduceOperation::Max);
}

void AddReduceMin(const OperatorView& op, NetworkBuilder& builder)
{
    CheckSameQuantization(op, 0, 0);
    AddReduce(op, builder, ReduceOperation::Min);
}

void AddReduceProd(const OperatorView& op, NetworkBuilder& builder)
{
    AddReduce(op, builder, ReduceOperation::Prod);
}

void AddReduceAll(const OperatorView& op, NetworkBuilder& builder)
{
    AddReduce(op, builder, ReduceOperation::All);
}

void AddReduceAny(const OperatorView& op, NetworkBuilder& builder)
{
    AddReduce(op, builder, ReduceOperation::Any);
}

void AddArgMax(const OperatorView& op, NetworkBuilder& builder)
{
    AddArgMinMax(op, builder, ArgMinMaxFunction::Max);
}

void AddArgMin(const OperatorView& op, NetworkBuilder& builder)
{
    AddArgMinMax(op, builder, ArgMinMaxFunction::Min);
}

} // namespace

Span<const OperatorRow> GetReduceRows()
{
    static constexpr OperatorRow rows[] = {
        {"ARG_MAX", AddArgMax, 2, 2, 1, 1},
        {"ARG_MIN", AddArgMin, 2, 2, 1, 1},
        {"MEAN", AddMean, 2, 2, 1, 1},
        {"REDUCE_ALL", AddReduceAll, 2, 2, 1, 1},
        {"REDUCE_ANY", AddReduceAny, 2, 2, 1, 1},
        {"REDUCE_MAX", AddReduceMax, 2, 2, 1, 1},
        {"REDUCE_MIN", AddReduceMin, 2, 2, 1, 1},
        {"REDUCE_PROD", AddReduceProd, 2, 2, 1, 1},
        {"SUM", AddSum, 2, 2, 1, 1},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
