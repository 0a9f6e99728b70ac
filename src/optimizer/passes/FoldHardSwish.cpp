// SPDX-License-Identifier: Apache-2.0
// Pass FoldHardSwish: x * min(6, max(0, x + 3)) / 6 of floats becomes an Activation, in whichever order its factors
// are.
#include "optimizer/ClampPair.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/Patterns.hpp"

#include <utility>

namespace tenon::passes
{

namespace
{

/// What `slot` clamps to [0, 6], or null; adds the layers that do it: a BoundedReLu, or a pair that FoldMaxMin left as
/// it makes a bound of NaN. That does not matter here: x is a factor, too, which makes NaN of NaN.
OutputSlot* FindClamped(OutputSlot& slot, const FixedForms& forms, std::vector<const Layer*>& layers)
{
    const Layer& clamp = slot.GetOwningLayer();
    layers.push_back(&clamp);
    if (const auto pair = FindClampPair(clamp, forms))
    {
        layers.push_back(pair->m_First);
        return pair->m_Lower == 0.0f && pair->m_Upper == 6.0f ? pair->m_Source : nullptr;
    }
    const bool isClamp =
        clamp.GetType() == LayerType::Activation && IsPlainInput(clamp, 0) &&
        clamp.Descriptor<ActivationDescriptor>() == ActivationDescriptor(ActivationFunction::BoundedReLu, 6.0f, 0.0f);
    return isClamp ? clamp.Input(0).GetConnectedOutputSlot() : nullptr;
}

/// What x is if `slot` gives min(6, max(0, x + 3)); adds the layers that do it.
OutputSlot* FindRamp(OutputSlot& slot, const FixedForms& forms, std::vector<const Layer*>& layers)
{
    const OutputSlot* clamped = FindClamped(slot, forms, layers);
    const Layer* sum = clamped != nullptr ? &clamped->GetOwningLayer() : nullptr;
    if (!IsBinary(sum, BinaryOperation::Add))
    {
        return nullptr;
    }
    const std::optional<ScalarOperand> scalar = GetScalarOperand(*sum);
    if (!scalar.has_value() || scalar->m_Value != 3.0f || !forms.KeepsShape(*sum, scalar->m_Data, 1 - scalar->m_Data))
    {
        return nullptr;
    }
    layers.push_back(sum);
    return sum->Input(scalar->m_Data).GetConnectedOutputSlot();
}

bool FoldHardSwishAt(Graph& graph, const PassContext& context, Layer& last, const FixedForms& forms)
{
    Product product = GetProduct(last, forms);
    if (product.m_Factors.size() != 2 || !IsNear(product.m_Constant, 1.0 / 6.0))
    {
        return false;
    }
    for (const size_t ramp : {0U, 1U})
    {
        std::vector<const Layer*> layers(product.m_Layers.begin() + 1, product.m_Layers.end());
        OutputSlot* x = product.m_Factors[1 - ramp];
        if (FindRamp(*product.m_Factors[ramp], forms, layers) == x && FeedOnly(layers, last))
        {
            return ReplacePattern(graph, context, last, LayerType::Activation,
                                  std::make_unique<ActivationDescriptor>(ActivationFunction::HardSwish),
                                  {x}) != nullptr;
        }
    }
    return false;
}

} // namespace

void FoldHardSwish(Graph& graph, PassContext& context)
{
    ReplaceInOrder(graph, context, &FoldHardSwishAt);
}

} // namespace tenon::passes
