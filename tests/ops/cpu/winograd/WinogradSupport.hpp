// SPDX-License-Identifier: Apache-2.0
// Whether 3x3 convolutions of bytes are done by Winograd's transforms on this processor.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/simd/Isa.hpp"

namespace tenon::test
{

/// Dot products of bytes are faster than the transforms.
inline bool HasDots()
{
    return cpu::GetCpuFeatures().m_Simd && cpu::GetEngine8().m_Signed.m_Layout != cpu::Layout8::WidePairs;
}

} // namespace tenon::test
