// SPDX-License-Identifier: Apache-2.0
// AmxTileConfig: palette, rows and row bytes of the eight AMX tile registers, in the format of ldtilecfg (x86-64). Used
// by the AMX microkernels of int8 and bf16.
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

} // namespace tenon::cpu
