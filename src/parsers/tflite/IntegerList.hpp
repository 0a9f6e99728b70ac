// SPDX-License-Identifier: Apache-2.0
// IntegerList: a view of integers of any width and alignment: a model file's list or an interpreter's array. Used in
// DeclaredTensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tenon::tflite
{

class IntegerList
{
public:
    IntegerList() = default;
    /// A list of `size` elements of type T.
    template <typename T>
    static IntegerList Of(const void* data, size_t size)
    {
        IntegerList list;
        list.m_Data = static_cast<const uint8_t*>(data);
        list.m_Size = size;
        list.m_Load = [](const uint8_t* from, size_t i)
        {
            T value;
            std::memcpy(&value, from + i * sizeof(T), sizeof(T));
            return static_cast<int64_t>(value);
        };
        return list;
    }

    size_t Size() const { return m_Size; }
    int64_t operator[](size_t i) const { return m_Load(m_Data, i); }

private:
    const uint8_t* m_Data = nullptr;
    size_t m_Size = 0;
    int64_t (*m_Load)(const uint8_t* data, size_t i) = nullptr;
};

} // namespace tenon::tflite
