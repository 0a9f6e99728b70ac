// SPDX-License-Identifier: Apache-2.0
// Float widths: see FloatWidths.hpp.
#include "optimizer/FloatWidths.hpp"

#include "graph/MakeLayerView.hpp"
#include "optimizer/ConvertedConstants.hpp"
#include "optimizer/DecidingValues.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/Refusals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

namespace tenon
{

namespace
{

/// What becomes of the floating-point tensors that a layer reads and writes.
enum class Width : uint8_t
{
    Keep,
    Narrow, ///< Float32 becomes the type to reduce to
    Widen   ///< Float16 and BFloat16 become Float32
};

bool IsHalf(DataType type)
{
    return type == DataType::Float16 || type == DataType::BFloat16;
}

const std::unordered_set<const Layer*> NoLayers;

/// Why a layer keeps the types that it was built with, or null.
const char* WhyTypesStay(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::Bitcast: return "it reads the bits of its input";
    case LayerType::Custom:
    case LayerType::PreCompiled:
    case LayerType::StandIn: return "only its maker knows what it computes";
    default: break;
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
    switch (layer.GetType())
    {
    case LayerType::DetectionPostProcess:
    case LayerType::NonMaxSuppression: return "it works on coordinates";
    default: return WhyTypesStay(layer);
    }
}

class Fitter
{
public:
    /// `chooser` may be null where widths are not decided here.
    Fitter(Optional<DataType> reduceTo, const BackendChooser* chooser, const std::unordered_set<const Layer*>& deciding,
           std::vector<std::string>& messages)
        : m_ReduceTo(reduceTo), m_Chooser(chooser), m_Deciding(deciding), m_Messages(messages), m_Constants(messages)
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
            Apply(graph, widths);
            passes::OptimizeInverseConversions(graph);
            passes::RemoveDeadLayers(graph);
        }
    }

    bool IsTakenWide(const Layer& layer, const Candidate& candidate, Refusals& refusals)
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
                NoteFloat32(*layer, FirstHalf(*layer), layer->GetAssignmentReason());
            }
        }
        Apply(graph, widths);
        passes::OptimizeInverseConversions(graph);
        passes::RemoveDeadLayers(graph);
    }

    /// One message for each cause, with the names of the layers.
    void Report() const
    {
        for (const Note& note : m_Notes)
        {
            const std::vector<std::string>& layers = note.m_Layers;
            if (layers.size() == 1)
            {
                m_Messages.push_back(fmt::format("WARNING: Layer of type {} runs in {}", layers.front(), note.m_Cause));
                continue;
            }
            const size_t named = std::min(layers.size(), MaxNamedLayers);
            std::string names = layers.front();
            for (size_t i = 1; i < named; ++i)
            {
                names += ", " + layers[i];
            }
            const std::string more =
                layers.size() > named ? fmt::format(" and {} more", layers.size() - named) : std::string();
            m_Messages.push_back(
                fmt::format("WARNING: {} layers run in {}: {}{}", layers.size(), note.m_Cause, names, more));
        }
    }

