// SPDX-License-Identifier: Apache-2.0
// The elements of a dimension that Interpolate reads for each element of its output, and their weights, as ONNX's
// Resize defines them. Used by the kernels of Interpolate on CpuRef and CpuAcc.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/descriptors/Vision.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::ref
{

/// One dimension.
struct InterpolationTaps
{
    size_t m_Input = 1;
    size_t m_Output = 1;
    bool m_IsIdentity = true;         ///< the output's elements equal the input's; the lists are empty
    size_t m_Taps = 1;                ///< for each output
    std::vector<uint32_t> m_Index;    ///< in the input; m_Taps for each output
    std::vector<double> m_Weight;     ///< likewise
    std::vector<uint8_t> m_IsOutside; ///< one for each output: whether it lies outside of the input; empty: none does
};

/// The taps of each dimension. The descriptor is as shape inference has resolved it. Throws LayerValidationException if
/// it does not fit the shapes.
std::vector<InterpolationTaps> FindInterpolationTaps(const InterpolateDescriptor& descriptor, const TensorShape& input,
                                                     const TensorShape& output);

} // namespace tenon::ref
