// SPDX-License-Identifier: Apache-2.0
// Pass FoldSwish: x * sigmoid(a * x) of floats becomes an Activation Swish (a is 1 in SiLU, 1.702 in an approximation
// of GELU), and x * tanh(log(1 + exp(x))) a Mish.
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tenon::passes
{

namespace
{

/// An Activation whose input is its producer's, of Float32; null where it is another layer.
const ActivationDescriptor* GetActivation(const Layer& layer)
{
    return layer.GetType() == LayerType::Activation && IsPlainInput(layer, 0) &&
                   layer.Output(0).GetTensorInfo().GetDataType() == DataType::Float32
               ? &layer.Descriptor<ActivationDescriptor>()
               : nullptr;
}

/// The activation that x times what `gate` gives is; adds the layers of it to `layers`.
std::optional<ActivationDescriptor> MatchGate(const Layer& gate, const OutputSlot& x, const ShapeFacts& shapeFacts,
                                              std::vector<const Layer*>& layers)
{
    const ActivationDescriptor* const function = GetActivation(gate);
    if (function == nullptr)
    {
        return std::nullopt;
    }
    layers.push_back(&gate);
    const OutputSlot& of = *gate.Input(0).GetConnectedOutputSlot();
    if (function->m_Function == ActivationFunction::Sigmoid)
    {
        if (&of == &x)
        {
            return ActivationDescriptor(ActivationFunction::Swish, 1.0f);
        }
        const Product inner = GetProduct(of.GetOwningLayer(), shapeFacts);
        layers.insert(layers.end(), inner.m_Layers.begin(), inner.m_Layers.end());
        const bool isOfX = inner.m_Factors.size() == 1 && inner.m_Factors[0] == &x;
        return isOfX ? std::optional(
                           ActivationDescriptor(ActivationFunction::Swish, static_cast<float>(inner.m_Constant)))
                     : std::nullopt;
    }
    const ActivationDescriptor* const before = GetActivation(of.GetOwningLayer());
    layers.push_back(&of.GetOwningLayer());
    const bool isMish = *function == ActivationDescriptor(ActivationFunction::TanH, 1.0f, 1.0f) && before != nullptr &&
                        before->m_Function == ActivationFunction::SoftReLu &&
                        of.GetOwningLayer().Input(0).GetConnectedOutputSlot() == &x;
    return isMish ? std::optional(ActivationDescriptor(ActivationFunction::Mish)) : std::nullopt;
}

bool FoldSwishAt(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts& shapeFacts)
{
    const Product product = GetProduct(last, shapeFacts);
    if (product.m_Factors.size() != 2 || !IsNear(product.m_Constant, 1.0))
    {
        return false;
    }
    for (const size_t gate : {0U, 1U})
    {
        std::vector<const Layer*> layers(product.m_Layers.begin() + 1, product.m_Layers.end());
        OutputSlot* const x = product.m_Factors[1 - gate];
        const auto function = MatchGate(product.m_Factors[gate]->GetOwningLayer(), *x, shapeFacts, layers);
        if (function.has_value() && FeedOnly(layers, last))
        {
            return ReplacePattern(graph, context, last, LayerType::Activation,
                                  std::make_unique<ActivationDescriptor>(*function), {x}) != nullptr;
        }
    }
    return false;
}

} // namespace

void FoldSwish(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context, &FoldSwishAt);
}

} // namespace tenon::passes
