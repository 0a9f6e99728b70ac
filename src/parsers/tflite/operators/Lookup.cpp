// SPDX-License-Identifier: Apache-2.0
// Rows of the operators that look up, select and count by index or condition.
#include "parsers/tflite/operators/Enumerations.hpp"
#include "parsers/tflite/operators/Rows.hpp"

namespace tenon::tflite
{

namespace
{

void AddSelectLayer(const OperatorView& op, NetworkBuilder& builder, bool conditionBySlice)
{
    SelectDescriptor descriptor;
    descriptor.m_ConditionBySlice = conditionBySlice;
    builder.Wire(op, builder.Network().AddSelectLayer(descriptor, op.LayerName().c_str()), {0, 1, 2});
}

void AddSegments(const OperatorView& op, NetworkBuilder& builder, ReduceOperation operation)
{
    UnsortedSegmentDescriptor descriptor;
    descriptor.m_Operation = operation;
    builder.Wire(op, builder.Network().AddUnsortedSegmentLayer(descriptor, op.LayerName().c_str()), {0, 1, 2});
}

void AddSuppression(const OperatorView& op, NetworkBuilder& builder, bool soft)
{
    NonMaxSuppressionDescriptor descriptor;
    descriptor.m_Soft = soft;
    std::vector<size_t> operands = {0, 1, 2, 3, 4};
    if (soft)
    {
        operands.push_back(5);
    }
    builder.Wire(op, builder.Network().AddNonMaxSuppressionLayer(descriptor, op.LayerName().c_str()), operands);
}

void AddSelect(const OperatorView& op, NetworkBuilder& builder)
{
    AddSelectLayer(op, builder, true);
}

void AddSelectV2(const OperatorView& op, NetworkBuilder& builder)
{
    AddSelectLayer(op, builder, false);
}

void AddWhere(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddWhereLayer(op.LayerName().c_str()), {0});
}

void AddOneHot(const OperatorView& op, NetworkBuilder& builder)
{
    OneHotDescriptor descriptor;
    descriptor.m_Axis = op.Int("axis", 0);
    if (descriptor.m_Axis < -1)
    {
        op.Fail(fmt::format("option axis is {}, should be -1 (the last dimension) or at least 0", descriptor.m_Axis));
    }
    builder.Wire(op, builder.Network().AddOneHotLayer(descriptor, op.LayerName().c_str()), {0, 1, 2, 3});
}

void AddRange(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddRangeLayer(op.LayerName().c_str()), {0, 1, 2});
}

void AddSparseToDense(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddSparseToDenseLayer(op.LayerName().c_str()), {0, 1, 2, 3});
}

void AddTopKV2(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddTopKLayer(op.LayerName().c_str()), {0, 1});
}

void AddUnique(const OperatorView& op, NetworkBuilder& builder)
{
    UniqueDescriptor descriptor;
    descriptor.m_IndexType = GetIndexType(op);
    builder.Wire(op, builder.Network().AddUniqueLayer(descriptor, op.LayerName().c_str()), {0});
}

void AddCumsum(const OperatorView& op, NetworkBuilder& builder)
{
    CumSumDescriptor descriptor;
    descriptor.m_Exclusive = op.Bool("exclusive", false);
    descriptor.m_Reverse = op.Bool("reverse", false);
    descriptor.m_ParametersAsInputs = true;
    builder.Wire(op, builder.Network().AddCumSumLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddReverseSequence(const OperatorView& op, NetworkBuilder& builder)
{
    ReverseSequenceDescriptor descriptor;
    descriptor.m_SequenceDimension = op.Int("seq_dim", 0);
    descriptor.m_BatchDimension = op.Int("batch_dim", 0);
    builder.Wire(op, builder.Network().AddReverseSequenceLayer(descriptor, op.LayerName().c_str()), {0, 1});
}

void AddSegmentSum(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddSegmentSumLayer(op.LayerName().c_str()), {0, 1});
}

void AddUnsortedSegmentMax(const OperatorView& op, NetworkBuilder& builder)
{
    AddSegments(op, builder, ReduceOperation::Max);
}

void AddUnsortedSegmentMin(const OperatorView& op, NetworkBuilder& builder)
{
    AddSegments(op, builder, ReduceOperation::Min);
}

void AddUnsortedSegmentProd(const OperatorView& op, NetworkBuilder& builder)
{
    AddSegments(op, builder, ReduceOperation::Prod);
}

void AddUnsortedSegmentSum(const OperatorView& op, NetworkBuilder& builder)
{
    AddSegments(op, builder, ReduceOperation::Sum);
}

void AddEmbeddingLookup(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddEmbeddingLookupLayer(op.LayerName().c_str()), {0, 1});
}

