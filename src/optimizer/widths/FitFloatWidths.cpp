// SPDX-License-Identifier: Apache-2.0
// Float widths: see FitFloatWidths.hpp. Here is decided which layer has which; WidthChanger then changes the graph.
#include "optimizer/widths/FitFloatWidths.hpp"

#include "graph/MakeLayerView.hpp"
#include "optimizer/assignment/Refusals.hpp"
#include "optimizer/rewriting/ShapeRelevantValues.hpp"
#include "optimizer/widths/ConvertedConstants.hpp"
#include "optimizer/widths/Float32Notes.hpp"
#include "optimizer/widths/WidthChanger.hpp"

#include <algorithm>
#include <set>
#include <unordered_set>

namespace tenon
{

namespace
{

const std::unordered_set<const Layer*> NoLayers;

/// Why a layer keeps the types that it was built with, or null.
const char* WhyTypesStay(const Layer& layer)
{
    switch (layer.GetSchema().m_Widths)
    {
    case WidthRule::Bits: return "it reads the bits of its input";
    case WidthRule::MakersOwn: return "only its maker knows what it computes";
    case WidthRule::AnyWidth:
    case WidthRule::Coordinates: break;
    }
    const bool isReinterpreted = std::any_of(
        layer.Inputs().begin(), layer.Inputs().end(),
        [](const InputSlot& input)
        {
            return input.GetConnectedOutputSlot() != nullptr && input.IsTensorInfoOverridden() &&
                   input.GetTensorInfo().GetDataType() != input.GetConnectedOutputSlot()->GetTensorInfo().GetDataType();
        });
    return isReinterpreted ? "it takes an input for one of another type" : nullptr;
}

/// Why a layer keeps Float32 where all others are reduced, or null.
const char* WhyFloat32Stays(const Layer& layer)
{
    return layer.GetSchema().m_Widths == WidthRule::Coordinates ? "it works on coordinates" : WhyTypesStay(layer);
}

class Fitter
{
public:
    /// `chooser` may be null where widths are not decided here.
    Fitter(Optional<DataType> reduceTo, const BackendChooser* chooser,
           const std::unordered_set<const Layer*>& shapeRelevant, std::vector<std::string>& messages)
        : m_ReduceTo(reduceTo), m_Chooser(chooser), m_ShapeRelevant(shapeRelevant), m_Messages(messages),
          m_Constants(messages), m_Changer(reduceTo, m_Constants)
    {
    }

    void Fit(Graph& graph)
    {
        std::vector<Width> widths(graph.Size(), Width::Keep);
        const bool hasBodies = graph.HasBodies();
        for (const auto& layer : graph.Layers())
        {
            for (size_t i = 0; hasBodies && i < layer->Bodies().size(); ++i)
            {
                Fit(*layer->Bodies()[i]);
            }
            if (!IsBoundByRuntime(layer->GetType()) && !IsRunByRuntime(layer->GetType()))
            {
                widths[layer->m_Index] = Decide(*layer);
            }
        }
        KeepIdleMoves(graph, widths);
        if (std::any_of(widths.begin(), widths.end(), [](Width width) { return width != Width::Keep; }))
        {
            m_Changer.Apply(graph, widths);
        }
    }

    bool IsTakenInFloat32(const Layer& layer, const Candidate& candidate, Refusals& refusals)
    {
        return Concerns(layer, Width::Widen) && WhyTypesStay(layer) == nullptr &&
               AskAt(layer, Width::Widen, [&](const LayerView& view) { return Takes(candidate, view, refusals); });
    }

    void Widen(Graph& graph, const std::set<const Layer*>& layers)
    {
        std::vector<Width> widths(graph.Size(), Width::Keep);
        for (const auto& layer : graph.Layers())
        {
            if (layers.count(layer.get()) != 0)
            {
                widths[layer->m_Index] = Width::Widen;
                m_Notes.Add(*layer, GetFirst16BitFloat(*layer), layer->GetAssignmentReason());
            }
        }
        m_Changer.Apply(graph, widths);
    }

    void Report() const { m_Notes.Report(m_Messages); }

private:
    /// Whether a tensor that the layer reads or writes would have another type at `width`.
    bool Concerns(const Layer& layer, Width width) const
    {
        const auto isMapped = [&](const TensorInfo& info)
        { return m_Changer.Mapped(info.GetDataType(), width) != info.GetDataType(); };
        return std::any_of(layer.Inputs().begin(), layer.Inputs().end(),
                           [&](const InputSlot& input)
                           { return input.GetConnectedOutputSlot() != nullptr && isMapped(input.GetTensorInfo()); }) ||
               std::any_of(layer.Outputs().begin(), layer.Outputs().end(),
                           [&](const OutputSlot& output) { return isMapped(output.GetTensorInfo()); });
    }

    Width Decide(Layer& layer)
    {
        if (m_ReduceTo.has_value() && Concerns(layer, Width::Narrow))
        {
            const char* reason =
                m_ShapeRelevant.count(&layer) != 0 ? "shapes or loops depend on it" : WhyFloat32Stays(layer);
            Refusals refusals;
            if (reason == nullptr && IsTaken(layer, Width::Narrow, refusals))
            {
                return Width::Narrow;
            }
            m_Notes.Add(layer, m_ReduceTo.value(), reason != nullptr ? reason : refusals.m_Reasons);
        }
        if (Concerns(layer, Width::Widen) && WhyTypesStay(layer) == nullptr)
        {
            Refusals refusals;
            Refusals wideRefusals;
            if (!IsTaken(layer, Width::Keep, refusals) && IsTaken(layer, Width::Widen, wideRefusals))
            {
                m_Notes.Add(layer, GetFirst16BitFloat(layer), refusals.m_Reasons);
                return Width::Widen;
            }
        }
        return Width::Keep;
    }

