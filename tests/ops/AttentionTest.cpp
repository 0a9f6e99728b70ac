// SPDX-License-Identifier: Apache-2.0
// Attention against its definition: scales, masks of every kind and shape, causality, windows, offsets, soft caps,
// heads that share keys, repeated dimensions, and both orders of rows and heads.
#include "harness/OpTest.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Products.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace tenon::test::attention_test
{

namespace
{

constexpr double Infinity = std::numeric_limits<double>::infinity();

/// An element of a tensor whose sizes of 1 are repeated.
double Repeated(const RealTensor& tensor, const std::vector<size_t>& at)
{
    const unsigned int rank = tensor.m_Shape.GetNumDimensions();
    size_t place = 0;
    for (unsigned int i = 0; i < rank; ++i)
    {
        const size_t index = at[at.size() - rank + i];
        place = place * tensor.Dim(i) + (tensor.Dim(i) == 1 ? 0 : index);
    }
    return tensor.m_Values[place];
}

/// Of [batch, heads, rows, depth], or of [batch, rows, heads, depth], written as the definition says it.
Oracle Define(const AttentionDescriptor& d, const TensorShape& output, bool isBooleanMask)
{
    return [=](const std::vector<RealTensor>& in)
    {
        const bool swapped = d.m_RowsBeforeHeads;
        const unsigned int rowsAt = swapped ? 1 : 2;
        const unsigned int headsAt = swapped ? 2 : 1;
        const auto element = [&](const RealTensor& tensor, size_t b, size_t h, size_t row, size_t i)
        {
            const size_t heads = tensor.Dim(headsAt);
            const size_t head = heads == 1 ? 0 : h / (output[headsAt] / heads);
            const size_t batch = tensor.Dim(0) == 1 ? 0 : b;
            const size_t place = tensor.Dim(rowsAt) == 1 ? 0 : row;
            return swapped ? tensor.At(batch, place, head, i) : tensor.At(batch, head, place, i);
        };
        const size_t keys = in[2].Dim(rowsAt);
        const size_t depth = in[0].Dim(3);
        const double scale = d.m_Scale != 0.0f ? static_cast<double>(d.m_Scale) : 1.0 / std::sqrt(depth);
        const RealTensor* const offsets = d.m_OffsetEnabled ? &in.back() : nullptr;
        std::vector<double> values(output.GetNumElements());
        for (size_t b = 0; b < output[0]; ++b)
        {
            const double offset = offsets == nullptr ? 0.0 : offsets->m_Values[offsets->m_Values.size() == 1 ? 0 : b];
            for (size_t h = 0; h < output[headsAt]; ++h)
            {
                for (size_t q = 0; q < output[rowsAt]; ++q)
                {
                    std::vector<double> scores(keys);
                    for (size_t k = 0; k < keys; ++k)
                    {
                        for (size_t i = 0; i < depth; ++i)
                        {
                            scores[k] += scale * element(in[0], b, h, q, i) * element(in[1], b, h, k, i);
                        }
                        const double cap = d.m_Softcap;
                        scores[k] = cap > 0.0 ? cap * std::tanh(scores[k] / cap) : scores[k];
                        if (d.m_MaskEnabled)
                        {
                            const double mask = Repeated(in[3], {b, h, q, k});
                            scores[k] += !isBooleanMask ? mask : mask != 0.0 ? 0.0 : -Infinity;
                        }
                        const double distance = static_cast<double>(k) - static_cast<double>(q) - offset;
                        const bool isHidden = (d.m_IsCausal && distance > 0) ||
                                              (d.m_LeftWindow >= 0 && distance < -d.m_LeftWindow) ||
                                              (d.m_RightWindow >= 0 && distance > d.m_RightWindow);
                        scores[k] = isHidden ? -Infinity : scores[k];
                    }
                    const double most = *std::max_element(scores.begin(), scores.end());
                    double sum = 0;
                    for (double& score : scores)
                    {
                        score = score == -Infinity ? 0.0 : std::exp(score - most);
                        sum += score;
                    }
                    const size_t heads = output[headsAt];
                    for (size_t i = 0; i < output[3]; ++i)
                    {
                        double total = 0;
                        for (size_t k = 0; k < keys; ++k)
                        {
                            total += scores[k] == 0.0 ? 0.0 : scores[k] / sum * element(in[2], b, h, k, i);
                        }
                        const size_t row = swapped ? (b * output[1] + q) * heads + h : (b * heads + h) * output[2] + q;
                        values[row * output[3] + i] = total;
                    }
                }
            }
        }
        return values;
    };
}

struct Sizes
{
    unsigned int m_Batch = 2;
    unsigned int m_Heads = 2;
    unsigned int m_Shared = 2; ///< heads of keys and values
    unsigned int m_Queries = 5;
    unsigned int m_Keys = 7;
    unsigned int m_Depth = 4;
    unsigned int m_Width = 3;
};

TensorShape ShapeOf(const AttentionDescriptor& d, unsigned int batch, unsigned int heads, unsigned int rows,
                    unsigned int depth)
{
    return d.m_RowsBeforeHeads ? TensorShape({batch, rows, heads, depth}) : TensorShape({batch, heads, rows, depth});
}

OpCase MakeCase(const AttentionDescriptor& d, const Sizes& s, DataType type = DataType::Float32)
{
    OpCase op;
    op.m_Name = "attention";
    op.m_Type = LayerType::Attention;
    op.m_Descriptor = MakeDescriptor(d);
    op.m_Inputs = {Random(TensorInfo(ShapeOf(d, s.m_Batch, s.m_Heads, s.m_Queries, s.m_Depth), type), 1, -2, 2),
                   Random(TensorInfo(ShapeOf(d, s.m_Batch, s.m_Shared, s.m_Keys, s.m_Depth), type), 2, -2, 2),
                   Random(TensorInfo(ShapeOf(d, s.m_Batch, s.m_Shared, s.m_Keys, s.m_Width), type), 3, -2, 2)};
    op.m_Output = TensorInfo(ShapeOf(d, s.m_Batch, s.m_Heads, s.m_Queries, s.m_Width), type);
    op.m_Oracle = Define(d, op.m_Output.GetShape(), false);
    op.m_Relative = type == DataType::Float16 ? 1e-3 : type == DataType::BFloat16 ? 8e-3 : 1e-5;
    op.m_Absolute = type == DataType::Float16 ? 1e-3 : type == DataType::BFloat16 ? 8e-3 : 2e-6;
    return op;
}

void AddMask(OpCase& op, const TensorShape& shape, bool isBoolean, uint32_t seed = 7)
{
    const DataType type = op.m_Inputs[0].m_Info.GetDataType();
    op.m_Inputs.insert(op.m_Inputs.begin() + 3, isBoolean ? Random(TensorInfo(shape, DataType::Boolean), seed, 0, 1)
                                                          : Random(TensorInfo(shape, type), seed, -3, 1));
    auto d = static_cast<const AttentionDescriptor&>(*op.m_Descriptor);
    d.m_MaskEnabled = true;
    op.m_Descriptor = MakeDescriptor(d);
    op.m_Oracle = Define(d, op.m_Output.GetShape(), isBoolean);
}

AttentionDescriptor With(float scale, float softcap = 0.0f, bool isCausal = false)
{
    AttentionDescriptor d;
    d.m_Scale = scale;
    d.m_Softcap = softcap;
    d.m_IsCausal = isCausal;
    return d;
}

} // namespace

ISA_TEST(Attention, AgreesWithItsDefinition)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
    {
        for (const bool rowsBeforeHeads : {false, true})
        {
            for (AttentionDescriptor d :
                 {With(0.0f), With(0.3f), With(-0.5f), With(0.7f, 1.5f), With(0.5f, 0.0f, true)})
            {
                d.m_RowsBeforeHeads = rowsBeforeHeads;
                CheckOp(MakeCase(d, {}, type));
            }
        }
    }
}

