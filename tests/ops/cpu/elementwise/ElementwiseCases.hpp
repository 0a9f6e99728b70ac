// SPDX-License-Identifier: Apache-2.0
// Cases of elementwise layers for the tests of CpuAcc's kernels.
#pragma once

#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace tenon::test
{

/// Vectors of 32-bit Arm take subnormal floats for zeros and give zeros in place of them; nothing else does.
inline bool FlushesSubnormals()
{
#ifdef __arm__
    return cpu::GetCpuFeatures().m_Simd;
#else
    return false;
#endif
}

/// A case whose layer says what it is.
inline OpCase Case(LayerType type, std::shared_ptr<const BaseDescriptor> descriptor, std::vector<TestTensor> inputs,
                   const TensorInfo& output)
{
    OpCase op = ReferenceCase(GetLayerTypeAsCString(type), type, std::move(descriptor), std::move(inputs), output);
    const bool flushes = output.GetDataType() == DataType::Float32 && FlushesSubnormals();
    op.m_Absolute = flushes ? std::numeric_limits<float>::min() : 0;
    return op;
}

/// Random numbers among which there are those that are easily got wrong.
inline TestTensor Floats(const TensorShape& shape, uint32_t seed, double low, double high)
{
    constexpr float Infinity = std::numeric_limits<float>::infinity();
    const float tiny = FlushesSubnormals() ? std::numeric_limits<float>::min() : 1e-40f;
    const float special[] = {std::numeric_limits<float>::quiet_NaN(),
                             Infinity,
                             -Infinity,
                             0.0f,
                             -0.0f,
                             tiny,
                             -tiny,
                             3e38f,
                             -3e38f,
                             0.5f,
                             -0.5f,
                             1.5f,
                             -2.5f,
                             1.0f,
                             -1.0f};
    TestTensor tensor = Random(TensorInfo(shape, DataType::Float32), seed, low, high);
    const size_t count = tensor.m_Bytes.size() / sizeof(float);
    for (size_t i = 0; count > 1 && i < count; i += 5)
    {
        const float value = special[(i / 5 * seed) % std::size(special)];
        std::memcpy(tensor.m_Bytes.data() + i * sizeof(float), &value, sizeof(float));
    }
    return tensor;
}

inline ActivationDescriptor Clamp(ActivationFunction function, float high, float low)
{
    ActivationDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_A = high;
    descriptor.m_B = low;
    return descriptor;
}

} // namespace tenon::test
