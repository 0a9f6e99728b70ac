// SPDX-License-Identifier: Apache-2.0
// Detection of the processor's instructions and their cap by TENON_FORCE_ISA.
#include "backends/cpu/simd/Isa.hpp"

#include <tenon/Exceptions.hpp>

#include <hwy/detect_targets.h>

#include <array>
#include <cstdlib>

#if HWY_ARCH_X86
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif HWY_ARCH_ARM && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace tenon::cpu
{

namespace
{

/// A level of TENON_FORCE_ISA and the features that come with it.
struct Level
{
    const char* m_Name;
    std::array<bool CpuFeatures::*, 2> m_Features; ///< null where there are fewer
};

#if HWY_ARCH_X86

constexpr Level Levels[] = {
    {"scalar", {}},
    {"sse4", {&CpuFeatures::m_Simd}},
    {"avx2", {&CpuFeatures::m_Avx2}},
    {"avxvnni", {&CpuFeatures::m_AvxVnni}},
    {"avx512", {&CpuFeatures::m_Avx512}},
    {"avx512vnni", {&CpuFeatures::m_Avx512Vnni}},
    {"avx512bf16", {&CpuFeatures::m_Avx512Bf16}},
    {"amx", {&CpuFeatures::m_AmxInt8, &CpuFeatures::m_AmxBf16}},
};

/// Linux hands out the tile registers to processes that ask.
bool RequestTiles()
{
#if defined(__linux__) && defined(SYS_arch_prctl)
    constexpr int RequestPermission = 0x1023;
    constexpr int TileData = 18;
    return syscall(SYS_arch_prctl, RequestPermission, TileData) == 0;
#else
    return false;
#endif
}

/// What the processor says of itself. Each question takes microseconds on a virtual machine, whose host answers it, and
/// loads of small networks less than a millisecond: none is asked twice.
struct CpuId
{
    unsigned int m_A = 0;
    unsigned int m_B = 0;
    unsigned int m_C = 0;
    unsigned int m_D = 0;

    CpuId(unsigned int leaf, unsigned int subleaf) { __cpuid_count(leaf, subleaf, m_A, m_B, m_C, m_D); }

    /// The family of processors, extended as both makers define it.
    unsigned int GetFamily() const
    {
        constexpr unsigned int Extended = 15;
        const unsigned int family = m_A >> 8 & 0xFU; // of leaf 1
        return family == Extended ? family + (m_A >> 20 & 0xFFU) : family;
    }
};

CpuFeatures Detect()
{
    // What Highway compiles its targets for. These ask whether the system saves the registers, too.
    CpuFeatures features;
    features.m_Simd = __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("pclmul") != 0 &&
                      __builtin_cpu_supports("aes") != 0;
    if (!features.m_Simd || __builtin_cpu_supports("avx2") == 0)
    {
        return features;
    }
    const CpuId model(1, 0);
    const bool hasF16c = (model.m_C >> 29 & 1U) != 0;
    features.m_Avx2 = __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("bmi2") != 0 && hasF16c;
    features.m_Avx512 = features.m_Avx2 && __builtin_cpu_supports("avx512f") != 0 &&
                        __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                        __builtin_cpu_supports("avx512vl") != 0;
    const CpuId extended(7, 0); // which tells of AVX2, so that it is there
    features.m_Avx512Vnni = features.m_Avx512 && (extended.m_C >> 11 & 1U) != 0;
    features.m_Avx512Vbmi = features.m_Avx512Vnni && (extended.m_C >> 1 & 1U) != 0;
    const bool hasTiles = features.m_Avx512 && (extended.m_D >> 24 & 1U) != 0 && RequestTiles();
    features.m_AmxInt8 = hasTiles && (extended.m_D >> 25 & 1U) != 0;
    features.m_AmxBf16 = hasTiles && (extended.m_D >> 22 & 1U) != 0;
    if (extended.m_A != 0) // the last subleaf
    {
        const CpuId more(7, 1);
        features.m_AvxVnni = features.m_Avx2 && (more.m_A >> 4 & 1U) != 0;
        features.m_Avx512Bf16 = features.m_Avx512 && (more.m_A >> 5 & 1U) != 0;
        features.m_HasSparePorts = features.m_Avx512Bf16 && __builtin_cpu_is("amd") != 0;
        constexpr unsigned int FamilyOfFourth = 0x19; // of its processors, only those of the fourth generation get here
        features.m_SplitsVectors = features.m_HasSparePorts && model.GetFamily() == FamilyOfFourth;
    }
    return features;
}

#else

constexpr Level Levels[] = {
    {"scalar", {}},
    {"neon", {&CpuFeatures::m_Simd}},
#if HWY_ARCH_ARM_A64
    {"dotprod", {&CpuFeatures::m_DotProd}},
    {"i8mm", {&CpuFeatures::m_I8mm}},
#endif
};

CpuFeatures Detect()
{
    CpuFeatures features;
#if HWY_ARCH_ARM_A64
    features.m_Simd = true;
#if defined(__linux__)
    features.m_DotProd = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
    features.m_I8mm = features.m_DotProd && (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0;
#endif
#elif defined(__linux__)
    features.m_Simd = (getauxval(AT_HWCAP) & HWCAP_NEON) != 0 && (getauxval(AT_HWCAP) & HWCAP_VFPv4) != 0;
#endif
    return features;
}

#endif

bool Has(const CpuFeatures& features, const Level& level)
{
    for (bool CpuFeatures::*feature : level.m_Features)
    {
        if (feature != nullptr && !(features.*feature))
        {
            return false;
        }
    }
    return true;
}

/// Takes away what comes after the level of this name.
void Cap(CpuFeatures& features, const std::string& name)
{
    bool isAbove = false;
    std::string names;
    for (const Level& level : Levels)
    {
        for (bool CpuFeatures::*feature : level.m_Features)
        {
            if (isAbove && feature != nullptr)
            {
                features.*feature = false;
            }
        }
        isAbove = isAbove || name == level.m_Name;
        names += (names.empty() ? "" : ", ") + std::string(level.m_Name);
    }
    if (!isAbove)
    {
        throw InvalidArgumentException("the environment variable TENON_FORCE_ISA is '" + name +
                                       "'; on this processor it may be one of " + names);
    }
}

CpuFeatures Find()
{
    CpuFeatures features = Detect();
    if (const char* cap = std::getenv("TENON_FORCE_ISA"); cap != nullptr && *cap != '\0')
    {
        Cap(features, cap);
        features.m_Avx512Vbmi = features.m_Avx512Vbmi && features.m_Avx512Vnni;
        features.m_HasSparePorts = features.m_HasSparePorts && features.m_Avx512Bf16;
        features.m_SplitsVectors = features.m_SplitsVectors && features.m_Avx512Bf16;
    }
    return features;
}

} // namespace

const CpuFeatures& GetCpuFeatures()
{
    static const CpuFeatures features = Find();
    return features;
}

bool HaveManyRegisters()
{
    // ManyRegisters (Floats-inl.hpp) of the target in use.
#if HWY_ARCH_ARM_A64
    return true;
#else
    return GetCpuFeatures().m_Avx512;
#endif
}

std::string GetIsaName()
{
    std::string name;
    for (const Level& level : Levels)
    {
        if (Has(GetCpuFeatures(), level))
        {
            name = level.m_Name;
        }
    }
    return name;
}

std::string GetIsaFeatures()
{
    const CpuFeatures& features = GetCpuFeatures();
    std::string names = GetIsaName();
    const auto add = [&names](bool has, const char* name) { names += has ? std::string(" ") + name : std::string(); };
    add(features.m_Avx2, "fma");
    add(features.m_AvxVnni, "avxvnni");
    add(features.m_Avx512, "avx512");
    add(features.m_Avx512Vbmi, "vbmi");
    add(features.m_Avx512Vnni, "vnni");
    add(features.m_Avx512Bf16, "bf16");
    add(features.m_HasSparePorts, "spareports");
    add(features.m_SplitsVectors, "halves");
    add(features.m_AmxInt8, "amxint8");
    add(features.m_AmxBf16, "amxbf16");
    add(features.m_DotProd, "dotprod");
    add(features.m_I8mm, "i8mm");
    return names;
}

} // namespace tenon::cpu
