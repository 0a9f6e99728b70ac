// SPDX-License-Identifier: Apache-2.0
// Pass FoldGelu: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) of floats becomes an Activation Gelu in its tanh
// form, and 0.5 x (1 + erf(x / sqrt(2))) one in its exact form.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <algorithm>
#include <numbers>
#include <optional>
#include <utility>

namespace tenon::passes
{

namespace
{

constexpr double SqrtTwoOverPi = 2.0 * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
constexpr double Cubic = 0.044715;

class GeluMatcher
{
public:
    explicit GeluMatcher(const ShapeFacts& shapeFacts) : m_ShapeFacts(shapeFacts) {}

    struct Gelu
    {
        OutputSlot* m_Data = nullptr;
        bool m_IsTanhForm = false;
    };

    /// What `last` is the GELU of, if it is one.
    std::optional<Gelu> Match(const Layer& last)
    {
        const Product outer = GetProduct(last, m_ShapeFacts);
        if (outer.m_Factors.size() != 2 || !IsNear(outer.m_Constant, 0.5))
        {
            return std::nullopt;
        }
        for (const size_t i : {0U, 1U})
        {
            OutputSlot* x = outer.m_Factors[1 - i];
            m_Layers.assign(outer.m_Layers.begin() + 1, outer.m_Layers.end());
            if (const Layer* gate = FindPlusOne(*outer.m_Factors[i]))
            {
                const bool isTanhForm = gate->GetType() == LayerType::Activation;
                if ((isTanhForm ? IsTanhOf(*gate, x) : IsErrorFunctionOf(*gate, x)) && FeedOnly(m_Layers, last))
                {
                    return Gelu{x, isTanhForm};
                }
            }
        }
        return std::nullopt;
    }

private:
    /// The layer before a sum with 1, if `slot` gives one.
    const Layer* FindPlusOne(const OutputSlot& slot)
    {
        const Layer& sum = slot.GetOwningLayer();
        if (!IsBinary(&sum, BinaryOperation::Add))
        {
            return nullptr;
        }
        const std::optional<ScalarOperand> scalar = GetScalarOperand(sum);
        if (!scalar.has_value() || scalar->m_Value != 1.0f ||
            !m_ShapeFacts.KeepsShape(sum, scalar->m_Data, 1 - scalar->m_Data))
        {
            return nullptr;
        }
        m_Layers.push_back(&sum);
        return sum.Input(scalar->m_Data).GetProducer();
    }

    /// erf(x / sqrt(2))
    bool IsErrorFunctionOf(const Layer& layer, const OutputSlot* x)
    {
        if (!IsUnary(&layer, UnaryOperation::Erf) || layer.Output(0).GetTensorInfo().GetDataType() != DataType::Float32)
        {
            return false;
        }
        m_Layers.push_back(&layer);
        const Product inner = TakeProduct(*layer.Input(0).GetProducer());
        return IsNear(inner.m_Constant, 1.0 / std::numbers::sqrt2) && inner.m_Factors.size() == 1 &&
               inner.m_Factors[0] == x;
    }

    /// tanh(sqrt(2 / pi) (x + 0.044715 x^3))
    bool IsTanhOf(const Layer& tanh, const OutputSlot* x)
    {
        if (tanh.GetType() != LayerType::Activation || !IsPlainInput(tanh, 0) ||
            tanh.Descriptor<ActivationDescriptor>() != ActivationDescriptor(ActivationFunction::TanH, 1.0f, 1.0f))
        {
            return false;
        }
        m_Layers.push_back(&tanh);
        const Product inner = TakeProduct(*tanh.Input(0).GetProducer());
        if (!IsNear(inner.m_Constant, SqrtTwoOverPi))
        {
            return false;
        }
        if (inner.m_Factors.size() == 1)
        {
            return IsSumWithCube(inner.m_Factors[0]->GetOwningLayer(), x);
        }
        // x (1 + 0.044715 x^2)
        if (inner.m_Factors.size() != 2)
        {
            return false;
        }
        const size_t other = inner.m_Factors[0] == x ? 1 : 0;
        const Layer* square = inner.m_Factors[1 - other] == x ? FindPlusOne(*inner.m_Factors[other]) : nullptr;
        return square != nullptr && IsPower(*square, x, 2);
    }

    bool IsSumWithCube(const Layer& sum, const OutputSlot* x)
    {
        if (!IsBinary(&sum, BinaryOperation::Add))
        {
            return false;
        }
        m_Layers.push_back(&sum);
        for (const unsigned int i : {0U, 1U})
        {
            if (sum.Input(i).GetConnectedOutputSlot() == x && sum.Input(1 - i).GetConnectedOutputSlot() != x)
            {
                return IsPower(*sum.Input(1 - i).GetProducer(), x, 3);
            }
        }
        return false;
    }

    /// 0.044715 x^exponent
    bool IsPower(const Layer& layer, const OutputSlot* x, unsigned int exponent)
    {
        const Product product = TakeProduct(layer);
        if (!IsNear(product.m_Constant, Cubic))
        {
            return false;
        }
        unsigned int powers = 0;
        for (const OutputSlot* factor : product.m_Factors)
        {
            powers += factor == x ? 1 : GetPower(factor->GetOwningLayer(), x);
        }
        return powers == exponent && std::all_of(product.m_Factors.begin(), product.m_Factors.end(),
                                                 [&](const OutputSlot* factor)
                                                 { return factor == x || GetPower(factor->GetOwningLayer(), x) != 0; });
    }

    /// The exponent if the layer raises x to a power, else 0.
    unsigned int GetPower(const Layer& layer, const OutputSlot* x)
    {
        unsigned int exponent = 0;
        if (layer.GetType() == LayerType::Activation && IsPlainInput(layer, 0) &&
            layer.Descriptor<ActivationDescriptor>().m_Function == ActivationFunction::Square)
        {
            exponent = 2;
        }
        else if (IsBinary(&layer, BinaryOperation::Power) && m_ShapeFacts.KeepsShape(layer, 0, 1))
        {
            const float value = GetFloat(layer, 1).value_or(0.0f);
            exponent = value == 2.0f ? 2 : (value == 3.0f ? 3 : 0);
        }
        if (exponent == 0 || layer.Input(0).GetConnectedOutputSlot() != x)
        {
            return 0;
        }
        if (std::find(m_Layers.begin(), m_Layers.end(), &layer) == m_Layers.end())
        {
            m_Layers.push_back(&layer);
        }
        return exponent;
    }

    Product TakeProduct(const Layer& last)
    {
        Product product = GetProduct(last, m_ShapeFacts);
        m_Layers.insert(m_Layers.end(), product.m_Layers.begin(), product.m_Layers.end());
        return product;
    }

    const ShapeFacts& m_ShapeFacts;
    std::vector<const Layer*> m_Layers; ///< of the pattern, without the last
};

bool FoldGeluAt(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts& shapeFacts)
{
    const auto gelu = GeluMatcher(shapeFacts).Match(last);
    if (!gelu.has_value())
    {
        return false;
    }
    // Its parameter a chooses the tanh form.
    auto descriptor =
        std::make_unique<ActivationDescriptor>(ActivationFunction::Gelu, gelu->m_IsTanhForm ? 1.0f : 0.0f, 0.0f);
    return ReplacePattern(graph, context, last, LayerType::Activation, std::move(descriptor), {gelu->m_Data}) !=
           nullptr;
}

} // namespace

void FoldGelu(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context, &FoldGeluAt);
}

} // namespace tenon::passes
