// SPDX-License-Identifier: Apache-2.0
// The helpers that the shape-inference functions of this folder share: sizes checked against 32 bits, shapes built
// dimension by dimension, broadcasting, data layouts and sliding windows. Used by infer/*.cpp and graph/Infer.cpp.
#pragma once

#include "graph/InferContext.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

/// Lets messages take a shape as it is, so that its text is made only when a check fails.
template <>
struct fmt::formatter<tenon::TensorShape> : fmt::formatter<std::string_view>
{
    template <typename FormatContext>
    auto format(const tenon::TensorShape& shape, FormatContext& context) const
    {
        return fmt::formatter<std::string_view>::format(shape.ToString(), context);
    }
};

namespace tenon::infer
{

/// `size` as a dimension's size. Fails when it is negative or above 32 bits.
unsigned int ToSize(const InferContext& context, int64_t size);

/// a * b of two non-negative numbers. Fails above 62 bits.
int64_t Multiply(const InferContext& context, int64_t a, int64_t b);

/// A shape that grows by one dimension at a time. Fails at the ninth and at sizes that are none.
class ShapeBuilder
{
public:
    explicit ShapeBuilder(const InferContext& context) : m_Context(context) {}

    void Add(int64_t size);
    /// Adds dimensions [first, last) of `shape`.
    void AddRange(const TensorShape& shape, unsigned int first, unsigned int last);
    TensorShape Shape() const { return TensorShape(m_Rank, m_Sizes.data()); }

private:
    const InferContext& m_Context;
    std::array<unsigned int, MaxNumOfTensorDimensions> m_Sizes{};
    unsigned int m_Rank = 0;
};

/// Output 0 has input 0's shape.
void InferSame(InferContext& context);

/// The shape of an elementwise operation: dimensions are aligned at the last one, and those of size 1 are repeated.
TensorShape Broadcast(const InferContext& context, const TensorShape& a, const TensorShape& b);

void CheckRank(const InferContext& context, size_t input, unsigned int rank);
/// For layers whose number of inputs the descriptor gives: all of them must be connected.
void CheckAllConnected(const InferContext& context);
/// Input `input`, which need not be connected, must have `elements` of them.
void CheckElements(const InferContext& context, size_t input, const char* what, int64_t elements);

/// The number of channels in a tensor of any rank: the last dimension for NHWC, the second one for NCHW.
unsigned int GetChannels(const InferContext& context, DataLayout layout);

/// The dimensions of images by their meaning.
struct ImageDims
{
    unsigned int m_Channels;
    unsigned int m_Depth; ///< of volumes only
    unsigned int m_Height;
    unsigned int m_Width;
};
/// Fails unless `layout` is NHWC or NCHW.
ImageDims GetImageDims(const InferContext& context, DataLayout layout);
/// Fails unless `layout` is NDHWC or NCDHW.
ImageDims GetVolumeDims(const InferContext& context, DataLayout layout);

/// One dimension of the window that a convolution or pool slides over its input.
struct Window
{
    const char* m_What; ///< "height": for messages
    int64_t m_Filter;
    int64_t m_Stride;
    int64_t m_Dilation;
    PaddingScheme m_Scheme;
    int64_t m_PadBefore; ///< Explicit: given; else computed by Slide
    int64_t m_PadAfter;
    bool m_IsSameByInput = false; ///< of a transposed convolution: see TransposeConvolution2dDescriptor
};

/// (filter - 1) * dilation + 1. Fails unless filter, stride and dilation are at least 1.
int64_t GetFilterExtent(const InferContext& context, const Window& window);
/// The number of places of the window in an input of this size, rounding down; sets the paddings. Fails when it has
/// none.
int64_t Slide(const InferContext& context, Window& window, int64_t input);

/// Writes computed paddings into the descriptor that kernels see; they know explicit ones only.
template <typename D>
void ResolvePaddings(InferContext& context, const Window& height, const Window& width)
{
    if (height.m_Scheme == PaddingScheme::Explicit)
    {
        return;
    }
    D& edited = context.Edit<D>();
    edited.m_PadTop = ToSize(context, height.m_PadBefore);
    edited.m_PadBottom = ToSize(context, height.m_PadAfter);
    edited.m_PadLeft = ToSize(context, width.m_PadBefore);
    edited.m_PadRight = ToSize(context, width.m_PadAfter);
    edited.m_PaddingScheme = PaddingScheme::Explicit;
}

/// The same for three dimensions.
template <typename D>
void ResolvePaddings(InferContext& context, const Window& depth, const Window& height, const Window& width)
{
    ResolvePaddings<D>(context, height, width);
    if (depth.m_Scheme != PaddingScheme::Explicit)
    {
        D& edited = context.Edit<D>();
        edited.m_PadFront = ToSize(context, depth.m_PadBefore);
        edited.m_PadBack = ToSize(context, depth.m_PadAfter);
    }
}

/// The values of a parameter tensor as sizes; each must be non-negative.
std::vector<unsigned int> ValuesAsSizes(const InferContext& context, size_t input);
/// The values of a parameter tensor [n, 2] as pairs; each must be non-negative.
std::vector<std::pair<unsigned int, unsigned int>> ValuesAsPairs(const InferContext& context, size_t input);
/// The values of a parameter tensor as a shape.
TensorShape ValuesAsShape(const InferContext& context, size_t input);

} // namespace tenon::infer