ISA_TEST(Attention, SizesThatFillPanelsAndDoNot)
{
    for (const unsigned int queries : {1U, 3U, 16U, 33U, 70U})
    {
        for (const unsigned int keys : {1U, 16U, 45U})
        {
            CheckOp(MakeCase(With(0.0f), {1, 2, 2, queries, keys, 9, 17}));
            CheckOp(MakeCase(With(0.0f, 0.0f, true), {1, 2, 2, queries, keys, 9, 17}));
        }
    }
    CheckOp(MakeCase(With(0.1f), {1, 1, 1, 40, 1200, 8, 8})); // sums of several pieces
}

ISA_TEST(Attention, MasksOfEveryShape)
{
    for (const bool isBoolean : {false, true})
    {
        for (const TensorShape& shape :
             {TensorShape({2, 2, 5, 7}), TensorShape({2, 1, 1, 7}), TensorShape({1, 2, 5, 7}), TensorShape({5, 7}),
              TensorShape({7}), TensorShape({2, 1, 5, 1}), TensorShape({1}), TensorShape({1, 2, 1, 1})})
        {
            for (const bool rowsBeforeHeads : {false, true})
            {
                AttentionDescriptor d = With(0.5f);
                d.m_RowsBeforeHeads = rowsBeforeHeads;
                OpCase op = MakeCase(d, {});
                AddMask(op, shape, isBoolean);
                CheckOp(op);
            }
        }
        OpCase half = MakeCase(With(0.5f, 2.0f, true), {}, DataType::Float16);
        AddMask(half, {5, 7}, isBoolean);
        CheckOp(half);
        OpCase many = MakeCase(With(0.5f, 0.0f, true), {1, 3, 3, 50, 60, 8, 8});
        AddMask(many, {50, 60}, isBoolean);
        CheckOp(many);
    }
}

