// SPDX-License-Identifier: Apache-2.0
// Pass SinkTransposes: Transposes that MoveTransposes leaves and that fewer or smaller Transposes can replace.
// - Concat of inputs that are transposed alike: one Transpose behind the Concat.
// - Gathers of one index each, or slices that are reshaped, as queries, keys and values are cut out of one product:
//   smaller Transposes behind them.
// - Dimensions of size 1 (SizeFacts.hpp): a Reshape, or a Transpose of the other dimensions alone.
#include "optimizer/Pass.hpp"
#include "optimizer/layout/LayoutRules.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/Patterns.hpp"
#include "optimizer/rewriting/SizeFacts.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

namespace tenon::passes
{

namespace
{

bool IsReshapeType(LayerType type)
{
    return type == LayerType::Reshape || type == LayerType::Squeeze || type == LayerType::ExpandDims;
}

class TransposeSinker
{
public:
    explicit TransposeSinker(Graph& graph) : m_Graph(graph) {}

    void Run()
    {
        for (Layer* layer : m_Graph.LayersOf(LayerType::Concat))
        {
            SinkIntoConcat(*layer);
        }
        for (Layer* layer : m_Graph.LayersOf(LayerType::Transpose))
        {
            if (!SinkIntoGathers(*layer) && !SinkIntoSlices(*layer))
            {
                SkipOnes(*layer);
            }
        }
        RemoveUnused(m_Graph, m_Unused);
    }

private:
    Layer& AddTranspose(const PermutationVector& mappings, const Layer& like, const TensorInfo& info)
    {
        Layer& transpose = m_Graph.AddLayer(LayerType::Transpose, std::make_unique<TransposeDescriptor>(mappings),
                                            like.GetNameStr() + ":moved");
        transpose.BackendSelectionHint(like.GetBackendHint());
        transpose.Output(0).SetTensorInfo(info);
        return transpose;
    }

    /// All readers of `slot` read it through the Transpose then.
    static void PutBehind(OutputSlot& slot, Layer& transpose)
    {
        slot.MoveAllConnections(transpose.Output(0));
        slot.Connect(transpose.Input(0));
        slot.SetTensorInfo(Transposed(transpose.Output(0).GetTensorInfo(), MappingsOf(transpose).Inverse()));
    }

    void SinkIntoConcat(Layer& concat)
    {
        if (concat.NumInputs() < 2 || concat.Descriptor<OriginsDescriptor>().HasOrigins())
        {
            return;
        }
        std::vector<const Layer*> transposes;
        for (unsigned int i = 0; i < concat.NumInputs(); ++i)
        {
            const Layer* const producer = GetSoleProducer(concat, i);
            if (!IsPlainTranspose(producer) || (i != 0 && MappingsOf(*producer) != MappingsOf(*transposes.front())))
            {
                return;
            }
            transposes.push_back(producer);
        }
        const PermutationVector mappings = MappingsOf(*transposes.front());
        const auto rank = static_cast<int>(mappings.GetSize());
        const auto given = static_cast<int32_t>(concat.Descriptor<OriginsDescriptor>().GetConcatAxis());
        const int axis = given < 0 ? given + rank : given;
        if (axis < 0 || axis >= rank || concat.Output(0).GetTensorInfo().HasPerAxisQuantization())
        {
            return;
        }
        auto descriptor = std::make_unique<OriginsDescriptor>(concat.Descriptor<OriginsDescriptor>());
        descriptor->SetConcatAxis(mappings[static_cast<unsigned int>(axis)]);
        concat.SetDescriptor(std::move(descriptor));
        for (unsigned int i = 0; i < concat.NumInputs(); ++i)
        {
            Rewire(concat.Input(i), *transposes[i]->Input(0).GetConnectedOutputSlot());
            m_Unused.push_back(transposes[i]);
        }
        PutBehind(concat.Output(0), AddTranspose(mappings, concat, concat.Output(0).GetTensorInfo()));
    }

