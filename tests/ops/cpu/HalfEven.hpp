// SPDX-License-Identifier: Apache-2.0
// The definition of RequantizationMode::FloatHalfEven in plain C++, for tests of CpuRef's and CpuAcc's kernels.
#pragma once

#include "backends/common/Quantization.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tenon::test
{

/// The real number of a stored one.
inline float ToReal(double stored, const TensorInfo& info)
{
    return info.GetQuantizationScale() * static_cast<float>(stored - info.GetQuantizationOffset());
}

/// The stored number of some steps: rounded half to even, saturated; NaN is the lowest one.
inline double StepsToStored(float steps, const TensorInfo& info)
{
    const backends::QuantizedRange range = backends::GetTypeRange(info.GetDataType());
    const double stored = std::nearbyint(static_cast<double>(steps)) + info.GetQuantizationOffset();
    return std::isnan(steps) ? range.m_Min : std::clamp<double>(stored, range.m_Min, range.m_Max);
}

/// The stored mean of numbers of the input with this exact sum of differences from its zero point. The factor is
/// finite.
inline double SumToMean(int64_t sum, int64_t count, const TensorInfo& input, const TensorInfo& output)
{
    const float factor = input.GetQuantizationScale() / (output.GetQuantizationScale() * static_cast<float>(count));
    return StepsToStored(static_cast<float>(sum) * std::min(factor, std::numeric_limits<float>::max()), output);
}

/// CpuRef gives these stored numbers, and CpuAcc does with this kernel, see ExpectAsReference.
inline void ExpectStored(const OpCase& op, const std::string& kernel, const std::vector<double>& want)
{
    SCOPED_TRACE(op.m_Name);
    const std::vector<double> got = GetStored(op.m_Output, RunOp(FindTestBackend(Compute::CpuRef), op, {}).data());
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
    {
        ASSERT_EQ(got[i], want[i]) << "element " << i;
    }
    ExpectAsReference(op, kernel);
}

} // namespace tenon::test
