// SPDX-License-Identifier: Apache-2.0
// See CaseRebuild.hpp.
#include "harness/CaseRebuild.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>

namespace tenon::test
{

namespace
{

ValueRange RangeOf(const TensorInfo& info, const void* values)
{
    const std::vector<double> numbers = ToDoubles(info, values);
    const auto [min, max] = std::minmax_element(numbers.begin(), numbers.end());
    return numbers.empty() ? ValueRange() : ValueRange{*min, *max};
}

using ShapeChange = std::function<TensorShape(const TensorShape&)>;

/// The same descriptor with each shape among its fields changed.
template <typename D>
std::unique_ptr<BaseDescriptor> WithShapes(const BaseDescriptor& descriptor, const ShapeChange& change)
{
    auto made = std::make_unique<D>(static_cast<const D&>(descriptor));
    D::Visit(
        [&](const char*, auto member)
        {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype((*made).*member)>, TensorShape>)
            {
                (*made).*member = change((*made).*member);
            }
        });
    return made;
}

/// By layer type.
constexpr std::unique_ptr<BaseDescriptor> (*shapeChangers[])(const BaseDescriptor&, const ShapeChange&) = {
#define TENON_OP(name, descriptor, ...) &WithShapes<descriptor>,
#include <tenon/ops.def>
};

/// A target of a Reshape made to have so many elements, by way of one of its sizes; as it is where that is not to be
/// had.
TensorShape FitElements(TensorShape target, uint64_t elements)
{
    if (target.GetDimensionality() != Dimensionality::Specified || !target.AreAllDimensionsSpecified() ||
        target.GetNumElements64() == elements)
    {
        return target;
    }
    for (unsigned int i = 0; i < target.GetNumDimensions(); ++i)
    {
        const uint64_t others = target.GetNumElements64() / std::max<uint64_t>(target[i], 1);
        if (target[i] > 1 && others != 0 && elements % others == 0)
        {
            target.SetDimensionSize(i, static_cast<unsigned int>(elements / others));
            return target;
        }
    }
    return target;
}

bool IsKnown(const TensorShape& shape)
{
    return shape.GetDimensionality() != Dimensionality::NotSpecified && shape.AreAllDimensionsSpecified();
}

OutputSlot* OutputOf(IConnectableLayer* layer)
{
    return &static_cast<Layer*>(layer)->Output(0);
}

} // namespace

RecordedTensors RecordTensors(const NetworkCase& tested)
{
    RecordedTensors recorded;
    for (size_t run = 0; run < tested.m_Runs.size(); ++run)
    {
        for (auto& [key, result] : ComputeAllValues(tested, run))
        {
            RecordedTensor& tensor = recorded[key];
            const ValueRange range = RangeOf(result.m_Info, result.m_Bytes.data());
            const bool isFirst = tensor.m_Shapes.empty();
            tensor.m_Shapes.push_back(result.m_Info.GetShape());
            tensor.m_Range.m_Min = isFirst ? range.m_Min : std::min(tensor.m_Range.m_Min, range.m_Min);
            tensor.m_Range.m_Max = isFirst ? range.m_Max : std::max(tensor.m_Range.m_Max, range.m_Max);
            if (isFirst)
            {
                tensor.m_Bytes = result.m_Bytes;
            }
        }
    }
    return recorded;
}

CaseRebuild::CaseRebuild(const NetworkCase& from, const RecordedTensors& recorded) : m_From(from), m_Recorded(recorded)
{
    for (const auto& layer : from.GetGraph().Layers())
    {
        if (layer->GetType() == LayerType::Output || layer->GetSchema().Has(OpFlags::Effect))
        {
            m_Roots.insert(layer.get());
        }
    }
    m_Runs.resize(from.m_Runs.size());
    std::iota(m_Runs.begin(), m_Runs.end(), size_t{0});
}

void CaseRebuild::KeepRoots(const std::vector<const Layer*>& roots)
{
    m_Roots = {roots.begin(), roots.end()};
}

/// What feeds the input, past layers that are bypassed.
const OutputSlot* CaseRebuild::SourceOf(const InputSlot& input) const
{
    const OutputSlot* slot = input.GetConnectedOutputSlot();
    while (slot != nullptr)
    {
        const auto bypassed = m_Bypassed.find(&slot->GetOwningLayer());
        if (bypassed == m_Bypassed.end())
        {
            break;
        }
        slot = slot->GetOwningLayer().Input(bypassed->second).GetConnectedOutputSlot();
    }
    return slot;
}

void CaseRebuild::Need(const OutputSlot* slot)
{
    std::vector<const OutputSlot*> open{slot};
    while (!open.empty())
    {
        const OutputSlot* const next = open.back();
        open.pop_back();
        if (next == nullptr || !m_Needed.insert(next).second || IsGiven(next->GetOwningLayer()))
        {
            continue;
        }
        for (const InputSlot& input : next->GetOwningLayer().Inputs())
        {
            open.push_back(SourceOf(input));
        }
    }
}

