// SPDX-License-Identifier: Apache-2.0
// EmbeddingLookup: slices of every element size, quantized tables with float slices, and numbers outside.
#include "ops/MovementOracle.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

namespace tenon::test::embedding_lookup_test
{

namespace
{

OpCase MakeCase(TestTensor table, const std::vector<double>& numbers, DataType outputType)
{
    OpCase op;
    op.m_Name = table.m_Info.ToString() + " to " + GetDataTypeName(outputType);
    op.m_Type = LayerType::EmbeddingLookup;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Output = table.m_Info;
    if (outputType != table.m_Info.GetDataType())
    {
        op.m_Output = TensorInfo(table.m_Info.GetShape(), outputType);
    }
    TensorShape shape = table.m_Info.GetShape();
    shape.SetDimensionSize(0, static_cast<unsigned int>(numbers.size()));
    op.m_Output.SetShape(shape);
    op.m_Inputs = {Stored(TensorInfo({static_cast<unsigned int>(numbers.size())}, DataType::Signed32), numbers),
                   Constant(std::move(table))};
    op.m_Steps = op.m_Absolute = 0;
    op.m_Relative = outputType == DataType::Float16 ? 1e-3 : 1e-6;
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        return Move(shape, in[1],
                    [&](Coordinates at)
                    {
                        at[0] = static_cast<int64_t>(numbers[static_cast<size_t>(at[0])]);
                        return at;
                    });
    };
    return op;
}

} // namespace

ISA_TEST(EmbeddingLookup, AnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase(Random(MakeInfo({4, 2, 3}, type), 3), {1, 3, 0, 3, 1}, type));
    }
    CheckOp(MakeCase(Random(TensorInfo({4}, DataType::Float32), 3), {1, 3}, DataType::Float32));
    CheckOp(MakeCase(Random(TensorInfo({4, 2}, DataType::Float32), 3), {}, DataType::Float32));
}

ISA_TEST(EmbeddingLookup, QuantizedTables)
{
    for (const DataType output : {DataType::Float32, DataType::Float16})
    {
        for (const TensorShape& shape : {TensorShape({3, 4}), TensorShape({3, 5}), TensorShape({3, 2, 3})})
        {
            const TensorInfo one(shape, DataType::QAsymmS8, 0.5f);
            const TensorInfo perRow(shape, DataType::QSymmS8, std::vector<float>{0.5f, 0.25f, 2.0f}, 0);
            CheckOp(MakeCase(Random(one, 3), {2, 0, 1, 1}, output));
            CheckOp(MakeCase(Random(perRow, 4), {2, 0, 1, 1}, output));
        }
    }
}

/// TFLite's results: slice 1 begins with the byte that slice 0 ends in.
ISA_TEST(EmbeddingLookup, TakesHalfBytes)
{
    const TensorInfo table(TensorShape({3, 3}), DataType::QSymmS4, std::vector<float>{0.5f, 0.25f, 2.0f}, 0);
    OpCase op{"4 bits",
              LayerType::EmbeddingLookup,
              MakeDescriptor(NullDescriptor()),
              {Stored(TensorInfo({2}, DataType::Signed32), {2, 1}), FromBytes(table, {0x21, 0x43, 0x65, 0x87, 0x0F})},
              TensorInfo({2, 3}, DataType::Float32),
              nullptr};
    const std::vector<std::byte> got = RunOnCpuRef(op);
    EXPECT_EQ(GetStored(op.m_Output, got.data()), (std::vector<double>{14, -16, -2, 0.75, 1, 1.25}));
}

ISA_TEST(EmbeddingLookup, TablesWithAScalePerBlock)
{
    for (const TensorShape& shape : {TensorShape({3, 66}), TensorShape({5, 33}), TensorShape({4, 2, 99})})
    {
        for (const DataType type : {DataType::QSymmS4, DataType::QSymmS8})
        {
            std::vector<float> scales(shape.GetNumElements() / 33);
            for (size_t i = 0; i < scales.size(); ++i)
            {
                scales[i] = static_cast<float>(i + 1) / 64.0f;
            }
            TensorInfo info(shape, type, scales, shape.GetNumDimensions() - 1);
            info.SetQuantizationBlockSize(33);
            for (const DataType output : {DataType::Float32, DataType::Float16})
            {
                CheckOp(MakeCase(Random(info, 6), {2, 0, 1, 1}, output));
            }
        }
    }
}

ISA_TEST(EmbeddingLookup, UnsignedTablesHoldSignedNumbers)
{
    OpCase op =
        MakeCase(Stored(TensorInfo({2, 2}, DataType::QAsymmU8, 0.5f), {1, 255, 128, 127}), {1, 0}, DataType::Float32);
    op.m_Oracle = Expect(op.m_Output, {-64, 63.5, 0.5, -0.5});
    CheckOp(op);
}

ISA_TEST(EmbeddingLookup, RefusesWhatDoesNotFit)
{
    const IBackend& reference = *GetTestBackends().front();
    const TensorInfo table({3, 4}, DataType::Float32);
    for (const double number : {-1.0, 3.0})
    {
        OpCase op = MakeCase(Random(table, 3), {0, 1}, DataType::Float32);
        op.m_Inputs[0] = Stored(op.m_Inputs[0].m_Info, {0, number});
        EXPECT_THROW(RunOp(reference, op, RunVariant()), RuntimeException);
    }
    OpCase empty = MakeCase(Random(table, 3), {0, 1}, DataType::Float32);
    empty.m_Inputs[1] = Stored(TensorInfo({0, 4}, DataType::Float32), {});
    EXPECT_THROW(RunOp(reference, empty, RunVariant()), RuntimeException);

    CheckUnsupported(MakeCase(Random(TensorInfo({3, 4}, DataType::QAsymmS8, 0.5f, 3), 3), {0}, DataType::Float32),
                     SupportCode::UnsupportedParameters, "zero point");
    TensorInfo blocks({4, 6}, DataType::QSymmS8, std::vector<float>(12, 0.5f), 0);
    blocks.SetQuantizationBlockSize(2);
    CheckUnsupported(MakeCase(Random(blocks, 3), {0}, DataType::Float32), SupportCode::UnsupportedParameters,
                     "another dimension than the last one of its slices");
    blocks.SetQuantizationDim(1U);
    blocks.SetQuantizationOffset(1);
    CheckUnsupported(MakeCase(Random(blocks, 3), {0}, DataType::Float32), SupportCode::UnsupportedParameters,
                     "zero point");
    const TensorInfo columns({3, 4}, DataType::QSymmS8, std::vector<float>(4, 0.5f), 1);
    CheckUnsupported(MakeCase(Random(columns, 3), {0}, DataType::Float32), SupportCode::UnsupportedParameters,
                     "another dimension");
    CheckUnsupported(MakeCase(Random(table, 3), {0}, DataType::Float16), SupportCode::UnsupportedType, "output 0");
}

} // namespace tenon::test::embedding_lookup_test
