// SPDX-License-Identifier: Apache-2.0
// Square roots of CpuAcc, which are those of IEEE, and their inverses, which are nearly.
#include "ops/cpu/elementwise/ElementwiseCases.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tenon::test::unary_roots_test
{

// Every mantissa, of odd and even exponents, and what is beside the range of numbers whose roots vectors take by
// estimates. Nothing below 0 among them, which would have whole vectors take the other way.
ISA_TEST(UnaryRoots, OfEveryMantissa)
{
    constexpr unsigned int Count = 1U << 22;
    TestTensor data = Floats({Count}, 3, 1, 2);
    std::vector<float> values(Count);
    const auto run = [&](UnaryOperation operation)
    {
        ElementwiseUnaryDescriptor descriptor;
        descriptor.m_Operation = operation;
        const OpCase c = Case(LayerType::ElementwiseUnary, MakeDescriptor(descriptor), {data}, data.m_Info);
        const std::vector<std::byte> bytes = RunOp(FindTestBackend(Compute::CpuAcc), c, {});
        std::vector<float> results(Count);
        std::memcpy(results.data(), bytes.data(), bytes.size());
        return results;
    };
    // 1/2 to 2, the numbers before and behind 2^-90, and the largest ones.
    for (const uint32_t first : {0x3F000000U, 0x3F400000U, 0x3F800000U, 0x3FC00000U, 0x12600000U, 0x7F3FFFFFU})
    {
        for (uint32_t i = 0; i < Count; ++i)
        {
            const uint32_t bits = first + i;
            std::memcpy(&values[i], &bits, sizeof(bits));
        }
        std::memcpy(data.m_Bytes.data(), values.data(), data.m_Bytes.size());
        const std::vector<float> roots = run(UnaryOperation::Sqrt);
        const std::vector<float> inverses = run(UnaryOperation::Rsqrt);
        size_t wrong = 0;
        size_t far = 0;
        for (size_t i = 0; i < Count; ++i)
        {
            const double root = std::sqrt(double{values[i]});
            wrong += roots[i] != static_cast<float>(root) ? 1 : 0;
            far += std::abs(double{inverses[i]} * root - 1.0) <= 1.8e-7 ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0U) << "from " << values[0];
        EXPECT_EQ(far, 0U) << "from " << values[0];
    }
}

} // namespace tenon::test::unary_roots_test
