// SPDX-License-Identifier: Apache-2.0
// Which instructions CpuAcc finds, and what TENON_FORCE_ISA leaves of them, beside what the processor itself says.
// ctest runs it with each level, and cross-built on processors whose level is known.
#include "backends/cpu/simd/Isa.hpp"

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tenon::cpu::isa_test
{

namespace
{

struct Level
{
    const char* m_Name;
    bool m_IsThere;
};

#if defined(__x86_64__)

std::vector<Level> AskProcessor()
{
    const auto has = [](int answer) { return answer != 0; };
    return {{"scalar", true},
            {"sse4", has(__builtin_cpu_supports("sse4.2"))},
            {"avx2", has(__builtin_cpu_supports("avx2")) && has(__builtin_cpu_supports("fma"))},
            {"avxvnni", has(__builtin_cpu_supports("avxvnni"))},
            {"avx512", has(__builtin_cpu_supports("avx512bw")) && has(__builtin_cpu_supports("avx512vl"))},
            {"avx512vnni", has(__builtin_cpu_supports("avx512vnni"))},
            {"avx512bf16", has(__builtin_cpu_supports("avx512bf16"))},
            {"amx", GetCpuFeatures().m_AmxInt8 && GetCpuFeatures().m_AmxBf16}}; // the system has to let it be used
}

#elif defined(__aarch64__)

/// Four bits of a register that says what the processor has. Linux lets processes read these.
template <int Bit>
uint64_t GetField(uint64_t value)
{
    return value >> Bit & 15U;
}

std::vector<Level> AskProcessor()
{
    uint64_t first = 0;
    uint64_t second = 0;
    asm("mrs %0, ID_AA64ISAR0_EL1" : "=r"(first));
    asm("mrs %0, ID_AA64ISAR1_EL1" : "=r"(second));
    return {{"scalar", true},
            {"neon", true},
            {"dotprod", GetField<44>(first) != 0},
            {"i8mm", GetField<44>(first) != 0 && GetField<52>(second) != 0}};
}

#else

std::vector<Level> AskProcessor()
{
    return {{"scalar", true}, {"neon", true}}; // Debian's armhf has NEON wherever these tests run
}

#endif

/// Whether registers that say what the processor has may be read.
bool CanAsk()
{
#if defined(__aarch64__)
    constexpr unsigned long Cpuid = 1UL << 11;
    return (getauxval(AT_HWCAP) & Cpuid) != 0;
#else
    return true;
#endif
}

} // namespace

TEST(Isa, IsTheBestThatIsThereUpToTheForcedOne)
{
    if (!CanAsk())
    {
        GTEST_SKIP() << "this system does not let processes ask the processor";
    }
    const char* forced = std::getenv("TENON_FORCE_ISA");
    std::string expected;
    for (const Level& level : AskProcessor())
    {
        expected = level.m_IsThere ? level.m_Name : expected;
        if (forced != nullptr && std::string(forced) == level.m_Name)
        {
            break;
        }
    }
    EXPECT_EQ(GetIsaName(), expected);
}

// On a processor that ctest names to the emulator.
TEST(Isa, IsThatOfTheProcessor)
{
    const char* expected = std::getenv("TENON_TEST_ISA");
    if (expected == nullptr)
    {
        GTEST_SKIP() << "no emulated processor, or all that there is";
    }
    EXPECT_EQ(GetIsaName(), expected);
}

TEST(Isa, ProductsOfBytesUseIt)
{
    const CpuFeatures& features = GetCpuFeatures();
    if (!features.m_Simd)
    {
        EXPECT_EQ(GetIsaName(), "scalar");
        return;
    }
    const MicrokernelsInt8& microkernels = GetMicrokernelsInt8();
    const bool hasDots =
        features.m_DotProd || features.m_AmxInt8 || features.m_Avx512Vnni || (features.m_AvxVnni && !features.m_Avx512);
    EXPECT_EQ(microkernels.GetPlain(true).m_Layout == WeightLayoutInt8::Int8x4, hasDots);
    EXPECT_EQ(microkernels.GetPlain(true).m_ColumnGroups, features.m_I8mm ? 2U : 1U);
    EXPECT_EQ(microkernels.GetPlain(false).m_Signs == OperandSignsInt8::BothUnsigned,
              features.m_DotProd && !features.m_I8mm);
    EXPECT_EQ(microkernels.GetPlain(true).m_RowUnit, features.m_AmxInt8 ? 16U : 1U);
}

} // namespace tenon::cpu::isa_test
