// SPDX-License-Identifier: Apache-2.0
// Indices that arrive as a tensor: see IndexInput.hpp.
#include "backends/reference/kernels/IndexInput.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace tenon::ref
{

namespace
{

template <typename T>
int64_t ReadIndex(const void* indices, size_t i)
{
    return static_cast<const T*>(indices)[i];
}

} // namespace

SupportResult CheckIndexType(const LayerView& layer, size_t input)
{
    const DataType type = layer.GetInput(input).GetDataType();
    if (IndexTypes.Has(type))
    {
        return SupportResult::Yes();
    }
    return SupportResult::No(SupportCode::UnsupportedType, "input " + std::to_string(input) + " is " +
                                                               GetDataTypeName(type) +
                                                               "; indices are Signed16, Signed32 or Signed64");
}

IndexInput::IndexInput(const ReshapeArgs& args, size_t input) : m_Read(ReadIndex<int64_t>), m_Input(input)
{
    switch (args.GetInput(input).GetDataType())
    {
    case DataType::Signed16: m_Read = ReadIndex<int16_t>; break;
    case DataType::Signed32: m_Read = ReadIndex<int32_t>; break;
    default: break;
    }
}

void IndexInput::ThrowOutside(size_t i, int64_t index, int64_t lowest, int64_t limit) const
{
    const bool hasLowest = lowest != std::numeric_limits<int64_t>::min();
    throw RuntimeException("index out of range: element " + std::to_string(i) + " of input " + std::to_string(m_Input) +
                           " is " + std::to_string(index) + "; it must be " +
                           (hasLowest ? "at least " + std::to_string(lowest) + " and " : "") + "below " +
                           std::to_string(limit));
}

IndexTuples::IndexTuples(const ReshapeArgs& args, size_t input, const TensorShape& data, bool fromEnd,
                         unsigned int batchDims)
    : m_Indices(args, input), m_FromEnd(fromEnd)
{
    const TensorShape& indices = args.GetInput(input).GetShape();
    const unsigned int rank = indices.GetNumDimensions();
    const unsigned int dataRank = data.GetNumDimensions();
    bool fits = batchDims < rank && batchDims <= dataRank && indices[rank - 1] <= dataRank - batchDims;
    for (unsigned int i = 0; fits && i < batchDims; ++i)
    {
        fits = data[i] == indices[i];
    }
    if (!fits)
    {
        throw LayerValidationException(
            "index tuples of shape " + indices.ToString() + " do not fit data of shape " + data.ToString() +
            ": their last dimension must be at most as long as the data has dimensions" +
            (batchDims == 0 ? std::string()
                            : " behind the " + std::to_string(batchDims) + " batch dimensions, which must be equal"));
    }
    m_Length = indices[rank - 1];
    m_Count = CountElements(indices, 0, rank - 1);
    m_SliceElements = CountElements(data, batchDims + m_Length, dataRank);
    m_BatchCount = std::max<size_t>(CountElements(indices, batchDims, rank - 1), 1);
    m_BatchElements = batchDims == 0 ? 0 : CountElements(data, batchDims, dataRank);
    const Extents sizes = GetExtents(data);
    const Extents strides = GetStrides(data);
    std::copy_n(sizes.begin() + batchDims, m_Length, m_Sizes.begin());
    std::copy_n(strides.begin() + batchDims, m_Length, m_Strides.begin());
    AppendSizes(m_SlicesShape, indices, 0, rank - 1);
    AppendSizes(m_SlicesShape, data, batchDims + m_Length, dataRank);
}

} // namespace tenon::ref
