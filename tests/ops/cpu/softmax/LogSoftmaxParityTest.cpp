// SPDX-License-Identifier: Apache-2.0
// CpuAcc's LogSoftmax of bytes beside CpuRef's, in every bit: rows around the sizes of vectors, of numbers near each
// other and far apart, at scales from where all of them are the same to where all but the largest one are nothing. Also
// Softmax and LogSoftmax of floats along axes that are not the last one.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Normalization.hpp>

#include <cstddef>
#include <random>

namespace tenon::test::log_softmax_parity_test
{

namespace
{

/// Each row has another span of numbers, anywhere, in any order.
TestTensor MakeRows(const TensorInfo& info, unsigned int seed)
{
    TestTensor tensor = Random(info, seed);
    const size_t depth = info.GetShape()[info.GetNumDimensions() - 1];
    std::mt19937 random(seed);
    for (size_t first = 0; first < tensor.m_Bytes.size(); first += depth)
    {
        const auto span = static_cast<unsigned int>(random() % 256 + 1);
        const auto least = static_cast<unsigned int>(random() % (257 - span));
        const unsigned int flip = info.GetDataType() == DataType::QAsymmS8 ? 0x80 : 0;
        for (size_t i = 0; i < depth; ++i)
        {
            const auto number = static_cast<unsigned int>(least + random() % span);
            tensor.m_Bytes[first + i] = static_cast<std::byte>(number ^ flip);
        }
    }
    return tensor;
}

void Check(DataType type, const TensorShape& shape, float scale, float beta, int axis, const char* kernel)
{
    const TensorInfo input(shape, type, scale, 3);
    const TensorInfo output(shape, type, 1.0f / 16.0f, type == DataType::QAsymmU8 ? 255 : 127);
    LogSoftmaxDescriptor descriptor;
    descriptor.m_Axis = axis;
    descriptor.m_Beta = beta;
    ExpectAsReference(
        ReferenceCase(input.ToString(), LayerType::LogSoftmax, descriptor, {MakeRows(input, shape[1])}, output),
        kernel);
}

} // namespace

ISA_TEST(LogSoftmaxParity, BytesAsReference)
{
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
    {
        for (const unsigned int depth : {1U, 2U, 5U, 31U, 32U, 33U, 64U, 100U, 300U, 1001U})
        {
            for (const float scale : {1e-6f, 0.002f, 0.05f, 0.0627f, 0.125f, 0.5f, 0.7f, 3.0f, 33.0f, 1e4f})
            {
                ASSERT_NO_FATAL_FAILURE(Check(type, {43, depth}, scale, 1.0f, -1, "CpuLogSoftmax"));
            }
            ASSERT_NO_FATAL_FAILURE(Check(type, {43, depth}, 0.05f, 0.1f, 1, "CpuLogSoftmax"));
            ASSERT_NO_FATAL_FAILURE(Check(type, {43, depth}, 0.05f, 7.0f, 1, "CpuLogSoftmax"));
        }
        // More than the sum of a row can hold.
        ASSERT_NO_FATAL_FAILURE(Check(type, {3, 70000}, 1e-6f, 1.0f, -1, "CpuLogSoftmax"));
        ASSERT_NO_FATAL_FAILURE(Check(type, {5, 7, 3}, 0.1f, 1.0f, 1, "RefLogSoftmax"));
        ASSERT_NO_FATAL_FAILURE(Check(type, {5, 0}, 0.1f, 1.0f, 1, "RefLogSoftmax"));
    }
}

// Rows side by side: fewer than a vector has lanes, as many, and more; depths around those that totals begin anew at.
ISA_TEST(LogSoftmaxParity, FloatsAlongOuterAxes)
{
    for (const unsigned int depth : {1U, 2U, 21U, 128U, 129U, 700U})
    {
        for (const unsigned int columns : {2U, 7U, 8U, 15U, 16U, 17U, 33U, 80U})
        {
            const TensorInfo info(TensorShape({3, depth, columns}), DataType::Float32);
            const TestTensor input = Random(info, depth + columns, -30, 30);
            SoftmaxDescriptor softmax;
            softmax.m_Axis = 1;
            softmax.m_Beta = 0.7f;
            OpCase op = ReferenceCase(info.ToString(), LayerType::Softmax, softmax, {input}, info);
            op.m_Relative = 1e-5;
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(op, "CpuSoftmax", 1e-6));
            LogSoftmaxDescriptor logs;
            logs.m_Axis = 1;
            logs.m_Beta = 0.7f;
            OpCase ofLogs = ReferenceCase(info.ToString(), LayerType::LogSoftmax, logs, {input}, info);
            ofLogs.m_Relative = 1e-5;
            ofLogs.m_Absolute = 1e-6;
            ASSERT_NO_FATAL_FAILURE(ExpectAsReference(ofLogs, "CpuLogSoftmax", 1e-6));
        }
    }
}

} // namespace tenon::test::log_softmax_parity_test
