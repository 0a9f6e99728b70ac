// SPDX-License-Identifier: Apache-2.0
// Weights for tests of products of bytes by split weights.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "ops/cpu/TensorInfoInt8.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace tenon::test
{

/// Whether the processor's tiles take them.
inline bool HasSplits()
{
    return cpu::GetCpuFeatures().m_Simd && cpu::GetMicrokernelsInt8().Has(cpu::KernelRoleInt8::SplitUInt8);
}

/// Whether they take weights in an order of each column.
inline bool HasPermuted()
{
    return cpu::GetCpuFeatures().m_Simd && cpu::GetMicrokernelsInt8().Has(cpu::KernelRoleInt8::Permuted);
}

/// Bytes whose distance from the zero point is small, but one of so many, which is at an end.
inline std::vector<uint8_t> MakeSplitWeights(size_t count, bool isSigned, int32_t zeroPoint, int32_t small,
                                             size_t oneOf)
{
    std::mt19937 random(static_cast<uint32_t>(count + oneOf));
    const int32_t least = isSigned ? -128 : 0;
    std::vector<uint8_t> weights;
    for (size_t i = 0; i < count; ++i)
    {
        const int32_t distance = static_cast<int32_t>(random() % static_cast<uint32_t>(2 * small + 1)) - small;
        const bool isEnd = random() % oneOf == 0;
        const int32_t value = isEnd ? least + (random() % 2 == 0 ? 0 : 255) : zeroPoint + distance;
        weights.push_back(static_cast<uint8_t>(std::clamp(value, least, least + 255)));
    }
    return weights;
}

} // namespace tenon::test