void AddEmbeddingLookupSparse(const OperatorView& op, NetworkBuilder& builder)
{
    EmbeddingLookupSparseDescriptor descriptor;
    descriptor.m_Combiner = GetCombiner(op);
    builder.Wire(op, builder.Network().AddEmbeddingLookupSparseLayer(descriptor, op.LayerName().c_str()),
                 {0, 1, 2, 3, 4});
}

void AddHashtableLookup(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddHashtableLookupLayer(op.LayerName().c_str()), {0, 1, 2});
}

void AddBroadcastArgs(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddBroadcastArgsLayer(op.LayerName().c_str()), {0, 1});
}

void AddMatrixDiag(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddMatrixDiagLayer(op.LayerName().c_str()), {0});
}

void AddMatrixSetDiag(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddMatrixSetDiagLayer(op.LayerName().c_str()), {0, 1});
}

void AddDynamicUpdateSlice(const OperatorView& op, NetworkBuilder& builder)
{
    builder.Wire(op, builder.Network().AddDynamicUpdateSliceLayer(op.LayerName().c_str()), {0, 1, 2});
}

void AddNonMaxSuppressionV4(const OperatorView& op, NetworkBuilder& builder)
{
    AddSuppression(op, builder, false);
}

void AddNonMaxSuppressionV5(const OperatorView& op, NetworkBuilder& builder)
{
    AddSuppression(op, builder, true);
}

} // namespace

Span<const OperatorRow> GetLookupRows()
{
    static constexpr OperatorRow rows[] = {
        {"BROADCAST_ARGS", AddBroadcastArgs, 2, 2, 1, 1},
        {"CUMSUM", AddCumsum, 2, 2, 1, 1},
        {"DYNAMIC_UPDATE_SLICE", AddDynamicUpdateSlice, 3, 3, 1, 1},
        {"EMBEDDING_LOOKUP", AddEmbeddingLookup, 2, 2, 1, 1},
        {"EMBEDDING_LOOKUP_SPARSE", AddEmbeddingLookupSparse, 5, 5, 1, 1},
        {"HASHTABLE_LOOKUP", AddHashtableLookup, 3, 3, 2, 2},
        {"MATRIX_DIAG", AddMatrixDiag, 1, 1, 1, 1},
        {"MATRIX_SET_DIAG", AddMatrixSetDiag, 2, 2, 1, 1},
        {"NON_MAX_SUPPRESSION_V4", AddNonMaxSuppressionV4, 5, 5, 2, 2},
        {"NON_MAX_SUPPRESSION_V5", AddNonMaxSuppressionV5, 6, 6, 3, 3},
        {"ONE_HOT", AddOneHot, 4, 4, 1, 1},
        {"RANGE", AddRange, 3, 3, 1, 1},
        {"REVERSE_SEQUENCE", AddReverseSequence, 2, 2, 1, 1},
        {"SEGMENT_SUM", AddSegmentSum, 2, 2, 1, 1},
        {"SELECT", AddSelect, 3, 3, 1, 1},
        {"SELECT_V2", AddSelectV2, 3, 3, 1, 1},
        {"SPARSE_TO_DENSE", AddSparseToDense, 4, 4, 1, 1},
        {"TOPK_V2", AddTopKV2, 2, 2, 2, 2},
        {"UNIQUE", AddUnique, 1, 1, 2, 2},
        {"UNSORTED_SEGMENT_MAX", AddUnsortedSegmentMax, 3, 3, 1, 1},
        {"UNSORTED_SEGMENT_MIN", AddUnsortedSegmentMin, 3, 3, 1, 1},
        {"UNSORTED_SEGMENT_PROD", AddUnsortedSegmentProd, 3, 3, 1, 1},
        {"UNSORTED_SEGMENT_SUM", AddUnsortedSegmentSum, 3, 3, 1, 1},
        {"WHERE", AddWhere, 1, 1, 1, 1},
    };
    return {rows, std::size(rows)};
}

} // namespace tenon::tflite
