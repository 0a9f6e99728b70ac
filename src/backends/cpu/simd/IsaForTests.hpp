// SPDX-License-Identifier: Apache-2.0
// For tests alone: other levels of TENON_FORCE_ISA within a process, and which features a piece of code asks for.
#pragma once

#include "backends/cpu/simd/Isa.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::cpu
{

/// One of the names that TENON_FORCE_ISA takes.
struct IsaLevel
{
    std::string m_Name;
    bool m_IsThere = false; ///< the processor has it, and TENON_FORCE_ISA lets it through
};

/// All levels, the best one first.
std::vector<IsaLevel> GetIsaLevels();

/// Caps the features at a level while it lives. At its begin and end no other thread may run code of CpuAcc, and no
/// workload made before is used after.
class ScopedIsa
{
public:
    /// Throws InvalidArgumentException for a name that is no level, and for a level that is not there.
    explicit ScopedIsa(const std::string& level);
    ~ScopedIsa();
    ScopedIsa(const ScopedIsa&) = delete;
    ScopedIsa& operator=(const ScopedIsa&) = delete;

private:
    const CpuFeatures* m_Before;
};

/// A bit for each feature that is in force.
uint32_t GetFeatureBits();

/// Notes which features are asked for while it lives; they count for one around it, too, unless it forgets them. At its
/// begin no other thread may run code of CpuAcc.
class FeatureReads
{
public:
    FeatureReads();
    ~FeatureReads();
    FeatureReads(const FeatureReads&) = delete;
    FeatureReads& operator=(const FeatureReads&) = delete;

    /// Bits of the features that were asked for so far. Code that is run again asks for the same ones, and does the
    /// same, where these have the same values.
    uint32_t Get() const;
    /// As if nothing had been asked for so far.
    void Forget();

private:
    uint32_t m_Around; ///< what was read before
};

/// Bits of the features that were asked for in the innermost FeatureReads.
uint32_t GetFeatureReads();

/// As if these features had been asked for: of code that is not run again.
void NoteFeatureReads(uint32_t bits);

} // namespace tenon::cpu
