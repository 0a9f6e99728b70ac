// SPDX-License-Identifier: Apache-2.0
// See ConvertedConstants.hpp.
#include "optimizer/ConvertedConstants.hpp"

#include "common/HalfFloat.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace tenon
{

namespace
{

constexpr float LargestHalf = 65504.0f;

float Load(DataType type, const std::byte* data, size_t index)
{
    if (type == DataType::Float32)
    {
        float value = 0;
        std::memcpy(&value, data + index * sizeof(value), sizeof(value));
        return value;
    }
    uint16_t bits = 0;
    std::memcpy(&bits, data + index * sizeof(bits), sizeof(bits));
    return type == DataType::Float16 ? HalfToFloat(bits) : BFloat16ToFloat(bits);
}

void Store(DataType type, float value, std::byte* data, size_t index)
{
    if (type == DataType::Float32)
    {
        std::memcpy(data + index * sizeof(value), &value, sizeof(value));
        return;
    }
    const uint16_t bits = type == DataType::Float16 ? FloatToHalf(value) : FloatToBFloat16(value);
    std::memcpy(data + index * sizeof(bits), &bits, sizeof(bits));
}

/// Float32 to BFloat16, without a question for each element: most weights are converted so.
void RoundAll(const std::byte* floats, size_t count, std::byte* halves)
{
    for (size_t i = 0; i < count; ++i)
    {
        Store(DataType::BFloat16, Load(DataType::Float32, floats, i), halves, i);
    }
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
    if (from == DataType::Float32 && type == DataType::BFloat16)
    {
        RoundAll(source, count, bytes->data());
        made.m_Bytes = std::move(bytes);
        return made;
    }
    for (size_t i = 0; i < count; ++i)
    {
        float value = Load(from, source, i);
        if (type == DataType::Float16 && std::isfinite(value) && std::fabs(value) > LargestHalf)
        {
            value = std::copysign(LargestHalf, value);
            ++made.m_Cut;
        }
        Store(type, value, bytes->data(), i);
    }
    made.m_Bytes = std::move(bytes);
    return made;
}

const std::shared_ptr<const ConvertedConstants::Bytes>& ConvertedConstants::Use(const Layer& constant, DataType type)
{
    Made& made = Make(constant, type);
    if (made.m_Cut != 0)
    {
        m_Messages.push_back(fmt::format("WARNING: {} of {} values of {} are beyond the range of Float16; they become "
                                         "its largest number, {}",
                                         made.m_Cut, constant.GetConstant()->m_Tensor.GetInfo().GetNumElements(),
                                         constant.Describe(), LargestHalf));
        made.m_Cut = 0;
    }
    return made.m_Bytes;
}

} // namespace tenon
