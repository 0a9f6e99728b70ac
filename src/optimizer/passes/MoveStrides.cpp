// SPDX-License-Identifier: Apache-2.0
// Pass MoveStrides: a 1x1 convolution with stride s reads every s-th pixel of every s-th row. If all readers of a
// tensor are such layers, the other pixels need not be computed:
//     conv 3x3 -> ReLU -> conv 1x1, stride 2      becomes      conv 3x3, stride 2 -> ReLU -> conv 1x1
// The stride moves through elementwise layers to a convolution, which then has 1 / s^2 of its work. An operand that
// other layers read as a whole is sliced. The operands of an elementwise layer must have one size in every run
// (ImageSizes): sizes that do not fit may fit once they are strided, and the error would be lost.
//
// Right for inputs of any size: n strided windows of n' ones, every s-th from the first on, are those of a stride s
// times as large, floor(floor(a / t) / s) = floor(a / (s * t)).
#include "graph/Graph.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/assignment/Assignment.hpp"
#include "optimizer/layout/FixedRanks.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon::passes
{

namespace
{

/// Strides of rows and columns.
struct Stride
{
    uint32_t m_Y = 1;
    uint32_t m_X = 1;

    bool IsNone() const { return m_Y == 1 && m_X == 1; }
    friend bool operator==(const Stride&, const Stride&) = default;
};

/// Height and width of the windows of a convolution.
struct Filter
{
    uint64_t m_Height = 0;
    uint64_t m_Width = 0;

    bool IsOne() const { return m_Height == 1 && m_Width == 1; }
};

/// visit(descriptor) of a convolution of either kind.
template <typename F>
auto VisitConvolution(const Layer& layer, const F& visit)
{
    return layer.GetType() == LayerType::Convolution2d ? visit(layer.Descriptor<Convolution2dDescriptor>())
                                                       : visit(layer.Descriptor<DepthwiseConvolution2dDescriptor>());
}

bool IsConvolution(const Layer& layer)
{
    return layer.GetType() == LayerType::Convolution2d || layer.GetType() == LayerType::DepthwiseConvolution2d;
}

/// Of a convolution of either kind, channels last, whose weights are constant; nothing of other layers.
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

/// The stride with which all readers of an output read it; no stride if they differ, or if one reads every pixel.
Stride GetReadStride(const OutputSlot& output)
{
    const Span<InputSlot* const> readers = output.GetConnections();
    const Stride first = readers.empty() ? Stride() : GetReadStride(*readers[0]);
    const bool isUniform = std::all_of(readers.begin(), readers.end(),
                                       [&](const InputSlot* reader) { return GetReadStride(*reader) == first; });
    return isUniform ? first : Stride();
}

/// The descriptor of a convolution whose output is the present one at this stride; null where there is none.
std::unique_ptr<BaseDescriptor> MakeStrided(const Layer& convolution, const Filter& filter, Stride stride)
{
    return VisitConvolution(convolution, [&](const auto& d) { return StridedDescriptor(d, filter, stride); });
}

/// The info of a tensor at this stride.
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

/// Height and width of a tensor's images: those of another tensor, divided and rounded up.
struct ImageSize
{
    const OutputSlot* m_Of = nullptr; ///< null: both are 1
    uint64_t m_Y = 1;
    uint64_t m_X = 1;

    bool IsOne() const { return m_Of == nullptr; }
    friend bool operator==(const ImageSize&, const ImageSize&) = default;
};

/// Which tensors have images of the same height and width, whatever these are in a run: operands that do not fit may
/// fit once every second pixel is left out, and an error would be lost.
class ImageSizes
{
public:
    /// `order` has convolutions and elementwise layers at least.
    ImageSizes(const LayerOrder& order, const FixedRanks& ranks);

    /// A tensor of which nothing is known has a size of its own.
    ImageSize Get(const OutputSlot& slot) const;
    /// Whether the operands of an elementwise layer have images of one size, or of one pixel, in every run.
    bool HasEqualSizes(const Layer& elementwise) const { return FindCommon(elementwise).has_value(); }
    /// The images of `slot` become every so many rows and columns of those of `of`, as they were.
    void SetStrided(const OutputSlot& slot, const OutputSlot& of, Stride stride);

private:
    void Add(const Layer& layer);
    ImageSize GetOperand(const InputSlot& input) const;
    std::optional<ImageSize> FindCommon(const Layer& elementwise) const;

    const FixedRanks& m_Ranks;
    std::unordered_map<const OutputSlot*, ImageSize> m_Sizes;
};

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

/// Layers between a strided convolution and the one that takes its stride; more are not worth a search.
constexpr unsigned int MaxDepth = 16;

/// Moves the stride of all readers of one output.
class StrideMove
{
public:
    StrideMove(Graph& graph, const PassContext& context, const FixedRanks& ranks, ImageSizes& sizes, Stride stride)
        : m_Graph(graph), m_Context(context), m_Ranks(ranks), m_Sizes(sizes), m_Stride(stride)
    {
    }

    /// Finds the layers before the output that need compute no more than that; false where no convolution is among
    /// them, or a backend would not take what becomes of one.
    bool Find(OutputSlot& output)
    {
        return Visit(output, MaxDepth) && !m_Convolutions.empty() && IsEveryReaderTaken(output) && IsEveryLayerTaken();
    }

    void Apply(const OutputSlot& output)
    {
        for (InputSlot* reader : output.GetConnections())
        {
            reader->GetOwningLayer().SetDescriptor(WithoutStride(reader->GetOwningLayer()));
        }
        for (auto& [layer, descriptor] : m_Convolutions)
        {
            layer->SetDescriptor(std::move(descriptor));
            Shrink(layer->Output(0));
        }
        for (Layer* layer : m_Elementwise)
        {
            Shrink(layer->Output(0));
        }
        for (InputSlot* input : m_Sliced)
        {
            const Layer& reader = input->GetOwningLayer();
            Layer& slice = m_Graph.InsertBefore(*input, LayerType::StridedSlice, MakeSlice(), reader.GetNameStr());
            slice.BackendSelectionHint(reader.GetBackendHint());
            m_Sizes.SetStrided(slice.Output(0), *slice.Input(0).GetConnectedOutputSlot(), m_Stride);
            slice.Output(0).SetTensorInfo(MakeStrided(slice.Output(0).GetTensorInfo(), m_Stride));
        }
    }

private:
    /// Whether the output may be strided by the layers that make it, which are then noted.
    bool Visit(const OutputSlot& output, unsigned int depth)
    {
        Layer& layer = output.GetOwningLayer();
        if (depth == 0 || layer.GetNumOutputSlots() != 1 || layer.GetFusedActivation() != nullptr)
        {
            return false;
        }
        if (const auto filter = GetFilter(layer))
        {
            auto strided = MakeStrided(layer, *filter, m_Stride);
            const bool isStrided = strided != nullptr;
            if (isStrided)
            {
                m_Convolutions.emplace_back(&layer, std::move(strided));
            }
            return isStrided;
        }
        return IsElementwise(layer.GetType()) && VisitOperands(layer, depth);
    }

    static bool IsElementwise(LayerType type)
    {
        return type == LayerType::Activation || type == LayerType::ElementwiseBinary ||
               type == LayerType::ElementwiseUnary;
    }

    bool VisitOperands(Layer& layer, unsigned int depth)
    {
        for (unsigned int i = 0; i < layer.NumInputs(); ++i)
        {
            const unsigned int rank =
                IsPlainInput(layer, i) ? m_Ranks.Get(*layer.Input(i).GetConnectedOutputSlot()) : 0;
            if (rank != 4 && rank != 1) // of one dimension: a value for each channel, or for all
            {
                return false;
            }
        }
        if (!m_Sizes.HasEqualSizes(layer))
        {
            return false;
        }
        m_Elementwise.push_back(&layer);
        for (InputSlot& input : layer.Inputs())
        {
            const OutputSlot& read = *input.GetConnectedOutputSlot();
            const bool isAlone =
                read.GetConnections().size() == 1 && read.GetOwningLayer().GetBackendHint() == layer.GetBackendHint();
            if (m_Ranks.Get(read) == 4 && !m_Sizes.Get(read).IsOne() && !(isAlone && Visit(read, depth - 1)))
            {
                m_Sliced.push_back(&input);
            }
        }
        return true;
    }

    void Shrink(OutputSlot& output)
    {
        m_Sizes.SetStrided(output, output, m_Stride);
        output.SetTensorInfo(MakeStrided(output.GetTensorInfo(), m_Stride));
    }

    /// What a reader becomes.
    static std::unique_ptr<BaseDescriptor> WithoutStride(const Layer& layer)
    {
        return VisitConvolution(layer,
                                [](const auto& d) -> std::unique_ptr<BaseDescriptor>
                                {
                                    auto to = std::make_unique<std::decay_t<decltype(d)>>(d);
                                    to->m_StrideX = to->m_StrideY = 1;
                                    return to;
                                });
    }

    /// Every row and column, from the first one on, of all images and channels.
    std::unique_ptr<BaseDescriptor> MakeSlice() const
    {
        constexpr int32_t All = 0b1111;
        auto slice = std::make_unique<StridedSliceDescriptor>(
            std::vector<int>(4, 0), std::vector<int>(4, 0),
            std::vector<int>{1, static_cast<int>(m_Stride.m_Y), static_cast<int>(m_Stride.m_X), 1});
        slice->m_BeginMask = slice->m_EndMask = All;
        slice->m_DataLayout = DataLayout::NHWC;
        return slice;
    }

    bool IsEveryReaderTaken(OutputSlot& output) const
    {
        const Span<InputSlot* const> now = output.GetConnections(); // the question itself reads the output for a while
        const std::vector<InputSlot*> readers(now.begin(), now.end());
        return std::all_of(readers.begin(), readers.end(),
                           [&](InputSlot* reader)
                           {
                               Layer& layer = reader->GetOwningLayer();
                               return IsTaken(layer, layer.GetType(), WithoutStride(layer), layer.Inputs(),
                                              layer.Output(0).GetTensorInfo());
                           });
    }

    bool IsEveryLayerTaken() const
    {
        for (const auto& [layer, descriptor] : m_Convolutions)
        {
            if (!IsTaken(*layer, layer->GetType(), descriptor, layer->Inputs(),
                         MakeStrided(layer->Output(0).GetTensorInfo(), m_Stride)))
            {
                return false;
            }
        }
        return std::all_of(m_Sliced.begin(), m_Sliced.end(),
                           [&](InputSlot* input)
                           {
                               return IsTaken(input->GetOwningLayer(), LayerType::StridedSlice, MakeSlice(), {input, 1},
                                              MakeStrided(input->GetTensorInfo(), m_Stride));
                           });
    }

    /// Whether the backend that takes `like` would also take a layer of this type with inputs that read the same. It is
    /// made for the question alone.
    bool IsTaken(const Layer& like, LayerType type, const std::unique_ptr<BaseDescriptor>& descriptor,
                 Span<InputSlot> inputs, const TensorInfo& output) const
    {
        Layer& asked = m_Graph.AddLayer(type, descriptor, like.GetNameStr());
        asked.BackendSelectionHint(like.GetBackendHint());
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            if (inputs[i].GetConnectedOutputSlot() != nullptr)
            {
                inputs[i].GetConnectedOutputSlot()->Connect(asked.Input(i));
            }
        }
        asked.Output(0).SetTensorInfo(output);
        const bool isTaken = m_Context.m_Chooser.TakesAsWell(like, asked);
        m_Graph.RemoveLast();
        return isTaken;
    }

    Graph& m_Graph;
    const PassContext& m_Context;
    const FixedRanks& m_Ranks;
    ImageSizes& m_Sizes;
    const Stride m_Stride;
    std::vector<std::pair<Layer*, std::unique_ptr<BaseDescriptor>>> m_Convolutions; ///< and what they become
    std::vector<Layer*> m_Elementwise;
    std::vector<InputSlot*> m_Sliced; ///< of these
};

} // namespace

void MoveStrides(Graph& graph, PassContext& context)
{
    const LayerOrder order =
        graph.TopologicalOrder({LayerType::Convolution2d, LayerType::DepthwiseConvolution2d, LayerType::Activation,
                                LayerType::ElementwiseBinary, LayerType::ElementwiseUnary});
    // Made only for a graph in which a stride may move: most have none.
    std::optional<FixedRanks> ranks;
    std::optional<ImageSizes> sizes;
    // From the outputs on: a convolution of 1x1 that takes a stride may hand it on.
    for (Layer* layer : order.Backward())
    {
        const Stride stride = GetReadStride(layer->Output(0));
        if (stride.IsNone())
        {
            continue;
        }
        if (!sizes)
        {
            ranks.emplace(graph);
            sizes.emplace(order, *ranks);
        }
        StrideMove move(graph, context, *ranks, *sizes, stride);
        if (move.Find(layer->Output(0)))
        {
            move.Apply(layer->Output(0));
        }
    }
}

} // namespace tenon::passes
