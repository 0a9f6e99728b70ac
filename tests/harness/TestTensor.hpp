// SPDX-License-Identifier: Apache-2.0
// TestTensor: an input of an operator test, made from real values, stored values or a seed; and RealTensor, an oracle's
// view of it: the values that it stands for, in double precision.
#pragma once

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::test
{

struct TestTensor
{
    TensorInfo m_Info;
    std::vector<std::byte> m_Bytes;
    bool m_Constant = false; ///< known when the workload is made; the harness tests both
    bool m_Connected = true;
};

/// The values that a tensor stands for, row-major.
struct RealTensor
{
    TensorShape m_Shape;
    std::vector<double> m_Values;

    unsigned int Dim(unsigned int i) const { return m_Shape[i]; }
    /// Element at the given coordinates.
    template <typename... Index>
    double At(Index... index) const
    {
        size_t offset = 0;
        unsigned int i = 0;
        ((offset = offset * m_Shape[i++] + static_cast<size_t>(index)), ...);
        return m_Values.at(offset);
    }
};

/// A tensor of these real values: quantized types store the nearest step, integers the nearest integer.
TestTensor Values(const TensorInfo& info, const std::vector<double>& real);
/// A tensor of these stored values.
TestTensor Stored(const TensorInfo& info, const std::vector<double>& stored);
/// Seeded random values in [low, high]; integers included. Quantized types take real values in this range.
TestTensor Random(const TensorInfo& info, uint32_t seed, double low, double high);
/// Seeded random stored values over the whole range of 8-bit and 16-bit integer types; else in [-1, 1].
TestTensor Random(const TensorInfo& info, uint32_t seed);
/// The tensor as a constant.
TestTensor Constant(TestTensor tensor);
/// An optional input that is not connected.
TestTensor NotConnected();

/// The stored values as numbers. Throws std::invalid_argument for complex types.
std::vector<double> GetStored(const TensorInfo& info, const std::byte* data);
/// The real values of the stored values.
RealTensor GetReal(const TensorInfo& info, const std::byte* data);
/// The stored values of a tensor of this info for its first `count` real values: saturated and, for integers, rounded
/// half away from zero.
std::vector<double> ToStored(const TensorInfo& info, const double* real, size_t count);

} // namespace tenon::test
