// SPDX-License-Identifier: Apache-2.0
// Arm dot products (sdot, udot): C[mr][4 * vectors], lanes of four int32. One load takes four groups of a row's data,
// and each dot product names the group that it broadcasts: few loads besides the weights are left in the loop.
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"

#include <hwy/base.h>

#if HWY_ARCH_ARM_A64

#include <arm_neon.h>
#include <cstring>

// For all functions here that use dot products, as the rest of the library runs without them.
#define TENON_DOTPROD __attribute__((target("arch=armv8.2-a+dotprod")))

namespace tenon::cpu
{

namespace
{

constexpr size_t Lanes = 4;      ///< int32 in a vector
constexpr size_t LoadGroups = 4; ///< of a row's data in a vector

// GCC 12 copies and spills the accumulators around the intrinsics, so these are written as assembly.
struct SignedDots
{
    template <int Group>
    TENON_DOTPROD static HWY_INLINE void Add(int32x4_t& sums, uint8x16_t weights, uint8x16_t data)
    {
        asm("sdot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sums) : "w"(weights), "w"(data), "i"(Group));
    }
};

struct UnsignedDots
{
    template <int Group>
    TENON_DOTPROD static HWY_INLINE void Add(int32x4_t& sums, uint8x16_t weights, uint8x16_t data)
    {
        asm("udot %0.4s, %1.16b, %2.4b[%3]" : "+w"(sums) : "w"(weights), "w"(data), "i"(Group));
    }
};

/// Adds the products of one group of each row.
template <typename Dots, int Group, size_t Rows, size_t Vectors>
TENON_DOTPROD HWY_INLINE void AddGroup(int32x4_t (&acc)[Rows][Vectors], const uint8x16_t (&x)[Rows],
                                       const uint8_t* weights)
{
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        const uint8x16_t w = vld1q_u8(weights + v * Lanes * 4);
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            Dots::template Add<Group>(acc[r][v], w, x[r]);
        }
    }
}

template <typename Dots, size_t Rows, size_t Vectors>
TENON_DOTPROD void Tile(const void* data, size_t dataStride, const void* panel, size_t groups, const int32_t* bias,
                        int32_t* sums)
{
    constexpr size_t GroupBytes = Vectors * Lanes * 4; // of the panel
    int32x4_t acc[Rows][Vectors];
    const uint8_t* rows[Rows];
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        rows[r] = static_cast<const uint8_t*>(data) + r * dataStride;
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            acc[r][v] = vld1q_s32(bias + v * Lanes);
        }
    }
    const auto* weights = static_cast<const uint8_t*>(panel);
    uint8x16_t x[Rows];
    size_t g = 0;
    for (; g + LoadGroups <= groups; g += LoadGroups, weights += LoadGroups * GroupBytes)
    {
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            x[r] = vld1q_u8(rows[r] + 4 * g);
        }
        AddGroup<Dots, 0>(acc, x, weights);
        AddGroup<Dots, 1>(acc, x, weights + GroupBytes);
        AddGroup<Dots, 2>(acc, x, weights + 2 * GroupBytes);
        AddGroup<Dots, 3>(acc, x, weights + 3 * GroupBytes);
    }
    for (; g < groups; ++g, weights += GroupBytes)
    {
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            uint32_t group;
            std::memcpy(&group, rows[r] + 4 * g, sizeof(group));
            x[r] = vreinterpretq_u8_u32(vdupq_n_u32(group));
        }
        AddGroup<Dots, 0>(acc, x, weights);
    }
    HWY_UNROLL(8)
    for (size_t r = 0; r < Rows; ++r)
    {
        HWY_UNROLL(4)
        for (size_t v = 0; v < Vectors; ++v)
        {
            vst1q_s32(sums + (r * Vectors + v) * Lanes, acc[r][v]);
        }
    }
}

/// Microkernels of 1 to `Rows` rows for panels of `Vectors`.
template <size_t Vectors, size_t Rows>
void FillTiles(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned)
{
    ofSigned.Add(Vectors, Rows, Tile<SignedDots, Rows, Vectors>);
    ofUnsigned.Add(Vectors, Rows, Tile<UnsignedDots, Rows, Vectors>);
    if constexpr (Rows > 1)
    {
        FillTiles<Vectors, Rows - 1>(ofSigned, ofUnsigned);
    }
}

} // namespace

void UseDotProd(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned)
{
    // 32 registers hold 21 accumulators, the rows' data and some vectors of weights.
    FillTiles<1, 8>(ofSigned, ofUnsigned);
    FillTiles<2, 8>(ofSigned, ofUnsigned);
    FillTiles<3, 7>(ofSigned, ofUnsigned);
    FillTiles<4, 5>(ofSigned, ofUnsigned);
}

} // namespace tenon::cpu

#else

namespace tenon::cpu
{

void UseDotProd(MicrokernelSetInt8&, MicrokernelSetInt8&) {}

} // namespace tenon::cpu

#endif
