// SPDX-License-Identifier: Apache-2.0
// Pass FoldScaledNormalization: x * s + (shift - mean * s) with s = 1 / sqrt(variance + epsilon) becomes a
// LayerNormalization. TensorFlow writes batch normalization like that, and Keras its LayerNormalization as one of
// [1, N, C]: mean and variance are over the first dimension, which is one, and the last, and come as [N], to be
// reshaped to [1, N, 1]. So this takes what a Reshape gives a shape that is the same in every run.
#include "graph/FixedShapes.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Normalization.hpp>
#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>

namespace tenon::passes
{

namespace
{

/// The shape that a Reshape gives output 0 in every run; null where it is of another kind.
const TensorShape* GetTarget(const Layer& layer)
{
    return layer.GetType() == LayerType::Reshape && IsPlainInput(layer, 0) ? FindTargetShape(layer) : nullptr;
}

class ScaledNormalizationMatcher
{
public:
    struct Normalization
    {
        OutputSlot* m_Data = nullptr;
        float m_Epsilon = 0.0f;
        OutputSlot* m_Shift = nullptr; ///< null: none
    };

    /// What `last` normalizes, if it does.
    std::optional<Normalization> Match(const Layer& last)
    {
        if (!IsBinary(&last, BinaryOperation::Add) || last.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
        {
            return std::nullopt;
        }
        for (const unsigned int i : {0U, 1U})
        {
            const Layer* product = last.Input(i).GetProducer();
            for (const unsigned int data : {0U, 1U})
            {
                m_Layers = {product};
                if (IsBinary(product, BinaryOperation::Mul) && SetData(product->Input(data)) &&
                    MatchScale(GetStatistic(product->Input(1 - data))) && MatchShift(GetStatistic(last.Input(1 - i))) &&
                    FeedOnly(m_Layers, last))
                {
                    return m_Found;
                }
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

    bool SetData(const InputSlot& input)
    {
        const Layer* producer = input.GetProducer();
        m_Shape = producer != nullptr ? GetTarget(*producer) : nullptr;
        if (m_Shape == nullptr || m_Shape->GetNumDimensions() == 0)
        {
            return false;
        }
        m_Found = {&producer->Output(0)};
        return producer->Output(0).GetTensorInfo().GetDataType() == DataType::Float32;
    }

    /// The layer that gives one value for each row of the data, before it gets the shape of these; null where `input`
    /// is something else.
    const Layer* GetStatistic(const InputSlot& input)
    {
        const Layer* reshape = input.GetProducer();
        const TensorShape* target = reshape != nullptr ? GetTarget(*reshape) : nullptr;
        if (target == nullptr || target->GetNumDimensions() != m_Shape->GetNumDimensions())
        {
            return nullptr;
        }
        const unsigned int last = m_Shape->GetNumDimensions() - 1;
        for (unsigned int i = 0; i <= last; ++i)
        {
            if ((*target)[i] != (i == last ? 1 : (*m_Shape)[i]))
            {
                return nullptr;
            }
        }
        Add(reshape);
        return reshape->Input(0).GetProducer();
    }

    /// Whether it is a mean over the last dimension, and over others that are one.
    bool IsMean(const Layer* layer) const
    {
        if (layer == nullptr || layer->GetType() != LayerType::Mean || !IsPlainInput(*layer, 0))
        {
            return false;
        }
        const auto& descriptor = layer->Descriptor<MeanDescriptor>();
        std::vector<int64_t> axes(descriptor.m_Axis.begin(), descriptor.m_Axis.end());
        if (descriptor.m_ParametersAsInputs)
        {
            axes = GetIntegers(*layer, 1, MaxNumOfTensorDimensions).value_or(std::vector<int64_t>());
        }
        const int64_t rank = m_Shape->GetNumDimensions();
        const auto isLast = [&](int64_t axis) { return axis == rank - 1 || axis == -1; };
        const auto isOfRow = [&](int64_t axis)
        {
            const int64_t dimension = axis < 0 ? axis + rank : axis;
            return isLast(axis) ||
                   (dimension >= 0 && dimension < rank && (*m_Shape)[static_cast<unsigned int>(dimension)] == 1);
        };
        return !descriptor.m_KeepDims && std::any_of(axes.begin(), axes.end(), isLast) &&
               std::all_of(axes.begin(), axes.end(), isOfRow);
    }

    bool IsMeanOfData(const Layer* layer)
    {
        Add(layer);
        return IsMean(layer) && layer->Input(0).GetConnectedOutputSlot() == m_Found.m_Data;
    }

    /// 1 / sqrt(variance + epsilon)
    bool MatchScale(const Layer* root)
    {
        const Layer* sum = IsUnary(root, UnaryOperation::Rsqrt) ? root->Input(0).GetProducer() : nullptr;
        const auto epsilon = IsBinary(sum, BinaryOperation::Add) ? GetScalarOperand(*sum) : std::nullopt;
        if (!epsilon.has_value() || !(epsilon->m_Value >= 0.0f))
        {
            return false;
        }
        m_Root = root;
        m_Found.m_Epsilon = epsilon->m_Value;
        const Layer* variance = sum->Input(epsilon->m_Data).GetProducer();
        for (const Layer* layer : {root, sum, variance})
        {
            Add(layer);
        }
        return IsMean(variance) && MatchSquare(variance->Input(0).GetProducer());
    }

    /// (x - mean)^2
    bool MatchSquare(const Layer* square)
    {
        if (!IsBinary(square, BinaryOperation::SqDiff))
        {
            return false;
        }
        Add(square);
        const unsigned int data = square->Input(0).GetConnectedOutputSlot() == m_Found.m_Data ? 0 : 1;
        return square->Input(data).GetConnectedOutputSlot() == m_Found.m_Data &&
               IsMeanOfData(GetStatistic(square->Input(1 - data)));
    }

    /// shift - mean * scale, with a shift of one element
    bool MatchShift(const Layer* difference)
    {
        if (!IsBinary(difference, BinaryOperation::Sub))
        {
            return false;
        }
        const std::optional<float> shift = GetFloat(*difference, 0);
        const Layer* product = difference->Input(1).GetProducer();
        if (!shift.has_value() || !IsBinary(product, BinaryOperation::Mul) ||
            difference->Input(0).GetTensorInfo().GetShape().GetNumDimensions() > m_Shape->GetNumDimensions())
        {
            return false;
        }
        Add(difference);
        Add(product);
        if (*shift != 0.0f)
        {
            m_Found.m_Shift = difference->Input(0).GetConnectedOutputSlot();
        }
        const unsigned int mean = product->Input(0).GetProducer() == m_Root ? 1 : 0;
        return product->Input(1 - mean).GetProducer() == m_Root && IsMeanOfData(product->Input(mean).GetProducer());
    }

    const TensorShape* m_Shape = nullptr; ///< of the data
    const Layer* m_Root = nullptr;
    Normalization m_Found;
    std::vector<const Layer*> m_Layers; ///< of the pattern, without the last
};

bool FoldScaledNormalizationAt(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts&)
{
    const auto found = ScaledNormalizationMatcher().Match(last);
    if (!found.has_value())
    {
        return false;
    }
    auto descriptor = std::make_unique<LayerNormalizationDescriptor>();
    descriptor->m_Axis = -1;
    descriptor->m_Epsilon = found->m_Epsilon;
    Layer* const normalization =
        ReplacePattern(graph, context, last, LayerType::LayerNormalization, std::move(descriptor), {found->m_Data});
    if (normalization != nullptr && found->m_Shift != nullptr)
    {
        Rewire(normalization->Input(2), *found->m_Shift);
    }
    return normalization != nullptr;
}

} // namespace

void FoldScaledNormalization(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context, &FoldScaledNormalizationAt);
}

} // namespace tenon::passes
