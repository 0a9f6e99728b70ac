// SPDX-License-Identifier: Apache-2.0
// CpuRef: every row of ops.def that says Kernel has one, whole and under its own name, and its test.
#include "backends/reference/CpuRefBackend.hpp"

#include "backends/reference/Kernels.hpp"
#include "graph/OpSchema.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace tenon::ref::cpu_ref_backend_test
{

namespace
{

/// The layer types that CpuRef has a kernel for, by name.
std::vector<std::pair<std::string, const backends::Kernel*>> GetKernels()
{
    std::vector<std::pair<std::string, const backends::Kernel*>> kernels;
    for (size_t i = 0; i < NumLayerTypes; ++i)
    {
        const auto type = static_cast<LayerType>(i);
        if (const backends::Kernel* kernel = FindKernel(type); kernel != nullptr)
        {
            kernels.emplace_back(GetLayerTypeAsCString(type), kernel);
        }
    }
    return kernels;
}

/// Whether `word` stands in the text and does not go on.
bool HasWord(const std::string& text, const std::string& word)
{
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    {
        const size_t end = at + word.size();
        if (end == text.size() || (std::isalnum(static_cast<unsigned char>(text[end])) == 0 && text[end] != '_'))
        {
            return true;
        }
    }
    return false;
}

} // namespace

TEST(CpuRefBackend, KernelsAreWholeAndHaveTheNamesOfTheirLayers)
{
    for (const auto& [name, kernel] : GetKernels())
    {
        EXPECT_EQ(kernel->m_Name, "Ref" + name);
        EXPECT_FALSE(kernel->m_Types.empty()) << name;
        EXPECT_NE(kernel->m_Prepare, nullptr) << name;
    }
}

TEST(CpuRefBackend, HasAKernelForEachLayerTypeThatBackendsRun)
{
    EXPECT_GT(GetKernels().size(), 90U);
    for (size_t i = 0; i < NumLayerTypes; ++i)
    {
        const auto type = static_cast<LayerType>(i);
        EXPECT_EQ(FindKernel(type) != nullptr, GetSchema(type).m_Runner == Runner::Kernel)
            << GetLayerTypeAsCString(type);
        std::vector<const backends::Kernel*> expected;
        for (const backends::Kernel* kernel : {FindKernelAsFloat(type), FindKernel(type)})
        {
            if (kernel != nullptr)
            {
                expected.push_back(kernel);
            }
        }
        EXPECT_TRUE(std::equal(FindKernels(type).begin(), FindKernels(type).end(), expected.begin(), expected.end()))
            << GetLayerTypeAsCString(type);
        EXPECT_TRUE(FindKernelAsFloat(type) == nullptr ||
                    FindKernelAsFloat(type)->m_Name == std::string("Ref") + GetLayerTypeAsCString(type) + "AsFloat")
            << GetLayerTypeAsCString(type);
    }
    EXPECT_EQ(FindKernel(static_cast<LayerType>(100000)), nullptr);
    EXPECT_EQ(FindKernel(static_cast<LayerType>(-1)), nullptr);
}

TEST(CpuRefBackend, HasATestOfEachKernel)
{
    ASSERT_TRUE(std::filesystem::exists("tests/ops")) << "run it in the folder of the sources";
    std::string tests;
    for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/ops"))
    {
        if (!entry.is_regular_file() || entry.path().filename().string().compare(0, 5, "Infer") == 0)
        {
            continue; // shape inference alone
        }
        std::ifstream file(entry.path());
        tests.append(std::istreambuf_iterator<char>(file), {});
    }
    for (const auto& [name, kernel] : GetKernels())
    {
        const bool isTested = HasWord(tests, "LayerType::" + name) || HasWord(tests, "Add" + name + "Layer");
        // Kernels of Custom are the application's: the sample custom_operator runs one.
        EXPECT_TRUE(isTested || name == "Custom") << "nothing in tests/ops is about " << name;
    }
}

TEST(CpuRefBackend, TellsWhatItIs)
{
    const std::shared_ptr<const IBackend> backend = MakeCpuRefBackend();
    EXPECT_EQ(backend->GetId(), BackendId(Compute::CpuRef));
    EXPECT_EQ(backend->CreateWorkloadFactory({})->GetBackendId(), backend->GetId());
}

} // namespace tenon::ref::cpu_ref_backend_test
