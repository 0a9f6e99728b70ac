// SPDX-License-Identifier: Apache-2.0
// Arm matrix products (smmla, usmmla): each multiplies 2 rows by 2 columns over 8 bytes of the depth. Packed weights
// have these eight bytes of a column side by side (m_ColumnGroups = 2). Until they are stored, the accumulators of a
// pair of rows are blocks of 2 x 2:
//   row 0 column 0, row 0 column 1, row 1 column 0, row 1 column 1
// For an odd number of rows, zeros stand for the second row of the last pair.
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"

#include <hwy/base.h>

#if HWY_ARCH_ARM_A64

#include <arm_neon.h>

// For all functions here that use matrix products, as the rest of the library runs without them.
#define TENON_I8MM __attribute__((target("arch=armv8.2-a+i8mm")))

namespace tenon::cpu
{

namespace
{

constexpr size_t Lanes = 4;      ///< int32 in a vector
constexpr size_t DepthBytes = 8; ///< of each row and column in a matrix product

// GCC 12 copies and spills the accumulators around the intrinsics, so these are written as assembly.
struct SignedProducts
{
    TENON_I8MM static HWY_INLINE void Add(int32x4_t& sums, uint8x16_t data, int8x16_t weights)
    {
        asm("smmla %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(data), "w"(weights));
    }
};

/// For uint8 data and int8 weights.
struct MixedProducts
{
    TENON_I8MM static HWY_INLINE void Add(int32x4_t& sums, uint8x16_t data, int8x16_t weights)
    {
        asm("usmmla %0.4s, %1.16b, %2.16b" : "+w"(sums) : "w"(data), "w"(weights));
    }
};

template <typename Products, size_t Rows, size_t Vectors>
TENON_I8MM void Tile(const void* data, size_t dataStride, const void* panel, size_t groups, const int32_t* bias,
                     int32_t* sums)
{
    constexpr size_t RowPairs = (Rows + 1) / 2;
    constexpr size_t ColumnPairs = Vectors * 2;
    int32x4_t acc[RowPairs][ColumnPairs];
    HWY_UNROLL(8)
    for (size_t c = 0; c < ColumnPairs; ++c)
    {
        const int32x2_t two = vld1_s32(bias + 2 * c);
        HWY_UNROLL(4)
        for (size_t r = 0; r < RowPairs; ++r)
        {
            acc[r][c] = vcombine_s32(two, two);
        }
    }
    const uint8_t* rows[Rows];
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        rows[r] = static_cast<const uint8_t*>(data) + r * dataStride;
    }
    const auto* weights = static_cast<const int8_t*>(panel);
    for (size_t k = 0; k < groups * 4; k += DepthBytes)
    {
        uint8x16_t x[RowPairs];
        HWY_UNROLL(4)
        for (size_t r = 0; r < RowPairs; ++r)
        {
            const uint8x8_t first = vld1_u8(rows[2 * r] + k);
            x[r] = vcombine_u8(first, 2 * r + 1 < Rows ? vld1_u8(rows[2 * r + 1] + k) : vdup_n_u8(0));
        }
        HWY_UNROLL(8)
        for (size_t c = 0; c < ColumnPairs; ++c)
        {
            const int8x16_t w = vld1q_s8(weights + c * 2 * DepthBytes);
            HWY_UNROLL(4)
            for (size_t r = 0; r < RowPairs; ++r)
            {
                Products::Add(acc[r][c], x[r], w);
            }
            // Keeps the compiler from loading all weights first, into registers that it does not have.
            asm("" : "+r"(weights), "+w"(acc[RowPairs / 2][c]));
        }
        weights += ColumnPairs * 2 * DepthBytes;
    }
    HWY_UNROLL(4)
    for (size_t r = 0; r < RowPairs; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            const int64x2_t left = vreinterpretq_s64_s32(acc[r][2 * v]);
            const int64x2_t right = vreinterpretq_s64_s32(acc[r][2 * v + 1]);
            int32_t* const to = sums + (2 * r * Vectors + v) * Lanes;
            vst1q_s32(to, vreinterpretq_s32_s64(vtrn1q_s64(left, right)));
            if (2 * r + 1 < Rows)
            {
                vst1q_s32(to + Vectors * Lanes, vreinterpretq_s32_s64(vtrn2q_s64(left, right)));
            }
        }
    }
}

/// Microkernels of 1 to `Rows` rows for panels of `Vectors`.
template <size_t Vectors, size_t Rows>
void FillTiles(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned)
{
    ofSigned.Add(Vectors, Rows, Tile<SignedProducts, Rows, Vectors>);
    ofUnsigned.Add(Vectors, Rows, Tile<MixedProducts, Rows, Vectors>);
    if constexpr (Rows > 1)
    {
        FillTiles<Vectors, Rows - 1>(ofSigned, ofUnsigned);
    }
}

} // namespace

void UseI8mm(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned)
{
    // 32 registers hold up to 24 accumulators, the pairs of rows and a vector of weights.
    FillTiles<1, 8>(ofSigned, ofUnsigned);
    FillTiles<2, 8>(ofSigned, ofUnsigned);
    FillTiles<3, 6>(ofSigned, ofUnsigned);
    FillTiles<4, 6>(ofSigned, ofUnsigned);
}

} // namespace tenon::cpu

#else

namespace tenon::cpu
{

void UseI8mm(MicrokernelSetInt8&, MicrokernelSetInt8&) {}

} // namespace tenon::cpu

#endif
