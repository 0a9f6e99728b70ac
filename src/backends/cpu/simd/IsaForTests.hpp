// SPDX-License-Identifier: Apache-2.0
// For tests only: other levels of TENON_FORCE_ISA within a process, and the features that a piece of code reads.
#pragma once

#include "backends/cpu/simd/Isa.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon::cpu
{

/// A level of TENON_FORCE_ISA.
struct IsaLevel
{
    std::string m_Name;
    bool m_IsThere = false; ///< the processor has it, and TENON_FORCE_ISA allows it
};

/// All levels, the best one first.
std::vector<IsaLevel> GetIsaLevels();

/// Caps the features at a level during its lifetime. No other thread may run code of CpuAcc when it is constructed or
/// destroyed, and no workload made before may be used afterwards.
class ScopedIsa
{
public:
    /// Throws InvalidArgumentException for an unknown level, and for a level that the processor lacks or
    /// TENON_FORCE_ISA excludes.
    explicit ScopedIsa(const std::string& level);
    ~ScopedIsa();
    ScopedIsa(const ScopedIsa&) = delete;
    ScopedIsa& operator=(const ScopedIsa&) = delete;

private:
    const CpuFeatures* m_Before;
};

/// Lets the optimizer reduce Float32 to BFloat16 during its lifetime, as where bfloat16 is faster; a processor without
/// such dot products computes it in float32. With the conditions of ScopedIsa.
class ScopedBf16Dots
{
public:
    ScopedBf16Dots();
    ~ScopedBf16Dots();
    ScopedBf16Dots(const ScopedBf16Dots&) = delete;
    ScopedBf16Dots& operator=(const ScopedBf16Dots&) = delete;

private:
    const CpuFeatures* m_Before;
    std::unique_ptr<CpuFeatures> m_Features;
};

/// One bit for each feature in force.
uint32_t GetFeatureBits();

/// Notes the features that are read during its lifetime. They count for an enclosing FeatureReads as well, unless
/// Forget() is called. No other thread may run code of CpuAcc when it is constructed.
class FeatureReads
{
public:
    FeatureReads();
    ~FeatureReads();
    FeatureReads(const FeatureReads&) = delete;
    FeatureReads& operator=(const FeatureReads&) = delete;

    /// Bits of the features that were read so far. Code that runs again reads the same features, and does the same if
    /// these have the same values.
    uint32_t Get() const;
    /// Forgets all reads so far.
    void Forget();

private:
    uint32_t m_Around; ///< the reads before this object was constructed
};

/// Bits of the features that were read within the innermost FeatureReads.
uint32_t GetFeatureReads();

/// Counts these features as read, for code that is not run again.
void NoteFeatureReads(uint32_t bits);

} // namespace tenon::cpu
