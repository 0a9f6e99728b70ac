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

/// The name of the kernel that a backend runs a supported case with.
inline std::string GetKernelName(const IBackend& backend, const OpCase& op)
{
    std::vector<const TensorInfo*> inputs;
    std::vector<const void*> constants;
    for (const TestTensor& input : op.m_Inputs)
    {
        inputs.push_back(&input.m_Info);
        constants.push_back(input.m_Constant ? input.m_Bytes.data() : nullptr);
    }
    std::vector<const TensorInfo*> outputs = {&op.m_Output};
    for (const TensorInfo& output : op.m_MoreOutputs)
    {
        outputs.push_back(&output);
    }
    LayerView view;
    view.m_Type = op.m_Type;
    view.m_Name = &op.m_Name;
    view.m_Descriptor = op.m_Descriptor.get();
    view.m_Inputs = inputs;
    view.m_Outputs = outputs;
    view.m_ConstantData = constants;
    view.m_FusedActivation = op.m_FusedActivation;
    return backend.CreateWorkloadFactory({})->CreateWorkload(view)->GetName();
}

/// CpuAcc runs the case with this kernel (any where the processor has no vectors), on one and three threads, and gives
/// CpuRef's bytes; where `relative` is not 0, floats that differ by no more than that part of the largest number, and
/// NaN and infinities where CpuRef has them.
inline void ExpectAsReference(const OpCase& op, const std::string& kernel, double relative = 0)
{
    SCOPED_TRACE(op.m_Name);
    const IBackend& fast = FindTestBackend(Compute::CpuAcc);
    if (cpu::GetCpuFeatures().m_Simd)
    {
        EXPECT_EQ(GetKernelName(fast, op), kernel);
    }
    const std::vector<std::byte> want = RunOp(FindTestBackend(Compute::CpuRef), op, {});
    for (const unsigned int threads : {1U, 3U})
    {
        const std::vector<std::byte> got = RunOp(fast, op, {true, threads, -1});
        if (relative == 0)
        {
            ASSERT_TRUE(got == want) << "other bytes with " << threads << " threads";
            continue;
        }
        const std::vector<double> wanted = GetStored(op.m_Output, want.data());
        const std::vector<double> values = GetStored(op.m_Output, got.data());
        double largest = 0;
        for (const double value : wanted)
        {
            largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
        }
        for (size_t i = 0; i < wanted.size(); ++i)
        {
            if (values[i] == wanted[i] || (std::isnan(values[i]) && std::isnan(wanted[i])))
            {
                continue;
            }
            ASSERT_NEAR(values[i], wanted[i], relative * largest) << "element " << i << ", " << threads << " threads";
        }
    }
}

/// The info with another shape.
inline TensorInfo Shaped(TensorInfo info, const TensorShape& shape)
{
    info.SetShape(shape);
    return info;
}

/// A case without an oracle.
template <typename D>
OpCase FastCase(std::string name, LayerType type, D descriptor, std::vector<TestTensor> inputs,
                const TensorInfo& output)
{
    return {std::move(name), type, MakeDescriptor(std::move(descriptor)), std::move(inputs), output, nullptr};
}

} // namespace tenon::test
