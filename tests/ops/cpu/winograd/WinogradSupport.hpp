// SPDX-License-Identifier: Apache-2.0
// Whether this processor runs int8 3x3 convolutions by WinogradInt8.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

namespace tenon::test
{

/// Int8 dot products are faster than the transforms.
inline bool HasDots()
{
    return cpu::GetCpuFeatures().m_Simd &&
           cpu::GetMicrokernelsInt8().GetPlain(true).m_Layout != cpu::WeightLayoutInt8::Int16x2;
}

} // namespace tenon::test