void CaseRebuild::MarkNeeded()
{
    if (m_End != nullptr)
    {
        for (const OutputSlot& output : m_End->Outputs())
        {
            Need(&output);
        }
        return;
    }
    for (const Layer* root : m_Roots)
    {
        for (const InputSlot& input : root->Inputs())
        {
            Need(SourceOf(input));
        }
        for (const OutputSlot& output : root->Outputs()) // of layers with an effect
        {
            Need(&output);
        }
    }
}

TensorShape CaseRebuild::Resized(const TensorShape& shape) const
{
    TensorShape resized = shape;
    if (!m_Size || shape.GetDimensionality() != Dimensionality::Specified)
    {
        return resized;
    }
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        if (shape.GetDimensionSpecificity(i) && shape[i] == m_Size->first)
        {
            resized.SetDimensionSize(i, m_Size->second);
        }
    }
    return resized;
}

std::unique_ptr<BaseDescriptor> CaseRebuild::ResizedDescriptor(const Layer& layer,
                                                               const std::vector<TensorShape>& inputs) const
{
    const bool isReshape = layer.GetType() == LayerType::Reshape && !inputs.empty() && IsKnown(inputs[0]);
    return shapeChangers[static_cast<size_t>(layer.GetType())](
        layer.GetParameters(),
        [&](const TensorShape& shape)
        {
            const TensorShape resized = Resized(shape);
            return isReshape ? FitElements(resized, inputs[0].GetNumElements64()) : resized;
        });
}

OutputSlot* CaseRebuild::AddInputOf(const TensorInfo& info, const ValueRange& range,
                                    const std::vector<TensorShape>& shapes)
{
    const LayerBindingId id = m_NextInput++;
    IConnectableLayer* const input = m_Made.m_Network->AddInputLayer(id, ("input" + std::to_string(id)).c_str());
    input->GetOutputSlot(0).SetTensorInfo(info);
    m_Made.m_Inputs[id] = range;
    for (size_t i = 0; i < m_Runs.size(); ++i)
    {
        m_Made.m_Runs[i][id] = Resized(shapes[m_Runs[i]]);
    }
    return OutputOf(input);
}

/// An Input or Constant layer of the original.
void CaseRebuild::AddSource(const Layer& layer)
{
    const OutputSlot& slot = layer.Output(0);
    if (layer.GetType() == LayerType::Input)
    {
        std::vector<TensorShape> shapes;
        for (const NetworkCase::Shapes& run : m_From.m_Runs)
        {
            shapes.push_back(run.at(layer.GetBindingId()));
        }
        TensorInfo info = slot.GetTensorInfo();
        // Where the first run is another one now, the network is for that one's shapes.
        info.SetShape(Resized(IsKnown(info.GetShape()) ? shapes[m_Runs.front()] : info.GetShape()));
        m_Slots[&slot] = AddInputOf(info, m_From.m_Inputs.at(layer.GetBindingId()), shapes);
    }
    else
    {
        const ConstTensor& tensor = layer.GetConstant()->m_Tensor;
        const auto filled = m_From.m_Constants.find(layer.GetNameStr());
        TensorInfo info = tensor.GetInfo();
        const TensorShape resized = Resized(info.GetShape());
        if (filled != m_From.m_Constants.end() && !m_Filled.count(&layer))
        {
            info.SetShape(resized);
            m_Slots[&slot] = OutputOf(AddConstant(m_Made, info, filled->second, layer.GetNameStr()));
        }
        else if (m_Filled.count(&layer) != 0)
        {
            const ValueRange range = RangeOf(info, tensor.GetMemoryArea());
            m_Slots[&slot] = OutputOf(AddConstant(m_Made, info, range, layer.GetNameStr()));
        }
        else
        {
            m_Slots[&slot] =
                &m_Made.EditGraph().AddConstant(tensor, layer.GetConstant()->m_Owner, layer.GetNameStr()).Output(0);
        }
    }
}

