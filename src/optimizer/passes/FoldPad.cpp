// SPDX-License-Identifier: Apache-2.0
// Pass FoldPad: a Pad of height and width becomes paddings of the convolution or pool behind it. Whether it may follows
// from parameters alone, so that it is right for inputs of any size. Explicit paddings are constant; those of
// PaddingScheme::Same follow from the size of the padded input, so such layers stay as they are.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Pooling.hpp>

#include <cmath>
#include <limits>
#include <utility>

namespace tenon::passes
{

namespace
{

/// (before, after) of height and width.
struct Border
{
    std::pair<uint64_t, uint64_t> m_Height;
    std::pair<uint64_t, uint64_t> m_Width;
};

/// What a Pad with constant parameters puts around the images of a layout; nothing where it does anything else.
std::optional<Border> GetBorder(const Layer& pad, DataLayout layout)
{
    const auto& descriptor = pad.Descriptor<PadDescriptor>();
    std::vector<std::pair<uint64_t, uint64_t>> pairs;
    if (descriptor.m_ParametersAsInputs)
    {
        const auto values = GetIntegers(pad, 1, 8);
        if (!values.has_value() || values->size() != 8)
        {
            return std::nullopt;
        }
        for (size_t i = 0; i < 8; i += 2)
        {
            if ((*values)[i] < 0 || (*values)[i + 1] < 0)
            {
                return std::nullopt;
            }
            pairs.emplace_back((*values)[i], (*values)[i + 1]);
        }
    }
    else
    {
        pairs.assign(descriptor.m_PadList.begin(), descriptor.m_PadList.end());
    }
    if (pairs.size() != 4 || (layout != DataLayout::NHWC && layout != DataLayout::NCHW))
    {
        return std::nullopt;
    }
    const std::pair<uint64_t, uint64_t> none;
    const size_t height = layout == DataLayout::NHWC ? 1 : 2;
    const size_t channels = layout == DataLayout::NHWC ? 3 : 1;
    return pairs[0] == none && pairs[channels] == none ? std::optional(Border{pairs[height], pairs[height + 1]})
                                                       : std::nullopt;
}

/// The value that a Pad writes, as it is stored; nothing where it is not constant or of a type without a case here.
std::optional<double> GetValue(const Layer& pad)
{
    const auto& descriptor = pad.Descriptor<PadDescriptor>();
    if (!descriptor.m_ValueAsInput)
    {
        return descriptor.m_PadValue;
    }
    const DataType type = pad.Input(0).GetTensorInfo().GetDataType();
    if (!IsPlainInput(pad, 2) || pad.GetConstantInput(2) == nullptr ||
        pad.Input(2).GetTensorInfo().GetDataType() != type ||
        !pad.Input(2).GetTensorInfo().GetShape().AreAllDimensionsSpecified() ||
        pad.Input(2).GetTensorInfo().GetShape().GetNumElements64() != 1)
    {
        return std::nullopt;
    }
    const void* value = pad.GetConstantInput(2);
    switch (type)
    {
    case DataType::Float32: return *static_cast<const float*>(value);
    case DataType::QAsymmU8: return *static_cast<const uint8_t*>(value);
    case DataType::QAsymmS8:
    case DataType::QSymmS8: return *static_cast<const int8_t*>(value);
    case DataType::QSymmS16: return *static_cast<const int16_t*>(value);
    default: return std::nullopt;
    }
}

/// Whether the stored value stands for 0.
bool IsZero(double value, const TensorInfo& info)
{
    return !info.HasMultipleQuantizationScales() && value == (info.IsQuantized() ? info.GetQuantizationOffset() : 0);
}

/// Whether no element is below the value, so that a maximum never takes the border.
bool IsLowest(double value, DataType type)
{
    switch (type)
    {
    case DataType::Float32: return value <= static_cast<double>(std::numeric_limits<float>::lowest());
    case DataType::Float16:
    case DataType::BFloat16: return value == -std::numeric_limits<double>::infinity();
    case DataType::QAsymmU8: return value == 0;
    case DataType::QAsymmS8: return value == std::numeric_limits<int8_t>::min();
    case DataType::QSymmS16: return value == std::numeric_limits<int16_t>::min();
    default: return false;
    }
}

/// Whether a layer gives nothing below 0.
bool IsRectifier(const Layer& layer)
{
    if (layer.GetType() != LayerType::Activation)
    {
        return false;
    }
    const auto& descriptor = layer.Descriptor<ActivationDescriptor>();
    return descriptor.m_Function == ActivationFunction::ReLu ||
           (descriptor.m_Function == ActivationFunction::BoundedReLu && descriptor.m_A >= 0.0f &&
            descriptor.m_B >= 0.0f);
}

/// Adds to two paddings of a descriptor; false where they would leave 32 bits.
bool AddTo(uint32_t& before, uint32_t& after, std::pair<uint64_t, uint64_t> more)
{
    constexpr uint64_t MaxPadding = std::numeric_limits<uint32_t>::max();
    if (more.first > MaxPadding - before || more.second > MaxPadding - after)
    {
        return false;
    }
    before += static_cast<uint32_t>(more.first);
    after += static_cast<uint32_t>(more.second);
    return true;
}

/// The descriptor with the border added to its paddings, or null. Of all layers with PaddingScheme.
template <typename D>
std::unique_ptr<D> Enlarged(const Layer& layer, const Border& border)
{
    auto copy = std::make_unique<D>(layer.Descriptor<D>());
    if (copy->m_PaddingScheme == PaddingScheme::Same)
    {
        return nullptr;
    }
    if (copy->m_PaddingScheme == PaddingScheme::Valid)
    {
        copy->m_PadTop = copy->m_PadBottom = copy->m_PadLeft = copy->m_PadRight = 0;
    }
    copy->m_PaddingScheme = PaddingScheme::Explicit;
    const bool fits = AddTo(copy->m_PadTop, copy->m_PadBottom, border.m_Height) &&
                      AddTo(copy->m_PadLeft, copy->m_PadRight, border.m_Width);
    return fits ? std::move(copy) : nullptr;
}

template <typename D>
std::unique_ptr<BaseDescriptor> FoldIntoConvolution(const Layer& layer, const Layer& pad, double value)
{
    const auto border = GetBorder(pad, layer.Descriptor<D>().m_DataLayout);
    return border.has_value() && IsZero(value, pad.Input(0).GetTensorInfo()) ? Enlarged<D>(layer, *border) : nullptr;
}

std::unique_ptr<BaseDescriptor> FoldIntoPool(const Layer& layer, const Layer& pad, double value)
{
    const auto& descriptor = layer.Descriptor<Pooling2dDescriptor>();
    const auto border = GetBorder(pad, descriptor.m_DataLayout);
    if (!border.has_value() || descriptor.m_OutputShapeRounding != OutputShapeRounding::Floor)
    {
        return nullptr;
    }
    auto enlarged = Enlarged<Pooling2dDescriptor>(layer, *border);
    // Each window then has an element of the input in it, even of the smallest input that has a window at all.
    // Windows without one give zeros, and the last one is dropped, which differs from the maximum of the border.
    if (enlarged == nullptr || uint64_t{enlarged->m_PadTop} + enlarged->m_PadBottom >= descriptor.m_PoolHeight ||
        uint64_t{enlarged->m_PadLeft} + enlarged->m_PadRight >= descriptor.m_PoolWidth)
    {
        return nullptr;
    }
    const TensorInfo& info = pad.Input(0).GetTensorInfo();
    if (descriptor.m_PoolType == PoolingAlgorithm::Max)
    {
        // A zero is no more than an element beside it that is none, of which each window has one.
        const bool isBelowAll = IsZero(value, info) && IsRectifier(*pad.Input(0).GetProducer());
        return isBelowAll || IsLowest(value, info.GetDataType()) ? std::move(enlarged) : nullptr;
    }
    // The border counts in the average, as padding does with PaddingMethod::IgnoreValue. A pool with padding of its own
    // that does not count cannot have both.
    const bool hadPadding =
        descriptor.m_PaddingScheme == PaddingScheme::Explicit &&
        (descriptor.m_PadTop | descriptor.m_PadBottom | descriptor.m_PadLeft | descriptor.m_PadRight) != 0;
    if (!IsZero(value, info) || (hadPadding && descriptor.m_PaddingMethod != PaddingMethod::IgnoreValue))
    {
        return nullptr;
    }
    enlarged->m_PaddingMethod = PaddingMethod::IgnoreValue;
    return enlarged;
}

std::unique_ptr<BaseDescriptor> Fold(const Layer& layer, const Layer& pad, double value)
{
    switch (layer.GetType())
    {
    case LayerType::Convolution2d: return FoldIntoConvolution<Convolution2dDescriptor>(layer, pad, value);
    case LayerType::DepthwiseConvolution2d:
        return FoldIntoConvolution<DepthwiseConvolution2dDescriptor>(layer, pad, value);
    case LayerType::Pooling2d: return FoldIntoPool(layer, pad, value);
    default: return nullptr;
    }
}

} // namespace

void FoldPad(Graph& graph)
{
    for (const auto& layer : graph.Layers())
    {
        const LayerType type = layer->GetType();
        if ((type != LayerType::Convolution2d && type != LayerType::DepthwiseConvolution2d &&
             type != LayerType::Pooling2d) ||
            !IsPlainInput(*layer, 0))
        {
            continue;
        }
        const Layer& pad = *layer->Input(0).GetProducer();
        if (pad.GetType() != LayerType::Pad || !IsPlainInput(pad, 0) ||
            pad.GetBackendHint() != layer->GetBackendHint() ||
            pad.Descriptor<PadDescriptor>().m_PaddingMode != PaddingMode::Constant ||
            !pad.Input(0).GetTensorInfo().IsTypeSpaceMatch(pad.Output(0).GetTensorInfo()))
        {
            continue;
        }
        const std::optional<double> value = GetValue(pad);
        auto folded = value.has_value() ? Fold(*layer, pad, *value) : nullptr;
        if (folded != nullptr)
        {
            layer->SetDescriptor(std::move(folded));
            Rewire(layer->Input(0), *layer->Input(0).GetProducer()->Input(0).GetConnectedOutputSlot());
        }
    }
}

} // namespace tenon::passes
