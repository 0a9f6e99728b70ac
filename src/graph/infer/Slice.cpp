// SPDX-License-Identifier: Apache-2.0
// Shape inference of Slice and StridedSlice. The form of StridedSlice that is made here is all that its kernels know:
// one begin, end and stride per dimension of the input, and no masks. Element k of a dimension is begin + k * stride,
// and there are ceil((end - begin) / stride) of them; with a negative stride the end may be -1, which is in front of
// the first. All elements are inside the tensor, but for relative ends (m_Offset): TFLite does not cut those to the
// tensor, so that the output has the full length. Dimensions that appear or vanish show in the output's shape alone.
#include "graph/Infer.hpp"
#include "graph/infer/InferHelpers.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>
#include <limits>

namespace tenon::infer
{

namespace
{

// Each entry takes a dimension of the input or makes one of the output, but for an ellipsis.
constexpr size_t MaxEntries = 2 * MaxNumOfTensorDimensions + 1;

bool HasBit(int32_t mask, size_t i)
{
    return ((static_cast<uint32_t>(mask) >> i) & 1U) != 0;
}

// The indices that are taken of one dimension.
struct Range
{
    int64_t m_Begin;
    int64_t m_End;
    int64_t m_Stride;
    int64_t m_Count;
};

Range Whole(int64_t size)
{
    return {0, size, 1, size};
}

// The parameters as numbers: m_Begin, m_End and m_Stride, or inputs 1, 2 and 3.
struct Entries
{
    std::vector<int64_t> m_Begin;
    std::vector<int64_t> m_End;
    std::vector<int64_t> m_Stride;
};

Entries GetEntries(const InferContext& context, const StridedSliceDescriptor& descriptor)
{
    Entries entries;
    if (descriptor.m_ParametersAsInputs)
    {
        entries = {context.Values(1, MaxEntries), context.Values(2, MaxEntries), context.Values(3, MaxEntries)};
    }
    else
    {
        entries.m_Begin.assign(descriptor.m_Begin.begin(), descriptor.m_Begin.end());
        entries.m_End.assign(descriptor.m_End.begin(), descriptor.m_End.end());
        entries.m_Stride.assign(descriptor.m_Stride.begin(), descriptor.m_Stride.end());
    }
    const size_t count = entries.m_Begin.size();
    context.Check(count <= MaxEntries && entries.m_End.size() == count && entries.m_Stride.size() == count,
                  "{} begins, {} ends and {} strides: there must be as many of each, at most {}", count,
                  entries.m_End.size(), entries.m_Stride.size(), MaxEntries);
    return entries;
}

// The steps of `stride` from begin that stay in front of `end`.
Range Step(int64_t begin, int64_t end, int64_t stride)
{
    const int64_t length = stride > 0 ? end - begin : begin - end;
    const int64_t step = stride > 0 ? stride : -stride;
    return length <= 0 ? Range{0, 0, 1, 0} : Range{begin, end, stride, (length - 1) / step + 1};
}

// The indices that entry i takes of a dimension of `size` elements, by TFLite's rules. Begins and ends outside the
// tensor are moved to its edge, but for relative ends; only an index (an entry of the shrink mask) must be inside.
Range TakeEntry(const InferContext& context, const StridedSliceDescriptor& descriptor, const Entries& entries, size_t i,
                int64_t size)
{
    // The resolved descriptor has 32 bits for each number; longer strides reach no further.
    constexpr int64_t lowest = std::numeric_limits<int>::min();
    constexpr int64_t highest = std::numeric_limits<int>::max();
    const int64_t stride = std::clamp(entries.m_Stride[i], lowest, highest);
    context.Check(stride != 0, "the stride of entry {} is 0; it must not be", i);
    // A begin and end may be the edge in front of the first step and that behind the last one.
    const int64_t low = stride > 0 ? 0 : -1;
    const int64_t high = stride > 0 ? size : size - 1;
    const auto toEdge = [&](int64_t index) { return std::clamp(index < 0 ? index + size : index, low, high); };

    int64_t begin = toEdge(entries.m_Begin[i]);
    if (HasBit(descriptor.m_BeginMask, i))
    {
        begin = stride > 0 ? low : high;
    }
    if (HasBit(descriptor.m_ShrinkAxisMask, i))
    {
        context.Check(begin >= 0 && begin < size, "index {} of entry {} is outside a dimension of {} elements",
                      entries.m_Begin[i], i, size);
        return {begin, begin + 1, 1, 1};
    }
    if (HasBit(descriptor.m_EndMask, i))
    {
        return Step(begin, stride > 0 ? high : low, stride);
    }
    if (descriptor.m_Offset)
    {
        return Step(begin, std::clamp(begin + std::clamp(entries.m_End[i], lowest, highest), lowest, highest), stride);
    }
    return Step(begin, toEdge(entries.m_End[i]), stride);
}

} // namespace

void InferSlice(InferContext& context)
{
    const auto& descriptor = context.Descriptor<SliceDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    if (descriptor.m_ParametersAsInputs)
    {
        auto begin = ValuesAsSizes(context, 1);
        const std::vector<int64_t> sizes = context.Values(2);
        auto& edited = context.Edit<SliceDescriptor>();
        edited.m_Begin = std::move(begin);
        edited.m_Size.resize(sizes.size());
        for (size_t i = 0; i < sizes.size(); ++i)
        {
            const bool isToEnd = sizes[i] == -1 && i < rank && i < edited.m_Begin.size();
            edited.m_Size[i] =
                ToSize(context, isToEnd ? int64_t{input[static_cast<unsigned int>(i)]} - edited.m_Begin[i] : sizes[i]);
        }
        edited.m_ParametersAsInputs = false;
    }
    const auto& resolved = context.Descriptor<SliceDescriptor>();
    context.Check(resolved.m_Begin.size() == rank && resolved.m_Size.size() == rank,
                  "{} begins and {} sizes do not fit input 0 of shape {}", resolved.m_Begin.size(),
                  resolved.m_Size.size(), input);
    for (unsigned int i = 0; i < rank; ++i)
    {
        context.Check(uint64_t{resolved.m_Begin[i]} + resolved.m_Size[i] <= input[i],
                      "{} elements from {} in dimension {} are more than input 0 of shape {} has", resolved.m_Size[i],
                      resolved.m_Begin[i], i, input);
    }
    context.SetOutputShape(0, TensorShape(rank, resolved.m_Size.data()));
}

void InferStridedSlice(InferContext& context)
{
    const auto& descriptor = context.Descriptor<StridedSliceDescriptor>();
    const TensorShape& input = context.InputShape(0);
    const unsigned int rank = input.GetNumDimensions();
    const Entries entries = GetEntries(context, descriptor);

    size_t numTaken = 0;
    size_t numEllipses = 0;
    for (size_t i = 0; i < entries.m_Begin.size(); ++i)
    {
        const bool isEllipsis = HasBit(descriptor.m_EllipsisMask, i);
        numEllipses += isEllipsis ? 1 : 0;
        numTaken += !isEllipsis && !HasBit(descriptor.m_NewAxisMask, i) ? 1 : 0;
    }
    context.Check(numEllipses <= 1, "the ellipsis mask has {} bits; one ellipsis is possible", numEllipses);
    // With an ellipsis TFLite ignores entries that find no dimension, and so do its models; NumPy refuses them.
    context.Check(numTaken <= rank || numEllipses == 1, "{} entries do not fit input 0 of shape {}", numTaken, input);
    for (unsigned int i = 0; i < rank; ++i)
    {
        context.Check(input[i] <= static_cast<unsigned int>(std::numeric_limits<int>::max()),
                      "dimension {} of input 0 of shape {} is too large to be indexed by 32-bit begins", i, input);
    }

    StridedSliceDescriptor resolved;
    resolved.m_DataLayout = descriptor.m_DataLayout;
    ShapeBuilder output(context);
    unsigned int dim = 0;
    const auto take = [&](const Range& range, bool isKept)
    {
        resolved.m_Begin.push_back(static_cast<int>(range.m_Begin));
        resolved.m_End.push_back(static_cast<int>(range.m_End));
        resolved.m_Stride.push_back(static_cast<int>(range.m_Stride));
        if (isKept)
        {
            output.Add(range.m_Count);
        }
        ++dim;
    };
    const auto takeWhole = [&](size_t count)
    {
        for (; count > 0 && dim < rank; --count)
        {
            take(Whole(input[dim]), true);
        }
    };
    for (size_t i = 0; i < entries.m_Begin.size(); ++i)
    {
        if (HasBit(descriptor.m_EllipsisMask, i))
        {
            takeWhole(numTaken <= rank ? rank - numTaken : 1);
        }
        else if (HasBit(descriptor.m_NewAxisMask, i))
        {
            output.Add(1);
        }
        else if (dim < rank)
        {
            take(TakeEntry(context, descriptor, entries, i, input[dim]), !HasBit(descriptor.m_ShrinkAxisMask, i));
        }
    }
    takeWhole(rank);
    context.Edit<StridedSliceDescriptor>() = std::move(resolved);
    context.SetOutputShape(0, output.Shape());
}

} // namespace tenon::infer
