// SPDX-License-Identifier: Apache-2.0
// Tensors of complex numbers, for which the harness has no numbers of its own, and runs of CpuRef on them. Used by the
// tests of ComplexPart and RealFft2d.
#pragma once

#include "harness/OpTest.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <vector>

namespace tenon::test
{

template <typename T>
TestTensor FromComplex(const TensorShape& shape, const std::vector<std::complex<T>>& values)
{
    TestTensor tensor;
    tensor.m_Info = TensorInfo(shape, sizeof(T) == sizeof(float) ? DataType::Complex64 : DataType::Complex128);
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    tensor.m_Bytes.assign(bytes, bytes + values.size() * sizeof(values[0]));
    return tensor;
}

/// The elements of output 0; the same ones on one and on two threads.
template <typename T>
std::vector<T> RunAs(const OpCase& op)
{
    const IBackend& backend = *GetTestBackends().front();
    RunVariant variant;
    const std::vector<std::byte> bytes = RunOp(backend, op, variant);
    variant.m_Threads = 2;
    EXPECT_EQ(bytes, RunOp(backend, op, variant)) << op.m_Name << " on two threads";
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!bytes.empty())
    {
        std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    return values;
}

} // namespace tenon::test
