// SPDX-License-Identifier: Apache-2.0
// Pass FoldLayerNormalization: (x - mean) / sqrt(variance + epsilon) over the last dimensions becomes a
// LayerNormalization, then products and sums with constants of the last dimension its scale and bias. Which dimensions
// are the last is sure where axes count from the end, or where the rank follows from operators and constants; else the
// layer normalizes the given axes, whether a run makes them the last ones or not. Over height and width of what is sure
// to be an image it becomes an InstanceNormalization. RMS normalization, x / sqrt(mean of squares + epsilon), becomes a
// LayerNormalization that subtracts no mean.
// NormalizationMatcher finds the layers.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <optional>
#include <vector>

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

bool IsContiguous(const std::vector<int64_t>& axes)
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

/// The mean that the layer computes; nothing where it is of another kind, or `layer` is null.
std::optional<NormalizedMean> GetMean(const Layer* layer, const ShapeFacts& shapeFacts)
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
    const std::optional<unsigned int> rank = shapeFacts.GetRank(*data);
    if (rank.has_value())
    {
        std::transform(axes.begin(), axes.end(), axes.begin(),
                       [&](int64_t axis) { return axis - (axis >= 0 ? int64_t{*rank} : 0); });
    }
    std::sort(axes.begin(), axes.end());
    if (!IsContiguous(axes) || (axes.front() < 0) != (axes.back() < 0))
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
    // The rank is unknown, so the run decides whether these are the last dimensions. The declared shape decides whether
    // the fold pays.
    const TensorShape& declared = data->GetTensorInfo().GetShape();
    const bool isLast =
        first >= 0 && declared.AreAllDimensionsSpecified() && axes.back() + 1 == int64_t{declared.GetNumDimensions()};
    return isLast ? std::optional(NormalizedMean{data, first, count}) : std::nullopt;
}

/// Whether the constant at `input` may be scale or bias of a normalization of `data`, which the layer multiplies or
/// adds it to: it leaves the shape as it is in every run.
bool IsNormalizationParameter(const Layer& layer, unsigned int input, const OutputSlot& data, int axis,
                              unsigned int numAxes, const ShapeFacts& shapeFacts)
{
    if (layer.GetConstantInput(input) == nullptr || !IsPlainInput(layer, input) ||
        layer.Input(input).GetTensorInfo().GetDataType() != DataType::Float32 ||
        !layer.Input(input).GetTensorInfo().GetShape().AreAllDimensionsSpecified())
    {
        return false;
    }
    const TensorShape& shape = layer.Input(input).GetTensorInfo().GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    if (rank > shapeFacts.GetMinRank(data))
    {
        return false;
    }
    if (shape.GetNumElements64() == 1)
    {
        return true;
    }
    // Where that dimension is not the last of a run's, scale and bias broadcast as the constant does.
    return (axis == -1 || numAxes == 1) && rank > 0 && shape[rank - 1] == shapeFacts.GetLastSize(data) &&
           shape.GetNumElements64() == shape[rank - 1];
}

/// Scale and bias of a normalization, which are constants of the last dimension or of one element.
struct NormalizationParameters
{
    OutputSlot* m_Scale = nullptr; ///< null: none
    OutputSlot* m_Bias = nullptr;  ///< likewise
};

/// Finds the layers that normalize a tensor over its last dimensions.
class NormalizationMatcher
{
public:
    explicit NormalizationMatcher(const ShapeFacts& shapeFacts) : m_ShapeFacts(shapeFacts) {}

    struct Normalization
    {
        NormalizedMean m_Mean;
        float m_Epsilon = 0.0f;
        NormalizationParameters m_Parameters;
        bool m_SubtractsMean = true; ///< else it is x / sqrt(mean of squares + epsilon)
    };

    /// What `last` normalizes, if it does: (x - mean) / sqrt(variance + epsilon), or this multiplied out, as Keras 3
    /// writes it, x * s - mean * s + bias with s = scale / sqrt(variance + epsilon); or the same of x itself in place
    /// of its difference from the mean.
    std::optional<Normalization> Match(const Layer& last);

private:
    bool MatchQuotient(const Layer& last);
    bool MatchRootMeanSquare(const Layer& last);
    bool MatchMultipliedOut(const Layer& last);
    bool MatchShift(const Layer* shift, const OutputSlot& scale);
    bool MatchNegativeMean(const Layer* product, const OutputSlot& scale, bool isNegated);
    bool MatchScale(const OutputSlot& scale);
    void Add(const Layer* layer);
    bool MatchDifference(const Layer* layer);
    bool IsDifference(const Layer* layer);
    const Layer* MatchRoot(const Layer* root, bool isQuotient);
    bool MatchDeviation(const Layer* root, bool isQuotient);
    bool MatchSquare(const Layer* square);
    bool IsSquareOf(const Layer* square, const OutputSlot& x) const;
    bool IsPowerOfTwo(const Layer& square) const;