    /// Whether the layer takes one index, a constant of no dimensions, of what `transpose` gives; then along which
    /// axis.
    static std::optional<unsigned int> FindAxis(const InputSlot& reader, unsigned int rank)
    {
        const Layer& gather = reader.GetOwningLayer();
        if (gather.GetType() != LayerType::Gather || reader.GetSlotIndex() != 0 || reader.IsTensorInfoOverridden() ||
            gather.GetConstantInput(1) == nullptr || !IsPlainInput(gather, 1) ||
            !gather.Input(1).GetTensorInfo().GetShape().IsScalar() ||
            gather.Output(0).GetTensorInfo().HasPerAxisQuantization())
        {
            return std::nullopt;
        }
        const auto& descriptor = gather.Descriptor<GatherDescriptor>();
        const int axis = descriptor.m_Axis < 0 ? descriptor.m_Axis + static_cast<int>(rank) : descriptor.m_Axis;
        const bool isThere = descriptor.m_BatchDims == 0 && axis >= 0 && axis < static_cast<int>(rank);
        return isThere ? std::optional(static_cast<unsigned int>(axis)) : std::nullopt;
    }

    bool SinkIntoGathers(Layer& transpose)
    {
        if (!IsPlainTranspose(&transpose) || transpose.Output(0).GetNumConnections() == 0)
        {
            return false;
        }
        const PermutationVector mappings = MappingsOf(transpose);
        const unsigned int rank = mappings.GetSize();
        const auto connections = transpose.Output(0).GetConnections();
        const std::vector<InputSlot*> readers(connections.begin(), connections.end());
        if (!std::all_of(readers.begin(), readers.end(),
                         [&](const InputSlot* reader) { return FindAxis(*reader, rank).has_value(); }))
        {
            return false;
        }
        for (InputSlot* reader : readers)
        {
            Layer& gather = reader->GetOwningLayer();
            const unsigned int axis = *FindAxis(*reader, rank);
            auto descriptor = std::make_unique<GatherDescriptor>(gather.Descriptor<GatherDescriptor>());
            descriptor->m_Axis = static_cast<int32_t>(mappings[axis]);
            gather.SetDescriptor(std::move(descriptor));
            Rewire(*reader, *transpose.Input(0).GetConnectedOutputSlot());
            std::array<unsigned int, MaxNumOfTensorDimensions> rest{};
            unsigned int count = 0;
            for (unsigned int i = 0; i < rank; ++i)
            {
                if (i != axis)
                {
                    rest[count++] = mappings[i] - (mappings[i] > mappings[axis] ? 1 : 0);
                }
            }
            const PermutationVector behind(rest.data(), count);
            if (!IsIdentity(behind))
            {
                PutBehind(gather.Output(0), AddTranspose(behind, gather, gather.Output(0).GetTensorInfo()));
            }
        }
        m_Unused.push_back(&transpose);
        return true;
    }

    /// Slices of what `transpose` gives, each of which is reshaped then, and that have no more elements together.
    static bool IsSlicedAndReshaped(const std::vector<InputSlot*>& readers, const Layer& transpose)
    {
        const TensorShape& whole = transpose.Output(0).GetTensorInfo().GetShape();
        if (readers.empty() || !whole.AreAllDimensionsSpecified())
        {
            return false;
        }
        uint64_t elements = 0;
        for (const InputSlot* reader : readers)
        {
            const Layer& slice = reader->GetOwningLayer();
            const bool isSlice = slice.GetType() == LayerType::StridedSlice || slice.GetType() == LayerType::Slice;
            const InputSlot* const next = isSlice ? GetSoleConsumer(slice) : nullptr;
            if (next == nullptr || !IsReshapeType(next->GetOwningLayer().GetType()) || slice.NumInputs() != 1 ||
                reader->IsTensorInfoOverridden() || !MayPermute(slice, whole.GetNumDimensions()) ||
                !slice.Output(0).GetTensorInfo().GetShape().AreAllDimensionsSpecified() ||
                slice.Output(0).GetTensorInfo().HasPerAxisQuantization())
            {
                return false;
            }
            elements += slice.Output(0).GetTensorInfo().GetShape().GetNumElements64();
        }
        return elements <= whole.GetNumElements64();
    }

