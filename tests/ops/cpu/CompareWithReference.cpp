// SPDX-License-Identifier: Apache-2.0
// Comparison of CpuAcc's results with CpuRef's.
#include "ops/cpu/CompareWithReference.hpp"

#include "harness/IsaCases.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tenon::test
{

void ExpectNear(const OpCase& op, const std::vector<double>& got, const std::vector<double>& want, double ofLargest)
{
    double largest = 0;
    for (const double value : want)
    {
        largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
    }
    const bool hasSigns = op.m_Absolute == 0 && ofLargest == 0;
    for (size_t i = 0; i < want.size(); ++i)
    {
        const double bound = op.m_Relative * std::abs(want[i]) + op.m_Absolute + ofLargest * largest;
        const bool isSame = (std::isnan(got[i]) && std::isnan(want[i])) ||
                            (got[i] == want[i] && (!hasSigns || std::signbit(got[i]) == std::signbit(want[i])));
        const bool isNear = got[i] != want[i] && std::isfinite(want[i]) && std::abs(got[i] - want[i]) <= bound;
        ASSERT_TRUE(isSame || isNear) << "element " << i << " is " << got[i] << " in place of " << want[i];
    }
}

namespace
{

/// The part of ExpectAsReference() that depends on the level. `want`: what CpuRef gives.
void ExpectOnLevel(const OpCase& op, const std::string& kernel, double ofLargest, const std::vector<std::byte>& want)
{
    std::vector<TensorInfo> outputs = op.m_MoreOutputs;
    outputs.insert(outputs.begin(), op.m_Output);
    const std::vector<RunVariant> variants = GetVariants(op, {1, 3});
    std::vector<std::vector<std::byte>> ofOneThread; // of the first half of the variants
    std::vector<std::byte> near;                     // the last ones that are, but not the same
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
        if (got != want && got != near)
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

} // namespace

void ExpectAsReference(const OpCase& op, std::string kernel, double ofLargest)
{
    SCOPED_TRACE(op.m_Name);
    kernel += kernel.empty() || op.m_FusedActivation == nullptr ? "" : "+Activation";
    const std::vector<std::byte> want = RunOp(FindTestBackend(Compute::CpuRef), op, {});
    ForEachIsa([&] { ExpectOnLevel(op, kernel, ofLargest, want); });
}

} // namespace tenon::test
