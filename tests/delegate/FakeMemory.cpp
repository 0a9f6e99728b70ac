// SPDX-License-Identifier: Apache-2.0
#include "delegate/FakeMemory.hpp"

#include <utility>

namespace tenon::test
{

namespace
{

constexpr size_t ArenaAlignment = 64;

void* AllocateAligned(size_t bytes)
{
    return ::operator new(bytes, std::align_val_t(ArenaAlignment));
}

void FreeAligned(void* memory)
{
    ::operator delete(memory, std::align_val_t(ArenaAlignment));
}

} // namespace

void Discard(IntArrayPtr& array)
{
    if (array != nullptr)
    {
        const size_t bytes = offsetof(TfLiteIntArray, data) + static_cast<size_t>(array->size) * sizeof(int32_t);
        std::memset(static_cast<void*>(array.get()), PoisonByte, bytes);
        array.reset();
    }
}

ArenaBlock::ArenaBlock(size_t bytes) : m_Data(bytes == 0 ? nullptr : AllocateAligned(bytes)), m_Bytes(bytes)
{
    Poison();
}

ArenaBlock::ArenaBlock(ArenaBlock&& other) noexcept
    : m_Data(std::exchange(other.m_Data, nullptr)), m_Bytes(std::exchange(other.m_Bytes, 0))
{
}

ArenaBlock& ArenaBlock::operator=(ArenaBlock&& other) noexcept
{
    std::swap(m_Data, other.m_Data);
    std::swap(m_Bytes, other.m_Bytes);
    return *this;
}

ArenaBlock::~ArenaBlock()
{
    Poison();
    FreeAligned(m_Data);
}

void ArenaBlock::Poison() const
{
    if (m_Data != nullptr)
    {
        std::memset(m_Data, PoisonByte, m_Bytes);
    }
}

FakeConstant::FakeConstant(const void* values, size_t bytes)
    : m_Copy(static_cast<const uint8_t*>(values), static_cast<const uint8_t*>(values) + bytes),
      m_Block(static_cast<uint8_t*>(AllocateAligned(bytes + 4)))
{
    std::memcpy(Data(), m_Copy.data(), bytes);
}

FakeConstant::~FakeConstant()
{
    std::memset(m_Block, PoisonByte, m_Copy.size() + 4);
    FreeAligned(m_Block);
}

} // namespace tenon::test
