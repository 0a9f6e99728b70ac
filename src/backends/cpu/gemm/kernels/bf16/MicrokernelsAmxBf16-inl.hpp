// SPDX-License-Identifier: Apache-2.0
// bfloat16 microkernels for AMX (tdpbf16ps), two by two tile registers of accumulators. Instructions that older
// compilers lack are assembly. Included by MicrokernelsBf16.cpp, once for each target.
#if defined(TENON_CPU_AMX_TILES_BF16_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_AMX_TILES_BF16_INL
#undef TENON_CPU_AMX_TILES_BF16_INL
#else
#define TENON_CPU_AMX_TILES_BF16_INL
#endif

#include "backends/cpu/gemm/kernels/AmxTileConfig.hpp"
#include "backends/cpu/gemm/kernels/bf16/EpilogueBf16-inl.hpp"

#include <algorithm>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

#if HWY_TARGET == HWY_AVX3
namespace
{

/// Tile registers 0 to 3 are accumulators (two of rows by two of columns), 4 and 5 data, 6 and 7 weights.
HWY_INLINE void Configure(size_t rows, size_t stepPairs)
{
    AmxTileConfig configuration;
    const size_t upper = std::min<size_t>(rows, 16);
    const size_t lower = std::max<size_t>(rows - upper, 1);
    configuration.Set(0, upper, 64);
    configuration.Set(1, upper, 64);
    configuration.Set(2, lower, 64);
    configuration.Set(3, lower, 64);
    configuration.Set(4, upper, 4 * stepPairs);
    configuration.Set(5, lower, 4 * stepPairs);
    configuration.Set(6, stepPairs, 64);
    configuration.Set(7, stepPairs, 64);
    configuration.Load();
}

/// Rows and step of this thread's current configuration; zeros: none.
thread_local size_t configuredRows = 0;
thread_local size_t configuredPairs = 0;

template <size_t Vectors>
HWY_INLINE void RunAmxTile(const TileBf16& tile)
{
    if (configuredRows != tile.m_Rows || configuredPairs != tile.m_StepPairs)
    {
        Configure(tile.m_Rows, tile.m_StepPairs);
        configuredRows = tile.m_Rows;
        configuredPairs = tile.m_StepPairs;
    }
    const bool hasLowerRows = tile.m_Rows > 16;
    const size_t dataStride = tile.m_DataStride * sizeof(uint16_t);
    constexpr size_t VectorElements = 32;
    const size_t panelStride = Vectors * VectorElements * sizeof(uint16_t);
    const uint16_t* upper = tile.m_Data;
    const uint16_t* lower = tile.m_Data + 16 * tile.m_DataStride;
    const uint16_t* left = tile.m_Panel;
    const uint16_t* right = tile.m_Panel + VectorElements;
    const size_t dataStep = 2 * tile.m_StepPairs;
    const size_t panelStep = tile.m_StepPairs * Vectors * VectorElements;
    const size_t steps = tile.m_Pairs / tile.m_StepPairs;
    asm volatile("tilezero %%tmm0\n tilezero %%tmm1\n tilezero %%tmm2\n tilezero %%tmm3" ::);
    for (size_t i = 0; i < steps; ++i)
    {
        asm volatile("tileloadd (%0,%1,1), %%tmm4" : : "r"(upper), "r"(dataStride) : "memory");
        asm volatile("tileloadd (%0,%1,1), %%tmm6" : : "r"(left), "r"(panelStride) : "memory");
        asm volatile("tdpbf16ps %%tmm6, %%tmm4, %%tmm0" ::);
        if constexpr (Vectors == 2)
        {
            asm volatile("tileloadd (%0,%1,1), %%tmm7" : : "r"(right), "r"(panelStride) : "memory");
            asm volatile("tdpbf16ps %%tmm7, %%tmm4, %%tmm1" ::);
        }
        if (hasLowerRows)
        {
            asm volatile("tileloadd (%0,%1,1), %%tmm5" : : "r"(lower), "r"(dataStride) : "memory");
            asm volatile("tdpbf16ps %%tmm6, %%tmm5, %%tmm2" ::);
            if constexpr (Vectors == 2)
            {
                asm volatile("tdpbf16ps %%tmm7, %%tmm5, %%tmm3" ::);
            }
        }
        upper += dataStep;
        lower += dataStep;
        left += panelStep;
        right += panelStep;
    }
    constexpr size_t Width = Vectors * 16;
    alignas(64) float sums[MicrokernelsBf16::MaxRows * Width];
    const size_t sumStride = Width * sizeof(float);
    float* const under = sums + 16 * Width;
    asm volatile("tilestored %%tmm0, (%0,%1,1)" : : "r"(sums), "r"(sumStride) : "memory");
    if constexpr (Vectors == 2)
    {
        asm volatile("tilestored %%tmm1, (%0,%1,1)" : : "r"(sums + 16), "r"(sumStride) : "memory");
    }
    if (hasLowerRows)
    {
        asm volatile("tilestored %%tmm2, (%0,%1,1)" : : "r"(under), "r"(sumStride) : "memory");
        if constexpr (Vectors == 2)
        {
            asm volatile("tilestored %%tmm3, (%0,%1,1)" : : "r"(under + 16), "r"(sumStride) : "memory");
        }
    }
    const TagF32 d;
    TileBf16 row = tile;
    for (size_t r = 0; r < tile.m_Rows; ++r)
    {
        const size_t rowOffset = r * tile.m_OutStride;
        for (size_t c = 0; c < tile.m_Columns; c += 16)
        {
            row.m_Out = tile.m_Out + rowOffset + c;
            row.m_Added = tile.m_Added != nullptr ? tile.m_Added + rowOffset + c : nullptr;
            VecF32 value[1][1] = {{hn::Add(hn::Load(d, sums + r * Width + c), hn::LoadU(d, tile.m_Bias + c))}};
            row.m_Columns = tile.m_Columns - c;
            ApplyEpilogue(row, value);
        }
    }
}

template <size_t Vectors>
void RunAmxTiles(const TileBf16& first, size_t count)
{
    TileBf16 tile = first;
    while (true)
    {
        if (tile.m_Next != nullptr)
        {
            // Prefetches a share of the next panel: four tiles or more fetch all of a panel of this width.
            tile.m_Next->FetchLines(tile.m_Pairs / 2);
        }
        RunAmxTile<Vectors>(tile);
        if (--count == 0)
        {
            break;
        }
        tile.MoveDown(tile.m_Rows);
    }
}

void ReleaseTiles()
{
    asm volatile("tilerelease" ::);
    configuredRows = 0;
    configuredPairs = 0;
}

} // namespace
#endif

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
