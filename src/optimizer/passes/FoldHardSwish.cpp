// SPDX-License-Identifier: Apache-2.0
// Pass FoldHardSwish: x * min(6, max(0, x + 3)) / 6 of floats becomes an Activation, in whichever order its factors
// are, and so does x * min(1, max(0, x / 6 + 1 / 2)).
#include "optimizer/Pass.hpp"
#include "optimizer/rewriting/ClampPair.hpp"
#include "optimizer/rewriting/Patterns.hpp"

#include <utility>

namespace tenon::passes
{

namespace
{

/// A clamp of slope * x + offset to [0, m_Upper].
struct Ramp
{
    double m_Slope = 1.0;
    double m_Offset = 0.0;
    double m_Upper = 0.0;
};

/// What `slot` clamps, from 0 on, or null; adds the layers that do it: a BoundedReLu, or a pair that FoldMaxMin left as
/// it makes a bound of NaN. That does not matter here: x is a factor, too, which makes NaN of NaN.
OutputSlot* FindClamped(OutputSlot& slot, const ShapeFacts& shapeFacts, Ramp& ramp, std::vector<const Layer*>& layers)
{
    const Layer& clamp = slot.GetOwningLayer();
    layers.push_back(&clamp);
    if (const auto pair = FindClampPair(clamp, shapeFacts))
    {
        layers.push_back(pair->m_First);
        ramp.m_Upper = pair->m_Upper;
        return pair->m_Lower == 0.0f ? pair->m_Source : nullptr;
    }
    if (clamp.GetType() != LayerType::Activation || !IsPlainInput(clamp, 0))
    {
        return nullptr;
    }
    const auto& descriptor = clamp.Descriptor<ActivationDescriptor>();
    ramp.m_Upper = descriptor.m_A;
    return descriptor.m_Function == ActivationFunction::BoundedReLu && descriptor.m_B == 0.0f
               ? clamp.Input(0).GetConnectedOutputSlot()
               : nullptr;
}

/// The tensor that a layer multiplies by a number, or adds one to, which the ramp then takes over; null where it does
/// nothing of the kind.
OutputSlot* FindLinear(const Layer& layer, const ShapeFacts& shapeFacts, Ramp& ramp)
{
    if (layer.GetType() == LayerType::Activation && IsPlainInput(layer, 0) &&
        layer.Descriptor<ActivationDescriptor>().m_Function == ActivationFunction::Linear)
    {
        const auto& linear = layer.Descriptor<ActivationDescriptor>();
        ramp.m_Offset += ramp.m_Slope * static_cast<double>(linear.m_B);
        ramp.m_Slope *= static_cast<double>(linear.m_A);
        return layer.Input(0).GetConnectedOutputSlot();
    }
    const bool isSum = IsBinary(&layer, BinaryOperation::Add);
    const bool isDivision = IsBinary(&layer, BinaryOperation::Div);
    if (!isSum && !isDivision && !IsBinary(&layer, BinaryOperation::Mul))
    {
        return nullptr;
    }
    const std::optional<ScalarOperand> scalar = GetScalarOperand(layer);
    if (!scalar.has_value() || (isDivision && scalar->m_Data != 0) ||
        !shapeFacts.KeepsShape(layer, scalar->m_Data, 1 - scalar->m_Data))
    {
        return nullptr;
    }
    const double value = scalar->m_Value;
    ramp.m_Offset += isSum ? ramp.m_Slope * value : 0.0;
    ramp.m_Slope *= isSum ? 1.0 : isDivision ? 1.0 / value : value;
    return layer.Input(scalar->m_Data).GetConnectedOutputSlot();
}

/// The ramp that `slot` is of x, if it is one; adds the layers that do it.
std::optional<Ramp> FindRamp(OutputSlot& slot, const OutputSlot& x, const ShapeFacts& shapeFacts,
                             std::vector<const Layer*>& layers)
{
    constexpr size_t MaxLayers = 5; // a clamp, a product and a sum
    Ramp ramp;
    OutputSlot* read = FindClamped(slot, shapeFacts, ramp, layers);
    while (read != nullptr && read != &x && layers.size() < MaxLayers)
    {
        layers.push_back(&read->GetOwningLayer());
        read = FindLinear(read->GetOwningLayer(), shapeFacts, ramp);
    }
    return read == &x ? std::optional(ramp) : std::nullopt;
}

bool FoldHardSwishAt(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts& shapeFacts)
{
    Product product = GetProduct(last, shapeFacts);
    if (product.m_Factors.size() != 2)
    {
        return false;
    }
    for (const size_t ramp : {0U, 1U})
    {
        std::vector<const Layer*> layers(product.m_Layers.begin() + 1, product.m_Layers.end());
        OutputSlot* x = product.m_Factors[1 - ramp];
        const auto found = FindRamp(*product.m_Factors[ramp], *x, shapeFacts, layers);
        if (found.has_value() && IsNear(product.m_Constant * found->m_Slope, 1.0 / 6.0) &&
            IsNear(product.m_Constant * found->m_Offset, 0.5) && IsNear(product.m_Constant * found->m_Upper, 1.0) &&
            FeedOnly(layers, last))
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
