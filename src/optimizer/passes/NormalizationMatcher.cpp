// SPDX-License-Identifier: Apache-2.0
// See NormalizationMatcher.hpp.
#include "optimizer/passes/NormalizationMatcher.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>

namespace tenon
{

namespace
{

bool IsRoot(const Layer* layer, bool isQuotient)
{
    if (IsUnary(layer, isQuotient ? UnaryOperation::Sqrt : UnaryOperation::Rsqrt))
    {
        return true;
    }
    return isQuotient && layer->GetType() == LayerType::Activation && IsPlainInput(*layer, 0) &&
           layer->Descriptor<ActivationDescriptor>().m_Function == ActivationFunction::Sqrt;
}

} // namespace

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

} // namespace tenon
