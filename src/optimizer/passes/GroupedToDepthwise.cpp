// SPDX-License-Identifier: Apache-2.0
// Pass GroupedToDepthwise: a Convolution2d with a group for each channel of its data is a DepthwiseConvolution2d, whose
// weights lie otherwise: [1, H, W, O]. Frameworks without an operator for it write it so.
#include "common/AlignedMemory.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Convolution.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace tenon::passes
{

namespace
{

/// Both operators compute the same of these. Floats by weights of bytes they round otherwise.
bool IsTypeOfBoth(DataType data, DataType weights)
{
    const auto isInt8 = [](DataType type)
    { return type == DataType::QAsymmS8 || type == DataType::QAsymmU8 || type == DataType::QSymmS8; };
    const bool isFloat = data == DataType::Float32 || data == DataType::Float64 || data == DataType::Float16 ||
                         data == DataType::BFloat16;
    return (isFloat && weights == data) || (isInt8(data) && isInt8(weights));
}

/// The channels of images, also where other sizes are not known before a run and shapes are open for that.
class ImageChannels
{
public:
    explicit ImageChannels(const Graph& graph) : m_Graph(&graph) {}

    /// Of the data of a layer with this channel dimension; 0 where they are not known.
    unsigned int Find(const Layer& layer, unsigned int dimension)
    {
        const TensorShape& shape = layer.Input(0).GetTensorInfo().GetShape();
        const bool isOpen = shape.GetDimensionality() != Dimensionality::Specified ||
                            shape.GetNumDimensions() != Rank || !shape.GetDimensionSpecificity(dimension);
        if (!isOpen)
        {
            return shape[dimension];
        }
        if (m_Channels.empty() || m_FromEnd != Rank - dimension)
        {
            FindAll(Rank - dimension);
        }
        return Of(layer, 0);
    }

private:
    static constexpr unsigned int Rank = 4;

    void FindAll(unsigned int fromEnd)
    {
        m_FromEnd = fromEnd;
        m_Channels.assign(m_Graph->Size(), 0);
        for (const Layer* layer : m_Graph->TopologicalOrder())
        {
            if (layer->GetNumOutputSlots() != 0)
            {
                m_Channels[layer->m_Index] = FindOutput(*layer);
            }
        }
    }

    unsigned int Of(const Layer& layer, unsigned int input) const
    {
        const Layer* const producer = layer.Input(input).GetProducer();
        if (producer == nullptr || layer.Input(input).GetConnectedOutputSlot() != &producer->Output(0))
        {
            return 0;
        }
        if (producer->m_Index < m_Channels.size())
        {
            return m_Channels[producer->m_Index];
        }
        return producer->GetType() == LayerType::DepthwiseConvolution2d ? SizeOfWeights(*producer, Rank - 1) : 0; // new
    }

    /// Of a shape, to which an image is broadcast from its last dimension on.
    unsigned int OfShape(const TensorShape& shape) const
    {
        if (shape.GetDimensionality() == Dimensionality::NotSpecified || shape.GetNumDimensions() > Rank)
        {
            return 0;
        }
        const unsigned int rank = shape.GetNumDimensions();
        const unsigned int dimension = rank - m_FromEnd;
        return rank < m_FromEnd ? 1 : shape.GetDimensionSpecificity(dimension) ? shape[dimension] : 0;
    }

    static unsigned int SizeOfWeights(const Layer& layer, unsigned int dimension)
    {
        const TensorShape& shape = layer.Input(1).GetTensorInfo().GetShape();
        return layer.GetConstantInput(1) != nullptr && shape.GetNumDimensions() == Rank ? shape[dimension] : 0;
    }

    unsigned int FindOutput(const Layer& layer) const
    {
        const unsigned int known = OfShape(layer.Output(0).GetTensorInfo().GetShape());
        if (known != 0)
        {
            return known;
        }
        switch (layer.GetType())
        {
        case LayerType::Convolution2d: return SizeOfWeights(layer, 0);
        case LayerType::DepthwiseConvolution2d: return SizeOfWeights(layer, Rank - 1);
        case LayerType::Activation:
        case LayerType::BatchNormalization:
        case LayerType::ElementwiseUnary:
        case LayerType::InstanceNormalization:
        case LayerType::Pooling2d:
        case LayerType::Prelu:
        case LayerType::Resize: return Of(layer, 0);
        case LayerType::ElementwiseBinary: return std::max(Of(layer, 0), Of(layer, 1));
        default: return 0;
        }
    }

    const Graph* m_Graph;
    unsigned int m_FromEnd = 0;           ///< of the channels' dimension
    std::vector<unsigned int> m_Channels; ///< of output 0 of layers, by their index; 0: not known
};

bool IsDepthwise(const Layer& layer, ImageChannels& images)
{
    const auto& descriptor = layer.Descriptor<Convolution2dDescriptor>();
    if (!IsPlainInput(layer, 0) || !IsPlainInput(layer, 1) || layer.GetConstantInput(1) == nullptr ||
        (descriptor.m_BiasEnabled && !IsPlainInput(layer, 2)) || descriptor.m_SumsOf32Bits ||
        layer.GetFusedActivation() != nullptr)
    {
        return false;
    }
    const bool isNhwc = descriptor.m_DataLayout == DataLayout::NHWC;
    const TensorInfo& data = layer.Input(0).GetTensorInfo();
    const TensorInfo& weights = layer.Input(1).GetTensorInfo();
    const unsigned int channels = isNhwc ? 3 : 1;
    // A single channel is no group: its products are those of a matrix.
    return weights.GetShape().GetNumDimensions() == 4 && weights.GetShape()[channels] == 1 &&
           weights.GetNumElements() != 0 && IsTypeOfBoth(data.GetDataType(), weights.GetDataType()) &&
           images.Find(layer, channels) > 1;
}

std::unique_ptr<DepthwiseConvolution2dDescriptor> MakeDescriptor(const Convolution2dDescriptor& from)
{
    auto to = std::make_unique<DepthwiseConvolution2dDescriptor>();
    to->m_PadLeft = from.m_PadLeft;
    to->m_PadRight = from.m_PadRight;
    to->m_PadTop = from.m_PadTop;
    to->m_PadBottom = from.m_PadBottom;
    to->m_StrideX = from.m_StrideX;
    to->m_StrideY = from.m_StrideY;
    to->m_DilationX = from.m_DilationX;
    to->m_DilationY = from.m_DilationY;
    to->m_BiasEnabled = from.m_BiasEnabled;
    to->m_DataLayout = from.m_DataLayout;
    to->m_PaddingScheme = from.m_PaddingScheme;
    to->m_Requantization = from.m_Requantization;
    return to;
}

/// Weights [O, H, W, 1] or [O, 1, H, W], which lie alike, as [1, H, W, O].
Layer& AddWeights(Graph& graph, const Layer& layer)
{
    const TensorInfo& from = layer.Input(1).GetTensorInfo();
    const bool isNhwc = layer.Descriptor<Convolution2dDescriptor>().m_DataLayout == DataLayout::NHWC;
    TensorInfo to = Transposed(from, isNhwc ? PermutationVector{3, 1, 2, 0} : PermutationVector{1, 2, 3, 0});
    to.SetConstant(true);
    const size_t bytes = GetDataTypeBits(from.GetDataType()) / 8;
    const size_t channels = from.GetShape()[0];
    const size_t taps = from.GetNumElements() / channels;
    auto memory = std::make_shared<AlignedMemory>(from.GetNumBytes());
    const auto* in = static_cast<const std::byte*>(layer.GetConstantInput(1));
    for (size_t channel = 0; channel < channels; ++channel)
    {
        for (size_t tap = 0; tap < taps; ++tap)
        {
            std::memcpy(memory->Data() + (tap * channels + channel) * bytes, in + (channel * taps + tap) * bytes,
                        bytes);
        }
    }
    return graph.AddConstant(ConstTensor(to, memory->Data()), memory, layer.GetNameStr());
}

} // namespace

void GroupedToDepthwise(Graph& graph, PassContext& context)
{
    ConstantBudget budget(graph);
    ImageChannels images(graph);
    std::vector<const Layer*> unused;
    for (Layer* layer : graph.LayersOf(LayerType::Convolution2d))
    {
        if (!IsDepthwise(*layer, images) || !budget.Take(layer->Input(1).GetTensorInfo().GetNumBytes()))
        {
            continue;
        }
        OutputSlot* const bias = layer->NumInputs() > 2 ? layer->Input(2).GetConnectedOutputSlot() : nullptr;
        if (ReplacePattern(graph, context, *layer, LayerType::DepthwiseConvolution2d,
                           MakeDescriptor(layer->Descriptor<Convolution2dDescriptor>()),
                           {layer->Input(0).GetConnectedOutputSlot(), &AddWeights(graph, *layer).Output(0), bias}) !=
            nullptr)
        {
            unused.push_back(layer);
        }
    }
    RemoveUnused(graph, unused);
}

} // namespace tenon::passes
