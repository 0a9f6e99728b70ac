// SPDX-License-Identifier: Apache-2.0
// Cases of fast kernels: shapes that the oracles' tables of an operator are too slow or too few for are compared with
// CpuRef. Used by the tests of CpuAcc's kernels.
#pragma once

#include "backends/cpu/simd/Isa.hpp"
#include "harness/OpTest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace tenon::test
{

inline const IBackend& FindTestBackend(const BackendId& id)
{
    for (const auto& backend : GetTestBackends())
    {
        if (backend->GetId() == id)
        {
            return *backend;
        }
    }
    throw InvalidArgumentException("no backend " + id.Get());
}

/// Fails unless the numbers are as near as the case allows, and `ofLargest` times the largest finite one. Infinities
/// are the same, and zeros have the same sign unless an absolute difference is allowed.
void ExpectNear(const OpCase& op, const std::vector<double>& got, const std::vector<double>& want, double ofLargest);

/// CpuAcc runs the case with this kernel (any where the processor has no vectors, it is empty, or constants come at run
/// time), on one and three threads, in place where it may, and gives what CpuRef does: numbers as near as the case
/// says, and `ofLargest` times the largest one. Threads change no bit. On all levels (ForEachIsa).
void ExpectAsReference(const OpCase& op, std::string kernel, double ofLargest = 0);

/// The same of a layer with a quantized output, in both of its modes of requantization. D: its descriptor.
template <typename D>
void ExpectAsReferenceInBothModes(OpCase op, const std::string& kernel)
{
    D descriptor = static_cast<const D&>(*op.m_Descriptor);
    for (const RequantizationMode mode : {RequantizationMode::FixedPoint, RequantizationMode::FloatHalfEven})
    {
        descriptor.m_Requantization = mode;
        op.m_Descriptor = MakeDescriptor(descriptor);
        ExpectAsReference(op, kernel);
    }
}

/// The info with another shape.
inline TensorInfo Shaped(TensorInfo info, const TensorShape& shape)
{
    info.SetShape(shape);
    return info;
}

/// A case without an oracle, whose results are to be those of CpuRef in every bit.
inline OpCase ReferenceCase(std::string name, LayerType type, std::shared_ptr<const BaseDescriptor> descriptor,
                            std::vector<TestTensor> inputs, const TensorInfo& output)
{
    OpCase op = {std::move(name), type, std::move(descriptor), std::move(inputs), output, nullptr};
    op.m_Relative = 0;
    op.m_Absolute = 0;
    return op;
}

template <typename D>
OpCase ReferenceCase(std::string name, LayerType type, D descriptor, std::vector<TestTensor> inputs,
                     const TensorInfo& output)
{
    return ReferenceCase(std::move(name), type, MakeDescriptor(std::move(descriptor)), std::move(inputs), output);
}

} // namespace tenon::test
