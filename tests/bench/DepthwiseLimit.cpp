// SPDX-License-Identifier: Apache-2.0
// The loops, in assembly as those of tools/profile/PeakLoops.cpp.
#include "DepthwiseLimit.hpp"

#include "tools/profile/PeakLoops.hpp"

#include <cstdint>
#include <utility>

namespace tenon::bench
{

namespace
{

#if defined(__x86_64__)

/// A call takes some microseconds.
constexpr long LoopCount = 500;
/// Of windows that there are loops for.
constexpr size_t MaxTaps = 36;

/// What vectors are loaded from and stored to: a line of a cache each.
alignas(64) constexpr uint8_t Line[64] = {};
alignas(64) uint8_t written[64];

// A vector of sums, register x, becomes bytes while those of the next pixel, register y, are added up, a third of its
// products at a time. Registers e and t are for the products of its even and odd lanes with multipliers. The sums are
// 2^30 more than what they stand for, which makes the products unsigned, and the sum's bit 30 tells its sign.
// clang-format off
#define TENON_THIRD(part, product) ".rept (%c[products] + " #part ") / 3\n\t" product ".endr\n\t"
/// The pixels that no window before has seen, a quarter of them before each of four vectors of channels.
#define TENON_PIXELS(part, pixel) ".rept (%c[pixels] + " #part ") / 4\n\t" pixel ".endr\n\t"

// With AVX-512 registers 16 to 22 hold weights, bias, the multipliers and what is added of even lanes, of odd ones, and
// shifts.
#define TENON_PIXEL512                                                                                                 \
    "vmovdqu64 %[from], %%zmm0\n\t"                                                                                    \
    "vpunpcklbw %%zmm0, %%zmm23, %%zmm1\n\t"                                                                           \
    "vpunpckhbw %%zmm0, %%zmm23, %%zmm2\n\t"
#define TENON_DOTS512(part, data, y) TENON_THIRD(part, "vpdpbusd %%zmm" #data ", %%zmm16, %%zmm" #y "\n\t")
#define TENON_VECTOR512(data, x, y, e, t)                                                                              \
    "vmovdqa64 %%zmm17, %%zmm" #y "\n\t"                                                                               \
    "vpshufd $0xF5, %%zmm" #x ", %%zmm" #t "\n\t"                                                                      \
    "vpmuludq %%zmm" #x ", %%zmm18, %%zmm" #e "\n\t"                                                                   \
    TENON_DOTS512(2, data, y)                                                                                          \
    "vpmuludq %%zmm" #t ", %%zmm20, %%zmm" #t "\n\t"                                                                   \
    "vpaddq %%zmm" #e ", %%zmm19, %%zmm" #e "\n\t"                                                                     \
    "vpaddq %%zmm" #t ", %%zmm21, %%zmm" #t "\n\t"                                                                     \
    TENON_DOTS512(1, data, y)                                                                                          \
    "vpshufd $0xF5, %%zmm" #e ", %%zmm" #t "%{%%k1%}\n\t"                                                              \
    "vpsrld $30, %%zmm" #x ", %%zmm" #e "\n\t"                                                                         \
    "vpaddd %%zmm" #t ", %%zmm" #e ", %%zmm" #t "\n\t"                                                                 \
    TENON_DOTS512(0, data, y)                                                                                          \
    "vpsravd %%zmm22, %%zmm" #t ", %%zmm" #x "\n\t"

/// 64 channels of a pixel at a time, by dot products.
template <size_t Products, size_t Pixels>
__attribute__((target("avx512f"), noinline)) void DotBytes512()
{
    long count = LoopCount;
    asm volatile("mov $0x5555, %%eax\n\tkmovw %%eax, %%k1\n\t"
                 "1:\n\t"
                 TENON_PIXELS(3, TENON_PIXEL512) TENON_VECTOR512(1, 4, 28, 8, 12)
                 TENON_PIXELS(2, TENON_PIXEL512) TENON_VECTOR512(2, 5, 29, 9, 13)
                 TENON_PIXELS(1, TENON_PIXEL512) TENON_VECTOR512(1, 6, 30, 10, 14)
                 TENON_PIXELS(0, TENON_PIXEL512) TENON_VECTOR512(2, 7, 31, 11, 15)
                 "vpackssdw %%zmm4, %%zmm5, %%zmm26\n\tvpackssdw %%zmm6, %%zmm7, %%zmm27\n\t"
                 "vpacksswb %%zmm26, %%zmm27, %%zmm26\n\tvmovdqu64 %%zmm26, %[to]\n\t"
                 "vmovdqa64 %%zmm28, %%zmm4\n\tvmovdqa64 %%zmm29, %%zmm5\n\t"
                 "vmovdqa64 %%zmm30, %%zmm6\n\tvmovdqa64 %%zmm31, %%zmm7\n\t"
                 "dec %[count]\n\tjnz 1b\n\tvzeroupper"
                 : [count] "+r"(count), [to] "=m"(written)
                 : [from] "m"(Line), [products] "i"(Products), [pixels] "i"(Pixels)
                 : "eax", "k1", "xmm0", "xmm1", "xmm2", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc");
}

// With AVX2 there are half as many registers: what stays the same comes from memory.
#define TENON_PIXEL256                                                                                                 \
    "vmovdqu %[from], %%ymm0\n\t"                                                                                      \
    "vpunpcklbw %%ymm0, %%ymm0, %%ymm1\n\t"                                                                            \
    "vpunpckhbw %%ymm0, %%ymm0, %%ymm2\n\t"
#define TENON_DOT256(data, y) "%{vex%} vpdpbusd %[from], %%ymm" #data ", %%ymm" #y "\n\t"
/// Two pixels are shuffled together, and their bytes made wider.
#define TENON_WIDE_PIXEL256                                                                                            \
    "vmovdqu %[from], %%ymm0\n\t"                                                                                      \
    "vpunpcklbw %%ymm0, %%ymm0, %%ymm0\n\t"                                                                            \
    "vpmovzxbw %%xmm0, %%ymm1\n\t"                                                                                     \
    "vpmovzxbw %%xmm0, %%ymm2\n\t"
#define TENON_PAIR256(data, y)                                                                                         \
    "vpmaddwd %[from], %%ymm" #data ", %%ymm3\n\t"                                                                     \
    "vpaddd %%ymm3, %%ymm" #y ", %%ymm" #y "\n\t"
#define TENON_VECTOR256(product, data, x, y, e, t)                                                                     \
    "vmovdqa %[from], %%ymm" #y "\n\t"                                                                                 \
    "vpshufd $0xF5, %%ymm" #x ", %%ymm" #t "\n\t"                                                                      \
    "vpmuludq %[from], %%ymm" #x ", %%ymm" #e "\n\t"                                                                   \
    TENON_THIRD(2, product(data, y))                                                                                   \
    "vpmuludq %[from], %%ymm" #t ", %%ymm" #t "\n\t"                                                                   \
    "vpaddq %[from], %%ymm" #e ", %%ymm" #e "\n\t"                                                                     \
    "vpaddq %[from], %%ymm" #t ", %%ymm" #t "\n\t"                                                                     \
    TENON_THIRD(1, product(data, y))                                                                                   \
    "vpshufd $0xF5, %%ymm" #e ", %%ymm" #e "\n\t"                                                                      \
    "vpblendd $0x55, %%ymm" #e ", %%ymm" #t ", %%ymm" #t "\n\t"                                                        \
    "vpsrld $30, %%ymm" #x ", %%ymm" #e "\n\t"                                                                         \
    "vpaddd %%ymm" #t ", %%ymm" #e ", %%ymm" #t "\n\t"                                                                 \
    TENON_THIRD(0, product(data, y))                                                                                   \
    "vpsravd %[from], %%ymm" #t ", %%ymm" #x "\n\t"

/// Defines such a function for 32 channels of a pixel at a time.
#define TENON_BYTES256(name, pixel, product)                                                                           \
    template <size_t Products, size_t Pixels>                                                                          \
    __attribute__((target("avx2"), noinline)) void name()                                                              \
    {                                                                                                                  \
        long count = LoopCount;                                                                                        \
        asm volatile("1:\n\t"                                                                                          \
                     TENON_PIXELS(3, pixel) TENON_VECTOR256(product, 1, 4, 8, 12, 13)                                  \
                     TENON_PIXELS(2, pixel) TENON_VECTOR256(product, 2, 5, 9, 14, 15)                                  \
                     TENON_PIXELS(1, pixel) TENON_VECTOR256(product, 1, 6, 10, 12, 13)                                 \
                     TENON_PIXELS(0, pixel) TENON_VECTOR256(product, 2, 7, 11, 14, 15)                                 \
                     "vpackssdw %%ymm4, %%ymm5, %%ymm12\n\tvpackssdw %%ymm6, %%ymm7, %%ymm13\n\t"                      \
                     "vpacksswb %%ymm12, %%ymm13, %%ymm12\n\tvmovdqu %%ymm12, %[to]\n\t"                               \
                     "vmovdqa %%ymm8, %%ymm4\n\tvmovdqa %%ymm9, %%ymm5\n\t"                                            \
                     "vmovdqa %%ymm10, %%ymm6\n\tvmovdqa %%ymm11, %%ymm7\n\t"                                          \
                     "dec %[count]\n\tjnz 1b\n\tvzeroupper"                                                            \
                     : [count] "+r"(count), [to] "=m"(written)                                                         \
                     : [from] "m"(Line), [products] "i"(Products), [pixels] "i"(Pixels)                                \
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",        \
                       "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc");                                             \
    }
// clang-format on
TENON_BYTES256(DotBytes256, TENON_PIXEL256, TENON_DOT256)
TENON_BYTES256(PairBytes256, TENON_WIDE_PIXEL256, TENON_PAIR256)

using Loop = void (*)();

enum class Products
{
    Dots512,
    Dots256,
    Pairs256
};

template <Products Kind, size_t Pixels, size_t... Counts>
Loop FindLoop(size_t count, std::index_sequence<Counts...>)
{
    static constexpr Loop Loops[] = {Kind == Products::Dots512   ? DotBytes512<Counts + 1, Pixels>
                                     : Kind == Products::Dots256 ? DotBytes256<Counts + 1, Pixels>
                                                                 : PairBytes256<Counts + 1, Pixels>...};
    return Loops[count - 1];
}

template <Products Kind>
std::optional<DepthwiseLoop> FindLoop(const DepthwiseWindow& window)
{
    constexpr size_t ProductTaps = Kind == Products::Pairs256 ? 2 : 4;
    constexpr auto Counts = std::make_index_sequence<MaxTaps / ProductTaps>();
    const size_t count = (window.m_Taps + ProductTaps - 1) / ProductTaps;
    const Loop run = window.m_Taps > MaxTaps   ? nullptr
                     : window.m_NewPixels == 1 ? FindLoop<Kind, 1>(count, Counts)
                     : window.m_NewPixels == 4 ? FindLoop<Kind, 4>(count, Counts)
                                               : nullptr;
    constexpr double Channels = Kind == Products::Dots512 ? 64 : 32;
    return run == nullptr ? std::nullopt : std::optional<DepthwiseLoop>({Channels * LoopCount, run});
}

/// Defines a function that loads `loads` vectors for each one that it stores.
#define TENON_STREAM(name, features, r, bytes)                                                                         \
    __attribute__((target(features), noinline)) void name(const char* from, char* to, size_t outputs, size_t loads)    \
    {                                                                                                                  \
        for (size_t i = 0; i + (bytes) <= outputs; i += (bytes))                                                       \
        {                                                                                                              \
            for (size_t load = 0; load < loads; ++load, from += (bytes))                                               \
            {                                                                                                          \
                asm volatile("vmovups (%0), %%" r "mm0" : : "r"(from) : "xmm0", "memory");                             \
            }                                                                                                          \
            asm volatile("vmovups %%" r "mm1, (%0)" : : "r"(to + i) : "memory");                                       \
        }                                                                                                              \
        asm volatile("vzeroupper");                                                                                    \
    }
TENON_STREAM(Stream512, "avx512f", "z", 64U)
TENON_STREAM(Stream256, "avx2", "y", 32U)

#endif

} // namespace

std::optional<DepthwiseLoop> FindDepthwiseLoop([[maybe_unused]] const DepthwiseWindow& window)
{
#if defined(__x86_64__)
    const std::optional<tools::PeakLoop>& dots = tools::GetPeakLoops().m_Int8;
    if (__builtin_cpu_supports("avx512vnni"))
    {
        return FindLoop<Products::Dots512>(window);
    }
    if (dots && dots->m_Name == "AVX-VNNI")
    {
        return FindLoop<Products::Dots256>(window);
    }
    if (__builtin_cpu_supports("avx2"))
    {
        return FindLoop<Products::Pairs256>(window);
    }
#endif
    return std::nullopt;
}

std::function<void()> MakeStream([[maybe_unused]] const ConstTensor& from, [[maybe_unused]] const Tensor& to)
{
#if defined(__x86_64__)
    using Stream = void (*)(const char*, char*, size_t, size_t);
    const Stream run = __builtin_cpu_supports("avx512f") ? Stream512
                       : __builtin_cpu_supports("avx2")  ? Stream256
                                                         : nullptr;
    const size_t outputs = to.GetNumBytes();
    const size_t loads = from.GetNumBytes() / outputs; // of no more than there is
    if (run != nullptr && loads > 0)
    {
        return [=, in = static_cast<const char*>(from.GetMemoryArea()), out = static_cast<char*>(to.GetMemoryArea())]
        { run(in, out, outputs, loads); };
    }
#endif
    return nullptr;
}

} // namespace tenon::bench