    bool SinkIntoSlices(Layer& transpose)
    {
        const auto connections = transpose.Output(0).GetConnections();
        const std::vector<InputSlot*> readers(connections.begin(), connections.end());
        if (!IsPlainTranspose(&transpose) || !IsSlicedAndReshaped(readers, transpose))
        {
            return false;
        }
        const PermutationVector mappings = MappingsOf(transpose);
        for (InputSlot* reader : readers)
        {
            Layer& slice = reader->GetOwningLayer();
            slice.SetDescriptor(PermuteParameters(slice, mappings.Inverse()));
            Rewire(*reader, *transpose.Input(0).GetConnectedOutputSlot());
            PutBehind(slice.Output(0), AddTranspose(mappings, slice, slice.Output(0).GetTensorInfo()));
        }
        m_Unused.push_back(&transpose);
        return true;
    }

    /// Dimensions of size 1 stay where they are, and a Reshape gives the sizes of the output, if need be.
    void SkipOnes(Layer& transpose)
    {
        if (!IsPlainTranspose(&transpose) || transpose.Output(0).GetNumConnections() == 0 ||
            transpose.Input(0).GetTensorInfo().HasPerAxisQuantization())
        {
            return;
        }
        const SizeFacts::List* const from = GetFacts().GetSizes(*transpose.Input(0).GetConnectedOutputSlot());
        const PermutationVector mappings = MappingsOf(transpose);
        const unsigned int rank = mappings.GetSize();
        if (from == nullptr || from->size() != rank)
        {
            return;
        }
        const auto isOne = [&](unsigned int i) { return (*from)[i].Is(1); };
        std::vector<unsigned int> others;
        TensorShape target(rank, false);
        unsigned int numOpen = 0;
        for (unsigned int i = 0; i < rank; ++i)
        {
            const SizeFacts::Entry& size = (*from)[mappings[i]];
            size.IsKnown() ? target.SetDimensionSize(i, static_cast<unsigned int>(size.m_Number)) : void(++numOpen);
            isOne(mappings[i]) ? void() : others.push_back(mappings[i]);
        }
        std::array<unsigned int, MaxNumOfTensorDimensions> places{};
        size_t next = 0;
        for (unsigned int i = 0; i < rank; ++i)
        {
            places[i] = isOne(i) ? i : others[next++];
        }
        const PermutationVector rest(places.data(), rank);
        const InputSlot* const reader = GetSoleConsumer(transpose);
        const bool isReshaped = reader != nullptr && IsReshapeType(reader->GetOwningLayer().GetType());
        // A Transpose and a Reshape of its own are more than a Transpose.
        if (numOpen > 1 || rest == mappings || (!IsIdentity(rest) && !isReshaped))
        {
            return;
        }
        OutputSlot* source = transpose.Input(0).GetConnectedOutputSlot();
        if (!IsIdentity(rest))
        {
            Layer& moved = AddTranspose(rest, transpose, Transposed(source->GetTensorInfo(), rest));
            source->Connect(moved.Input(0));
            source = &moved.Output(0);
        }
        Layer& reshape =
            m_Graph.AddLayer(LayerType::Reshape, std::make_unique<ReshapeDescriptor>(target), transpose.GetNameStr());
        reshape.BackendSelectionHint(transpose.GetBackendHint());
        reshape.Output(0).SetTensorInfo(transpose.Output(0).GetTensorInfo());
        source->Connect(reshape.Input(0));
        transpose.Output(0).MoveAllConnections(reshape.Output(0));
        m_Unused.push_back(&transpose);
    }

    /// Of the graph as it was when this was asked for first: layers that came later are not known.
    SizeFacts& GetFacts()
    {
        if (!m_Facts.has_value())
        {
            m_Facts.emplace(m_Graph);
        }
        return *m_Facts;
    }

    Graph& m_Graph;
    std::optional<SizeFacts> m_Facts;
    std::vector<const Layer*> m_Unused;
};

} // namespace

void SinkTransposes(Graph& graph)
{
    TransposeSinker(graph).Run();
}

} // namespace tenon::passes
