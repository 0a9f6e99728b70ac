// SPDX-License-Identifier: Apache-2.0
// Detection of the processor's instruction sets, their cap by TENON_FORCE_ISA, and the changes that tests make.
#include "backends/cpu/simd/IsaForTests.hpp"

#include <tenon/Exceptions.hpp>

#include <hwy/detect_targets.h>

#include <array>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

#if HWY_ARCH_X86
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif HWY_ARCH_ARM && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif HWY_ARCH_ARM && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace tenon::cpu
{

namespace
{

/// A level of TENON_FORCE_ISA and the features that come with it.
struct Level
{
    const char* m_Name;
    std::array<Feature CpuFeatures::*, 2> m_Features; ///< null if there are fewer than two
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

/// Linux grants the tile registers only to processes that request them.
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

/// The results of CPUID. A query takes microseconds on a virtual machine, as the host answers it, and loading a small
/// network takes less than a millisecond. So each query is made once.
struct CpuId
{
    unsigned int m_A = 0;
    unsigned int m_B = 0;
    unsigned int m_C = 0;
    unsigned int m_D = 0;

    CpuId(unsigned int leaf, unsigned int subleaf) { __cpuid_count(leaf, subleaf, m_A, m_B, m_C, m_D); }

    /// Precondition: the result of leaf 0, whose maker string is compared with "AuthenticAMD".
    bool IsAmd() const { return m_B == 0x68747541 && m_D == 0x69746E65 && m_C == 0x444D4163; }

    /// The family of the processor, extended as both makers define it.
    unsigned int GetFamily() const
    {
        constexpr unsigned int Extended = 15;
        const unsigned int family = m_A >> 8 & 0xFU; // of leaf 1
        return family == Extended ? family + (m_A >> 20 & 0xFFU) : family;
    }
};

/// True if all bits with these numbers are set.
bool HasBits(uint32_t value, std::initializer_list<unsigned int> numbers)
{
    uint32_t bits = 0;
    for (const unsigned int number : numbers)
    {
        bits |= 1U << number;
    }
    return (value & bits) == bits;
}

/// The register sets that the system saves, one bit for each (XGETBV). Precondition: CPUID has the bit OSXSAVE.
uint32_t GetSavedRegisters()
{
    uint32_t low = 0;
    uint32_t high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// __builtin_cpu_supports is not used: some compilers' libraries have an empty table of features.
CpuFeatures Detect()
{
    CpuFeatures features;
    const CpuId maker(0, 0);
    const CpuId model(1, 0);
    // The features that Highway's SSE4 target is compiled for: SSE 4.2, PCLMUL, AES.
    features.m_Simd.Set(HasBits(model.m_C, {20, 1, 25}));
    constexpr unsigned int ExtendedLeaf = 7;
    constexpr unsigned int OsXsave = 27;
    if (!features.m_Simd || maker.m_A < ExtendedLeaf || !HasBits(model.m_C, {OsXsave}))
    {
        return features;
    }
    const CpuId extended(ExtendedLeaf, 0);
    const uint32_t saved = GetSavedRegisters();
    // The system saves 256-bit vectors; FMA, F16C; AVX2, BMI2.
    features.m_Avx2.Set(HasBits(saved, {1, 2}) && HasBits(model.m_C, {12, 29}) && HasBits(extended.m_B, {5, 8}));
    // The system saves masks and 512-bit vectors; F, DQ, BW, VL.
    features.m_Avx512.Set(features.m_Avx2 && HasBits(saved, {5, 6, 7}) && HasBits(extended.m_B, {16, 17, 30, 31}));
    features.m_Avx512Vnni.Set(features.m_Avx512 && (extended.m_C >> 11 & 1U) != 0);
    features.m_Avx512Vbmi.Set(features.m_Avx512Vnni && (extended.m_C >> 1 & 1U) != 0);
    const bool hasTiles = features.m_Avx512 && (extended.m_D >> 24 & 1U) != 0 && RequestTiles();
    features.m_AmxInt8.Set(hasTiles && (extended.m_D >> 25 & 1U) != 0);
    if (extended.m_A != 0) // the last subleaf
    {
        const CpuId more(ExtendedLeaf, 1);
        features.m_AvxVnni.Set(features.m_Avx2 && (more.m_A >> 4 & 1U) != 0);
        features.m_Avx512Bf16.Set(features.m_Avx512 && (more.m_A >> 5 & 1U) != 0);
        // The kernels round by an instruction of AVX512-BF16.
        features.m_AmxBf16.Set(hasTiles && features.m_Avx512Bf16 && (extended.m_D >> 22 & 1U) != 0);
        features.m_HasSparePorts.Set(features.m_Avx512Bf16 && maker.IsAmd());
        features.m_UsesBf16Dots.Set(features.m_AmxBf16 || features.m_HasSparePorts);
        constexpr unsigned int FamilyOfFourth = 0x19; // family 19h; among its processors only Zen 4 reaches this line
        features.m_SplitsVectors.Set(features.m_HasSparePorts && model.GetFamily() == FamilyOfFourth);
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

#if defined(__APPLE__)

/// True if macOS reports this feature.
bool HasOption(const char* name)
{
    int has = 0;
    size_t bytes = sizeof(has);
    return sysctlbyname(name, &has, &bytes, nullptr, 0) == 0 && has != 0;
}

#endif

CpuFeatures Detect()
{
    CpuFeatures features;
#if HWY_ARCH_ARM_A64
    features.m_Simd.Set(true);
#if defined(__APPLE__)
    features.m_DotProd.Set(HasOption("hw.optional.arm.FEAT_DotProd"));
    features.m_I8mm.Set(features.m_DotProd && HasOption("hw.optional.arm.FEAT_I8MM"));
#elif defined(__linux__)
    features.m_DotProd.Set((getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0);
    features.m_I8mm.Set(features.m_DotProd && (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0);
#endif
#elif defined(__linux__)
    features.m_Simd.Set((getauxval(AT_HWCAP) & HWCAP_NEON) != 0 && (getauxval(AT_HWCAP) & HWCAP_VFPv4) != 0);
#endif
    return features;
}

#endif

bool Has(const CpuFeatures& features, const Level& level)
{
    for (Feature CpuFeatures::*feature : level.m_Features)
    {
        if (feature != nullptr && (features.*feature).GetBits() == 0)
        {
            return false;
        }
    }
    return true;
}

/// Removes the features above the level of this name. `source`: where the name comes from, for the error text.
void Cap(CpuFeatures& features, const std::string& name, const std::string& source)
{
    bool isAbove = false;
    std::string names;
    for (const Level& level : Levels)
    {
        for (Feature CpuFeatures::*feature : level.m_Features)
        {
            if (isAbove && feature != nullptr)
            {
                (features.*feature).Set(false);
            }
        }
        isAbove = isAbove || name == level.m_Name;
        names += (names.empty() ? "" : ", ") + std::string(level.m_Name);
    }
    if (!isAbove)
    {
        throw InvalidArgumentException(source + " is '" + name + "'; on this processor it may be one of " + names);
    }
    // Bits are compared, because a test that changes the level must not count as a read of features.
    const auto needs = [](Feature& feature, const Feature& needed)
    { feature.Set(feature.GetBits() != 0 && needed.GetBits() != 0); };
    needs(features.m_Avx512Vbmi, features.m_Avx512Vnni);
    needs(features.m_HasSparePorts, features.m_Avx512Bf16);
    needs(features.m_SplitsVectors, features.m_Avx512Bf16);
    needs(features.m_UsesBf16Dots, features.m_Avx512Bf16);
}

CpuFeatures Find()
{
    CpuFeatures features = Detect();
    if (const char* cap = std::getenv("TENON_FORCE_ISA"); cap != nullptr && *cap != '\0')
    {
        Cap(features, cap, "the environment variable TENON_FORCE_ISA");
    }
    return features;
}

const CpuFeatures& GetFound()
{
    static const CpuFeatures features = Find();
    return features;
}

constexpr Feature CpuFeatures::*AllFeatures[] = {
    &CpuFeatures::m_Simd,       &CpuFeatures::m_Avx2,          &CpuFeatures::m_AvxVnni,       &CpuFeatures::m_Avx512,
    &CpuFeatures::m_Avx512Vbmi, &CpuFeatures::m_Avx512Vnni,    &CpuFeatures::m_Avx512Bf16,    &CpuFeatures::m_AmxInt8,
    &CpuFeatures::m_AmxBf16,    &CpuFeatures::m_HasSparePorts, &CpuFeatures::m_SplitsVectors, &CpuFeatures::m_DotProd,
    &CpuFeatures::m_I8mm,       &CpuFeatures::m_UsesBf16Dots,
};
static_assert(sizeof(CpuFeatures) == std::size(AllFeatures) * sizeof(Feature), "a feature is missing");

} // namespace

namespace detail
{

constinit std::atomic<const CpuFeatures*> featuresInForce = nullptr;
constinit std::atomic<uint32_t> featureReads = 0;
constinit std::atomic<uint32_t> isaEra = 1; // 0 is the era of a PerIsa without a value

const CpuFeatures& DetectFeatures()
{
    const CpuFeatures& found = GetFound();
    const CpuFeatures* none = nullptr;
    featuresInForce.compare_exchange_strong(none, &found, std::memory_order_acq_rel);
    return found;
}

void NoteFeatureRead(uint32_t bit)
{
    featureReads.fetch_or(bit, std::memory_order_relaxed);
}

void Renew(std::atomic<uint32_t>& era, void (*make)(void* object), void* object)
{
    static std::recursive_mutex mutex; // recursive, because make() may ask for another PerIsa
    const std::lock_guard lock(mutex);
    const uint32_t current = isaEra.load(std::memory_order_relaxed);
    if (era.load(std::memory_order_relaxed) != current)
    {
        make(object);
        era.store(current, std::memory_order_release);
    }
}

} // namespace detail

bool HasManyRegisters()
{
    // ManyRegisters (F32-inl.hpp) of the chosen target.
#if HWY_ARCH_ARM_A64
    return true;
#else
    return GetCpuFeatures().m_Avx512;
#endif
}

std::string GetIsaName()
{
    detail::NoteFeatureRead(~0U); // it depends on all features
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
    add(features.m_UsesBf16Dots, "bf16dots");
    add(features.m_AmxInt8, "amxint8");
    add(features.m_AmxBf16, "amxbf16");
    add(features.m_DotProd, "dotprod");
    add(features.m_I8mm, "i8mm");
    return names;
}

std::vector<IsaLevel> GetIsaLevels()
{
    std::vector<IsaLevel> levels;
    for (const Level& level : Levels)
    {
        levels.insert(levels.begin(), {level.m_Name, Has(GetFound(), level)});
    }
    return levels;
}

ScopedBf16Dots::ScopedBf16Dots() : m_Before(&GetCpuFeatures()), m_Features(std::make_unique<CpuFeatures>(*m_Before))
{
    m_Features->m_UsesBf16Dots.Set(true);
    detail::featuresInForce = m_Features.get();
    ++detail::isaEra;
}

ScopedBf16Dots::~ScopedBf16Dots()
{
    detail::featuresInForce = m_Before;
    ++detail::isaEra;
}

ScopedIsa::ScopedIsa(const std::string& level) : m_Before(&GetCpuFeatures())
{
    static std::map<std::string, CpuFeatures> forced;
    CpuFeatures features = GetFound();
    Cap(features, level, "the level of a test");
    for (const IsaLevel& each : GetIsaLevels())
    {
        if (each.m_Name == level && !each.m_IsThere)
        {
            throw InvalidArgumentException("the level of a test is '" + level + "', which this processor lacks");
        }
    }
    detail::featuresInForce = &forced.emplace(level, features).first->second;
    ++detail::isaEra;
}

ScopedIsa::~ScopedIsa()
{
    detail::featuresInForce = m_Before;
    ++detail::isaEra;
}

uint32_t GetFeatureBits()
{
    uint32_t bits = 0;
    for (Feature CpuFeatures::*feature : AllFeatures)
    {
        bits |= (GetCpuFeatures().*feature).GetBits();
    }
    return bits;
}

FeatureReads::FeatureReads() : m_Around(detail::featureReads.exchange(0))
{
    ++detail::isaEra; // values of PerIsa are made again, and their reads of features are noted
}

FeatureReads::~FeatureReads()
{
    detail::NoteFeatureRead(m_Around);
}

uint32_t FeatureReads::Get() const
{
    return detail::featureReads;
}

void FeatureReads::Forget()
{
    detail::featureReads = 0;
    ++detail::isaEra;
}

uint32_t GetFeatureReads()
{
    return detail::featureReads;
}

void NoteFeatureReads(uint32_t bits)
{
    detail::NoteFeatureRead(bits);
}

} // namespace tenon::cpu