ISA_TEST(Attention, RowsThatSeeNothingAreZeros)
{
    OpCase op = MakeCase(With(0.5f), {});
    AddMask(op, {5, 7}, true);
    op.m_Inputs[3] = Stored(TensorInfo({5, 7}, DataType::Boolean), std::vector<double>(35, 0.0));
    CheckOp(op);
    AddMask(op = MakeCase(With(0.5f), {}), {1, 7}, false);
    op.m_Inputs[3] = Values(TensorInfo({1, 7}, DataType::Float32), std::vector<double>(7, -Infinity));
    CheckOp(op);
}

ISA_TEST(Attention, WindowsAndOffsets)
{
    for (const int64_t offset : {-3, 0, 2, 40})
    {
        for (const auto& [left, right] : {std::pair(1, 2), std::pair(-1, 0), std::pair(3, -1), std::pair(-1, -1)})
        {
            for (const DataType type : {DataType::Signed32, DataType::Signed64})
            {
                AttentionDescriptor d = With(0.4f, 0.0f, left == -1 && right == -1);
                d.m_LeftWindow = left;
                d.m_RightWindow = right;
                d.m_OffsetEnabled = true;
                OpCase op = MakeCase(d, {2, 2, 2, 20, 30, 4, 3});
                op.m_Inputs.push_back(Stored(TensorInfo({2}, type), {static_cast<double>(offset), 3.0}));
                CheckOp(op);
                op.m_Inputs.back() = Stored(TensorInfo({1}, type), {static_cast<double>(offset)});
                AddMask(op, {20, 30}, true);
                CheckOp(op);
            }
        }
    }
}

ISA_TEST(Attention, HeadsThatShareKeysAndRepeatedDimensions)
{
    for (const bool rowsBeforeHeads : {false, true})
    {
        AttentionDescriptor d = With(0.5f);
        d.m_RowsBeforeHeads = rowsBeforeHeads;
        CheckOp(MakeCase(d, {2, 6, 2, 5, 7, 4, 3}));
        CheckOp(MakeCase(d, {2, 6, 1, 5, 7, 4, 3}));
        OpCase op = MakeCase(d, {});
        op.m_Inputs[0] = Random(TensorInfo(ShapeOf(d, 1, 2, 5, 4), DataType::Float32), 4, -2, 2);
        CheckOp(op);
        op.m_Inputs[1] = Random(TensorInfo(ShapeOf(d, 1, 1, 7, 4), DataType::Float32), 5, -2, 2);
        CheckOp(op);
        op.m_Inputs[0] = Random(TensorInfo(ShapeOf(d, 2, 2, 1, 4), DataType::Float32), 4, -2, 2);
        AddMask(op, {5, 7}, false); // the queries are repeated for each of its rows
        CheckOp(op);
    }
}

ISA_TEST(Attention, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase(With(0.5f), {});
    op.m_Inputs[1] = Random(TensorInfo({2, 2, 7, 5}, DataType::Float32), 1);
    CheckRejectsShapes(op, "attention of");
    op = MakeCase(With(0.5f), {});
    op.m_Inputs[2] = Random(TensorInfo({2, 2, 8, 3}, DataType::Float32), 1);
    CheckRejectsShapes(op, "attention of");
    op = MakeCase(With(0.5f), {});
    AddMask(op, {4, 7}, false);
    CheckRejectsShapes(op, "mask");
    op = MakeCase(With(0.5f), {});
    AddMask(op, {5, 7}, false);
    op.m_Inputs[3] = Random(TensorInfo({5, 7}, DataType::Signed32), 1);
    CheckUnsupported(op, SupportCode::UnsupportedType, "mask");
    AttentionDescriptor d = With(0.5f);
    d.m_OffsetEnabled = true;
    op = MakeCase(d, {});
    op.m_Inputs.push_back(Random(TensorInfo({1}, DataType::Float32), 1));
    CheckUnsupported(op, SupportCode::UnsupportedType, "offset");
    op = MakeCase(With(0.5f), {});
    for (TestTensor& input : op.m_Inputs)
    {
        input.m_Info.SetDataType(DataType::Signed32);
    }
    CheckUnsupported(op, SupportCode::UnsupportedType, "Signed32");
}

