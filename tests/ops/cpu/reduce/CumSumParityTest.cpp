// SPDX-License-Identifier: Apache-2.0
// CpuAcc's CumSum beside CpuRef's, in every bit: rows of all lengths, from the front and from behind, with and without
// the element itself, on one and three threads.
#include "backends/cpu/reduce/CumSumVectors.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

namespace tenon::test::cum_sum_parity_test
{

ISA_TEST(CumSumParity, AsReference)
{
    struct
    {
        TensorShape m_Shape;
        int m_Axis;
        const char* m_Kernel;
    } const all[] = {{{1}, 0, "CpuCumSum"},        {{10007}, 0, "CpuCumSum"},    {{3, 100}, 1, "CpuCumSum"},
                     {{8, 1}, 1, "CpuCumSum"},     {{41, 2000}, 1, "CpuCumSum"}, {{5, 7, 9}, 2, "CpuCumSum"},
                     {{9, 3}, 1, "CpuCumSum"},     {{4, 4}, 1, "CpuCumSum"},     {{7, 5}, 1, "CpuCumSum"},
                     {{5, 17, 1}, 1, "CpuCumSum"}, {{5, 17, 3}, 1, "RefCumSum"}, {{5, 0}, 1, "RefCumSum"}};
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Signed32, DataType::Signed64})
    {
        for (const auto& shape : all)
        {
            for (const bool exclusive : {false, true})
            {
                for (const bool reverse : {false, true})
                {
                    CumSumDescriptor descriptor;
                    descriptor.m_Axis = shape.m_Axis;
                    descriptor.m_Exclusive = exclusive;
                    descriptor.m_Reverse = reverse;
                    TestTensor input = Random(TensorInfo(shape.m_Shape, type), 1, -2e9, 2e9);
                    if (type == DataType::Float32 && !input.m_Bytes.empty())
                    {
                        const float zero = -0.0f; // stays as it is where it comes first
                        std::memcpy(input.m_Bytes.data(), &zero, sizeof(zero));
                    }
                    const TensorInfo output = input.m_Info;
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                        ReferenceCase(output.ToString(), LayerType::CumSum, descriptor, {std::move(input)}, output),
                        shape.m_Kernel));
                }
            }
        }
    }
}

ISA_TEST(CumSumParity, InPlace)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        ISA_SKIP() << "this processor has no loop of its own";
    }
    const cpu::CumSumFunction cumSum = cpu::FindCumSum(DataType::Float32, 1);
    for (const size_t length : {1U, 3U, 11U})
    {
        for (const bool exclusive : {false, true})
        {
            for (const bool reverse : {false, true})
            {
                constexpr size_t Rows = 7;
                std::vector<float> in(Rows * length);
                std::iota(in.begin(), in.end(), 1.0f);
                std::vector<float> out(in.size());
                cumSum(in.data(), out.data(), Rows, length, exclusive, reverse);
                cumSum(in.data(), in.data(), Rows, length, exclusive, reverse);
                EXPECT_EQ(in, out) << length << " elements, exclusive: " << exclusive << ", reverse: " << reverse;
            }
        }
    }
}

// In each row two elements that are no numbers, at places of whole blocks and of the rest.
ISA_TEST(CumSumParity, NaNAndInfinitiesAsReference)
{
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    constexpr unsigned int Length = 11;
    std::vector<double> values;
    for (unsigned int at = 0; at + 1 < Length; ++at)
    {
        for (const double special : {std::numeric_limits<double>::quiet_NaN(), Infinity, -Infinity})
        {
            std::vector<double> row(Length, -0.0);
            row[at] = special;
            row[Length - 1] = Infinity;
            values.insert(values.end(), row.begin(), row.end());
        }
    }
    for (const DataType type : {DataType::Float32, DataType::Float64})
    {
        const TensorInfo info({3 * (Length - 1), Length}, type);
        for (const bool exclusive : {false, true})
        {
            for (const bool reverse : {false, true})
            {
                CumSumDescriptor descriptor;
                descriptor.m_Axis = 1;
                descriptor.m_Exclusive = exclusive;
                descriptor.m_Reverse = reverse;
                ExpectAsReference(
                    ReferenceCase(info.ToString(), LayerType::CumSum, descriptor, {Stored(info, values)}, info),
                    "CpuCumSum");
            }
        }
    }
}

} // namespace tenon::test::cum_sum_parity_test