    const ShapeFacts& m_ShapeFacts;
    NormalizedMean m_Mean;
    float m_Epsilon = 0.0f;
    NormalizationParameters m_Parameters;
    std::vector<const Layer*> m_Layers; ///< of the pattern, without the last
};

bool IsRoot(const Layer* layer, bool isQuotient)
{
    if (IsUnary(layer, isQuotient ? UnaryOperation::Sqrt : UnaryOperation::Rsqrt))
    {
        return true;
    }
    return isQuotient && layer->GetType() == LayerType::Activation && IsPlainInput(*layer, 0) &&
           layer->Descriptor<ActivationDescriptor>().m_Function == ActivationFunction::Sqrt;
}

std::optional<NormalizationMatcher::Normalization> NormalizationMatcher::Match(const Layer& last)
{
    m_Parameters = {};
    if (MatchQuotient(last) || MatchMultipliedOut(last))
    {
        return Normalization{m_Mean, m_Epsilon, m_Parameters, true};
    }
    return MatchRootMeanSquare(last) ? std::optional(Normalization{m_Mean, m_Epsilon, {}, false}) : std::nullopt;
}

bool NormalizationMatcher::MatchQuotient(const Layer& last)
{
    const bool isQuotient = IsBinary(&last, BinaryOperation::Div);
    if ((!isQuotient && !IsBinary(&last, BinaryOperation::Mul)) ||
        last.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return false;
    }
    for (const unsigned int i : {0U, 1U})
    {
        m_Layers.clear();
        const Layer* difference = last.Input(i).GetProducer();
        const Layer* deviation = last.Input(1 - i).GetProducer();
        if (MatchDifference(difference) && MatchDeviation(deviation, isQuotient) && FeedOnly(m_Layers, last))
        {
            return true;
        }
        if (isQuotient)
        {
            break;
        }
    }
    return false;
}

/// x / sqrt(mean of squares + epsilon), or times one over that.
bool NormalizationMatcher::MatchRootMeanSquare(const Layer& last)
{
    const bool isQuotient = IsBinary(&last, BinaryOperation::Div);
    if ((!isQuotient && !IsBinary(&last, BinaryOperation::Mul)) ||
        last.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return false;
    }
    for (const unsigned int i : {0U, 1U})
    {
        m_Layers.clear();
        OutputSlot* const x = last.Input(i).GetConnectedOutputSlot();
        const Layer* const variance = MatchRoot(last.Input(1 - i).GetProducer(), isQuotient);
        const auto mean = variance != nullptr ? GetMean(variance, m_ShapeFacts) : std::nullopt;
        if (mean.has_value() && !mean->m_IsOfImage && IsSquareOf(variance->Input(0).GetProducer(), *x))
        {
            Add(variance);
            Add(variance->Input(0).GetProducer());
            m_Mean = *mean;
            m_Mean.m_Data = x;
            return FeedOnly(m_Layers, last);
        }
        if (isQuotient)
        {
            break;
        }
    }
    return false;
}

