// SPDX-License-Identifier: Apache-2.0
// FakeMemory: memory of FakeRuntime, which detects the use of addresses that the runtime does not guarantee: memory is
// overwritten before it is moved or released. Used by the files of FakeRuntime.
#pragma once

#include "delegate/TfLiteInterface.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace tenon::test
{

/// The value of memory that must not be read any more, and of results before a run.
constexpr int PoisonByte = 0xA5;

struct FreeDeleter
{
    void operator()(void* memory) const { std::free(memory); }
};
using IntArrayPtr = std::unique_ptr<TfLiteIntArray, FreeDeleter>;
using FloatArrayPtr = std::unique_ptr<TfLiteFloatArray, FreeDeleter>;

/// An array from malloc, exactly as long as its elements need.
template <typename Array, typename T>
std::unique_ptr<Array, FreeDeleter> MakeArray(const std::vector<T>& values)
{
    auto* array = static_cast<Array*>(std::malloc(offsetof(Array, data) + values.size() * sizeof(T)));
    if (array == nullptr)
    {
        throw std::bad_alloc();
    }
    array->size = static_cast<int32_t>(values.size());
    if (!values.empty())
    {
        std::memcpy(array->data, values.data(), values.size() * sizeof(T));
    }
    return std::unique_ptr<Array, FreeDeleter>(array);
}
inline IntArrayPtr MakeIntArray(const std::vector<int32_t>& values)
{
    return MakeArray<TfLiteIntArray>(values);
}
inline std::vector<int32_t> ToVector(const TfLiteIntArray* array)
{
    return array == nullptr ? std::vector<int32_t>() : std::vector<int32_t>(array->data, array->data + array->size);
}
/// Overwrites and releases the array.
void Discard(IntArrayPtr& array);

/// Elements in one block, which moves whenever an element is added. Former blocks are poisoned and kept until the end,
/// so that a read through an old address returns poison in every build.
template <typename T>
class MovingArray
{
    static_assert(std::is_trivially_copyable_v<T>);

public:
    T* data() { return m_Elements.get(); }
    size_t size() const { return m_Size; }
    T& operator[](size_t i) { return m_Elements[i]; }
    const T& operator[](size_t i) const { return m_Elements[i]; }
    const T* begin() const { return m_Elements.get(); }
    const T* end() const { return m_Elements.get() + m_Size; }

    void Add(const T& element)
    {
        auto moved = std::make_unique<T[]>(m_Size + 1);
        moved[m_Size] = element;
        if (m_Size != 0)
        {
            std::memcpy(static_cast<void*>(moved.get()), m_Elements.get(), m_Size * sizeof(T));
            std::memset(static_cast<void*>(m_Elements.get()), PoisonByte, m_Size * sizeof(T));
            m_Former.push_back(std::move(m_Elements));
        }
        m_Elements = std::move(moved);
        ++m_Size;
    }
    void Shrink(size_t size)
    {
        std::memset(static_cast<void*>(m_Elements.get() + size), PoisonByte, (m_Size - size) * sizeof(T));
        m_Size = size;
    }

private:
    std::unique_ptr<T[]> m_Elements;
    size_t m_Size = 0;
    std::vector<std::unique_ptr<T[]>> m_Former;
};

/// A tensor's memory in the arena: aligned to 64 bytes, exactly as long as the tensor, overwritten when it is made and
/// when it is destroyed.
class ArenaBlock
{
public:
    ArenaBlock() = default;
    explicit ArenaBlock(size_t bytes);
    ArenaBlock(ArenaBlock&& other) noexcept;
    ArenaBlock& operator=(ArenaBlock&& other) noexcept;
    ~ArenaBlock();

    /// Null for no bytes.
    void* Data() const { return m_Data; }
    void Poison() const;

private:
    void* m_Data = nullptr;
    size_t m_Bytes = 0;
};

/// Memory of a constant of a model, aligned to 4 bytes and no more; graphs of several runtimes may share one.
class FakeConstant
{
public:
    FakeConstant(const void* values, size_t bytes);
    ~FakeConstant();

    FakeConstant(const FakeConstant&) = delete;
    FakeConstant& operator=(const FakeConstant&) = delete;

    void* Data() const { return m_Block + 4; }
    size_t Bytes() const { return m_Copy.size(); }
    bool IsUnchanged() const { return std::memcmp(Data(), m_Copy.data(), m_Copy.size()) == 0; }

private:
    std::vector<uint8_t> m_Copy;
    uint8_t* m_Block;
};

} // namespace tenon::test
