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
#include "optimizer/Pass.hpp"
#include "optimizer/assignment/Assignment.hpp"
#include "optimizer/layout/FixedRanks.hpp"
#include "optimizer/passes/ImageSizes.hpp"
#include "optimizer/passes/StridedConvolutions.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::passes
{

namespace
{

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
