// SPDX-License-Identifier: Apache-2.0
// Pass FoldLayerNormalization: (x - mean) / sqrt(variance + epsilon) over the last dimensions becomes a
// LayerNormalization, then products and sums with constants of the last dimension its scale and bias. Which dimensions
// are the last is sure where axes count from the end, or where the rank follows from operators and constants; else the
// layer normalizes the given axes, whether a run makes them the last ones or not. Over height and width of what is sure
// to be an image it becomes an InstanceNormalization.
#include "optimizer/Pass.hpp"
#include "optimizer/Patterns.hpp"

#include <algorithm>
#include <cmath>

namespace tenon::passes
{

namespace
{

/// Mean over neighbouring dimensions, which stay as ones.
struct NormalizedMean
{
    OutputSlot* m_Data = nullptr;
    int m_Axis = 0;             ///< the first of them
    unsigned int m_NumAxes = 0; ///< how many; 0: all that follow
    bool m_IsOfImage = false;   ///< height and width of [N, H, W, C]

    bool IsLike(const NormalizedMean& other) const { return m_Axis == other.m_Axis && m_NumAxes == other.m_NumAxes; }
};

bool AreNeighbours(const std::vector<int64_t>& axes)
{
    for (size_t i = 1; i < axes.size(); ++i)
    {
        if (axes[i] != axes[i - 1] + 1)
        {
            return false;
        }
    }
    return !axes.empty();
}

std::optional<NormalizedMean> GetMean(const Layer* layer, const FixedForms& forms)
{
    if (layer == nullptr || layer->GetType() != LayerType::Mean || !IsPlainInput(*layer, 0) ||
        !layer->Descriptor<MeanDescriptor>().m_KeepDims)
    {
        return std::nullopt;
    }
    const auto& descriptor = layer->Descriptor<MeanDescriptor>();
    std::vector<int64_t> axes(descriptor.m_Axis.begin(), descriptor.m_Axis.end());
    if (descriptor.m_ParametersAsInputs)
    {
        axes = GetIntegers(*layer, 1, MaxNumOfTensorDimensions).value_or(std::vector<int64_t>());
    }
    OutputSlot* data = layer->Input(0).GetConnectedOutputSlot();
    const std::optional<unsigned int> rank = forms.GetRank(*data);
    if (rank.has_value())
    {
        std::transform(axes.begin(), axes.end(), axes.begin(),
                       [&](int64_t axis) { return axis - (axis >= 0 ? int64_t{*rank} : 0); });
    }
    std::sort(axes.begin(), axes.end());
    if (!AreNeighbours(axes) || (axes.front() < 0) != (axes.back() < 0))
    {
        return std::nullopt;
    }
    const int first = static_cast<int>(axes.front());
    const auto count = static_cast<unsigned int>(axes.size());
    if (axes.back() == -1)
    {
        return NormalizedMean{data, first};
    }
    if (rank == 4u && first == -3 && count == 2)
    {
        return NormalizedMean{data, first, count, true};
    }
    // Which dimensions are the last is the run's to say. It pays where they are so by what was declared.
    const TensorShape& declared = data->GetTensorInfo().GetShape();
    const bool isLast =
        first >= 0 && declared.AreAllDimensionsSpecified() && axes.back() + 1 == int64_t{declared.GetNumDimensions()};
    return isLast ? std::optional(NormalizedMean{data, first, count}) : std::nullopt;
}

class Matcher
{
public:
    explicit Matcher(const FixedForms& forms) : m_Forms(forms) {}

    struct Normalization
    {
        NormalizedMean m_Mean;
        float m_Epsilon = 0.0f;
    };

