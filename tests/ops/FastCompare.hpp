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
inline void ExpectNear(const OpCase& op, const std::vector<double>& got, const std::vector<double>& want,
                       double ofLargest)
{
    double largest = 0;
    for (const double value : want)
    {
        largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
    }
    const bool haveSigns = op.m_Absolute == 0 && ofLargest == 0;
    for (size_t i = 0; i < want.size(); ++i)
    {
        const double bound = op.m_Relative * std::abs(want[i]) + op.m_Absolute + ofLargest * largest;
        const bool isSame = (std::isnan(got[i]) && std::isnan(want[i])) ||
                            (got[i] == want[i] && (!haveSigns || std::signbit(got[i]) == std::signbit(want[i])));
        const bool isNear = got[i] != want[i] && std::isfinite(want[i]) && std::abs(got[i] - want[i]) <= bound;
        ASSERT_TRUE(isSame || isNear) << "element " << i << " is " << got[i] << " in place of " << want[i];
    }
}

/// CpuAcc runs the case with this kernel (any where the processor has no vectors, it is empty, or constants come at run
/// time), on one and three threads, in place where it may, and gives what CpuRef does: numbers as near as the case
/// says, and `ofLargest` times the largest one. Threads change no bit.
inline void ExpectAsReference(const OpCase& op, std::string kernel, double ofLargest = 0)
{
    SCOPED_TRACE(op.m_Name);
    kernel += kernel.empty() || op.m_FusedActivation == nullptr ? "" : "+Activation";
    const std::vector<std::byte> want = RunOp(FindTestBackend(Compute::CpuRef), op, {});
    std::vector<TensorInfo> outputs = op.m_MoreOutputs;
    outputs.insert(outputs.begin(), op.m_Output);
    const std::vector<RunVariant> variants = GetVariants(op, {1, 3});
    std::vector<std::vector<std::byte>> ofOneThread; // of the first half of the variants
    std::vector<std::byte> near = want;              // the last ones that are
    for (size_t i = 0; i < variants.size(); ++i)
    {
        const RunVariant& variant = variants[i];
        SCOPED_TRACE(ToText(variant));
        std::string name;
        std::vector<std::byte> got = RunOp(FindTestBackend(Compute::CpuAcc), op, variant, &name);
        const bool isThatLayer = variant.m_Constants || std::none_of(op.m_Inputs.begin(), op.m_Inputs.end(),
                                                                     [](const TestTensor& t) { return t.m_Constant; });
        if (cpu::GetCpuFeatures().m_Simd && !kernel.empty() && isThatLayer)
        {
            ASSERT_EQ(name, kernel);
        }
        if (variant.m_Threads != 1)
        {
            ASSERT_EQ(variant.m_InPlaceInput, variants[i - ofOneThread.size()].m_InPlaceInput);
            ASSERT_TRUE(got == ofOneThread[i - ofOneThread.size()]) << "on one thread it gives something else";
            continue;
        }
        if (got != near && got != want)
        {
            size_t at = 0;
            for (const TensorInfo& output : outputs)
            {
                ASSERT_NO_FATAL_FAILURE(
                    ExpectNear(op, GetStored(output, got.data() + at), GetStored(output, want.data() + at), ofLargest));
                at += output.GetNumBytes();
            }
            near = got;
        }
        ofOneThread.push_back(std::move(got));
    }
}

/// The info with another shape.
inline TensorInfo Shaped(TensorInfo info, const TensorShape& shape)
{
    info.SetShape(shape);
    return info;
}

/// A case without an oracle, whose results are to be those of CpuRef in every bit.
inline OpCase FastCase(std::string name, LayerType type, std::shared_ptr<const BaseDescriptor> descriptor,
                       std::vector<TestTensor> inputs, const TensorInfo& output)
{
    OpCase op = {std::move(name), type, std::move(descriptor), std::move(inputs), output, nullptr};
    op.m_Relative = 0;
    op.m_Absolute = 0;
    return op;
}

template <typename D>
OpCase FastCase(std::string name, LayerType type, D descriptor, std::vector<TestTensor> inputs,
                const TensorInfo& output)
{
    return FastCase(std::move(name), type, MakeDescriptor(std::move(descriptor)), std::move(inputs), output);
}

} // namespace tenon::test
