// SPDX-License-Identifier: Apache-2.0
// See ImageSizes.hpp.
#include "optimizer/passes/ImageSizes.hpp"

#include "optimizer/rewriting/Patterns.hpp"

#include <algorithm>
#include <limits>

namespace tenon
{

namespace
{

/// Whether there are as many windows as every stride-th pixel, in both directions: paddings are what a stride of 1
/// needs to keep the size, or follow from the size.
bool KeepsSize(const Layer& convolution, const Filter& filter)
{
    return VisitConvolution(convolution,
                            [&](const auto& d)
                            {
                                const auto isFilled =
                                    [](uint64_t size, uint64_t dilation, uint64_t before, uint64_t after)
                                { return before + after == (size - 1) * dilation; };
                                switch (d.m_PaddingScheme)
                                {
                                case PaddingScheme::Same: return true;
                                case PaddingScheme::Valid: return filter.IsOne();
                                default:
                                    return isFilled(filter.m_Height, d.m_DilationY, d.m_PadTop, d.m_PadBottom) &&
                                           isFilled(filter.m_Width, d.m_DilationX, d.m_PadLeft, d.m_PadRight);
                                }
                            });
}

/// Divided once more; nothing where that leaves 32 bits.
std::optional<ImageSize> Divide(ImageSize size, uint64_t y, uint64_t x)
{
    constexpr uint64_t MaxDivisor = std::numeric_limits<uint32_t>::max();
    if (size.IsOne())
    {
        return size;
    }
    if (y == 0 || x == 0 || size.m_Y > MaxDivisor / y || size.m_X > MaxDivisor / x)
    {
        return std::nullopt;
    }
    return ImageSize{size.m_Of, size.m_Y * y, size.m_X * x};
}

bool IsConstantPixel(const OutputSlot& slot)
{
    const TensorShape& shape = slot.GetTensorInfo().GetShape();
    return slot.GetOwningLayer().GetType() == LayerType::Constant && shape.AreAllDimensionsSpecified() &&
           shape.GetNumDimensions() == 4 && shape[1] == 1 && shape[2] == 1;
}

bool IsScalar(const OutputSlot& slot)
{
    return slot.GetTensorInfo().GetShape().GetDimensionality() == Dimensionality::Scalar;
}

} // namespace

ImageSizes::ImageSizes(const LayerOrder& order, const FixedRanks& ranks) : m_Ranks(ranks)
{
    for (const Layer* layer : order)
    {
        Add(*layer);
    }
}

ImageSize ImageSizes::Get(const OutputSlot& slot) const
{
    const auto known = m_Sizes.find(&slot);
    return known != m_Sizes.end() ? known->second : IsConstantPixel(slot) ? ImageSize() : ImageSize{&slot};
}

/// A value for each channel, or for all, is as good as one pixel.
ImageSize ImageSizes::GetOperand(const InputSlot& input) const
{
    const OutputSlot& read = *input.GetConnectedOutputSlot();
    return m_Ranks.Get(read) == 1 || IsScalar(read) ? ImageSize() : Get(read);
}

/// Of all operands but those of one pixel; nothing where they have several sizes.
std::optional<ImageSize> ImageSizes::FindCommon(const Layer& elementwise) const
{
    ImageSize size;
    for (const InputSlot& input : elementwise.Inputs())
    {
        const ImageSize own = GetOperand(input);
        if (!own.IsOne() && !size.IsOne() && own != size)
        {
            return std::nullopt;
        }
        size = own.IsOne() ? size : own;
    }
    return size;
}

void ImageSizes::SetStrided(const OutputSlot& slot, const OutputSlot& of, Stride stride)
{
    const auto divided = Divide(Get(of), stride.m_Y, stride.m_X);
    m_Sizes[&slot] = divided.value_or(ImageSize{&slot});
}

void ImageSizes::Add(const Layer& layer)
{
    if (layer.GetNumOutputSlots() != 1 ||
        !std::all_of(layer.Inputs().begin(), layer.Inputs().end(),
                     [](const InputSlot& input) { return input.GetConnectedOutputSlot() != nullptr; }))
    {
        return;
    }
    if (const auto filter = GetFilter(layer))
    {
        const auto size = VisitConvolution(
            layer, [&](const auto& d)
            { return Divide(Get(*layer.Input(0).GetConnectedOutputSlot()), d.m_StrideY, d.m_StrideX); });
        if (size && filter->m_Height != 0 && filter->m_Width != 0 && KeepsSize(layer, *filter))
        {
            m_Sizes[&layer.Output(0)] = *size;
        }
        return;
    }
    const OpSchema& schema = GetSchema(layer.GetType());
    if (schema.Has(OpFlags::Elementwise) || schema.Has(OpFlags::Broadcast))
    {
        if (const auto size = FindCommon(layer); size && !size->IsOne())
        {
            m_Sizes[&layer.Output(0)] = *size;
        }
    }
}

} // namespace tenon
