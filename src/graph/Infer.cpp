// SPDX-License-Identifier: Apache-2.0
// The parts of InferContext that are not inline. See InferContext.hpp.
#include "graph/Infer.hpp"

#include "graph/infer/InferHelpers.hpp"

#include <cstring>
#include <limits>

namespace tenon
{

namespace
{

// Reads through memcpy: a tensor in a model file need not be aligned to its type.
template <typename T>
void ReadValues(const InferContext& context, size_t input, const void* data, std::vector<int64_t>& values)
{
    for (size_t i = 0; i < values.size(); ++i)
    {
        T value;
        std::memcpy(&value, static_cast<const uint8_t*>(data) + i * sizeof(T), sizeof(T));
        if constexpr (std::is_same_v<T, uint64_t>)
        {
            context.Check(value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()),
                          "element {} of input {} is {}, which is above 63 bits", i, input, value);
        }
        values[i] = static_cast<int64_t>(value);
    }
}

} // namespace

std::vector<int64_t> InferContext::Values(size_t i, size_t maxElements) const
{
    Check(HasInput(i), "input {}, whose values give the output's shape, is not connected", i);
    const uint64_t elements = InputShape(i).GetNumElements64();
    Check(elements <= maxElements, "input {} of shape {} has {} elements; at most {} are possible here", i,
          InputShape(i), elements, maxElements);
    std::vector<int64_t> values(static_cast<size_t>(elements));
    if (values.empty())
    {
        return values;
    }
    const void* const data = i < m_Values.size() ? m_Values[i] : nullptr;
    Check(data != nullptr, "the values of input {} are not known yet", i);
    switch (Input(i).GetDataType())
    {
    case DataType::Signed8: ReadValues<int8_t>(*this, i, data, values); break;
    case DataType::Signed16: ReadValues<int16_t>(*this, i, data, values); break;
    case DataType::Signed32: ReadValues<int32_t>(*this, i, data, values); break;
    case DataType::Signed64: ReadValues<int64_t>(*this, i, data, values); break;
    case DataType::Unsigned8: ReadValues<uint8_t>(*this, i, data, values); break;
    case DataType::Unsigned16: ReadValues<uint16_t>(*this, i, data, values); break;
    case DataType::Unsigned32: ReadValues<uint32_t>(*this, i, data, values); break;
    case DataType::Unsigned64: ReadValues<uint64_t>(*this, i, data, values); break;
    default:
        Fail(fmt::format("input {} is of type {}, but it must hold integers", i,
                         GetDataTypeName(Input(i).GetDataType())));
    }
    return values;
}

void InferContext::SetOutputShape(size_t i, const std::vector<int64_t>& sizes)
{
    infer::ShapeBuilder builder(*this);
    for (int64_t size : sizes)
    {
        builder.Add(size);
    }
    SetOutputShape(i, builder.Shape());
}

unsigned int InferContext::CanonicalAxis(int64_t axis, unsigned int rank) const
{
    Check(axis >= -static_cast<int64_t>(rank) && axis < static_cast<int64_t>(rank),
          "axis {} does not exist in a tensor of rank {}", axis, rank);
    return static_cast<unsigned int>(axis < 0 ? axis + rank : axis);
}

void InferContext::Fail(const std::string& message) const
{
    throw LayerValidationException(message);
}

} // namespace tenon
