// SPDX-License-Identifier: Apache-2.0
// CpuRef: every line of Kernels.def has its kernel, whole and under its own name, and its test; every row of ops.def
// has a line there, or its excuse here.
#include "backends/reference/CpuRefBackend.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
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
#include <tenon/ops.def>
    };
    return types;
}

/// The runtime's own, the optimizer's stand-ins, and what only another backend can know.
const std::set<LayerType> RunByOthers = {LayerType::Constant,  LayerType::Input,       LayerType::Output,
                                         LayerType::If,        LayerType::While,       LayerType::MemCopy,
                                         LayerType::MemImport, LayerType::Permute,     LayerType::ReadState,
                                         LayerType::StandIn,   LayerType::PreCompiled, LayerType::WriteState};

/// No optimizer pass makes the internal ones yet; Fused, Merge and Switch are for backends of an application's own, as
/// in Arm NN.
const std::set<LayerType> WithoutKernel = {LayerType::Fused, LayerType::Map, LayerType::Merge, LayerType::Switch,
                                           LayerType::Unmap};

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

TEST(CpuRefBackend, HasAKernelForEachLayerTypeButThoseThatAreExcused)
{
    for (const LayerType type : GetAllTypes())
    {
        const bool isExcused = RunByOthers.count(type) != 0 || WithoutKernel.count(type) != 0;
        EXPECT_EQ(FindKernel(type) == nullptr, isExcused)
            << GetLayerTypeAsCString(type) << (isExcused ? " has a kernel now: excuse it no more" : " has no kernel");
    }
    EXPECT_EQ(FindKernel(static_cast<LayerType>(100000)), nullptr);
    EXPECT_EQ(FindKernel(static_cast<LayerType>(-1)), nullptr);
}

TEST(CpuRefBackend, HasATestOfEachKernel)
{
    ASSERT_TRUE(std::filesystem::exists("tests/ops")) << "run it in the folder of the sources";
    std::string tests;
    for (const auto& entry : std::filesystem::directory_iterator("tests/ops"))
    {
        std::ifstream file(entry.path());
        tests.append(std::istreambuf_iterator<char>(file), {});
    }
    for (const LayerType type : GetListedTypes())
    {
        const std::string name = GetLayerTypeAsCString(type);
        const bool isTested = HasWord(tests, "LayerType::" + name) || HasWord(tests, "Add" + name + "Layer");
        // Kernels of Custom are the application's: the sample custom_operator runs one.
        EXPECT_TRUE(isTested || type == LayerType::Custom) << "nothing in tests/ops is about " << name;
    }
}

TEST(CpuRefBackend, TellsWhatItIs)
{
    const std::shared_ptr<const IBackend> backend = MakeCpuRefBackend();
    EXPECT_EQ(backend->GetId(), BackendId(Compute::CpuRef));
    EXPECT_EQ(backend->CreateWorkloadFactory({})->GetBackendId(), backend->GetId());
}

} // namespace tenon::ref
