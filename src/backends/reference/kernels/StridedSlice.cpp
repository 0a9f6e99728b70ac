// SPDX-License-Identifier: Apache-2.0
// StridedSlice: every stride-th index of each dimension. Masks, negative positions and missing entries are resolved
// before; the kernel has one begin, end and stride per input dimension. Axes that the output gains or loses have one
// index, so that the elements keep the order of the input's dimensions.
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow StridedSliceTypes[] = {backends::SameType(backends::AnyType)};

/// The number of indices begin, begin + stride, ... before `end` (after it for negative strides).
int64_t CountSteps(int64_t begin, int64_t end, int64_t stride)
{
    if (stride > 0)
    {
        return end > begin ? (end - begin + stride - 1) / stride : 0;
    }
    return begin > end ? (begin - end - stride - 1) / -stride : 0;
}

/// The indices to copy from one dimension.
struct Range
{
    int64_t m_Begin = 0;
    int64_t m_Stride = 1;
    int64_t m_Count = 0;
    int64_t m_Size = 0; ///< size of the input

    bool IsInside() const
    {
        const int64_t last = m_Begin + (m_Count - 1) * m_Stride;
        return std::min(m_Begin, last) >= 0 && std::max(m_Begin, last) < m_Size;
    }
};

/// The copy for ends that are relative to begins, which are not clamped to the tensor: TFLite then has an output of the
/// full length and copies the existing elements. Elements from outside are 0. The case is rare, so it copies one
/// element at a time.
class SparseCopy
{
public:
    SparseCopy(std::vector<Range> ranges, const Extents& strides, size_t outputElements, size_t elementBytes)
        : m_Ranges(std::move(ranges)), m_Strides(strides), m_OutputElements(outputElements), m_Bytes(elementBytes)
    {
    }

    void operator()(const std::byte* input, std::byte* output) const
    {
        for (size_t element = 0; element < m_OutputElements; ++element, output += m_Bytes)
        {
            auto rest = static_cast<int64_t>(element);
            int64_t from = 0;
            bool inside = true;
            for (size_t i = m_Ranges.size(); i-- > 0;)
            {
                const Range& range = m_Ranges[i];
                const int64_t index = range.m_Begin + rest % range.m_Count * range.m_Stride;
                rest /= range.m_Count;
                inside = inside && index >= 0 && index < range.m_Size;
                from += inside ? index * m_Strides[i] : 0;
            }
            if (inside)
            {
                std::memcpy(output, input + static_cast<size_t>(from) * m_Bytes, m_Bytes);
            }
            else
            {
                std::memset(output, 0, m_Bytes);
            }
        }
    }

private:
    std::vector<Range> m_Ranges;
    Extents m_Strides;
    size_t m_OutputElements;
    size_t m_Bytes;
};

std::vector<Range> ReadRanges(const ReshapeArgs& args)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const auto& descriptor = args.GetDescriptor<StridedSliceDescriptor>();
    const unsigned int rank = input.GetNumDimensions();
    const std::string what = "StridedSlice of " + input.ToString() + " to " + output.ToString();
    if (descriptor.m_Begin.size() != rank || descriptor.m_End.size() != rank || descriptor.m_Stride.size() != rank)
    {
        throw LayerValidationException(what + ": there must be a begin, an end and a stride for each dimension");
    }

    const uint64_t outputElements = output.GetNumElements64();
    std::vector<Range> ranges;
    uint64_t elements = 1;
    for (unsigned int i = 0; i < rank; ++i)
    {
        const int64_t begin = descriptor.m_Begin[i];
        const int64_t stride = descriptor.m_Stride[i];
        if (stride == 0)
        {
            throw LayerValidationException(what + ": the stride of dimension " + std::to_string(i) +
                                           " is 0; it must step forwards or back");
        }
        const int64_t count = CountSteps(begin, descriptor.m_End[i], stride);
        ranges.push_back({begin, stride, count, input[i]});
        // The product is limited to one more than the output's number of elements, so that it cannot overflow before a
        // factor of 0.
        const uint64_t max = outputElements + 1;
        elements = count == 0 ? 0 : std::min(max, elements * std::min(max, static_cast<uint64_t>(count)));
    }
    if (elements != outputElements)
    {
        throw LayerValidationException(what +
                                       ": begins, ends and strides do not select as many elements as the output has");
    }
    return ranges;
}

backends::Prepared PrepareStridedSlice(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    const std::vector<Range> ranges = ReadRanges(args);
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }

    const unsigned int rank = input.GetNumDimensions();
    const size_t elementBytes = GetMovedBytes(input.GetDataType());
    const Extents inputStrides = GetStrides(input.GetShape());
    if (!std::all_of(ranges.begin(), ranges.end(), [](const Range& range) { return range.IsInside(); }))
    {
        return PrepareMove(input, output, SparseCopy(ranges, inputStrides, output.GetNumElements(), elementBytes));
    }
    Extents counts{};
    Extents strides{};
    int64_t first = 0;
    for (unsigned int i = 0; i < rank; ++i)
    {
        counts[i] = ranges[i].m_Count;
        strides[i] = ranges[i].m_Count == 1 ? 0 : inputStrides[i] * ranges[i].m_Stride;
        first += inputStrides[i] * ranges[i].m_Begin;
    }
    return PrepareMove(input, output, BoxCopy(rank, counts, strides, first, elementBytes));
}

} // namespace

extern const backends::Kernel RefStridedSliceKernel = {"RefStridedSlice", StridedSliceTypes, PrepareStridedSlice};

} // namespace tenon::ref
