// SPDX-License-Identifier: Apache-2.0
// Instruction sets of the processor that CpuAcc uses. Kernels are chosen by them; loops never ask for them.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

namespace tenon::cpu
{

struct CpuFeatures;

namespace detail
{

/// The features in force; null until the first query.
extern std::atomic<const CpuFeatures*> featuresInForce;
/// Bits of the features that were read, for tests: see FeatureReads (IsaForTests.hpp).
extern std::atomic<uint32_t> featureReads;
/// Incremented when tests change the features, or begin to note reads.
extern std::atomic<uint32_t> isaEra;

/// Detects the features, unless another thread has done so.
const CpuFeatures& DetectFeatures();
void NoteFeatureRead(uint32_t bit);
/// Calls make(object) and then sets `era` to the current one, unless another thread has done so.
void Renew(std::atomic<uint32_t>& era, void (*make)(void* object), void* object);

} // namespace detail

/// One feature of the processor. Tests can ask which features a piece of code has read.
class Feature
{
public:
    constexpr explicit Feature(unsigned int index) : m_Bit(uint32_t{1} << index) {}

    operator bool() const
    {
        if ((detail::featureReads.load(std::memory_order_relaxed) & m_Bit) == 0)
        {
            detail::NoteFeatureRead(m_Bit);
        }
        return m_Has;
    }

    void Set(bool has) { m_Has = has; }
    /// The bit of the feature if the processor has it, else 0. Does not count as a read.
    uint32_t GetBits() const { return m_Has ? m_Bit : 0; }

private:
    uint32_t m_Bit;
    bool m_Has = false;
};

/// The features that the processor has and TENON_FORCE_ISA allows.
struct CpuFeatures
{
    Feature m_Simd{0};       ///< one of Highway's vector targets; without it only reference kernels run
    Feature m_Avx2{1};       ///< with FMA
    Feature m_AvxVnni{2};    ///< 8-bit dot products on 256 bits
    Feature m_Avx512{3};     ///< F, BW, DQ, VL
    Feature m_Avx512Vbmi{4}; ///< byte permutations; on some processors with VNNI: no level of its own
    Feature m_Avx512Vnni{5}; ///< 8-bit dot products on 512 bits
    Feature m_Avx512Bf16{6}; ///< bfloat16 dot products on 512 bits
    Feature m_AmxInt8{7};    ///< tiles of 8-bit dot products
    Feature m_AmxBf16{8};    ///< tiles of bfloat16 dot products
    /// 512-bit bitwise operations issue in parallel with dot products without slowing them: AMD's, from level
    /// avx512bf16 on.
    Feature m_HasSparePorts{9};
    /// 512-bit instructions run as two of 256 bits, so that half a vector takes half the time: AMD's family 19h, from
    /// level avx512bf16 on.
    Feature m_SplitsVectors{10};
    Feature m_DotProd{11}; ///< Arm's 8-bit dot products
    Feature m_I8mm{12};    ///< Arm's 8-bit products of 2 rows and 2 columns
    /// Layers of BFloat16 are computed by bfloat16 dot products: with AMX, which leaves few rows to AVX512-BF16, and on
    /// AMD's, whose AVX512-BF16 multiplies twice as many numbers in a cycle as float32. On Intel's without AMX it runs
    /// at half that rate, and such layers are computed in float32.
    Feature m_UsesBf16Dots{13};
};

/// The features, detected once for each process. The environment variable TENON_FORCE_ISA caps them, for tests and
/// comparisons. Its values:
///   x86-64: scalar, sse4, avx2, avxvnni, avx512, avx512vnni, avx512bf16, amx; 64-bit Arm: scalar, neon, dotprod, i8mm;
///   32-bit Arm: scalar, neon.
/// Each level includes all levels before it, as far as the processor has them. Throws InvalidArgumentException for
/// other values.
inline const CpuFeatures& GetCpuFeatures()
{
    const CpuFeatures* const features = detail::featuresInForce.load(std::memory_order_acquire);
    return features != nullptr ? *features : detail::DetectFeatures();
}

/// A value that depends on the processor's features alone. It is made at the first Get(), and again after a test has
/// changed the features. PerIsa objects are static variables, constant-initialized without a value:
///
///     static constinit PerIsa<Microkernels> microkernels;
///     return microkernels.Get([] { return TENON_CHOOSE(MakeMicrokernels)(); });
template <typename T>
class PerIsa
{
public:
    /// The value, made by `make`. The reference stays valid; the value stays until a test changes the features.
    template <typename Make>
    const T& Get(const Make& make)
    {
        if (m_Era.load(std::memory_order_acquire) != detail::isaEra.load(std::memory_order_relaxed)) [[unlikely]]
        {
            Maker<Make> maker = {make, m_Value};
            detail::Renew(
                m_Era,
                [](void* of) { static_cast<Maker<Make>*>(of)->m_Value = static_cast<Maker<Make>*>(of)->m_Make(); },
                &maker);
        }
        return m_Value;
    }

private:
    template <typename Make>
    struct Maker
    {
        const Make& m_Make;
        T& m_Value;
    };

    std::atomic<uint32_t> m_Era = 0; ///< the era in which the value was made; 0: no value
    T m_Value{};
};

/// True: the chosen target has 32 vector registers. False: it has 16.
bool HasManyRegisters();

/// The level in use, e.g. "avx512vnni": the last name of the list above that is in force.
std::string GetIsaName();
/// All features in use. Packed weights depend on them.
std::string GetIsaFeatures();

} // namespace tenon::cpu
