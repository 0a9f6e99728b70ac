// SPDX-License-Identifier: Apache-2.0
// CpuRef: every line of Kernels.def has its kernel, whole and under its own name; other layer types have none.
#include "backends/reference/CpuRefBackend.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tenon::ref
{

namespace
{

const std::set<LayerType>& GetListedTypes()
{
    static const std::set<LayerType> types = {
#define TENON_KERNEL(name) LayerType::name,
#include "backends/reference/Kernels.def"
    };
    return types;
}

const std::set<LayerType>& GetAllTypes()
{
    static const std::set<LayerType> types = {
#define TENON_OP(name, descriptor, minInputs, maxInputs, outputs, flags, values) LayerType::name,
#define TENON_DEPRECATED_OP(name) LayerType::name,
#include <tenon/ops.def>
    };
    return types;
}

} // namespace

TEST(CpuRefBackend, HasAKernelForEachListedLayerType)
{
    for (const LayerType type : GetListedTypes())
    {
        const std::string name = GetLayerTypeAsCString(type);
        const backends::Kernel* kernel = FindKernel(type);
        ASSERT_NE(kernel, nullptr) << name;
        EXPECT_EQ(kernel->m_Name, "Ref" + name);
        EXPECT_FALSE(kernel->m_Types.empty()) << name;
        EXPECT_NE(kernel->m_Prepare, nullptr) << name;
    }
}

TEST(CpuRefBackend, HasNoOtherKernels)
{
    for (const LayerType type : GetAllTypes())
    {
        EXPECT_EQ(FindKernel(type) != nullptr, GetListedTypes().count(type) != 0) << GetLayerTypeAsCString(type);
    }
    EXPECT_EQ(FindKernel(static_cast<LayerType>(100000)), nullptr);
    EXPECT_EQ(FindKernel(static_cast<LayerType>(-1)), nullptr);
}

TEST(CpuRefBackend, TellsWhatItIs)
{
    const std::shared_ptr<const IBackend> backend = MakeCpuRefBackend();
    EXPECT_EQ(backend->GetId(), BackendId(Compute::CpuRef));
    EXPECT_STREQ(backend->GetMemoryDomain(), "Host");
    EXPECT_EQ(backend->CreateWorkloadFactory({})->GetBackendId(), backend->GetId());
}

} // namespace tenon::ref
