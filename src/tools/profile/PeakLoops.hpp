// SPDX-License-Identifier: Apache-2.0
// Loops that do nothing but multiply-accumulates, at the peak rate of a core: the yardstick of rooflines.
#pragma once

#include <optional>
#include <string>

namespace tenon::tools
{

/// A loop of multiply-accumulates of one kind on registers, at the peak rate of a core.
struct PeakLoop
{
    std::string m_Name;  ///< name of the instructions
    double m_Macs = 0.0; ///< multiply-accumulates of a call, which takes some microseconds
    void (*m_Run)() = nullptr;
};

/// Loops of the best instructions of the machine; empty for kinds that it does not have.
struct PeakLoops
{
    PeakLoop m_Float32;                  ///< fused multiply-add of the widest vectors
    std::optional<PeakLoop> m_Int8;      ///< dot products of 8-bit integers in vectors: VNNI, sdot
    std::optional<PeakLoop> m_Int16;     ///< dot products of 16-bit integers in vectors
    std::optional<PeakLoop> m_BFloat16;  ///< dot products of bfloat16 in vectors
    std::optional<PeakLoop> m_Int8Tiles; ///< AMX
    std::optional<PeakLoop> m_BFloat16Tiles;
};
const PeakLoops& GetPeakLoops();

} // namespace tenon::tools
