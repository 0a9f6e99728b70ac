// SPDX-License-Identifier: Apache-2.0
// Products of two matrices of bytes that both change from run to run, beside CpuRef's.
#include "ops/BytesInfo.hpp"
#include "ops/FastCompare.hpp"

#include <tenon/Descriptors.hpp>

#include <cmath>
#include <string>

namespace tenon::test
{

namespace
{

// Matrices that change from run to run, turned around or not, broadcast, with zero points.
void CheckProduct(unsigned int rows, unsigned int depth, unsigned int columns, const char* kernel)
{
    for (const unsigned int turns : {0U, 1U, 2U, 3U})
    {
        for (const bool isSigned : {false, true})
        {
            const int32_t least = isSigned ? -128 : 0;
            const BatchMatMulDescriptor d(turns % 2 != 0, turns / 2 != 0);
            const TensorShape x = d.m_TransposeX ? TensorShape({2, 1, depth, rows}) : TensorShape({2, 1, rows, depth});
            const TensorShape y =
                d.m_TransposeY ? TensorShape({1, 3, columns, depth}) : TensorShape({1, 3, depth, columns});
            const float scale = 0.01f * std::sqrt(static_cast<float>(depth));
            ExpectAsReference(
                FastCase(x.ToString() + " by " + y.ToString(), LayerType::BatchMatMul, d,
                         {Random(BytesInfo(x, isSigned, 0.05f, least + 100 + static_cast<int32_t>(turns)), 1),
                          Random(BytesInfo(y, isSigned, 0.02f, least + (rows % 2 == 0 ? 255 : 128)), 2)},
                         BytesInfo({2, 3, rows, columns}, isSigned, 5 * scale, least + 120)),
                kernel);
        }
    }
}

} // namespace

TEST(FastBytes, ProductsOfMatricesAsReference)
{
    const unsigned int sizes[][3] = {{1, 1, 1}, {1, 64, 70}, {7, 5, 19}, {33, 30, 16}, {17, 129, 40}};
    for (const auto& [rows, depth, columns] : sizes)
    {
        CheckProduct(rows, depth, columns, "CpuBatchMatMulBytes");
    }
}

// More panels and rows than are packed and laid out at a time. One whose sums could overflow is the reference kernel's.
TEST(FastBytes, ProductsOfLargeMatricesAsReference)
{
    CheckProduct(3, 700, 600, "CpuBatchMatMulBytes");
    CheckProduct(1100, 70, 9, "CpuBatchMatMulBytes");
    CheckProduct(2, 9000, 3, "CpuBatchMatMulBytes");
    CheckProduct(1, 17000, 2, "RefBatchMatMul");
}

} // namespace tenon::test