void CaseRebuild::AddGiven(const OutputSlot& slot)
{
    const Layer& layer = slot.GetOwningLayer();
    const RecordedTensor& recorded = m_Recorded.at({layer.GetGuid(), slot.CalculateIndexOnOwner()});
    TensorInfo info = slot.GetTensorInfo();
    info.SetShape(Resized(recorded.m_Shapes[m_Runs.front()]));
    if (m_AsInputs.count(&layer) != 0)
    {
        m_Slots[&slot] = AddInputOf(info, recorded.m_Range, recorded.m_Shapes);
    }
    else
    {
        const bool isSame = std::all_of(m_Runs.begin(), m_Runs.end(),
                                        [&](size_t run) { return recorded.m_Shapes[run] == recorded.m_Shapes[0]; });
        if (!isSame || m_Size)
        {
            throw InvalidArgumentException("a constant has one shape for all runs");
        }
        info.SetConstant();
        const auto owner = std::make_shared<std::vector<std::byte>>(recorded.m_Bytes);
        const std::string name =
            "values" + std::to_string(layer.GetGuid()) + "." + std::to_string(slot.CalculateIndexOnOwner());
        m_Slots[&slot] =
            OutputOf(m_Made.m_Network->AddConstantLayer(ConstTensor(info, owner->data()), owner, name.c_str()));
    }
}

void CaseRebuild::AddLayer(const Layer& layer)
{
    std::vector<TensorShape> inputs;
    for (const InputSlot& input : layer.Inputs())
    {
        const OutputSlot* const source = SourceOf(input);
        inputs.push_back(source != nullptr ? m_Slots.at(source)->GetTensorInfo().GetShape() : TensorShape());
    }
    Layer& copy = m_Made.EditGraph().AddCopy(layer);
    if (m_Size && !layer.GetParameters().IsNull())
    {
        copy.SetDescriptor(ResizedDescriptor(layer, inputs));
    }
    for (const InputSlot& input : layer.Inputs())
    {
        const OutputSlot* const source = SourceOf(input);
        if (source != nullptr)
        {
            m_Slots.at(source)->Connect(copy.Input(input.GetSlotIndex()));
        }
        if (input.IsTensorInfoOverridden())
        {
            copy.Input(input.GetSlotIndex()).SetTensorInfo(input.GetTensorInfo());
        }
    }
    const bool isKnown = std::all_of(inputs.begin(), inputs.end(), IsKnown);
    const std::vector<TensorShape> shapes = isKnown && layer.GetNumOutputSlots() != 0
                                                ? copy.InferOutputShapes(inputs)
                                                : std::vector<TensorShape>(layer.GetNumOutputSlots());
    for (const OutputSlot& output : layer.Outputs())
    {
        const unsigned int index = output.CalculateIndexOnOwner();
        TensorInfo info = output.GetTensorInfo();
        const auto recorded = m_Recorded.find({layer.GetGuid(), index});
        if (IsKnown(shapes[index]) || m_Size)
        {
            info.SetShape(shapes[index]);
        }
        else if (IsKnown(info.GetShape()) && recorded != m_Recorded.end())
        {
            info.SetShape(recorded->second.m_Shapes[m_Runs.front()]); // it follows from values
        }
        copy.Output(index).SetTensorInfo(info);
        m_Slots[&output] = &copy.Output(index);
    }
}

void CaseRebuild::AddEnds()
{
    LayerBindingId id = 0;
    const auto add = [&](const OutputSlot* source)
    {
        IConnectableLayer* const output = m_Made.m_Network->AddOutputLayer(id, ("output" + std::to_string(id)).c_str());
        m_Slots.at(source)->Connect(output->GetInputSlot(0));
        ++id;
    };
    if (m_End != nullptr)
    {
        for (const OutputSlot& output : m_End->Outputs())
        {
            add(&output);
        }
        return;
    }
    for (const auto& layer : m_From.GetGraph().Layers())
    {
        if (m_Roots.count(layer.get()) == 0)
        {
            continue;
        }
        if (layer->GetType() == LayerType::Output)
        {
            add(SourceOf(layer->Input(0)));
        }
        else if (layer->GetNumOutputSlots() == 0) // others are there
        {
            AddLayer(*layer);
        }
    }
}

NetworkCase CaseRebuild::Make()
{
    MarkNeeded();
    m_Made.m_Runs.resize(m_Runs.size());
    for (const Layer* layer : m_From.GetGraph().TopologicalOrder())
    {
        const bool isNeeded = std::any_of(layer->Outputs().begin(), layer->Outputs().end(),
                                          [&](const OutputSlot& output) { return m_Needed.count(&output) != 0; });
        if (!isNeeded)
        {
            continue;
        }
        if (layer->GetType() == LayerType::Input || layer->GetType() == LayerType::Constant)
        {
            AddSource(*layer);
        }
        else if (IsGiven(*layer))
        {
            for (const OutputSlot& output : layer->Outputs())
            {
                if (m_Needed.count(&output) != 0)
                {
                    AddGiven(output);
                }
            }
        }
        else
        {
            AddLayer(*layer);
        }
    }
    AddEnds();
    if (m_Made.m_Inputs.empty() && m_Made.GetGraph().Size() == 0)
    {
        throw InvalidArgumentException("nothing is left");
    }
    return std::move(m_Made);
}

} // namespace tenon::test