    /// Layers that only move values, from Float32 to Float32 alone, stay as they are: narrowed ones would stand between
    /// two conversions, and gain nothing.
    static void KeepIdleMoves(const Graph& graph, std::vector<Width>& widths)
    {
        if (std::find(widths.begin(), widths.end(), Width::Narrow) == widths.end())
        {
            return;
        }
        const LayerOrder order = graph.TopologicalOrder();
        std::vector<bool> isUseful(widths.size()); // a narrow layer that computes, or that moves data to or from one
        const auto isNarrow = [&](const Layer* layer) { return widths[layer->m_Index] == Width::Narrow; };
        for (const Layer* layer : order)
        {
            isUseful[layer->m_Index] = isNarrow(layer) && !layer->GetSchema().Has(OpFlags::Moves);
        }
        const auto spread = [&](const Layer* layer)
        {
            for (const InputSlot& input : layer->Inputs())
            {
                const Layer* producer = input.GetProducer();
                if (producer != nullptr && isNarrow(producer) && isNarrow(layer) &&
                    isUseful[producer->m_Index] != isUseful[layer->m_Index])
                {
                    isUseful[producer->m_Index] = isUseful[layer->m_Index] = true;
                }
            }
        };
        std::for_each(order.begin(), order.end(), spread);
        std::for_each(order.Backward().begin(), order.Backward().end(), spread);
        for (const Layer* layer : order)
        {
            if (isNarrow(layer) && !isUseful[layer->m_Index])
            {
                widths[layer->m_Index] = Width::Keep;
            }
        }
    }

    /// The type of the first 16-bit tensor; there is one.
    static DataType GetFirst16BitFloat(const Layer& layer)
    {
        for (const InputSlot& input : layer.Inputs())
        {
            if (input.GetConnectedOutputSlot() != nullptr && Is16BitFloat(input.GetTensorInfo().GetDataType()))
            {
                return input.GetTensorInfo().GetDataType();
            }
        }
        return std::find_if(layer.Outputs().begin(), layer.Outputs().end(),
                            [](const OutputSlot& output) { return Is16BitFloat(output.GetTensorInfo().GetDataType()); })
            ->GetTensorInfo()
            .GetDataType();
    }

    /// Whether some backend takes the layer with its tensors at `width`.
    bool IsTaken(const Layer& layer, Width width, Refusals& refusals)
    {
        return AskAt(layer, width,
                     [&](const LayerView& view) { return m_Chooser->Choose(layer, view, refusals) != nullptr; });
    }

    /// What `ask` says of the layer with its tensors at `width`.
    template <typename Ask>
    bool AskAt(const Layer& layer, Width width, Ask ask)
    {
        LayerView view = m_Maker.Make(layer);
        std::vector<TensorInfo> infos;
        infos.reserve(view.GetNumInputs() + view.GetNumOutputs()); // pointers into it stay
        const auto map = [&](const TensorInfo& info)
        {
            infos.push_back(info);
            infos.back().SetDataType(m_Changer.Mapped(info.GetDataType(), width));
            return &infos.back();
        };
        std::vector<const TensorInfo*> inputs(view.GetNumInputs(), nullptr);
        std::vector<const TensorInfo*> outputs(view.GetNumOutputs(), nullptr);
        std::vector<const void*> data(view.m_ConstantData.begin(), view.m_ConstantData.end());
        for (unsigned int i = 0; i < inputs.size(); ++i)
        {
            if (!view.HasInput(i))
            {
                continue;
            }
            inputs[i] = map(view.GetInput(i));
            if (data[i] != nullptr && inputs[i]->GetDataType() != view.GetInput(i).GetDataType())
            {
                data[i] = m_Constants.Get(*layer.Input(i).GetProducer(), inputs[i]->GetDataType())->data();
            }
        }
        for (size_t i = 0; i < outputs.size(); ++i)
        {
            outputs[i] = map(view.GetOutput(i));
        }
        view.m_Inputs = inputs;
        view.m_Outputs = outputs;
        view.m_ConstantData = data;
        return ask(view);
    }

    const Optional<DataType> m_ReduceTo;
    const BackendChooser* m_Chooser;
    const std::unordered_set<const Layer*>& m_ShapeRelevant;
    std::vector<std::string>& m_Messages;
    ConvertedConstants m_Constants;
    LayerViewMaker m_Maker;
    WidthChanger m_Changer;
    Float32Notes m_Notes;
};

} // namespace

bool TakesInFloat32(const Candidate& candidate, const Layer& layer, Refusals& refusals)
{
    std::vector<std::string> messages; // of constants that are only asked for here
    return Fitter(EmptyOptional(), nullptr, NoLayers, messages).IsTakenInFloat32(layer, candidate, refusals);
}

void WidenLayers(Graph& graph, const std::set<const Layer*>& layers, std::vector<std::string>& messages)
{
    Fitter fitter(EmptyOptional(), nullptr, NoLayers, messages);
    fitter.Widen(graph, layers);
    fitter.Report();
}

void FitFloatWidths(Graph& graph, Optional<DataType> reduceTo, const BackendChooser& chooser,
                    std::vector<std::string>& messages)
{
    std::unordered_set<const Layer*> shapeRelevant;
    if (reduceTo.has_value())
    {
        shapeRelevant = FindShapeRelevantLayers(graph);
    }
    Fitter fitter(reduceTo, &chooser, shapeRelevant, messages);
    fitter.Fit(graph);
    fitter.Report();
}

} // namespace tenon
