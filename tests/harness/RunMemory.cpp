// SPDX-License-Identifier: Apache-2.0
// Keys of contents, and the memory of one test's runs.
#include "harness/RunMemory.hpp"

#include "backends/cpu/simd/IsaForTests.hpp"

#include <tenon/Tensor.hpp>

#include <bit>
#include <cstring>
#include <utility>

namespace tenon::test
{

namespace
{

RunMemory* current = nullptr;

uint64_t Mix(uint64_t a, uint64_t b)
{
    // The upper half of a product depends on all bits of both, and the lower half keeps what the upper one loses.
    const uint64_t low = a * b;
    const uint64_t aHigh = a >> 32;
    const uint64_t bHigh = b >> 32;
    const uint64_t aLow = a & 0xFFFFFFFFU;
    const uint64_t bLow = b & 0xFFFFFFFFU;
    const uint64_t middle = aHigh * bLow + (aLow * bLow >> 32);
    const uint64_t high = aHigh * bHigh + (middle >> 32) + ((aLow * bHigh + (middle & 0xFFFFFFFFU)) >> 32);
    return low ^ high;
}

} // namespace

void ContentHash::AddWord(uint64_t word)
{
    m_Key.m_First = Mix(m_Key.m_First ^ word, 0x9E3779B97F4A7C15U) + std::rotl(word, 32);
    m_Key.m_Second = Mix(m_Key.m_Second + word, 0xD6E8FEB86659FD93U) ^ std::rotl(m_Key.m_Second, 23);
}

void ContentHash::AddBytes(const void* data, size_t bytes)
{
    const char* from = static_cast<const char*>(data);
    AddWord(bytes);
    for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t), from += sizeof(uint64_t))
    {
        uint64_t word = 0;
        std::memcpy(&word, from, sizeof(word));
        AddWord(word);
    }
    if (bytes != 0)
    {
        uint64_t word = 0;
        std::memcpy(&word, from, bytes);
        AddWord(word);
    }
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

const RunMemory::Run* RunMemory::FindRun(const ContentKey& key, unsigned int threads) const
{
    const uint32_t bits = cpu::GetFeatureBits();
    const auto [begin, end] = m_Runs.equal_range(key);
    for (auto run = begin; run != end; ++run)
    {
        const Run& found = run->second;
        if (((found.m_FeatureBits ^ bits) & found.m_Reads) == 0 && (!found.m_IsSplit || found.m_Threads == threads))
        {
            return &found;
        }
    }
    return nullptr;
}

bool RunMemory::HasRoom(size_t bytes)
{
    constexpr size_t MostBytes = size_t{512} << 20;
    if (m_Bytes + bytes > MostBytes)
    {
        return false;
    }
    m_Bytes += bytes;
    return true;
}

void RunMemory::AddRun(const ContentKey& key, Run run)
{
    if (HasRoom(run.m_Bytes.size()))
    {
        m_Runs.emplace(key, std::move(run));
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
