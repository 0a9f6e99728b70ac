// SPDX-License-Identifier: Apache-2.0
// See Patterns.hpp.
#include "optimizer/rewriting/Patterns.hpp"

#include "optimizer/assignment/Assignment.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tenon
{

namespace
{

/// The data of a constant input of this type and number of elements, else null.
const void* GetData(const Layer& layer, unsigned int input, DataType type, uint64_t minElements, uint64_t maxElements)
{
    if (input >= layer.NumInputs() || !IsPlainInput(layer, input) || layer.GetConstantInput(input) == nullptr)
    {
        return nullptr;
    }
    const TensorInfo& info = layer.Input(input).GetTensorInfo();
    const TensorShape& shape = info.GetShape();
    const bool fits = info.GetDataType() == type && shape.AreAllDimensionsSpecified() &&
                      shape.GetNumElements64() >= minElements && shape.GetNumElements64() <= maxElements;
    return fits ? layer.GetConstantInput(input) : nullptr;
}

template <typename To, typename From>
std::vector<To> Convert(const void* data, uint64_t count)
{
    const auto* from = static_cast<const From*>(data);
    return std::vector<To>(from, from + count);
}

} // namespace

InputSlot* GetSoleConsumer(const Layer& layer)
{
    const Span<InputSlot* const> readers = layer.Output(0).GetConnections();
    return readers.size() == 1 && !readers[0]->IsTensorInfoOverridden() ? readers[0] : nullptr;
}

Layer* GetSoleProducer(const Layer& layer, unsigned int input)
{
    Layer* producer = IsPlainInput(layer, input) ? layer.Input(input).GetProducer() : nullptr;
    return producer != nullptr && producer->GetNumOutputSlots() == 1 && producer->Output(0).GetNumConnections() == 1 &&
                   producer->GetBackendHint() == layer.GetBackendHint()
               ? producer
               : nullptr;
}

bool IsPlainInput(const Layer& layer, unsigned int i)
{
    return layer.Input(i).GetConnectedOutputSlot() != nullptr && !layer.Input(i).IsTensorInfoOverridden();
}

std::optional<std::vector<double>> GetFloats(const Layer& layer, unsigned int input, uint64_t count)
{
    const void* data = GetData(layer, input, DataType::Float32, count, count);
    return data == nullptr ? std::nullopt : std::optional(Convert<double, float>(data, count));
}

std::optional<float> GetFloat(const Layer& layer, unsigned int input)
{
    const void* data = GetData(layer, input, DataType::Float32, 1, 1);
    return data == nullptr ? std::nullopt : std::optional(*static_cast<const float*>(data));
}

std::optional<std::vector<int64_t>> GetIntegers(const Layer& layer, unsigned int input, uint64_t maxElements)
{
    const void* data = GetData(layer, input, DataType::Signed32, 0, maxElements);
    if (data != nullptr)
    {
        return Convert<int64_t, int32_t>(data, layer.Input(input).GetTensorInfo().GetNumElements());
    }
    data = GetData(layer, input, DataType::Signed64, 0, maxElements);
    return data == nullptr
               ? std::nullopt
               : std::optional(Convert<int64_t, int64_t>(data, layer.Input(input).GetTensorInfo().GetNumElements()));
}

bool IsBinary(const Layer* layer, BinaryOperation operation)
{
    return layer != nullptr && layer->GetType() == LayerType::ElementwiseBinary &&
           layer->Descriptor<ElementwiseBinaryDescriptor>().m_Operation == operation && IsPlainInput(*layer, 0) &&
           IsPlainInput(*layer, 1);
}

bool IsUnary(const Layer* layer, UnaryOperation operation)
{
    return layer != nullptr && layer->GetType() == LayerType::ElementwiseUnary &&
           layer->Descriptor<ElementwiseUnaryDescriptor>().m_Operation == operation && IsPlainInput(*layer, 0);
}

bool HasHalfEvenQuantize(const Graph& graph)
{
    const LayerOrder layers = graph.LayersOf(LayerType::Quantize);
    return std::any_of(
        layers.begin(), layers.end(),
        [](const Layer* layer)
        { return layer->Descriptor<QuantizeDescriptor>().m_Requantization == RequantizationMode::FloatHalfEven; });
}

std::optional<ScalarOperand> GetScalarOperand(const Layer& layer)
{
    for (const unsigned int constant : {1U, 0U})
    {
        if (const std::optional<float> value = GetFloat(layer, constant))
        {
            return ScalarOperand{*value, 1 - constant};
        }
    }
    return std::nullopt;
}

bool IsNear(double a, double b)
{
    // Converters compute constants in float or, for half-precision models, round them further.
    constexpr double Tolerance = 1e-6;
    return std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= Tolerance * std::max(std::abs(a), std::abs(b));
}

Product GetProduct(const Layer& last, const ShapeFacts& shapeFacts)
{
    constexpr size_t MaxLayers = 6;
    const auto isProduct = [&](const Layer& layer)
    {
        const bool isMul = IsBinary(&layer, BinaryOperation::Mul);
        return (isMul || (IsBinary(&layer, BinaryOperation::Div) && GetFloat(layer, 1).has_value())) &&
               layer.Output(0).GetTensorInfo().GetDataType() == DataType::Float32;
    };
    Product product;
    std::vector<const Layer*> pending;
    if (isProduct(last))
    {
        pending.push_back(&last);
    }
    while (!pending.empty())
    {
        const Layer& layer = *pending.back();
        pending.pop_back();
        product.m_Layers.push_back(&layer);
        const std::optional<ScalarOperand> scalar = GetScalarOperand(layer);
        for (const unsigned int input : {0U, 1U})
        {
            if (scalar.has_value() && input != scalar->m_Data)
            {
                if (!shapeFacts.KeepsShape(layer, scalar->m_Data, input))
                {
                    return {};
                }
                const double value = scalar->m_Value;
                product.m_Constant *= IsBinary(&layer, BinaryOperation::Div) ? 1.0 / value : value;
                continue;
            }
            const Layer& producer = *layer.Input(input).GetProducer();
            if (isProduct(producer) && producer.Output(0).GetNumConnections() == 1 &&
                product.m_Layers.size() + pending.size() < MaxLayers)
            {
                pending.push_back(&producer);
            }
            else
            {
                product.m_Factors.push_back(layer.Input(input).GetConnectedOutputSlot());
            }
        }
    }
    return product;
}

bool FeedOnly(const std::vector<const Layer*>& layers, const Layer& last)
{
    for (const Layer* layer : layers)
    {
        const Span<InputSlot* const> readers = layer->Output(0).GetConnections();
        if (layer->GetNumOutputSlots() != 1 || layer->GetBackendHint() != last.GetBackendHint() ||
            readers.size() > 2 * (layers.size() + 1)) // two inputs each at most
        {
            return false;
        }
        for (const InputSlot* reader : readers)
        {
            const Layer* owner = &reader->GetOwningLayer();
            if (owner != &last && std::find(layers.begin(), layers.end(), owner) == layers.end())
            {
                return false;
            }
        }
    }
    return true;
}

ConstantBudget::ConstantBudget(const Graph& graph)
{
    constexpr uint64_t MaxCopies = 2; // of each constant
    std::set<const void*> seen;
    for (const auto& layer : graph.Layers())
    {
        if (layer->GetConstant() != nullptr && seen.insert(layer->GetConstant()->m_Tensor.GetMemoryArea()).second)
        {
            m_Left += MaxCopies * uint64_t{layer->GetConstant()->m_Tensor.GetNumBytes()};
        }
    }
}

bool ConstantBudget::Take(uint64_t bytes)
{
    if (bytes > m_Left)
    {
        return false;
    }
    m_Left -= bytes;
    return true;
}

Layer& AddFloats(Graph& graph, const TensorShape& shape, std::vector<float> values, const std::string& name)
{
    const auto owner = std::make_shared<const std::vector<float>>(std::move(values));
    return graph.AddConstant(ConstTensor(TensorInfo(shape, DataType::Float32, 0.0f, 0, true), owner->data()), owner,
                             name);
}

void Rewire(InputSlot& input, OutputSlot& source)
{
    if (input.GetConnectedOutputSlot() != nullptr)
    {
        input.GetConnectedOutputSlot()->Disconnect(input);
    }
    source.Connect(input);
}

Layer& ReplaceLayer(Graph& graph, Layer& old, std::unique_ptr<BaseDescriptor> descriptor)
{
    Layer& layer = graph.AddLayer(old.GetType(), std::move(descriptor), old.GetNameStr(), old.GetGuid());
    layer.BackendSelectionHint(old.GetBackendHint());
    layer.m_FirstOwnConstant = old.m_FirstOwnConstant;
    for (InputSlot& input : old.Inputs())
    {
        if (OutputSlot* source = input.GetConnectedOutputSlot())
        {
            source->Disconnect(input);
            source->Connect(layer.Input(input.GetSlotIndex()));
            input.MoveOverride(layer.Input(input.GetSlotIndex()));
        }
    }
    layer.Output(0).SetTensorInfo(old.Output(0).GetTensorInfo());
    old.Output(0).MoveAllConnections(layer.Output(0));
    return layer;
}

Layer* ReplacePattern(Graph& graph, const PassContext& context, Layer& last, LayerType type,
                      std::unique_ptr<BaseDescriptor> descriptor, std::initializer_list<OutputSlot*> sources)
{
    Layer& layer = graph.AddLayer(type, std::move(descriptor), last.GetNameStr(), last.GetGuid());
    layer.BackendSelectionHint(last.GetBackendHint());
    unsigned int input = 0;
    for (OutputSlot* source : sources)
    {
        if (source != nullptr)
        {
            source->Connect(layer.Input(input));
        }
        ++input;
    }
    layer.Output(0).SetTensorInfo(last.Output(0).GetTensorInfo());
    if (!context.m_Chooser.TakesAsWell(last, layer))
    {
        graph.RemoveLast();
        return nullptr;
    }
    last.Output(0).MoveAllConnections(layer.Output(0));
    return &layer;
}

void ReplaceInOrder(Graph& graph, const PassContext& context,
                    bool (*fold)(Graph& graph, const PassContext& context, Layer& last, const ShapeFacts& shapeFacts))
{
    const ShapeFacts shapeFacts(graph);
    std::vector<const Layer*> unused;
    for (Layer* layer : graph.TopologicalOrder())
    {
        if (fold(graph, context, *layer, shapeFacts))
        {
            unused.push_back(layer);
        }
    }
    RemoveUnused(graph, unused);
}

void RemoveUnused(Graph& graph, const std::vector<const Layer*>& layers)
{
    if (layers.empty())
    {
        return;
    }
    std::vector<bool> dead(graph.Size(), false);
    for (const Layer* layer : layers)
    {
        dead[layer->m_Index] = true;
    }
    graph.RemoveLayers(dead);
}

} // namespace tenon