private:
    static constexpr size_t MaxNamedLayers = 50; // of one message
    struct Note
    {
        std::string m_Cause;
        std::vector<std::string> m_Layers;
    };

    DataType Mapped(DataType type, Width width) const
    {
        if (width == Width::Narrow && type == DataType::Float32)
        {
            return m_ReduceTo.value();
        }
        return width == Width::Widen && IsHalf(type) ? DataType::Float32 : type;
    }

    /// Whether a tensor that the layer reads or writes would have another type at `width`.
    bool Concerns(const Layer& layer, Width width) const
    {
        const auto isMapped = [&](const TensorInfo& info)
        { return Mapped(info.GetDataType(), width) != info.GetDataType(); };
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
                m_Deciding.count(&layer) != 0 ? "shapes or loops depend on it" : WhyFloat32Stays(layer);
            Refusals refusals;
            if (reason == nullptr && IsTaken(layer, Width::Narrow, refusals))
            {
                return Width::Narrow;
            }
            NoteFloat32(layer, m_ReduceTo.value(), reason != nullptr ? reason : refusals.m_Reasons);
        }
        if (Concerns(layer, Width::Widen) && WhyTypesStay(layer) == nullptr)
        {
            Refusals refusals;
            Refusals wideRefusals;
            if (!IsTaken(layer, Width::Keep, refusals) && IsTaken(layer, Width::Widen, wideRefusals))
            {
                NoteFloat32(layer, FirstHalf(layer), refusals.m_Reasons);
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
        std::vector<bool> isUseful(widths.size()); // narrow beside a layer that computes, or moves for one that does
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

    void NoteFloat32(Layer& layer, DataType inPlaceOf, const std::string& reason)
    {
        layer.SetAssignmentReason(fmt::format("Float32 in place of {}: {}", GetDataTypeName(inPlaceOf), reason));
        const auto [entry, isNew] = m_NoteOf.emplace(layer.GetAssignmentReason(), m_Notes.size());
        if (isNew)
        {
            m_Notes.push_back({layer.GetAssignmentReason(), {}});
        }
        m_Notes[entry->second].m_Layers.push_back(fmt::format("{} '{}'", GetTypeText(layer), layer.GetNameStr()));
    }

    /// The type of the first 16-bit tensor; there is one.
    static DataType FirstHalf(const Layer& layer)
    {
        for (const InputSlot& input : layer.Inputs())
        {
            if (input.GetConnectedOutputSlot() != nullptr && IsHalf(input.GetTensorInfo().GetDataType()))
            {
                return input.GetTensorInfo().GetDataType();
            }
        }
        return std::find_if(layer.Outputs().begin(), layer.Outputs().end(),
                            [](const OutputSlot& output) { return IsHalf(output.GetTensorInfo().GetDataType()); })
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
            infos.back().SetDataType(Mapped(info.GetDataType(), width));
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

    void Apply(Graph& graph, const std::vector<Width>& widths)
    {
        m_Converted.clear();
        for (size_t i = 0; i < widths.size(); ++i)
        {
            for (InputSlot& input : graph.Layers()[i]->Inputs())
            {
                if (input.GetConnectedOutputSlot() != nullptr)
                {
                    FitInput(graph, input, widths[i], widths[input.GetProducer()->m_Index]);
                }
            }
        }
        // Last: until here the infos tell what each value was.
        for (size_t i = 0; i < widths.size(); ++i)
        {
            for (OutputSlot& output : graph.Layers()[i]->Outputs())
            {
                TensorInfo& info = output.EditTensorInfo();
                info.SetDataType(Mapped(info.GetDataType(), widths[i]));
            }
        }
    }

    /// Gives the input its value in the type that its layer is to read.
    void FitInput(Graph& graph, InputSlot& input, Width reader, Width writer)
    {
        OutputSlot& value = *input.GetConnectedOutputSlot();
        const DataType type = value.GetTensorInfo().GetDataType();
        const DataType wanted = Mapped(type, reader);
        if (input.IsTensorInfoOverridden() && wanted != type)
        {
            TensorInfo info = input.GetTensorInfo();
            info.SetDataType(wanted);
            input.SetTensorInfo(info);
        }
        if (wanted == Mapped(type, writer))
        {
            return;
        }
        OutputSlot*& converted = m_Converted[{&value, wanted}];
        if (converted == nullptr)
        {
            converted = &Convert(graph, value, Mapped(type, writer), wanted);
        }
        value.Disconnect(input);
        converted->Connect(input);
    }

    OutputSlot& Convert(Graph& graph, OutputSlot& value, DataType from, DataType to)
    {
        TensorInfo info = value.GetTensorInfo();
        info.SetDataType(to);
        const Layer& producer = value.GetOwningLayer();
        if (producer.GetType() == LayerType::Constant)
        {
            const auto& bytes = m_Constants.Use(producer, to);
            return graph.AddConstant(ConstTensor(info, bytes->data()), bytes, producer.GetNameStr()).Output(0);
        }
        LayerType type = LayerType::Cast; // there is no other layer for BFloat16
        if (from == DataType::Float16 || to == DataType::Float16)
        {
            type = from == DataType::Float16 ? LayerType::ConvertFp16ToFp32 : LayerType::ConvertFp32ToFp16;
        }
        Layer& layer = graph.AddLayer(type, nullptr, fmt::format("{}:{}", producer.GetNameStr(), GetDataTypeName(to)));
        value.Connect(layer.Input(0));
        layer.Output(0).SetTensorInfo(info);
        return layer.Output(0);
    }

    const Optional<DataType> m_ReduceTo;
    const BackendChooser* m_Chooser;
    const std::unordered_set<const Layer*>& m_Deciding;
    std::vector<std::string>& m_Messages;
    ConvertedConstants m_Constants;
    LayerViewMaker m_Maker;
    std::vector<Note> m_Notes;
    std::map<std::string, size_t> m_NoteOf; ///< by cause
    /// Of the graph under way: values in another type than the one they are made in.
    std::map<std::pair<const OutputSlot*, DataType>, OutputSlot*> m_Converted;
};

} // namespace

bool TakesInFloat32(const Candidate& candidate, const Layer& layer, Refusals& refusals)
{
    std::vector<std::string> messages; // of constants that are only asked for here
    return Fitter(EmptyOptional(), nullptr, NoLayers, messages).IsTakenWide(layer, candidate, refusals);
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
    std::unordered_set<const Layer*> deciding;
    if (reduceTo.has_value())
    {
        deciding = FindDecidingLayers(graph);
    }
    Fitter fitter(reduceTo, &chooser, deciding, messages);
    fitter.Fit(graph);
    fitter.Report();
}

} // namespace tenon
