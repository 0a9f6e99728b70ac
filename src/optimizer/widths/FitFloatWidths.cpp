// SPDX-License-Identifier: Apache-2.0
// Float widths: see FitFloatWidths.hpp. Fitter decides the width of each layer, WidthChanger then changes the graph;
// ConvertedConstants converts constants, each once, and Float32Notes collects the messages.
#include "optimizer/widths/FitFloatWidths.hpp"

#include "common/HalfFloat.hpp"
#include "graph/Graph.hpp"
#include "graph/Layer.hpp"
#include "graph/MakeLayerView.hpp"
#include "optimizer/Pass.hpp"
#include "optimizer/assignment/Refusals.hpp"
#include "optimizer/rewriting/ShapeRelevantValues.hpp"

#include <tenon/BackendHelper.hpp>
#include <tenon/Optional.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tenon
{

namespace
{

constexpr float MaxF16 = 65504.0f;

/// Elements that are converted at a time: as floats they stay in the first-level cache.
constexpr size_t ChunkElements = 2048;

/// Writes `count` elements, from `first` on, as floats. The bytes may lie anywhere.
void Load(DataType type, const std::byte* data, size_t first, size_t count, float* floats)
{
    if (type == DataType::Float32)
    {
        std::memcpy(floats, data + first * sizeof(float), count * sizeof(float));
        return;
    }
    std::array<uint16_t, ChunkElements> bits{};
    std::memcpy(bits.data(), data + first * sizeof(uint16_t), count * sizeof(uint16_t));
    type == DataType::Float16
        ? HalvesToFloats(bits.data(), count, floats)
        : void(std::transform(bits.begin(), bits.begin() + static_cast<ptrdiff_t>(count), floats, BFloat16ToFloat));
}

void Store(DataType type, const float* floats, size_t first, size_t count, std::byte* data)
{
    if (type == DataType::Float32)
    {
        std::memcpy(data + first * sizeof(float), floats, count * sizeof(float));
        return;
    }
    std::array<uint16_t, ChunkElements> bits{};
    type == DataType::Float16 ? FloatsToHalves(floats, count, bits.data())
                              : void(std::transform(floats, floats + count, bits.data(), FloatToBFloat16));
    std::memcpy(data + first * sizeof(uint16_t), bits.data(), count * sizeof(uint16_t));
}

/// Clamps finite numbers to the range of Float16. Returns the number of clamped values.
size_t ClampToF16(float* floats, size_t count)
{
    const auto isBeyond = [](float value)
    { return std::fabs(value) > MaxF16 && std::fabs(value) <= std::numeric_limits<float>::max(); };
    const auto cut = static_cast<size_t>(std::count_if(floats, floats + count, isBeyond));
    if (cut != 0)
    {
        std::transform(floats, floats + count, floats,
                       [&](float value) { return isBeyond(value) ? std::copysign(MaxF16, value) : value; });
    }
    return cut;
}

/// Constants in another floating-point type, converted once.
class ConvertedConstants
{
public:
    using Bytes = std::vector<std::byte>;

    explicit ConvertedConstants(std::vector<std::string>& messages) : m_Messages(messages) {}

    /// The values of a Constant layer of type Float32, Float16 or BFloat16 as `type`, another one of these. Finite
    /// numbers beyond the range of Float16 become its largest: in masks and limits, where they occur, an infinity would
    /// turn into NaN. Layers of the same memory share the result.
    const std::shared_ptr<const Bytes>& Get(const Layer& constant, DataType type)
    {
        return Make(constant, type).m_Bytes;
    }
    /// The same for values that become a part of the network, with a message if any were clamped.
    const std::shared_ptr<const Bytes>& Use(const Layer& constant, DataType type);

private:
    using Key = std::tuple<const void*, size_t, DataType, DataType>;
    struct Made
    {
        std::shared_ptr<const Bytes> m_Bytes;
        size_t m_NumClamped = 0; ///< values that were clamped and have not been reported yet
    };

    Made& Make(const Layer& constant, DataType type);

    std::map<Key, Made> m_Made;
    std::vector<std::string>& m_Messages;
};

ConvertedConstants::Made& ConvertedConstants::Make(const Layer& constant, DataType type)
{
    const ConstTensor& tensor = constant.GetConstant()->m_Tensor;
    const DataType from = tensor.GetInfo().GetDataType();
    const size_t count = tensor.GetInfo().GetNumElements();
    Made& made = m_Made[Key(tensor.GetMemoryArea(), count, from, type)];
    if (made.m_Bytes != nullptr)
    {
        return made;
    }
    const auto* source = static_cast<const std::byte*>(tensor.GetMemoryArea());
    auto bytes = std::make_shared<Bytes>(count * GetDataTypeSize(type));
    std::array<float, ChunkElements> floats{};
    for (size_t first = 0; first < count; first += ChunkElements)
    {
        const size_t chunk = std::min(ChunkElements, count - first);
        Load(from, source, first, chunk, floats.data());
        made.m_NumClamped += type == DataType::Float16 ? ClampToF16(floats.data(), chunk) : 0;
        Store(type, floats.data(), first, chunk, bytes->data());
    }
    made.m_Bytes = std::move(bytes);
    return made;
}

const std::shared_ptr<const ConvertedConstants::Bytes>& ConvertedConstants::Use(const Layer& constant, DataType type)
{
    Made& made = Make(constant, type);
    if (made.m_NumClamped != 0)
    {
        m_Messages.push_back(fmt::format("WARNING: {} of {} values of {} are beyond the range of Float16; they become "
                                         "its largest number, {}",
                                         made.m_NumClamped, constant.GetConstant()->m_Tensor.GetInfo().GetNumElements(),
                                         constant.Describe(), MaxF16));
        made.m_NumClamped = 0;
    }
    return made.m_Bytes;
}

constexpr size_t MaxNamedLayers = 50; ///< of one message

/// The layers that run in Float32 in place of 16 bits, and why.
class Float32Notes
{
public:
    /// Also makes it the reason of the layer's assignment.
    void Add(Layer& layer, DataType inPlaceOf, const std::string& reason);
    /// One message for each cause, with the names of the layers.
    void Report(std::vector<std::string>& messages) const;

private:
    struct Note
    {
        std::string m_Cause;
        std::vector<std::string> m_Layers;
    };

    std::vector<Note> m_Notes;
    std::map<std::string, size_t> m_NoteOf; ///< by cause
};

void Float32Notes::Add(Layer& layer, DataType inPlaceOf, const std::string& reason)
{
    layer.SetAssignmentReason(fmt::format("Float32 in place of {}: {}", GetDataTypeName(inPlaceOf), reason));
    const auto [entry, isNew] = m_NoteOf.emplace(layer.GetAssignmentReason(), m_Notes.size());
    if (isNew)
    {
        m_Notes.push_back({layer.GetAssignmentReason(), {}});
    }
    m_Notes[entry->second].m_Layers.push_back(fmt::format("{} '{}'", GetTypeText(layer), layer.GetNameStr()));
}

void Float32Notes::Report(std::vector<std::string>& messages) const
{
    for (const Note& note : m_Notes)
    {
        const std::vector<std::string>& layers = note.m_Layers;
        if (layers.size() == 1)
        {
            messages.push_back(fmt::format("WARNING: Layer of type {} runs in {}", layers.front(), note.m_Cause));
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
        messages.push_back(fmt::format("WARNING: {} layers run in {}: {}{}", layers.size(), note.m_Cause, names, more));
    }
}

/// What becomes of the floating-point tensors that a layer reads and writes.
enum class Width : uint8_t
{
    Keep,
    Narrow, ///< Float32 becomes the type to reduce to
    Widen   ///< Float16 and BFloat16 become Float32
};

inline bool Is16BitFloat(DataType type)
{
    return type == DataType::Float16 || type == DataType::BFloat16;
}

/// Changes tensors of a graph between Float32 and 16 bits, as Fitter has decided for each layer, and puts conversions
/// where layers of two widths meet.
class WidthChanger
{
public:
    /// Narrow means `reduceTo`; empty where nothing is narrowed. Constants are converted by `constants`.
    WidthChanger(Optional<DataType> reduceTo, ConvertedConstants& constants)
        : m_ReduceTo(reduceTo), m_Constants(constants)
    {
    }

    /// The type at `width` of a tensor of type `type`.
    DataType Mapped(DataType type, Width width) const;
    /// Gives the layers these widths, by index. Conversions that undo each other go, and so does what nobody reads
    /// then.
    void Apply(Graph& graph, const std::vector<Width>& widths);

private:
    /// Gives the input its value in the type that its layer is to read.
    void FitInput(Graph& graph, InputSlot& input, Width reader, Width writer);
    OutputSlot& Convert(Graph& graph, OutputSlot& value, DataType from, DataType to);

    const Optional<DataType> m_ReduceTo;
    ConvertedConstants& m_Constants;
    /// Of the graph under way: values in another type than the one they are made in.
    std::map<std::pair<const OutputSlot*, DataType>, OutputSlot*> m_Converted;
};

DataType WidthChanger::Mapped(DataType type, Width width) const
{
    if (width == Width::Narrow && type == DataType::Float32)
    {
        return m_ReduceTo.value();
    }
    return width == Width::Widen && Is16BitFloat(type) ? DataType::Float32 : type;
}

void WidthChanger::Apply(Graph& graph, const std::vector<Width>& widths)
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
    passes::OptimizeInverseConversions(graph);
    passes::RemoveDeadLayers(graph);
}

void WidthChanger::FitInput(Graph& graph, InputSlot& input, Width reader, Width writer)
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

OutputSlot& WidthChanger::Convert(Graph& graph, OutputSlot& value, DataType from, DataType to)
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

/// Decides which layer has which width.
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
            const std::shared_ptr<const IBackend> backend =
                reason == nullptr ? Choose(layer, Width::Narrow, refusals) : nullptr;
            if (backend != nullptr && IsFasterReduced(*backend))
            {
                return Width::Narrow;
            }
            m_Notes.Add(layer, m_ReduceTo.value(),
                        reason != nullptr ? reason
                        : backend != nullptr
                            ? fmt::format("{} computes BFloat16 no faster on this processor", backend->GetId().Get())
                            : refusals.m_Reasons);
        }
        if (Concerns(layer, Width::Widen) && WhyTypesStay(layer) == nullptr)
        {
            Refusals refusals;
            Refusals wideRefusals;
            if (Choose(layer, Width::Keep, refusals) == nullptr && Choose(layer, Width::Widen, wideRefusals) != nullptr)
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

    /// The backend that takes the layer with its tensors at `width`; null if none does.
    std::shared_ptr<const IBackend> Choose(const Layer& layer, Width width, Refusals& refusals)
    {
        return AskAt(layer, width, [&](const LayerView& view) { return m_Chooser->Choose(layer, view, refusals); });
    }

    /// Whether layers gain from the type to reduce to. A backend says of BFloat16 that they do not, by its capability
    /// FastBFloat16.
    bool IsFasterReduced(const IBackend& backend)
    {
        if (m_ReduceTo.value() != DataType::BFloat16)
        {
            return true;
        }
        const auto [entry, isNew] = m_HasFastBf16.emplace(backend.GetId(), true);
        if (isNew)
        {
            entry->second =
                !HasCapability(BackendOptions::BackendOption("FastBFloat16", false), backend.GetCapabilities());
        }
        return entry->second;
    }

    /// The answer of `ask` about the layer with its tensors at `width`.
    template <typename Ask>
    std::invoke_result_t<Ask, const LayerView&> AskAt(const Layer& layer, Width width, Ask ask)
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
    std::map<BackendId, bool> m_HasFastBf16;
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
