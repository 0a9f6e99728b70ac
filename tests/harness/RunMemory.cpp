// SPDX-License-Identifier: Apache-2.0
// Keys of contents, and the memory of one test's runs.
#include "harness/RunMemory.hpp"

#include "backends/cpu/simd/IsaForTests.hpp"

#include <tenon/Tensor.hpp>

#include <cstring>

namespace tenon::test
{

namespace
{

RunMemory* current = nullptr;

/// Both halves of the product, which depend on all bits, in one word.
uint64_t Mix(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
#else
    const uint64_t low = a * b;
    const uint64_t aHigh = a >> 32;
    const uint64_t bHigh = b >> 32;
    const uint64_t aLow = a & 0xFFFFFFFFU;
    const uint64_t bLow = b & 0xFFFFFFFFU;
    const uint64_t middle = aHigh * bLow + (aLow * bLow >> 32);
    const uint64_t high = aHigh * bHigh + (middle >> 32) + ((aLow * bHigh + (middle & 0xFFFFFFFFU)) >> 32);
    return low ^ high;
#endif
}

} // namespace

void ContentHash::AddWords(uint64_t first, uint64_t second)
{
    m_Key.m_First = Mix(m_Key.m_First ^ first, second ^ 0x9E3779B97F4A7C15U);
    m_Key.m_Second = Mix(m_Key.m_Second ^ second, first ^ 0xD6E8FEB86659FD93U) + first;
}

void ContentHash::AddBytes(const void* data, size_t bytes)
{
    const char* from = static_cast<const char*>(data);
    AddWords(bytes, 0);
    uint64_t words[2] = {};
    for (; bytes >= sizeof(words); bytes -= sizeof(words), from += sizeof(words))
    {
        std::memcpy(words, from, sizeof(words));
        AddWords(words[0], words[1]);
    }
    if (bytes != 0)
    {
        words[0] = 0;
        words[1] = 0;
        std::memcpy(words, from, bytes);
        AddWords(words[0], words[1]);
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
    constexpr size_t MostBytes = size_t{128} << 20;
    if (m_Bytes + bytes > MostBytes)
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
