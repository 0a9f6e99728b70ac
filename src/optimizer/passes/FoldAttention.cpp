// SPDX-License-Identifier: Apache-2.0
// Pass FoldAttention: softmax(scale * Q K^T + mask) V of floats becomes an Attention. The scale may be a factor of the
// queries, of the keys, of their product, or of several of these; keys may be transposed by a layer or by the product;
// the mask is added, or chosen by a condition; a guard may put 0 in place of NaN, which is the softmax of a row where
// everything is hidden. Then an Attention takes queries, keys and values as they lie before Transposes of heads and
// rows, where its output goes through one, too, and keys and values before each of their heads is repeated for several
// of the queries.
#include "optimizer/Pass.hpp"
#include "optimizer/layout/Transposes.hpp"
#include "optimizer/rewriting/Patterns.hpp"
#include "optimizer/rewriting/SizeFacts.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Products.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace tenon::passes
{

namespace
{

/// A score at or below this hides its key: exp(score - max) is 0.
constexpr float MaxHiddenScore = -1e4f;

/// Mappings that exchange two dimensions, counted from the end.
PermutationVector Swapping(unsigned int rank, unsigned int a, unsigned int b)
{
    std::array<unsigned int, MaxNumOfTensorDimensions> mappings{};
    for (unsigned int i = 0; i < rank; ++i)
    {
        mappings[i] = i;
    }
    std::swap(mappings[rank - a], mappings[rank - b]);
    return PermutationVector(mappings.data(), rank);
}

bool HasFloats(const OutputSlot& slot)
{
    return slot.GetTensorInfo().GetDataType() == DataType::Float32;
}

/// A product of matrices in the last two dimensions, the first of which is as it lies.
bool IsPlainProduct(const Layer* layer)
{
    if (layer == nullptr || layer->GetType() != LayerType::BatchMatMul || layer->GetFusedActivation() != nullptr ||
        !IsPlainInput(*layer, 0) || !IsPlainInput(*layer, 1) || !HasFloats(layer->Output(0)))
    {
        return false;
    }
    const auto& d = layer->Descriptor<BatchMatMulDescriptor>();
    return !d.m_TransposeX && !d.m_AdjointX && !d.m_AdjointY && d.m_DataLayoutX == DataLayout::NCHW &&
           d.m_DataLayoutY == DataLayout::NCHW && HasFloats(*layer->Input(0).GetConnectedOutputSlot()) &&
           HasFloats(*layer->Input(1).GetConnectedOutputSlot());
}

/// A mask of Select(condition, scores, value).
struct ChosenMask
{
    OutputSlot* m_Condition = nullptr;
    bool m_HidesTrue = false;
    float m_Value = 0.0f; ///< in place of the scores
};

struct FoundAttention
{
    OutputSlot* m_Queries = nullptr;
    OutputSlot* m_Keys = nullptr;
    OutputSlot* m_Values = nullptr;
    std::optional<PermutationVector> m_KeyMappings; ///< what makes rows of m_Keys; empty: they are rows
    OutputSlot* m_Added = nullptr;
    ChosenMask m_Chosen;
    double m_Scale = 1.0;
    double m_Softcap = 0.0;
};

class AttentionMatcher
{
public:
    explicit AttentionMatcher(const ShapeFacts& shapeFacts) : m_ShapeFacts(shapeFacts) {}

    /// What `last`, the product with the values, is the attention of, if it is one.
    std::optional<FoundAttention> Match(const Layer& last)
    {
        if (!IsPlainProduct(&last) || last.Descriptor<BatchMatMulDescriptor>().m_TransposeY)
        {
            return std::nullopt;
        }
        m_Found.m_Values = last.Input(1).GetConnectedOutputSlot();
        const Layer* softmax = &SkipGuard(*last.Input(0).GetConnectedOutputSlot()).GetOwningLayer();
        if (softmax->GetType() != LayerType::Softmax || !IsPlainInput(*softmax, 0) || !IsOfRows(*softmax))
        {
            return std::nullopt;
        }
        m_Layers.push_back(softmax);
        m_Found.m_Scale = softmax->Descriptor<SoftmaxDescriptor>().m_Beta;
        if (!MatchScores(*softmax->Input(0).GetConnectedOutputSlot()) || !FeedOnly(m_Layers, last) || !FitRanks() ||
            !std::isfinite(static_cast<float>(m_Found.m_Scale)) || static_cast<float>(m_Found.m_Scale) == 0.0f)
        {
            return std::nullopt;
        }
        return m_Found;
    }

private:
    /// Along the last dimension.
    bool IsOfRows(const Layer& softmax) const
    {
        const int axis = softmax.Descriptor<SoftmaxDescriptor>().m_Axis;
        const std::optional<unsigned int> rank = m_ShapeFacts.GetRank(softmax.Output(0));
        return axis == -1 || (rank.has_value() && axis + 1 == static_cast<int>(*rank));
    }

    /// x of Select(x != x, 0, x), or the slot itself.
    const OutputSlot& SkipGuard(const OutputSlot& slot)
    {
        const Layer& select = slot.GetOwningLayer();
        if (select.GetType() != LayerType::Select || !IsPlainInput(select, 0) || !IsPlainInput(select, 2) ||
            GetFloat(select, 1) != 0.0f)
        {
            return slot;
        }
        const OutputSlot* const x = select.Input(2).GetConnectedOutputSlot();
        const Layer* test = select.Input(0).GetProducer();
        const bool isNegated = IsUnary(test, UnaryOperation::LogicalNot);
        const Layer* const comparison = isNegated ? test->Input(0).GetProducer() : test;
        const ComparisonOperation wanted = isNegated ? ComparisonOperation::Equal : ComparisonOperation::NotEqual;
        if (comparison->GetType() != LayerType::Comparison ||
            comparison->Descriptor<ComparisonDescriptor>().m_Operation != wanted ||
            comparison->Input(0).GetConnectedOutputSlot() != x || comparison->Input(1).GetConnectedOutputSlot() != x ||
            !IsPlainInput(*comparison, 0) || !IsPlainInput(*comparison, 1))
        {
            return slot;
        }
        m_Layers.insert(m_Layers.end(), {&select, comparison});
        if (isNegated)
        {
            m_Layers.push_back(test);
        }
        return *x;
    }

    bool HasMask() const { return m_Found.m_Added != nullptr || m_Found.m_Chosen.m_Condition != nullptr; }
    /// Whether nothing is between what was matched last and the softmax that a mask must not be moved through.
    bool MayMask() const { return !HasMask() && m_Found.m_Scale == 1.0 && m_Found.m_Softcap == 0.0; }

    /// From the input of the softmax to the product of queries and keys.
    bool MatchScores(const OutputSlot& slot)
    {
        const Layer& layer = slot.GetOwningLayer();
        constexpr size_t MaxLayers = 32; // of the pattern: each is one call more, and looked for among the others
        if (!HasFloats(slot) || m_Layers.size() >= MaxLayers)
        {
            return false;
        }
        const size_t numLayers = m_Layers.size();
        m_Layers.push_back(&layer);
        if (IsPlainProduct(&layer))
        {
            return MatchProduct(layer);
        }
        if (const std::optional<double> factor = GetFactor(layer))
        {
            m_Found.m_Scale *= *factor;
            return MatchScores(*m_Data);
        }
        if (MatchCap(layer))
        {
            return MatchScores(*layer.Input(0).GetConnectedOutputSlot());
        }
        if (IsBinary(&layer, BinaryOperation::Add) && MayMask())
        {
            for (const unsigned int scores : {0U, 1U})
            {
                const FoundAttention before = m_Found;
                m_Layers.resize(numLayers + 1);
                m_Found.m_Added = layer.Input(1 - scores).GetConnectedOutputSlot();
                if (HasFloats(*m_Found.m_Added) && MatchScores(*layer.Input(scores).GetConnectedOutputSlot()))
                {
                    return true;
                }
                m_Found = before;
            }
        }
        return MayMask() && MatchChoice(layer);
    }

    /// The factor of a layer that multiplies a tensor, m_Data then, by a number or divides it by one.
    std::optional<double> GetFactor(const Layer& layer)
    {
        const bool isDivision = IsBinary(&layer, BinaryOperation::Div);
        if (!isDivision && !IsBinary(&layer, BinaryOperation::Mul))
        {
            return std::nullopt;
        }
        const std::optional<ScalarOperand> scalar = GetScalarOperand(layer);
        if (!scalar.has_value() || (isDivision && scalar->m_Data != 0) ||
            !m_ShapeFacts.KeepsShape(layer, scalar->m_Data, 1 - scalar->m_Data))
        {
            return std::nullopt;
        }
        m_Data = layer.Input(scalar->m_Data).GetConnectedOutputSlot();
        return isDivision ? 1.0 / static_cast<double>(scalar->m_Value) : static_cast<double>(scalar->m_Value);
    }

    /// c * tanh(x): what is before it is divided by c.
    bool MatchCap(const Layer& layer)
    {
        if (layer.GetType() != LayerType::Activation || !IsPlainInput(layer, 0) || m_Found.m_Softcap != 0.0 ||
            layer.Descriptor<ActivationDescriptor>().m_Function != ActivationFunction::TanH)
        {
            return false;
        }
        const auto& tanh = layer.Descriptor<ActivationDescriptor>();
        m_Found.m_Softcap = m_Found.m_Scale * static_cast<double>(tanh.m_A);
        m_Found.m_Scale = m_Found.m_Softcap * static_cast<double>(tanh.m_B);
        return m_Found.m_Softcap > 0.0 && std::isfinite(static_cast<float>(m_Found.m_Softcap));
    }

    /// Select(condition, scores, hidden), or with both exchanged.
    bool MatchChoice(const Layer& layer)
    {
        if (layer.GetType() != LayerType::Select || layer.Descriptor<SelectDescriptor>().m_ConditionBySlice ||
            !IsPlainInput(layer, 0) || !IsPlainInput(layer, 1) || !IsPlainInput(layer, 2))
        {
            return false;
        }
        for (const unsigned int hidden : {2U, 1U})
        {
            const std::optional<float> value = GetFloat(layer, hidden);
            if (value.has_value() && *value <= MaxHiddenScore && m_ShapeFacts.KeepsShape(layer, 3 - hidden, hidden))
            {
                m_Found.m_Chosen = {layer.Input(0).GetConnectedOutputSlot(), hidden == 1, *value};
                return MatchScores(*layer.Input(3 - hidden).GetConnectedOutputSlot());
            }
        }
        return false;
    }

    bool MatchProduct(const Layer& product)
    {
        m_Found.m_Queries = SkipFactors(product, 0);
        m_Found.m_Keys = SkipFactors(product, 1);
        if (product.Descriptor<BatchMatMulDescriptor>().m_TransposeY)
        {
            return true;
        }
        const Layer& transpose = m_Found.m_Keys->GetOwningLayer();
        if (!IsPlainTranspose(&transpose) || MappingsOf(transpose).GetSize() < 2)
        {
            return false;
        }
        const PermutationVector& mappings = MappingsOf(transpose);
        m_Found.m_KeyMappings = Composed(mappings, Swapping(mappings.GetSize(), 1, 2));
        m_Found.m_Keys = SkipFactors(transpose, 0);
        return true;
    }

    /// What an input reads, before products with numbers that nothing else reads: these are part of the scale.
    OutputSlot* SkipFactors(const Layer& layer, unsigned int input)
    {
        OutputSlot* slot = layer.Input(input).GetConnectedOutputSlot();
        for (;;)
        {
            const Layer& producer = slot->GetOwningLayer();
            const std::optional<double> factor =
                slot->GetNumConnections() == 1 && HasFloats(*slot) ? GetFactor(producer) : std::nullopt;
            if (!factor.has_value() || producer.GetBackendHint() != layer.GetBackendHint())
            {
                return slot;
            }
            m_Found.m_Scale *= *factor;
            slot = m_Data;
        }
    }

    /// Products broadcast, also to ranks that an Attention does not take.
    bool FitRanks() const
    {
        const std::optional<unsigned int> rank = m_ShapeFacts.GetRank(*m_Found.m_Queries);
        const auto fits = [&](const OutputSlot* mask)
        {
            const std::optional<unsigned int> given = mask != nullptr ? m_ShapeFacts.GetRank(*mask) : 0U;
            return given.has_value() && *given <= *rank;
        };
        // A Transpose refuses other ranks than its own.
        const std::optional<unsigned int> ofKeys = m_Found.m_KeyMappings.has_value()
                                                       ? m_Found.m_KeyMappings->GetSize()
                                                       : m_ShapeFacts.GetRank(*m_Found.m_Keys);
        return rank.has_value() && *rank >= 2 && ofKeys == rank && m_ShapeFacts.GetRank(*m_Found.m_Values) == rank &&
               fits(m_Found.m_Added) && fits(m_Found.m_Chosen.m_Condition);
    }

    const ShapeFacts& m_ShapeFacts;
    FoundAttention m_Found;
    OutputSlot* m_Data = nullptr;
    std::vector<const Layer*> m_Layers; ///< of the pattern, without the last
};

/// A layer between what was found and an Attention, of one input.
OutputSlot* AddBefore(Graph& graph, const Layer& last, LayerType type, std::unique_ptr<BaseDescriptor> descriptor,
                      OutputSlot& source, const TensorInfo& info)
{
    Layer& layer = graph.AddLayer(type, std::move(descriptor), source.GetOwningLayer().GetNameStr());
    layer.BackendSelectionHint(last.GetBackendHint());
    source.Connect(layer.Input(0));
    layer.Output(0).SetTensorInfo(info);
    layer.Output(0).EditTensorInfo().SetConstant(false);
    return &layer.Output(0);
}

/// The mask as an Attention takes it: a Boolean one where hidden scores are -infinity, else numbers to be added.
OutputSlot* MakeMask(Graph& graph, const Layer& last, const FoundAttention& found)
{
    const ChosenMask& chosen = found.m_Chosen;
    if (chosen.m_Condition == nullptr)
    {
        return found.m_Added;
    }
    TensorInfo info = chosen.m_Condition->GetTensorInfo();
    if (chosen.m_Value == -std::numeric_limits<float>::infinity())
    {
        return chosen.m_HidesTrue ? AddBefore(graph, last, LayerType::ElementwiseUnary,
                                              std::make_unique<ElementwiseUnaryDescriptor>(UnaryOperation::LogicalNot),
                                              *chosen.m_Condition, info)
                                  : chosen.m_Condition;
    }
    info.SetDataType(DataType::Float32);
    OutputSlot* const mask =
        AddBefore(graph, last, LayerType::Select, std::make_unique<SelectDescriptor>(), *chosen.m_Condition, info);
    const std::string& name = last.GetNameStr();
    const TensorShape one({1});
    Layer& shown = AddFloats(graph, one, {0.0f}, name);
    // Of a row where everything is hidden, all scores become this number, as no score changes it.
    Layer& hidden = AddFloats(graph, one, {std::numeric_limits<float>::lowest()}, name);
    Layer& select = mask->GetOwningLayer();
    shown.Output(0).Connect(select.Input(chosen.m_HidesTrue ? 2 : 1));
    hidden.Output(0).Connect(select.Input(chosen.m_HidesTrue ? 1 : 2));
    return mask;
}

bool FoldAttentionAt(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts& shapeFacts)
{
    const std::optional<FoundAttention> found = AttentionMatcher(shapeFacts).Match(last);
    if (!found.has_value())
    {
        return false;
    }
    auto descriptor = std::make_unique<AttentionDescriptor>();
    descriptor->m_Scale = static_cast<float>(found->m_Scale);
    descriptor->m_Softcap = static_cast<float>(found->m_Softcap);
    OutputSlot* keys = found->m_Keys;
    if (found->m_KeyMappings.has_value() && !IsIdentity(*found->m_KeyMappings))
    {
        keys =
            AddBefore(graph, last, LayerType::Transpose, std::make_unique<TransposeDescriptor>(*found->m_KeyMappings),
                      *keys, Transposed(keys->GetTensorInfo(), *found->m_KeyMappings));
    }
    // Layers that were made for an Attention that no backend takes are left for RemoveDeadLayers.
    OutputSlot* const mask = MakeMask(graph, last, *found);
    descriptor->m_MaskEnabled = mask != nullptr;
    if (mask == nullptr)
    {
        return ReplacePattern(graph, context, last, LayerType::Attention, std::move(descriptor),
                              {found->m_Queries, keys, found->m_Values}) != nullptr;
    }
    return ReplacePattern(graph, context, last, LayerType::Attention, std::move(descriptor),
                          {found->m_Queries, keys, found->m_Values, mask}) != nullptr;
}

/// A Transpose that exchanges rows and heads alone.
bool SwapsHeads(const Layer* layer)
{
    if (!IsPlainTranspose(layer) || MappingsOf(*layer).GetSize() < 3)
    {
        return false;
    }
    const PermutationVector& mappings = MappingsOf(*layer);
    return mappings == Swapping(mappings.GetSize(), 2, 3);
}

/// An Attention whose output goes through such a Transpose, `last`, and queries, keys and values as well.
bool FoldHeadsAt(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts&)
{
    const Layer* const attention = SwapsHeads(&last) ? GetSoleProducer(last, 0) : nullptr;
    if (attention == nullptr || attention->GetType() != LayerType::Attention)
    {
        return false;
    }
    std::array<OutputSlot*, 5> sources{};
    for (unsigned int i = 0; i < attention->NumInputs(); ++i)
    {
        if (!IsPlainInput(*attention, i) || (i < 3 && !SwapsHeads(attention->Input(i).GetProducer())))
        {
            return false;
        }
        sources[i] = i < 3 ? attention->Input(i).GetProducer()->Input(0).GetConnectedOutputSlot()
                           : attention->Input(i).GetConnectedOutputSlot();
    }
    auto descriptor = std::make_unique<AttentionDescriptor>(attention->Descriptor<AttentionDescriptor>());
    descriptor->m_RowsBeforeHeads = !descriptor->m_RowsBeforeHeads;
    return ReplacePattern(graph, context, last, LayerType::Attention, std::move(descriptor),
                          {sources[0], sources[1], sources[2], sources[3], sources[4]}) != nullptr;
}

/// What keys or values are before each head was repeated for several heads of the queries: [..., heads, 1, T, D] by way
/// of [..., heads, group, T, D] to [..., heads * group, T, D]. Null where they are something else, or where the queries
/// may have other heads than heads * group: one would be repeated for all of these.
OutputSlot* FindUnrepeated(const Layer& attention, unsigned int input, SizeFacts& facts)
{
    const Layer* repeated = IsPlainInput(attention, input) ? attention.Input(input).GetProducer() : nullptr;
    while (repeated != nullptr && repeated->GetType() == LayerType::Reshape && IsPlainInput(*repeated, 0))
    {
        repeated = repeated->Input(0).GetProducer();
    }
    if (repeated == nullptr || repeated->GetType() != LayerType::BroadcastTo || !IsPlainInput(*repeated, 0))
    {
        return nullptr;
    }
    OutputSlot* const source = repeated->Input(0).GetConnectedOutputSlot();
    const SizeFacts::List* const before = facts.GetSizes(*source);
    const SizeFacts::List* const between = facts.GetSizes(repeated->Output(0));
    const SizeFacts::List* const after = facts.GetSizes(*attention.Input(input).GetConnectedOutputSlot());
    const SizeFacts::List* const queries =
        IsPlainInput(attention, 0) ? facts.GetSizes(*attention.Input(0).GetConnectedOutputSlot()) : nullptr;
    if (before == nullptr || between == nullptr || after == nullptr || queries == nullptr || after->size() < 3 ||
        before->size() != after->size() + 1 || between->size() != before->size() || queries->size() != after->size())
    {
        return nullptr;
    }
    const size_t group = before->size() - 3; // the dimension that is repeated
    for (size_t i = 0; i < before->size(); ++i)
    {
        const bool isSame = i == group ? (*before)[i].Is(1) && (*between)[i].IsKnown() : (*between)[i] == (*before)[i];
        const bool isKept = i + 1 == group || i == group || (*after)[i - (i > group ? 1 : 0)] == (*between)[i];
        if (!isSame || !isKept)
        {
            return nullptr;
        }
    }
    const SizeFacts::Entry& heads = (*between)[group - 1];
    const SizeFacts::Entry& all = (*after)[group - 1];
    const bool fits = heads.IsKnown() && all.IsKnown() && all.m_Number == heads.m_Number * (*between)[group].m_Number &&
                      (*queries)[group - 1] == all;
    return fits ? source : nullptr;
}

/// Grouped-query attention: several heads of queries share one head of keys and values.
void ShareHeads(Graph& graph)
{
    SizeFacts facts(graph);
    for (Layer* attention : graph.LayersOf(LayerType::Attention))
    {
        for (const unsigned int input : {1U, 2U})
        {
            OutputSlot* const source = attention->Descriptor<AttentionDescriptor>().m_RowsBeforeHeads
                                           ? nullptr
                                           : FindUnrepeated(*attention, input, facts);
            if (source == nullptr)
            {
                continue;
            }
            const SizeFacts::List sizes = *facts.GetSizes(*source);
            TensorShape target(static_cast<unsigned int>(sizes.size()) - 1, false);
            unsigned int place = 0;
            unsigned int numOpen = 0;
            for (size_t i = 0; i < sizes.size(); ++i)
            {
                if (i + 3 == sizes.size())
                {
                    continue;
                }
                sizes[i].IsKnown() ? target.SetDimensionSize(place, static_cast<unsigned int>(sizes[i].m_Number))
                                   : void(++numOpen);
                ++place;
            }
            if (numOpen > 1)
            {
                continue;
            }
            TensorInfo info = source->GetTensorInfo();
            info.SetShape(target);
            OutputSlot* const shared = AddBefore(graph, *attention, LayerType::Reshape,
                                                 std::make_unique<ReshapeDescriptor>(target), *source, info);
            Rewire(attention->Input(input), *shared);
        }
    }
}

} // namespace

void FoldAttention(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context, &FoldAttentionAt);
    if (graph.Count(LayerType::Attention) != 0)
    {
        ReplaceInOrder(graph, context, &FoldHeadsAt);
        ShareHeads(graph);
    }
}

} // namespace tenon::passes
