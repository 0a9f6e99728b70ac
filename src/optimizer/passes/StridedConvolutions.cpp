// SPDX-License-Identifier: Apache-2.0
// See StridedConvolutions.hpp.
#include "optimizer/passes/StridedConvolutions.hpp"

#include "optimizer/rewriting/Patterns.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tenon
{

namespace
{

bool IsConvolution(const Layer& layer)
{
    return layer.GetType() == LayerType::Convolution2d || layer.GetType() == LayerType::DepthwiseConvolution2d;
}

Stride GetStride(const Layer& layer)
{
    return VisitConvolution(layer, [](const auto& d) { return Stride{d.m_StrideY, d.m_StrideX}; });
}

/// The stride of a layer that reads no more than every so many pixels; else none.
Stride GetReadStride(const InputSlot& reader)
{
    const Layer& layer = reader.GetOwningLayer();
    const auto filter = reader.GetSlotIndex() == 0 ? GetFilter(layer) : std::nullopt;
    const bool isPadded =
        filter && VisitConvolution(layer,
                                   [](const auto& d)
                                   {
                                       return d.m_PaddingScheme == PaddingScheme::Explicit &&
                                              (d.m_PadTop | d.m_PadBottom | d.m_PadLeft | d.m_PadRight) != 0;
                                   });
    return filter && filter->IsOne() && !isPadded ? GetStride(layer) : Stride();
}

/// Paddings that PaddingScheme::Same stands for with a stride of 1: the same for every size. False where it has another
/// one.
bool MakeExplicit(uint32_t stride, uint64_t filter, uint32_t dilation, uint32_t& before, uint32_t& after)
{
    const uint64_t total = (filter - 1) * dilation; // of 32 bits each
    if (filter == 0 || stride != 1 || total > std::numeric_limits<uint32_t>::max())
    {
        return false;
    }
    before = static_cast<uint32_t>(total / 2);
    after = static_cast<uint32_t>(total - total / 2);
    return true;
}

/// The descriptor of a convolution that gives every so many rows and columns of what it gives now; null where there is
/// none.
template <typename D>
std::unique_ptr<BaseDescriptor> StridedDescriptor(const D& from, const Filter& filter, Stride stride)
{
    constexpr uint64_t MaxStride = std::numeric_limits<int32_t>::max();
    auto to = std::make_unique<D>(from);
    // Windows of one pixel have no paddings with any stride.
    if (from.m_PaddingScheme == PaddingScheme::Same && !filter.IsOne())
    {
        to->m_PaddingScheme = PaddingScheme::Explicit;
        if (!MakeExplicit(from.m_StrideY, filter.m_Height, from.m_DilationY, to->m_PadTop, to->m_PadBottom) ||
            !MakeExplicit(from.m_StrideX, filter.m_Width, from.m_DilationX, to->m_PadLeft, to->m_PadRight))
        {
            return nullptr;
        }
    }
    if (uint64_t{from.m_StrideY} * stride.m_Y > MaxStride || uint64_t{from.m_StrideX} * stride.m_X > MaxStride)
    {
        return nullptr;
    }
    to->m_StrideY *= stride.m_Y;
    to->m_StrideX *= stride.m_X;
    return to;
}

} // namespace

std::optional<Filter> GetFilter(const Layer& layer)
{
    const bool isPlain = IsConvolution(layer) && IsPlainInput(layer, 0) && IsPlainInput(layer, 1) &&
                         layer.GetConstantInput(1) != nullptr &&
                         VisitConvolution(layer, [](const auto& d) { return d.m_DataLayout == DataLayout::NHWC; });
    if (!isPlain || layer.Input(1).GetTensorInfo().GetShape().GetNumDimensions() != 4)
    {
        return std::nullopt;
    }
    const TensorShape& weights = layer.Input(1).GetTensorInfo().GetShape();
    return Filter{weights[1], weights[2]};
}

Stride GetReadStride(const OutputSlot& output)
{
    const Span<InputSlot* const> readers = output.GetConnections();
    const Stride first = readers.empty() ? Stride() : GetReadStride(*readers[0]);
    const bool isUniform = std::all_of(readers.begin(), readers.end(),
                                       [&](const InputSlot* reader) { return GetReadStride(*reader) == first; });
    return isUniform ? first : Stride();
}

std::unique_ptr<BaseDescriptor> MakeStrided(const Layer& convolution, const Filter& filter, Stride stride)
{
    return VisitConvolution(convolution, [&](const auto& d) { return StridedDescriptor(d, filter, stride); });
}

TensorInfo MakeStrided(TensorInfo info, Stride stride)
{
    TensorShape shape = info.GetShape();
    if (shape.GetDimensionality() != Dimensionality::Specified || shape.GetNumDimensions() != 4)
    {
        return info;
    }
    for (const auto& [dimension, step] : {std::pair(1U, stride.m_Y), std::pair(2U, stride.m_X)})
    {
        if (shape.GetDimensionSpecificity(dimension) && shape[dimension] != 0)
        {
            shape.SetDimensionSize(dimension, (shape[dimension] - 1) / step + 1);
        }
    }
    info.SetShape(shape);
    return info;
}

} // namespace tenon
