// SPDX-License-Identifier: Apache-2.0
// Pass FoldHardSwish: x * min(6, max(0, x + 3)) / 6 of floats becomes an Activation, in whichever order its factors
// are.
#include "optimizer/Pass.hpp"
#include "optimizer/Patterns.hpp"
#include "optimizer/SingleClamp.hpp"

#include <algorithm>
#include <utility>

namespace tenon::passes
{

namespace
{

/// What `slot` clamps to [0, 6], or null; adds the layers that do it: a BoundedReLu, or what FoldMaxMin leaves of a
/// pair that replaces NaN, a Maximum or Minimum and a BoundedReLu with one bound. NaN does not matter, as x is a
/// factor, too.
OutputSlot* FindClamped(OutputSlot& slot, const FixedForms& forms, std::vector<const Layer*>& layers)
{
    const Layer& clamp = slot.GetOwningLayer();
    if (clamp.GetType() != LayerType::Activation || !IsPlainInput(clamp, 0) ||
        clamp.Descriptor<ActivationDescriptor>().m_Function != ActivationFunction::BoundedReLu)
    {
        return nullptr;
    }
    layers.push_back(&clamp);
    OutputSlot* source = clamp.Input(0).GetConnectedOutputSlot();
    float upper = clamp.Descriptor<ActivationDescriptor>().m_A;
    float lower = clamp.Descriptor<ActivationDescriptor>().m_B;
    const Layer& first = source->GetOwningLayer();
    if (const auto inner = FindSingleClamp(&first, forms))
    {
        upper = inner->m_IsMaximum ? upper : std::min(upper, inner->m_Bound);
        lower = inner->m_IsMaximum ? std::max(lower, inner->m_Bound) : lower;
        layers.push_back(&first);
        source = first.Input(inner->m_Data).GetConnectedOutputSlot();
    }
    return upper == 6.0f && lower == 0.0f ? source : nullptr;
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

bool Fold(Graph& graph, const PassContext& context, Layer& last, const FixedForms& forms)
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
    ReplaceInOrder(graph, context, &Fold);
}

} // namespace tenon::passes
