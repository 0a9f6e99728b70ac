// SPDX-License-Identifier: Apache-2.0
// Each kernel of CpuAcc runs in some case: CpuRef's kernel would give the right answer in place of one that takes
// nothing, and nobody would notice.
#include "harness/OpTest.hpp"

#include <gtest/gtest.h>

namespace tenon::test
{

namespace
{

constexpr const char* FastKernels[] = {
#define TENON_KERNEL(type, name) "Cpu" #name,
#include "backends/cpu/Kernels.def"
};

/// Looks once all tests have run.
class EveryKernelRuns : public testing::Environment
{
public:
    void TearDown() override
    {
        if (GTEST_FLAG_GET(filter) != "*")
        {
            return; // some tests only
        }
        for (const char* name : FastKernels)
        {
            EXPECT_EQ(GetRunKernels().count(name), 1U) << "no case ran by kernel " << name;
        }
    }
};

testing::Environment* const Registered = testing::AddGlobalTestEnvironment(new EveryKernelRuns);

} // namespace

} // namespace tenon::test
