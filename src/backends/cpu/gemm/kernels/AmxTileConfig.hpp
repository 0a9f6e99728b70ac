// SPDX-License-Identifier: Apache-2.0
// AmxTileConfig: palette, rows and row bytes of the eight AMX tile registers, in the format of ldtilecfg (x86-64), and
// loads and stores of these registers. Used by the AMX microkernels of int8 and bf16.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// The operand of ldtilecfg.
struct alignas(64) AmxTileConfig
{
    static constexpr size_t MaxRows = 16;
    static constexpr size_t MaxRowBytes = 64;

    uint8_t m_Palette = 1;
    uint8_t m_StartRow = 0;
    uint8_t m_Reserved[14] = {};
    uint16_t m_RowBytes[16] = {};
    uint8_t m_Rows[16] = {};

    constexpr void Set(size_t tile, size_t rows, size_t rowBytes)
    {
        m_Rows[tile] = static_cast<uint8_t>(rows);
        m_RowBytes[tile] = static_cast<uint16_t>(rowBytes);
    }
    /// Configures the tile registers of this thread, until "tilerelease".
    void Load() const { asm volatile("ldtilecfg %0" : : "m"(*this)); }
};
static_assert(sizeof(AmxTileConfig) == 64);

/// Loads and stores of a tile register, whose number is a literal, with `stride` bytes between rows. Assembly, as the
/// compiler takes the intrinsics only with options for the whole file.
#define TENON_TILE_LOAD(tile, address, stride)                                                                         \
    asm volatile("tileloadd (%0,%1,1), %%tmm" tile : : "r"(address), "r"(stride) : "memory")
#define TENON_TILE_STORE(tile, address, stride)                                                                        \
    asm volatile("tilestored %%tmm" tile ", (%0,%1,1)" : : "r"(address), "r"(stride) : "memory")

} // namespace tenon::cpu
