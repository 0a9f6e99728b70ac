// SPDX-License-Identifier: Apache-2.0
// CpuAcc's reductions of short rows beside CpuRef's: lengths around those of vectors, and numbers of rows around those
// that are reduced together.
#include "backends/common/Quantization.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <limits>
#include <vector>

namespace tenon::test::reduce_rows_test
{

namespace
{

const TensorInfo Float({1}, DataType::Float32);
const TensorInfo Unsigned({1}, DataType::QAsymmU8, 0.05f, 100);
const TensorInfo Signed({1}, DataType::QAsymmS8, 0.05f, -20);
const TensorInfo Shorts({1}, DataType::QSymmS16, 0.001f, 0);

/// Where the last axis of a matrix is reduced.
OpCase RowsCase(ReduceOperation operation, const TestTensor& data, TensorInfo output)
{
    const TensorInfo& input = data.m_Info;
    output.SetShape({input.GetShape()[0], 1});
    const std::string name =
        std::string("rows of ") + GetDataTypeName(input.GetDataType()) + " " + input.GetShape().ToString();
    if (operation == ReduceOperation::Mean)
    {
        MeanDescriptor mean;
        mean.m_Axis = {1};
        mean.m_KeepDims = true;
        return ReferenceCase(name, LayerType::Mean, mean, {data}, output);
    }
    ReduceDescriptor reduce;
    reduce.m_vAxis = {1};
    reduce.m_KeepDims = true;
    reduce.m_ReduceOperation = operation;
    return ReferenceCase(name, LayerType::Reduce, reduce, {data}, output);
}

} // namespace

ISA_TEST(ReduceRows, AsReference)
{
    for (const TensorInfo& type : {Float, Unsigned, Signed, Shorts})
    {
        for (unsigned int length = 1; length <= 130; ++length)
        {
            // All numbers of rows behind the last whole group, and of a few groups.
            for (const unsigned int rows : {1 + length % 17, 16 + length * 5 % 34})
            {
                const TensorInfo input = Shaped(type, {rows, length});
                const TestTensor data = type.IsQuantized() ? Random(input, length) : Random(input, length, 0.5, 2);
                const double tolerance = type.IsQuantized() ? 0 : 1e-6;
                TensorInfo output = type;
                for (const ReduceOperation operation : {ReduceOperation::Max, ReduceOperation::Min})
                {
                    ExpectAsReference(RowsCase(operation, data, output), "CpuReduce");
                }
                if (type.IsQuantized())
                {
                    output.SetQuantizationScale(0.3f * type.GetQuantizationScale());
                }
                ExpectAsReference(RowsCase(ReduceOperation::Sum, data, output), "CpuReduce", tolerance);
                ExpectAsReference(RowsCase(ReduceOperation::Mean, data, output), "CpuMean", tolerance);
            }
        }
    }
}

// Lengths up to those of rows that are not reduced together.
ISA_TEST(ReduceRows, SumsAtTheEndsOfTheirTypes)
{
    for (const TensorInfo& type : {Unsigned, Signed, Shorts})
    {
        const backends::QuantizedRange range = backends::GetTypeRange(type.GetDataType());
        for (const unsigned int length : {1U, 7U, 15U, 31U, 64U, 200U, 255U, 511U, 513U, 1023U, 1025U, 70000U})
        {
            const TensorInfo input = Shaped(type, {21, length});
            for (const int32_t end : {range.m_Min, range.m_Max})
            {
                const TestTensor data = Stored(input, std::vector<double>(size_t{21} * length, end));
                ExpectAsReference(RowsCase(ReduceOperation::Mean, data, type), "CpuMean");
            }
        }
    }
}

// NaN are passed over by maxima and go into sums, and nothing goes from a row to those around it.
ISA_TEST(ReduceRows, NaNAndInfinitiesAsReference)
{
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    for (const unsigned int length : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 15U, 16U, 17U, 33U, 64U, 67U, 130U})
    {
        std::vector<double> values;
        for (unsigned int at = 0; at < length; at += 1 + at / 8)
        {
            for (const double special : {NaN, Infinity, -Infinity})
            {
                values.insert(values.end(), length, 0.25);
                values[values.size() - length + at] = special;
                values.insert(values.end(), length, -2.0);
            }
        }
        values.insert(values.end(), length, -Infinity);
        values.insert(values.end(), length, NaN);
        values.insert(values.end(), length, 1.0);
        const auto rows = static_cast<unsigned int>(values.size() / length);
        const TestTensor data = Stored(Shaped(Float, {rows, length}), values);
        ExpectAsReference(RowsCase(ReduceOperation::Max, data, Float), "CpuReduce");
        ExpectAsReference(RowsCase(ReduceOperation::Min, data, Float), "CpuReduce");
        ExpectAsReference(RowsCase(ReduceOperation::Sum, data, Float), "CpuReduce", 1e-6);
        ExpectAsReference(RowsCase(ReduceOperation::Mean, data, Float), "CpuMean", 1e-6);
    }
}

// Sums of floats of both signs, which show in what order they were added, and zeros of both signs.
ISA_TEST(ReduceRows, ThreadsMakeNoDifference)
{
    for (const unsigned int length : {2U, 3U, 5U, 7U, 8U, 13U, 64U, 67U, 131U})
    {
        const TensorInfo input = Shaped(Float, {400000 / length, length});
        TestTensor data = Random(input, length, -1, 1);
        const auto expectSame = [&](ReduceOperation operation)
        {
            const OpCase op = RowsCase(operation, data, Float);
            SCOPED_TRACE(op.m_Name);
            const IBackend& backend = FindTestBackend(Compute::CpuAcc);
            const std::vector<std::byte> one = RunOp(backend, op, {});
            for (const unsigned int threads : {2U, 3U, 7U})
            {
                RunVariant variant;
                variant.m_Threads = threads;
                EXPECT_TRUE(RunOp(backend, op, variant) == one) << threads << " threads";
            }
        };
        expectSame(ReduceOperation::Sum);
        std::vector<double> zeros(input.GetNumElements());
        for (size_t i = 0; i < zeros.size(); ++i)
        {
            zeros[i] = i % 3 == 0 || i % 7 == 1 ? -0.0 : 0.0;
        }
        data = Stored(input, zeros);
        expectSame(ReduceOperation::Max);
        expectSame(ReduceOperation::Min);
    }
}

} // namespace tenon::test::reduce_rows_test
