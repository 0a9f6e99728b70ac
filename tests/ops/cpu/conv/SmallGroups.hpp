// SPDX-License-Identifier: Apache-2.0
// The grouped convolutions that CpuAcc has kernels of their own for.
#pragma once

#include "backends/cpu/depthwise/float/DepthwiseMicrokernelsF32.hpp"
#include "backends/cpu/gemm/kernels/int16/MicrokernelsInt16.hpp"
#include "backends/cpu/simd/Isa.hpp"

#include <tenon/Tensor.hpp>

namespace tenon::test
{

/// Integer types: groups of few channels with as many outputs, with enough channels for vectors, whose sums cannot
/// become too large. `weights`: [outputs, height, width, channels of a group]. `maxDepth`: of a window.
inline bool HasSmallGroups(const TensorShape& data, const TensorShape& weights, unsigned int maxDepth = 4096)
{
    const unsigned int channels = weights[3];
    if (!cpu::GetCpuFeatures().m_Simd || weights[0] != data[3] || channels == data[3] ||
        (channels != 2 && channels != 4 && channels != 8))
    {
        return false;
    }
    return 2 * data[3] >= cpu::GetMicrokernelsInt16().m_Lanes * (channels == 8 ? 3 : 2) &&
           weights[1] * weights[2] * channels <= maxDepth;
}

/// The same for floats; groups of eight have a kernel on some processors only.
inline bool HasSmallGroupsF32(const TensorShape& data, const TensorShape& weights)
{
    const unsigned int channels = weights[3];
    const bool hasOctets =
        cpu::GetCpuFeatures().m_Simd && cpu::GetDepthwiseMicrokernelsF32<float>().m_Groups8.m_Columns != 0;
    return weights[0] == data[3] &&
           (channels == 2 || channels == 4 || (channels == 8 && hasOctets && data[3] != channels));
}

} // namespace tenon::test
