// SPDX-License-Identifier: Apache-2.0
// ModelBytes and ReadBudget: see ModelBytes.hpp.
#include "common/ModelBytes.hpp"

#include "common/MappedFile.hpp"

#include <algorithm>
#include <vector>

namespace tenon
{

namespace
{

struct alignas(CopyAlignment) Unit
{
    std::byte m_Bytes[CopyAlignment];
};

void CheckSize(size_t bytes, const Limits& limits)
{
    if (bytes > limits.m_MaxFileBytes)
    {
        throw ParseException(
            fmt::format("a model of {} bytes: the limit is {} (Limits::m_MaxFileBytes)", bytes, limits.m_MaxFileBytes));
    }
}

} // namespace

std::shared_ptr<const void> AlignedCopy(Span<const uint8_t> bytes)
{
    auto copy = std::make_shared<std::vector<Unit>>(bytes.size() / sizeof(Unit) + 1);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(copy->data()));
    return {copy, copy->data()};
}

ModelBytes ModelBytes::FromFile(const std::string& path, const Limits& limits)
{
    std::shared_ptr<const MappedFile> file;
    try
    {
        file = MappedFile::Open(path, limits.m_MaxFileBytes);
    }
    catch (const InvalidArgumentException& error)
    {
        throw ParseException(error.what());
    }
    const auto bytes = file->Bytes();
    return {file, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}};
}

ModelBytes ModelBytes::FromCopy(Span<const uint8_t> bytes, const Limits& limits)
{
    CheckSize(bytes.size(), limits);
    const std::shared_ptr<const void> copy = AlignedCopy(bytes);
    return {copy, {static_cast<const uint8_t*>(copy.get()), bytes.size()}};
}

ModelBytes ModelBytes::FromMemory(Span<const uint8_t> bytes, size_t alignment, const Limits& limits)
{
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment != 0)
    {
        return FromCopy(bytes, limits);
    }
    CheckSize(bytes.size(), limits);
    return {nullptr, bytes};
}

ReadBudget::ReadBudget(size_t fileBytes)
{
    // Lists and names may be shared in good faith, hence the factor; they are small compared with the weights of a
    // large model.
    constexpr uint64_t sharing = 64;
    constexpr uint64_t min = 1U << 20;
    constexpr uint64_t max = 1U << 30;
    m_Max = std::clamp(fileBytes * sharing, min, max);
}

void ReadBudget::Charge(size_t bytes)
{
    if (bytes > m_Max - m_Charged)
    {
        throw ParseException(
            "the model refers to the same lists or names over and over: reading it would take memory out "
            "of proportion to its size");
    }
    m_Charged += bytes;
}

} // namespace tenon