    /// What `last` normalizes, if it does.
    std::optional<Normalization> Match(const Layer& last)
    {
        const bool isQuotient = IsBinary(&last, BinaryOperation::Div);
        if ((!isQuotient && !IsBinary(&last, BinaryOperation::Mul)) ||
            last.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
        {
            return std::nullopt;
        }
        for (const unsigned int i : {0U, 1U})
        {
            m_Layers.clear();
            const Layer* difference = last.Input(i).GetProducer();
            const Layer* deviation = last.Input(1 - i).GetProducer();
            if (MatchDifference(difference) && MatchDeviation(deviation, isQuotient) && FeedOnly(m_Layers, last))
            {
                return Normalization{m_Mean, m_Epsilon};
            }
            if (isQuotient)
            {
                break;
            }
        }
        return std::nullopt;
    }

private:
    void Add(const Layer* layer)
    {
        if (std::find(m_Layers.begin(), m_Layers.end(), layer) == m_Layers.end())
        {
            m_Layers.push_back(layer);
        }
    }

    /// x - mean: sets m_Mean.
    bool MatchDifference(const Layer* layer)
    {
        if (!IsBinary(layer, BinaryOperation::Sub))
        {
            return false;
        }
        const Layer* mean = layer->Input(1).GetProducer();
        const auto found = GetMean(mean, m_Forms);
        if (!found.has_value() || found->m_Data != layer->Input(0).GetConnectedOutputSlot() ||
            found->m_Data->GetTensorInfo().GetDataType() != DataType::Float32)
        {
            return false;
        }
        m_Mean = *found;
        Add(layer);
        Add(mean);
        return true;
    }

    bool IsDifference(const Layer* layer)
    {
        const NormalizedMean mean = m_Mean;
        return MatchDifference(layer) && m_Mean.m_Data == mean.m_Data && m_Mean.IsLike(mean);
    }

    /// sqrt(variance + epsilon), or one over it: sets the epsilon.
    bool MatchDeviation(const Layer* root, bool isQuotient)
    {
        if (!IsRoot(root, isQuotient))
        {
            return false;
        }
        const Layer* sum = root->Input(0).GetProducer();
        const auto epsilon = IsBinary(sum, BinaryOperation::Add) ? GetScalarOperand(*sum) : std::nullopt;
        if (!epsilon.has_value() || !m_Forms.KeepsShape(*sum, epsilon->m_Data, 1 - epsilon->m_Data) ||
            !(epsilon->m_Value >= 0.0f))
        {
            return false;
        }
        m_Epsilon = epsilon->m_Value;
        Add(root);
        Add(sum);
        const Layer* variance = sum->Input(epsilon->m_Data).GetProducer();
        const auto mean = GetMean(variance, m_Forms);
        if (!mean.has_value() || !mean->IsLike(m_Mean))
        {
            return false;
        }
        Add(variance);
        return MatchSquare(variance->Input(0).GetProducer());
    }

    static bool IsRoot(const Layer* layer, bool isQuotient)
    {
        if (IsUnary(layer, isQuotient ? UnaryOperation::Sqrt : UnaryOperation::Rsqrt))
        {
            return true;
        }
        return isQuotient && layer->GetType() == LayerType::Activation && IsPlainInput(*layer, 0) &&
               layer->Descriptor<ActivationDescriptor>().m_Function == ActivationFunction::Sqrt;
    }

    /// (x - mean)^2
    bool MatchSquare(const Layer* square)
    {
        Add(square);
        if (IsBinary(square, BinaryOperation::SqDiff))
        {
            const bool isFirst = square->Input(0).GetConnectedOutputSlot() == m_Mean.m_Data;
            const unsigned int data = isFirst ? 0 : 1;
            const Layer* mean = square->Input(1 - data).GetProducer();
            const auto found = GetMean(mean, m_Forms);
            Add(mean);
            return square->Input(data).GetConnectedOutputSlot() == m_Mean.m_Data && found.has_value() &&
                   found->m_Data == m_Mean.m_Data && found->IsLike(m_Mean);
        }
        if (IsBinary(square, BinaryOperation::Mul))
        {
            return IsDifference(square->Input(0).GetProducer()) && IsDifference(square->Input(1).GetProducer());
        }
        const bool isSquare = square->GetType() == LayerType::Activation && IsPlainInput(*square, 0) &&
                              square->Descriptor<ActivationDescriptor>().m_Function == ActivationFunction::Square;
        const bool isPower = IsBinary(square, BinaryOperation::Power) && GetFloat(*square, 1) == 2.0f &&
                             m_Forms.KeepsShape(*square, 0, 1);
        return (isSquare || isPower) && IsDifference(square->Input(0).GetProducer());
    }

    const FixedForms& m_Forms;
    NormalizedMean m_Mean;
    float m_Epsilon = 0.0f;
    std::vector<const Layer*> m_Layers; ///< of the pattern, without the last
};

bool FoldNormalization(Graph& graph, const PassContext& context, Layer& last, const FixedForms& forms)
{
    const auto match = Matcher(forms).Match(last);
    if (!match.has_value())
    {
        return false;
    }
    const NormalizedMean& mean = match->m_Mean;
    if (mean.m_IsOfImage)
    {
        auto image = std::make_unique<InstanceNormalizationDescriptor>();
        image->m_DataLayout = DataLayout::NHWC;
        image->m_Eps = match->m_Epsilon;
        return ReplacePattern(graph, context, last, LayerType::InstanceNormalization, std::move(image),
                              {mean.m_Data}) != nullptr;
    }
    auto descriptor = std::make_unique<LayerNormalizationDescriptor>();
    descriptor->m_Axis = mean.m_Axis;
    descriptor->m_NumAxes = mean.m_NumAxes;
    descriptor->m_Epsilon = match->m_Epsilon;
    return ReplacePattern(graph, context, last, LayerType::LayerNormalization, std::move(descriptor), {mean.m_Data}) !=
           nullptr;
}

/// Whether the constant at `input` may be scale or bias of `normalization`, whose result is the other input: it leaves
/// the shape as it is in every run.
bool IsParameter(const Layer& layer, unsigned int input, const Layer& normalization, const FixedForms& forms)
{
    if (layer.GetConstantInput(input) == nullptr || !IsPlainInput(layer, input) ||
        layer.Input(input).GetTensorInfo().GetDataType() != DataType::Float32 ||
        !layer.Input(input).GetTensorInfo().GetShape().AreAllDimensionsSpecified())
    {
        return false;
    }
    const TensorShape& shape = layer.Input(input).GetTensorInfo().GetShape();
    const OutputSlot& data = *normalization.Input(0).GetConnectedOutputSlot();
    const unsigned int rank = shape.GetNumDimensions();
    if (rank > forms.GetLeastRank(data))
    {
        return false;
    }
    if (shape.GetNumElements64() == 1)
    {
        return true;
    }
    const auto& descriptor = normalization.Descriptor<LayerNormalizationDescriptor>();
    // Where that dimension is not the last of a run's, scale and bias broadcast as the constant does.
    return (descriptor.m_Axis == -1 || descriptor.m_NumAxes == 1) && rank > 0 &&
           shape[rank - 1] == forms.GetLastSize(data) && shape.GetNumElements64() == shape[rank - 1];
}

/// A product or sum with a constant that becomes scale or bias of the LayerNormalization before it.
bool FoldParameter(Graph&, const PassContext&, Layer& layer, const FixedForms& forms)
{
    const bool isProduct = IsBinary(&layer, BinaryOperation::Mul);
    if ((!isProduct && !IsBinary(&layer, BinaryOperation::Add)) ||
        layer.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return false;
    }
    for (const unsigned int data : {0U, 1U})
    {
        Layer* normalization = GetSoleProducer(layer, data);
        if (normalization == nullptr || normalization->GetType() != LayerType::LayerNormalization ||
            normalization->Output(0).GetTensorInfo().GetDataType() != DataType::Float32 ||
            normalization->Input(2).GetConnectedOutputSlot() != nullptr ||
            (isProduct && normalization->Input(1).GetConnectedOutputSlot() != nullptr) ||
            !IsPlainInput(*normalization, 0) || !IsParameter(layer, 1 - data, *normalization, forms))
        {
            continue;
        }
        Rewire(normalization->Input(isProduct ? 1 : 2), *layer.Input(1 - data).GetConnectedOutputSlot());
        normalization->Output(0).Disconnect(layer.Input(data));
        layer.Output(0).MoveAllConnections(normalization->Output(0));
        return true;
    }
    return false;
}

} // namespace

void FoldLayerNormalization(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context,
                   [](Graph& all, const PassContext& with, Layer& layer, const FixedForms& forms)
                   { return FoldNormalization(all, with, layer, forms) || FoldParameter(all, with, layer, forms); });
}

} // namespace tenon::passes
