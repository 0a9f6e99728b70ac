// SPDX-License-Identifier: Apache-2.0
// Hashing of layers and their constants, which is all that a load with packed weights reads of most constants: hence
// XXH3, which is as fast as memory.
#include "backends/common/PackedKey.hpp"

#include "common/Attributes.hpp"

#define XXH_INLINE_ALL
#include <cstring>
#include <string>
#include <type_traits>
#include <xxhash.h>

namespace tenon::backends
{

namespace
{

/// Values one behind the other, each with its length where that is not fixed, so that no two lists look alike.
class Words
{
public:
    template <typename T>
    void Add(const T& value)
    {
        static_assert(std::is_arithmetic_v<T>);
        AddBytes(&value, sizeof(value));
    }
    void Add(const std::string& text) { AddList(text.data(), text.size()); }
    void Add(const TensorShape& shape) { Add(shape.ToString()); }
    template <typename T>
    void Add(const std::vector<T>& values)
    {
        AddList(values.data(), values.size());
    }
    void AddHash(const void* data, size_t bytes)
    {
        const XXH128_hash_t hash = XXH3_128bits(data, bytes);
        Add(uint64_t{bytes});
        Add(hash.low64);
        Add(hash.high64);
    }

    PackedKey GetKey() const
    {
        const XXH128_hash_t hash = XXH3_128bits(m_Bytes.data(), m_Bytes.size());
        return {hash.low64, hash.high64};
    }

private:
    template <typename T>
    void AddList(const T* values, size_t count)
    {
        Add(uint64_t{count});
        AddBytes(values, count * sizeof(T));
    }
    void AddBytes(const void* bytes, size_t count)
    {
        if (count != 0)
        {
            m_Bytes.append(static_cast<const char*>(bytes), count);
        }
    }

    std::string m_Bytes;
};

void AddParameters(Words& words, const LayerView& layer)
{
    for (const Attribute& attribute : ToAttributes(layer.m_Type, *layer.m_Descriptor))
    {
        words.Add(attribute.m_Name);
        words.Add(uint64_t{attribute.m_Value.index()});
        std::visit([&words](const auto& value) { words.Add(value); }, attribute.m_Value);
    }
}

void AddInfo(Words& words, const TensorInfo* info)
{
    words.Add(info != nullptr);
    if (info == nullptr)
    {
        return;
    }
    words.Add(static_cast<int32_t>(info->GetDataType()));
    words.Add(info->GetShape());
    words.Add(info->GetQuantizationScales());
    words.Add(info->GetQuantizationOffsets());
    const auto dimension = info->GetQuantizationDim();
    words.Add(dimension.has_value() ? int64_t{dimension.value()} | int64_t{info->GetQuantizationBlockSize()} << 32
                                    : int64_t{-1});
}

} // namespace

PackedKey MakePackedKey(const Kernel& kernel, const LayerView& layer)
{
    Words words;
    words.Add(std::string(kernel.m_Name));
    words.Add(std::string(GetLayerTypeAsCString(layer.m_Type)));
    AddParameters(words, layer);
    words.Add(uint64_t{layer.GetNumInputs()});
    for (size_t i = 0; i < layer.GetNumInputs(); ++i)
    {
        AddInfo(words, layer.m_Inputs[i]);
        const void* const constant = layer.GetConstantData(i);
        words.Add(constant != nullptr);
        if (constant != nullptr)
        {
            words.AddHash(constant, layer.GetInput(i).GetNumBytes());
        }
    }
    words.Add(uint64_t{layer.GetNumOutputs()});
    for (const TensorInfo* output : layer.m_Outputs)
    {
        AddInfo(words, output);
    }
    return words.GetKey();
}

uint64_t GetChecksum(const void* data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

} // namespace tenon::backends
