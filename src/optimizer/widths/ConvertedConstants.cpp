// SPDX-License-Identifier: Apache-2.0
// See ConvertedConstants.hpp.
#include "optimizer/widths/ConvertedConstants.hpp"

#include "common/HalfFloat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace tenon
{

namespace
{

constexpr float MaxF16 = 65504.0f;

/// Elements that are converted at a time: as floats they stay in the first-level cache.
constexpr size_t ChunkElements = 2048;

/// Writes `count` elements, from `first` on, as floats. The bytes may lie anywhere.
void Load(DataType type, const std::byte* data, size_t first, size_t count, float* floats)
{
    if (type == DataType::Float32)
    {
        std::memcpy(floats, data + first * sizeof(float), count * sizeof(float));
        return;
    }
    std::array<uint16_t, ChunkElements> bits{};
    std::memcpy(bits.data(), data + first * sizeof(uint16_t), count * sizeof(uint16_t));
    type == DataType::Float16
        ? HalvesToFloats(bits.data(), count, floats)
        : void(std::transform(bits.begin(), bits.begin() + static_cast<ptrdiff_t>(count), floats, BFloat16ToFloat));
}

void Store(DataType type, const float* floats, size_t first, size_t count, std::byte* data)
{
    if (type == DataType::Float32)
    {
        std::memcpy(data + first * sizeof(float), floats, count * sizeof(float));
        return;
    }
    std::array<uint16_t, ChunkElements> bits{};
    type == DataType::Float16 ? FloatsToHalves(floats, count, bits.data())
                              : void(std::transform(floats, floats + count, bits.data(), FloatToBFloat16));
    std::memcpy(data + first * sizeof(uint16_t), bits.data(), count * sizeof(uint16_t));
}

/// Clamps finite numbers to the range of Float16. Returns the number of clamped values.
size_t ClampToF16(float* floats, size_t count)
{
    const auto isBeyond = [](float value)
    { return std::fabs(value) > MaxF16 && std::fabs(value) <= std::numeric_limits<float>::max(); };
    const auto cut = static_cast<size_t>(std::count_if(floats, floats + count, isBeyond));
    if (cut != 0)
    {
        std::transform(floats, floats + count, floats,
                       [&](float value) { return isBeyond(value) ? std::copysign(MaxF16, value) : value; });
    }
    return cut;
}

} // namespace

ConvertedConstants::Made& ConvertedConstants::Make(const Layer& constant, DataType type)
{
    const ConstTensor& tensor = constant.GetConstant()->m_Tensor;
    const DataType from = tensor.GetInfo().GetDataType();
    const size_t count = tensor.GetInfo().GetNumElements();
    Made& made = m_Made[Key(tensor.GetMemoryArea(), count, from, type)];
    if (made.m_Bytes != nullptr)
    {
        return made;
    }
    const auto* source = static_cast<const std::byte*>(tensor.GetMemoryArea());
    auto bytes = std::make_shared<Bytes>(count * GetDataTypeSize(type));
    std::array<float, ChunkElements> floats{};
    for (size_t first = 0; first < count; first += ChunkElements)
    {
        const size_t chunk = std::min(ChunkElements, count - first);
        Load(from, source, first, chunk, floats.data());
        made.m_NumClamped += type == DataType::Float16 ? ClampToF16(floats.data(), chunk) : 0;
        Store(type, floats.data(), first, chunk, bytes->data());
    }
    made.m_Bytes = std::move(bytes);
    return made;
}

const std::shared_ptr<const ConvertedConstants::Bytes>& ConvertedConstants::Use(const Layer& constant, DataType type)
{
    Made& made = Make(constant, type);
    if (made.m_NumClamped != 0)
    {
        m_Messages.push_back(fmt::format("WARNING: {} of {} values of {} are beyond the range of Float16; they become "
                                         "its largest number, {}",
                                         made.m_NumClamped, constant.GetConstant()->m_Tensor.GetInfo().GetNumElements(),
                                         constant.Describe(), MaxF16));
        made.m_NumClamped = 0;
    }
    return made.m_Bytes;
}

} // namespace tenon
