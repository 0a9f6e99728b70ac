// SPDX-License-Identifier: Apache-2.0
// SliceIndices: reads indices by a loop for each index type, since a call for each index would take longer than copying
// a few bytes.
#include "backends/cpu/move/SliceIndices.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace tenon::cpu
{

SliceIndices::SliceIndices(const ReshapeArgs& args, size_t input, const TensorShape& data, unsigned int dimension,
                           unsigned int length, bool fromEnd)
    : m_Load(fromEnd ? LoadFromEnd<int64_t> : LoadAs<int64_t>), m_Indices(args, input), m_Input(input),
      m_Length(length), m_FromEnd(fromEnd)
{
    switch (args.GetInput(input).GetDataType())
    {
    case DataType::Signed16: m_Load = fromEnd ? LoadFromEnd<int16_t> : LoadAs<int16_t>; break;
    case DataType::Signed32: m_Load = fromEnd ? LoadFromEnd<int32_t> : LoadAs<int32_t>; break;
    default: break;
    }
    for (unsigned int d = 0; d < length; ++d)
    {
        m_Sizes[d] = data[dimension + d];
    }
    if (args.GetInput(input).GetDataType() == DataType::Signed32 && length == 1 && !fromEnd)
    {
        constexpr size_t Max = size_t{1} << 31;
        m_IsEachBelow = ChooseIsEachBelow();
        m_Limit = static_cast<uint32_t>(std::min(m_Sizes[0], Max));
    }
}

template <typename T>
bool SliceIndices::LoadAs(const SliceIndices& self, const void* indices, size_t first, size_t count, uint32_t* slices)
{
    const size_t length = self.m_Length;
    const T* tuples = static_cast<const T*>(indices) + first * length;
    if (length == 1)
    {
        // Comparisons are avoided, so that vectors of any processor can do it. The upper bits of an index within the
        // dimension, and of the distance to its last index, are 0. A size beyond the range of T allows all indices that
        // are not negative.
        using Wide = std::common_type_t<T, int32_t>;
        using Bits = std::make_unsigned_t<Wide>;
        constexpr uint64_t Upper = uint64_t{1} << (sizeof(Bits) * 8 - 1);
        const auto last = static_cast<Bits>(std::min<uint64_t>(self.m_Sizes[0], Upper) - 1);
        Bits outside = 0;
        for (size_t i = 0; i < count; ++i)
        {
            const auto index = static_cast<Bits>(Wide{tuples[i]});
            outside |= index | (last - index);
            slices[i] = static_cast<uint32_t>(index);
        }
        return outside < Upper;
    }
    bool isInside = true;
    for (size_t i = 0; i < count; ++i, tuples += length)
    {
        uint64_t slice = 0;
        for (size_t d = 0; d < length; ++d)
        {
            const auto index = static_cast<uint64_t>(int64_t{tuples[d]});
            isInside &= index < self.m_Sizes[d];
            slice = slice * self.m_Sizes[d] + index;
        }
        slices[i] = static_cast<uint32_t>(slice);
    }
    return isInside;
}

template <typename T>
bool SliceIndices::LoadFromEnd(const SliceIndices& self, const void* indices, size_t first, size_t count,
                               uint32_t* slices)
{
    const size_t length = self.m_Length;
    const T* tuples = static_cast<const T*>(indices) + first * length;
    bool isInside = true;
    for (size_t i = 0; i < count; ++i, tuples += length)
    {
        uint64_t slice = 0;
        for (size_t d = 0; d < length; ++d)
        {
            const auto index = int64_t{tuples[d]};
            const uint64_t size = self.m_Sizes[d];
            const uint64_t place = static_cast<uint64_t>(index) + (size & static_cast<uint64_t>(index >> 63));
            isInside &= place < size; // negative indices wrap beyond any size
            slice = slice * size + place;
        }
        slices[i] = static_cast<uint32_t>(slice);
    }
    return isInside;
}

void SliceIndices::ThrowOutside(const ExecuteArgs& args, size_t first, size_t count) const
{
    for (size_t i = first * m_Length; i < (first + count) * m_Length; ++i)
    {
        m_Indices.ReadChecked(args, i, static_cast<int64_t>(m_Sizes[i % m_Length]),
                              m_FromEnd); // throws for the first invalid index
    }
}

} // namespace tenon::cpu
