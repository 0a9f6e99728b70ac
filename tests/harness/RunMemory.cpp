// SPDX-License-Identifier: Apache-2.0
// Keys of contents, and the memory of one test's runs.
#include "harness/RunMemory.hpp"

#include "backends/cpu/simd/IsaForTests.hpp"

#include <tenon/Tensor.hpp>

#define XXH_INLINE_ALL // no library to link
#include <xxhash.h>

namespace tenon::test
{

namespace
{

RunMemory* current = nullptr;

} // namespace

void ContentHash::AddBytes(const void* data, size_t bytes)
{
    const XXH128_hash_t added = XXH3_128bits(data, bytes);
    const uint64_t words[] = {m_Key.m_First, m_Key.m_Second, added.low64, added.high64};
    const XXH128_hash_t all = XXH3_128bits(words, sizeof(words));
    m_Key = {all.low64, all.high64};
}

void ContentHash::Add(const TensorInfo& info)
{
    Add(info.GetDataType());
    const TensorShape& shape = info.GetShape();
    Add(shape.GetDimensionality());
    if (shape.GetDimensionality() != Dimensionality::NotSpecified)
    {
        Add(shape.GetNumDimensions());
        for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
        {
            Add(shape.GetDimensionSpecificity(i) ? shape[i] : ~0U);
        }
    }
    Add(info.IsConstant());
    Add(info.HasQuantization());
    const std::vector<float> scales = info.GetQuantizationScales();
    AddBytes(scales.data(), scales.size() * sizeof(float));
    const std::vector<int32_t> offsets = info.GetQuantizationOffsets();
    AddBytes(offsets.data(), offsets.size() * sizeof(int32_t));
    Add(info.GetQuantizationDim().has_value() ? info.GetQuantizationDim().value() : ~0U);
    Add(info.GetQuantizationBlockSize());
}

RunMemory* RunMemory::Get()
{
    return current;
}

RunMemory::RunMemory()
{
    current = this;
}

RunMemory::~RunMemory()
{
    current = nullptr;
}

std::shared_ptr<const RunMemory::Run> RunMemory::FindRun(const ContentKey& key, unsigned int threads) const
{
    const uint32_t bits = cpu::GetFeatureBits();
    const auto [begin, end] = m_Runs.equal_range(key);
    for (auto run = begin; run != end; ++run)
    {
        const Run& found = *run->second;
        if (((found.m_FeatureBits ^ bits) & found.m_Reads) == 0 && (!found.m_IsSplit || found.m_Threads == threads))
        {
            return run->second;
        }
    }
    return nullptr;
}

bool RunMemory::HasRoom(size_t bytes)
{
    constexpr size_t MaxBytes = size_t{128} << 20;
    if (m_Bytes + bytes > MaxBytes)
    {
        return false;
    }
    m_Bytes += bytes;
    return true;
}

void RunMemory::AddRun(const ContentKey& key, const std::shared_ptr<const Run>& run)
{
    if (HasRoom(run->m_Bytes.size()))
    {
        m_Order.push_back(m_Runs.emplace(key, run));
    }
}

void RunMemory::ForgetRuns(size_t count)
{
    for (; m_Order.size() > count; m_Order.pop_back())
    {
        m_Bytes -= m_Order.back()->second->m_Bytes.size();
        m_Runs.erase(m_Order.back());
    }
}

const std::vector<std::byte>* RunMemory::FindTensor(const ContentKey& key) const
{
    const auto found = m_Tensors.find(key);
    return found != m_Tensors.end() ? &found->second : nullptr;
}

void RunMemory::AddTensor(const ContentKey& key, const std::vector<std::byte>& bytes)
{
    if (HasRoom(bytes.size()))
    {
        m_Tensors.emplace(key, bytes);
    }
}

} // namespace tenon::test