static InferCases MakeAttentionCases()
{
    using enum LayerType;
    using D = AttentionDescriptor;
    const auto masked = Made<D>([](D& d) { d.m_MaskEnabled = true; });
    const auto swapped = Made<D>([](D& d) { d.m_RowsBeforeHeads = true; });
    const auto offset = Made<D>([](D& d) { d.m_OffsetEnabled = true; });
    return {
        Case(Attention, "matrices", D(), {T({5, 4}), T({7, 4}), T({7, 3})}).Gives({"[5,3]"}),
        Case(Attention, "heads", D(), {T({2, 6, 5, 4}), T({2, 6, 7, 4}), T({2, 6, 7, 3})}).Gives({"[2,6,5,3]"}),
        Case(Attention, "heads share keys", D(), {T({2, 6, 5, 4}), T({2, 2, 7, 4}), T({2, 3, 7, 3})})
            .Gives({"[2,6,5,3]"}),
        Case(Attention, "repeated queries", D(), {T({1, 1, 5, 4}), T({2, 6, 7, 4}), T({2, 6, 7, 3})})
            .Gives({"[2,6,5,3]"}),
        Case(Attention, "rows before heads", swapped, {T({2, 5, 6, 4}), T({2, 7, 2, 4}), T({2, 7, 2, 3})})
            .Gives({"[2,5,6,3]"}),
        Case(Attention, "mask", masked, {T({2, 6, 5, 4}), T({2, 6, 7, 4}), T({2, 6, 7, 3}), T({5, 7})})
            .Gives({"[2,6,5,3]"}),
        Case(Attention, "mask of more batches", masked,
             {T({1, 6, 5, 4}), T({1, 6, 7, 4}), T({1, 6, 7, 3}), T({3, 1, 1, 7})})
            .Gives({"[3,6,5,3]"}),
        Case(Attention, "offset", offset, {T({2, 6, 5, 4}), T({2, 6, 7, 4}), T({2, 6, 7, 3}), T({2})})
            .Gives({"[2,6,5,3]"}),
        Case(Attention, "vector", D(), {T({4}), T({4}), T({4})}).Rejects("at least 2"),
        Case(Attention, "no heads", swapped, {T({5, 4}), T({7, 4}), T({7, 3})}).Rejects("at least 3"),
        Case(Attention, "ranks differ", D(), {T({2, 5, 4}), T({7, 4}), T({7, 3})}).Rejects("as many dimensions"),
        Case(Attention, "rows of another length", D(), {T({5, 4}), T({7, 3}), T({7, 3})}).Rejects("elements a row"),
        Case(Attention, "too few values", D(), {T({5, 4}), T({7, 4}), T({6, 3})}).Rejects("as many rows"),
        Case(Attention, "heads do not divide", D(), {T({6, 5, 4}), T({4, 7, 4}), T({6, 7, 3})}).Rejects("broadcast"),
        Case(Attention, "mask of another size", masked, {T({5, 4}), T({7, 4}), T({7, 3}), T({5, 6})})
            .Rejects("broadcast"),
        Case(Attention, "mask of a higher rank", masked, {T({5, 4}), T({7, 4}), T({7, 3}), T({1, 5, 7})})
            .Rejects("more dimensions"),
        Case(Attention, "offsets of no batch", offset, {T({2, 5, 4}), T({2, 7, 4}), T({2, 7, 3}), T({3})})
            .Rejects("one element"),
        Case(Attention, "infinite scale", Made<D>([](D& d) { d.m_Scale = std::numeric_limits<float>::infinity(); }),
             {T({5, 4}), T({7, 4}), T({7, 3})})
            .Rejects("scale"),
        Case(Attention, "negative cap", Made<D>([](D& d) { d.m_Softcap = -1.0f; }), {T({5, 4}), T({7, 4}), T({7, 3})})
            .Rejects("soft cap"),
    };
}

static const InferTable AttentionTable(MakeAttentionCases);

} // namespace tenon::test::attention_test
