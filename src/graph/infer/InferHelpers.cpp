// SPDX-License-Identifier: Apache-2.0
// See InferHelpers.hpp.
#include "graph/infer/InferHelpers.hpp"

#include "common/CheckedMath.hpp"

#include <algorithm>
#include <limits>

namespace tenon::infer
{

namespace
{
// One bit less than int64_t has, so that a few sizes more can be added without a further check.
constexpr uint64_t MaxProduct = uint64_t{1} << 62;
} // namespace

unsigned int ToSize(const InferContext& context, int64_t size)
{
    const auto result = CheckedCast<unsigned int>(size);
    context.Check(result.has_value(), "a size or padding would become {}, which is not in 0 to {}", size,
                  std::numeric_limits<unsigned int>::max());
    return *result;
}

int64_t Multiply(const InferContext& context, int64_t a, int64_t b)
{
    const auto product = CheckedMul(static_cast<uint64_t>(a), static_cast<uint64_t>(b));
    context.Check(product && *product <= MaxProduct, "{} * {} is too large for the size of a tensor", a, b);
    return static_cast<int64_t>(*product);
}

void ShapeBuilder::Add(int64_t size)
{
    m_Context.Check(m_Rank < MaxNumOfTensorDimensions, "the output would have more than {} dimensions",
                    MaxNumOfTensorDimensions);
    m_Sizes[m_Rank] = ToSize(m_Context, size);
    ++m_Rank;
}

void ShapeBuilder::AddRange(const TensorShape& shape, unsigned int first, unsigned int last)
{
    for (unsigned int i = first; i < last; ++i)
    {
        Add(shape[i]);
    }
}

void InferSame(InferContext& context)
{
    context.SetOutputShape(0, context.InputShape(0));
}

TensorShape Broadcast(const InferContext& context, const TensorShape& a, const TensorShape& b)
{
    if (a == b)
    {
        return a;
    }
    const bool isALonger = a.GetNumDimensions() >= b.GetNumDimensions();
    TensorShape result = isALonger ? a : b;
    const TensorShape& shorter = isALonger ? b : a;
    const unsigned int lead = result.GetNumDimensions() - shorter.GetNumDimensions();
    for (unsigned int i = 0; i < shorter.GetNumDimensions(); ++i)
    {
        const unsigned int size = shorter[i];
        if (result[lead + i] == 1)
        {
            result.SetDimensionSize(lead + i, size);
        }
        context.Check(size == 1 || size == result[lead + i], "shapes {} and {} cannot be broadcast to each other", a,
                      b);
    }
    return result;
}

void CheckRank(const InferContext& context, size_t input, unsigned int rank)
{
    context.Check(context.InputShape(input).GetNumDimensions() == rank,
                  "input {} has shape {}, but it must have {} "
                  "dimensions",
                  input, context.InputShape(input), rank);
}

void CheckAllConnected(const InferContext& context)
{
    context.Check(context.NumInputs() > 0, "the layer needs at least one input");
    for (size_t i = 0; i < context.NumInputs(); ++i)
    {
        context.Check(context.HasInput(i), "input {} is not connected", i);
    }
}

void CheckElements(const InferContext& context, size_t input, const char* what, int64_t elements)
{
    if (context.HasInput(input))
    {
        context.Check(context.InputShape(input).GetNumElements64() == static_cast<uint64_t>(elements),
                      "input {}, the {}, has shape {}, but {} elements are wanted", input, what,
                      context.InputShape(input), elements);
    }
}

unsigned int GetChannels(const InferContext& context, DataLayout layout)
{
    const TensorShape& shape = context.InputShape(0);
    const unsigned int rank = shape.GetNumDimensions();
    const bool isLast = layout == DataLayout::NHWC || layout == DataLayout::NDHWC;
    context.Check(rank >= (isLast ? 1U : 2U), "input 0 of shape {} has no dimension of channels", shape);
    return shape[isLast ? rank - 1 : 1];
}

ImageDims GetImageDims(const InferContext& context, DataLayout layout)
{
    switch (layout)
    {
    case DataLayout::NHWC: return {3, 0, 1, 2};
    case DataLayout::NCHW: return {1, 0, 2, 3};
    default: context.Fail("the data layout must be NHWC or NCHW");
    }
}

ImageDims GetVolumeDims(const InferContext& context, DataLayout layout)
{
    switch (layout)
    {
    case DataLayout::NDHWC: return {4, 1, 2, 3};
    case DataLayout::NCDHW: return {1, 2, 3, 4};
    default: context.Fail("the data layout must be NDHWC or NCDHW");
    }
}

int64_t GetFilterExtent(const InferContext& context, const Window& window)
{
    context.Check(window.m_Filter >= 1, "the {} of the filter or pool is 0, but it must be at least 1", window.m_What);
    context.Check(window.m_Stride >= 1, "the stride along the {} is 0, but it must be at least 1", window.m_What);
    context.Check(window.m_Dilation >= 1, "the dilation along the {} is 0, but it must be at least 1", window.m_What);
    return Multiply(context, window.m_Filter - 1, window.m_Dilation) + 1;
}

int64_t Slide(const InferContext& context, Window& window, int64_t input)
{
    const int64_t extent = GetFilterExtent(context, window);
    if (window.m_Scheme == PaddingScheme::Same)
    {
        const int64_t output = (input + window.m_Stride - 1) / window.m_Stride;
        const int64_t total = std::max<int64_t>((output - 1) * window.m_Stride + extent - input, 0);
        window.m_PadBefore = output == 0 ? 0 : total / 2;
        window.m_PadAfter = output == 0 ? 0 : total - total / 2;
        return output;
    }
    if (window.m_Scheme == PaddingScheme::Valid)
    {
        window.m_PadBefore = 0;
        window.m_PadAfter = 0;
    }
    const int64_t padded = input + window.m_PadBefore + window.m_PadAfter;
    if (input == 0 && extent > padded)
    {
        return 0; // an empty image has no windows, as with PaddingScheme::Same
    }
    context.Check(extent <= padded,
                  "the filter or pool covers {} elements along the {} (size {}, dilation {}), but the input with its "
                  "padding has only {}: pad it or make the filter smaller",
                  extent, window.m_What, window.m_Filter, window.m_Dilation, padded);
    return (padded - extent) / window.m_Stride + 1;
}

std::vector<unsigned int> ValuesAsSizes(const InferContext& context, size_t input)
{
    const std::vector<int64_t> values = context.Values(input);
    std::vector<unsigned int> sizes(values.size());
    for (size_t i = 0; i < values.size(); ++i)
    {
        const auto size = CheckedCast<unsigned int>(values[i]);
        context.Check(size.has_value(), "element {} of input {} is {}, but it must not be negative or above 32 bits", i,
                      input, values[i]);
        sizes[i] = *size;
    }
    return sizes;
}

std::vector<std::pair<unsigned int, unsigned int>> ValuesAsPairs(const InferContext& context, size_t input)
{
    const std::vector<int64_t> values = context.Values(input, size_t{2} * MaxNumOfTensorDimensions);
    const TensorShape& shape = context.InputShape(input);
    context.Check(shape.GetNumDimensions() == 2 && shape[1] == 2, "input {} has shape {}, but it must have [n,2]",
                  input, shape);
    std::vector<std::pair<unsigned int, unsigned int>> pairs(values.size() / 2);
    for (size_t i = 0; i < pairs.size(); ++i)
    {
        const auto before = CheckedCast<unsigned int>(values[2 * i]);
        const auto after = CheckedCast<unsigned int>(values[2 * i + 1]);
        context.Check(before && after, "row {} of input {} is {{{}, {}}}, but it must not be negative or above 32 bits",
                      i, input, values[2 * i], values[2 * i + 1]);
        pairs[i] = {*before, *after};
    }
    return pairs;
}

TensorShape ValuesAsShape(const InferContext& context, size_t input)
{
    const std::vector<unsigned int> sizes = ValuesAsSizes(context, input);
    return TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

} // namespace tenon::infer