/// x * s + shift, in any order.
bool NormalizationMatcher::MatchMultipliedOut(const Layer& last)
{
    if (!IsBinary(&last, BinaryOperation::Add) || last.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
    {
        return false;
    }
    for (const unsigned int i : {0U, 1U})
    {
        const Layer* product = last.Input(i).GetProducer();
        for (const unsigned int data : {0U, 1U})
        {
            m_Layers.clear();
            m_Parameters = {};
            if (!IsBinary(product, BinaryOperation::Mul))
            {
                break;
            }
            Add(product);
            const OutputSlot* const x = product->Input(data).GetConnectedOutputSlot();
            const OutputSlot& scale = *product->Input(1 - data).GetConnectedOutputSlot();
            if (x->GetTensorInfo().GetDataType() == DataType::Float32 &&
                MatchShift(last.Input(1 - i).GetProducer(), scale) && m_Mean.m_Data == x && !m_Mean.m_IsOfImage &&
                MatchScale(scale) && FeedOnly(m_Layers, last))
            {
                return true;
            }
        }
    }
    return false;
}

/// (-mean) * scale, that and a bias, or a bias without mean * scale: sets m_Mean and the bias.
bool NormalizationMatcher::MatchShift(const Layer* shift, const OutputSlot& scale)
{
    if (MatchNegativeMean(shift, scale, true))
    {
        return true;
    }
    const bool isDifference = IsBinary(shift, BinaryOperation::Sub);
    if (!isDifference && !IsBinary(shift, BinaryOperation::Add))
    {
        return false;
    }
    for (const unsigned int bias : {0U, 1U})
    {
        if (MatchNegativeMean(shift->Input(1 - bias).GetProducer(), scale, !isDifference) &&
            IsNormalizationParameter(*shift, bias, *m_Mean.m_Data, m_Mean.m_Axis, m_Mean.m_NumAxes, m_ShapeFacts))
        {
            Add(shift);
            m_Parameters.m_Bias = shift->Input(bias).GetConnectedOutputSlot();
            return true;
        }
        if (isDifference)
        {
            break;
        }
    }
    return false;
}

/// mean * scale, or (-mean) * scale: sets m_Mean.
bool NormalizationMatcher::MatchNegativeMean(const Layer* product, const OutputSlot& scale, bool isNegated)
{
    if (!IsBinary(product, BinaryOperation::Mul))
    {
        return false;
    }
    for (const unsigned int i : {0U, 1U})
    {
        const Layer* const factor = product->Input(i).GetProducer();
        const bool isNegative = isNegated && IsUnary(factor, UnaryOperation::Neg);
        const Layer* const mean = isNegative ? factor->Input(0).GetProducer() : factor;
        const auto found = isNegative == isNegated ? GetMean(mean, m_ShapeFacts) : std::nullopt;
        if (found.has_value() && product->Input(1 - i).GetConnectedOutputSlot() == &scale)
        {
            m_Mean = *found;
            for (const Layer* layer : {product, factor, mean})
            {
                Add(layer);
            }
            return true;
        }
    }
    return false;
}

/// 1 / sqrt(variance + epsilon), or that times a constant: sets the epsilon and the scale.
bool NormalizationMatcher::MatchScale(const OutputSlot& scale)
{
    const Layer* const layer = &scale.GetOwningLayer();
    Add(layer);
    if (!IsBinary(layer, BinaryOperation::Mul))
    {
        return MatchDeviation(layer, false);
    }
    for (const unsigned int constant : {0U, 1U})
    {
        if (IsNormalizationParameter(*layer, constant, *m_Mean.m_Data, m_Mean.m_Axis, m_Mean.m_NumAxes, m_ShapeFacts))
        {
            m_Parameters.m_Scale = layer->Input(constant).GetConnectedOutputSlot();
            return MatchDeviation(layer->Input(1 - constant).GetProducer(), false);
        }
    }
    return false;
}

void NormalizationMatcher::Add(const Layer* layer)
{
    if (std::find(m_Layers.begin(), m_Layers.end(), layer) == m_Layers.end())
    {
        m_Layers.push_back(layer);
    }
}

/// x - mean: sets m_Mean.
bool NormalizationMatcher::MatchDifference(const Layer* layer)
{
    if (!IsBinary(layer, BinaryOperation::Sub))
    {
        return false;
    }
    const Layer* mean = layer->Input(1).GetProducer();
    const auto found = GetMean(mean, m_ShapeFacts);
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

bool NormalizationMatcher::IsDifference(const Layer* layer)
{
    const NormalizedMean mean = m_Mean;
    return MatchDifference(layer) && m_Mean.m_Data == mean.m_Data && m_Mean.IsLike(mean);
}

/// The variance of sqrt(variance + epsilon), or of one over it: sets the epsilon. Null where it is something else.
const Layer* NormalizationMatcher::MatchRoot(const Layer* root, bool isQuotient)
{
    if (!isQuotient && IsBinary(root, BinaryOperation::Div) && GetFloat(*root, 0) == 1.0f &&
        m_ShapeFacts.KeepsShape(*root, 1, 0))
    {
        Add(root);
        root = root->Input(1).GetProducer();
        isQuotient = true;
    }
    const Layer* const sum = IsRoot(root, isQuotient) ? root->Input(0).GetProducer() : nullptr;
    const auto epsilon = IsBinary(sum, BinaryOperation::Add) ? GetScalarOperand(*sum) : std::nullopt;
    if (!epsilon.has_value() || !m_ShapeFacts.KeepsShape(*sum, epsilon->m_Data, 1 - epsilon->m_Data) ||
        !(epsilon->m_Value >= 0.0f))
    {
        return nullptr;
    }
    m_Epsilon = epsilon->m_Value;
    Add(root);
    Add(sum);
    return sum->Input(epsilon->m_Data).GetProducer();
}

/// sqrt(variance + epsilon), or one over it.
bool NormalizationMatcher::MatchDeviation(const Layer* root, bool isQuotient)
{
    const Layer* const variance = MatchRoot(root, isQuotient);
    const auto mean = variance != nullptr ? GetMean(variance, m_ShapeFacts) : std::nullopt;
    if (!mean.has_value() || !mean->IsLike(m_Mean))
    {
        return false;
    }
    Add(variance);
    return MatchSquare(variance->Input(0).GetProducer());
}

/// A layer that gives the squares of its input 0, by an activation or a power.
bool NormalizationMatcher::IsPowerOfTwo(const Layer& square) const
{
    const bool isSquare = square.GetType() == LayerType::Activation && IsPlainInput(square, 0) &&
                          square.Descriptor<ActivationDescriptor>().m_Function == ActivationFunction::Square;
    return isSquare || (IsBinary(&square, BinaryOperation::Power) && GetFloat(square, 1) == 2.0f &&
                        m_ShapeFacts.KeepsShape(square, 0, 1));
}

bool NormalizationMatcher::IsSquareOf(const Layer* square, const OutputSlot& x) const
{
    const bool isProduct = IsBinary(square, BinaryOperation::Mul) && square->Input(1).GetConnectedOutputSlot() == &x;
    return x.GetTensorInfo().GetDataType() == DataType::Float32 && (isProduct || IsPowerOfTwo(*square)) &&
           square->Input(0).GetConnectedOutputSlot() == &x;
}

/// (x - mean)^2
bool NormalizationMatcher::MatchSquare(const Layer* square)
{
    Add(square);
    if (IsBinary(square, BinaryOperation::SqDiff))
    {
        const bool isFirst = square->Input(0).GetConnectedOutputSlot() == m_Mean.m_Data;
        const unsigned int data = isFirst ? 0 : 1;
        const Layer* mean = square->Input(1 - data).GetProducer();
        const auto found = GetMean(mean, m_ShapeFacts);
        Add(mean);
        return square->Input(data).GetConnectedOutputSlot() == m_Mean.m_Data && found.has_value() &&
               found->m_Data == m_Mean.m_Data && found->IsLike(m_Mean);
    }
    if (IsBinary(square, BinaryOperation::Mul))
    {
        return IsDifference(square->Input(0).GetProducer()) && IsDifference(square->Input(1).GetProducer());
    }
    return IsPowerOfTwo(*square) && IsDifference(square->Input(0).GetProducer());
}

/// Whether the constant at `input` may be scale or bias of `normalization`, whose result is the other input.
bool IsParameter(const Layer& layer, unsigned int input, const Layer& normalization, const ShapeFacts& shapeFacts)
{
    const auto& descriptor = normalization.Descriptor<LayerNormalizationDescriptor>();
    return IsNormalizationParameter(layer, input, *normalization.Input(0).GetConnectedOutputSlot(), descriptor.m_Axis,
                                    descriptor.m_NumAxes, shapeFacts);
}

bool FoldNormalization(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts& shapeFacts)
{
    const auto match = NormalizationMatcher(shapeFacts).Match(last);
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
    descriptor->m_SubtractMean = match->m_SubtractsMean;
    return ReplacePattern(graph, context, last, LayerType::LayerNormalization, std::move(descriptor),
                          {mean.m_Data, match->m_Parameters.m_Scale, match->m_Parameters.m_Bias}) != nullptr;
}

/// A product or sum with a constant that becomes scale or bias of the LayerNormalization before it.
bool FoldParameter(Graph&, const PassContext&, Layer& layer, const ShapeFacts& shapeFacts)
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
            !IsPlainInput(*normalization, 0) || !IsParameter(layer, 1 - data, *normalization, shapeFacts))
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
                   [](Graph& all, const PassContext& with, Layer& layer, const ShapeFacts& shapeFacts) {
                       return FoldNormalization(all, with, layer, shapeFacts) ||
                              FoldParameter(all, with, layer, shapeFacts);
                   });
}

} // namespace tenon::passes
