// SPDX-License-Identifier: Apache-2.0
// The pages of packed constants leave memory, and those of constants that are still read do not.
#include "backends/cpu/CpuAccBackend.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "common/MappedFile.hpp"

#include <tenon/backend/IBackend.hpp>
#include <tenon/descriptors/Products.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace tenon::test::packed_cache_test
{

namespace
{

constexpr size_t Bytes = 1 << 20;

/// Bytes of the mapping that are in this process's memory. Nothing where it is not listed: some emulators list it at
/// the addresses that they gave it.
std::optional<size_t> GetResidentBytes(const void* mapping)
{
    std::ifstream maps("/proc/self/smaps");
    std::ostringstream start;
    start << std::hex << reinterpret_cast<uintptr_t>(mapping) << '-';
    bool isOurs = false;
    for (std::string line; std::getline(maps, line);)
    {
        isOurs = isOurs || line.rfind(start.str(), 0) == 0;
        if (isOurs && line.rfind("Rss:", 0) == 0)
        {
            return std::stoul(line.substr(4)) * 1024;
        }
    }
    return std::nullopt;
}

/// Bytes of a file of weights that are in memory after the layer's workload was made, if that is known.
std::optional<size_t> GetRemainingBytes(DataType type, unsigned int rows, const TensorShape& weights, char fill)
{
    const std::string path =
        (std::filesystem::temp_directory_path() / ("tenon_packed_cache_" + std::to_string(getpid()))).string();
    std::ofstream(path, std::ios::binary) << std::string(Bytes, fill);
    const std::shared_ptr<const MappedFile> file = MappedFile::Open(path, Bytes);
    std::filesystem::remove(path);

    FullyConnectedDescriptor descriptor;
    descriptor.m_TransposeWeightMatrix = true;
    const TensorInfo data(TensorShape({rows, weights[1]}), type, 1.0f, 0);
    TensorInfo constant(weights, type, 1.0f, 0);
    constant.SetConstant();
    const TensorInfo output(TensorShape({rows, weights[0]}), type, 1.0f, 0);
    const std::vector<const TensorInfo*> inputs = {&data, &constant};
    const std::vector<const TensorInfo*> outputs = {&output};
    const std::vector<const void*> constants = {nullptr, file->Bytes().data()};
    const std::string name = "layer under test";
    LayerView view;
    view.m_Type = LayerType::FullyConnected;
    view.m_Name = &name;
    view.m_Descriptor = &descriptor;
    view.m_Inputs = inputs;
    view.m_Outputs = outputs;
    view.m_ConstantData = constants;
    const std::byte sum = *std::max_element(file->Bytes().begin(), file->Bytes().end()); // all is in memory
    EXPECT_EQ(sum, static_cast<std::byte>(fill));
    const auto workload = cpu::MakeCpuAccBackend()->CreateWorkloadFactory({})->CreateWorkload(view);

    return GetResidentBytes(file->Bytes().data());
}

} // namespace

TEST(PackedCache, ReleasesWhatIsPackedOnly)
{
    if (!cpu::GetCpuFeatures().m_Simd)
    {
        GTEST_SKIP() << "without vectors nothing is packed";
    }
    const std::optional<size_t> remaining = GetRemainingBytes(DataType::Float32, 100, {64, 4096}, 0);
    if (!remaining)
    {
        GTEST_SKIP() << "emulated";
    }
    EXPECT_EQ(remaining, 0U) << "packed";
    EXPECT_EQ(GetRemainingBytes(DataType::Float32, 1, {64, 4096}, 0), Bytes) << "few rows: read where they are";
    EXPECT_EQ(GetRemainingBytes(DataType::QAsymmU8, 100, {256, 4096}, 1), 0U) << "packed";
    EXPECT_EQ(GetRemainingBytes(DataType::QAsymmU8, 100, {16, 65536}, static_cast<char>(255)), Bytes)
        << "sums too large: the reference kernel reads them";
}

} // namespace tenon::test::packed_cache_test
