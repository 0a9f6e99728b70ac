// SPDX-License-Identifier: Apache-2.0
// ReadNetwork: see ReadNetwork.hpp. Layers stand in a file in any order and refer to each other by their indices, which
// are numbers of the file's own.
#include "parsers/armnn/ArmnnFile.hpp"
#include "parsers/armnn/LayerReader.hpp"
#include "parsers/armnn/Layers.hpp"
#include "parsers/armnn/NetworkBuilder.hpp"
#include "parsers/armnn/ReadNetwork.hpp"
#include "parsers/armnn/TensorReader.hpp"
#include "text/Utf8.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <armnn_generated.h>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon::arm_nn
{

namespace
{

/// A layer by its place in the file's list.
using Place = uint32_t;

struct FileLayer
{
    const schema::AnyLayer* m_Source = nullptr;
    const schema::LayerBase* m_Base = nullptr;
    std::vector<const schema::InputSlot*> m_InputSlots = {};   ///< by their numbers
    std::vector<const schema::OutputSlot*> m_OutputSlots = {}; ///< by their numbers
    IConnectableLayer* m_Layer = nullptr;                      ///< once it is added
    /// By their numbers in the file. Readers of the layer are connected here.
    std::vector<IOutputSlot*> m_Outputs = {};
    IOutputSlot* m_Transposed = nullptr; ///< a Constant's output as transposed depthwise weights; null: none
    bool m_IsListed = false;             ///< an Input or Output that the file's list of bindings has
};

template <typename Vector>
uint32_t SizeOf(const Vector* vector)
{
    return vector != nullptr ? vector->size() : 0;
}

constexpr uint32_t DepthwiseWeightsInput = 1;

/// Depthwise weights in files of the first layout are [M, I, H, W].
constexpr uint32_t FirstScheme = 0;
constexpr uint32_t LastScheme = 1;

class NetworkReader
{
public:
    explicit NetworkReader(ArmnnFile& file)
        : m_File(file), m_Root(file.Root()), m_Network(file.GetLimits(), file.Owner(), file.Budget())
    {
    }

    ArmnnNetwork Read()
    {
        ReadSchemes();
        CollectLayers();
        ListBindings(m_Root.inputIds(), schema::Layer::InputLayer, "inputIds", m_Inputs);
        ListBindings(m_Root.outputIds(), schema::Layer::OutputLayer, "outputIds", m_Outputs);
        FindSources();
        for (const Place place : Order())
        {
            InLayer(place,
                    [&]
                    {
                        Add(place);
                        Connect(place);
                        KeepScalars(place);
                    });
        }
        const std::shared_ptr<Memory>& memory = m_Network.GetMemory();
        return {m_Network.TakeNetwork(), std::shared_ptr<const void>(memory, memory->data())};
    }

private:
    /// "layer 12 'conv1' (Convolution2d)", by the layer's index if it has one.
    std::string Describe(Place place) const
    {
        constexpr size_t MaxNameBytes = 100;
        const FileLayer& layer = m_Layers[place];
        const bool hasName = layer.m_Base != nullptr && layer.m_Base->layerName() != nullptr;
        const std::string_view name = hasName ? layer.m_Base->layerName()->string_view() : std::string_view();
        return fmt::format("layer {} '{}' ({})", layer.m_Base != nullptr ? layer.m_Base->index() : place,
                           text::CutAtCharacter(name, MaxNameBytes),
                           FindKind(*layer.m_Source).value_or("of unknown kind"));
    }

    /// What `function` throws names the layer.
    template <typename Function>
    void InLayer(Place place, Function function) const
    {
        WithModelContext([&] { return Describe(place); }, function);
    }

    schema::Layer KindOf(Place place) const { return m_Layers[place].m_Source->layer_type(); }
    bool IsBound(Place place) const { return IsBindable(*m_Layers[place].m_Source); }

    void ReadSchemes()
    {
        const schema::FeatureCompatibilityVersions* const versions = m_Root.featureVersions();
        if (versions == nullptr)
        {
            return;
        }
        m_BindingIds = versions->bindingIdsScheme();
        m_WeightsLayout = versions->weightsLayoutScheme();
        for (const auto& [name, scheme] :
             {std::pair("bindingIdsScheme", m_BindingIds), std::pair("weightsLayoutScheme", m_WeightsLayout),
              std::pair("constantTensorsAsInputs", versions->constantTensorsAsInputs())})
        {
            if (scheme > LastScheme)
            {
                throw ParseException(
                    fmt::format("the file has {} {}; versions up to {} are read", name, scheme, LastScheme));
            }
        }
    }

    void CollectLayers()
    {
        const auto& list = *m_Root.layers();
        if (list.size() > m_File.GetLimits().m_MaxLayers)
        {
            throw ParseException(fmt::format("{} layers, more than the limit of {}; raise Limits::m_MaxLayers",
                                             list.size(), m_File.GetLimits().m_MaxLayers));
        }
        std::set<std::string> unknown;
        for (Place i = 0; i < list.size(); ++i)
        {
            if (list.Get(i)->layer() == nullptr)
            {
                throw ParseException(fmt::format("layer {} has no content", i));
            }
            m_Layers.push_back({list.Get(i)});
            const std::optional<std::string_view> kind = FindKind(*list.Get(i));
            if (!kind || FindRow(*kind) == nullptr)
            {
                unknown.insert(kind ? std::string(*kind)
                                    : fmt::format("number {}", static_cast<int>(list.Get(i)->layer_type())));
            }
        }
        if (!unknown.empty())
        {
            std::string names;
            for (const std::string& name : unknown)
            {
                names += (names.empty() ? "" : ", ") + name;
            }
            throw UnimplementedException(
                fmt::format("the network has layers of kinds that Arm NN 23.08 does not have: {}; write the file with "
                            "an older Arm NN, or run the TensorFlow Lite model that it was made from",
                            names));
        }
        for (Place i = 0; i < m_Layers.size(); ++i)
        {
            InLayer(i,
                    [&]
                    {
                        m_Layers[i].m_Base = &GetBase(*m_Layers[i].m_Source);
                        m_Layers[i].m_InputSlots = SortSlots("input", m_Layers[i].m_Base->inputSlots());
                        m_Layers[i].m_OutputSlots = SortSlots("output", m_Layers[i].m_Base->outputSlots());
                        if (!m_Places.emplace(m_Layers[i].m_Base->index(), i).second)
                        {
                            throw ParseException("another layer has the same index");
                        }
                    });
        }
    }

    /// Slots in the order of their numbers, by which connections refer to them, as in Arm NN: the file may list them in
    /// any. Throws ParseException where the numbers are not those from 0 on, each once.
    template <typename Slot>
    std::vector<const Slot*> SortSlots(const char* kind, const flatbuffers::Vector<flatbuffers::Offset<Slot>>* list)
    {
        m_File.Budget().Charge(SizeOf(list) * sizeof(const Slot*));
        std::vector<const Slot*> slots(SizeOf(list));
        for (uint32_t i = 0; i < slots.size(); ++i)
        {
            const Slot* const slot = list->Get(i);
            const uint32_t number = slot->index();
            if (number >= slots.size() || slots[number] != nullptr)
            {
                throw ParseException(fmt::format("{} {} of its list has the index {}, {}", kind, i, number,
                                                 number >= slots.size()
                                                     ? fmt::format("but the list has {}", slots.size())
                                                     : "which another one has, too"));
            }
            slots[number] = slot;
        }
        return slots;
    }

    LayerBindingId BindingIdOf(Place place) const { return FindBindable(*m_Layers[place].m_Source)->layerBindingId(); }

    /// The Input or Output layers in the order in which the file lists them: by their indices in old files, by their
    /// binding ids in later ones.
    void ListBindings(const flatbuffers::Vector<int32_t>* ids, schema::Layer kind, const char* list,
                      std::vector<Place>& places)
    {
        std::unordered_map<int64_t, Place> byId;
        for (Place i = 0; i < m_Layers.size(); ++i)
        {
            if (KindOf(i) == kind)
            {
                const int64_t id = m_BindingIds == FirstScheme ? m_Layers[i].m_Base->index() : BindingIdOf(i);
                if (!byId.emplace(id, i).second)
                {
                    InLayer(i, [&] { throw ParseException(fmt::format("another layer has binding id {}, too", id)); });
                }
            }
        }
        for (uint32_t i = 0; i < SizeOf(ids); ++i)
        {
            const auto found = byId.find(ids->Get(i));
            if (found == byId.end() || m_Layers[found->second].m_IsListed)
            {
                throw ParseException(fmt::format(
                    "{} has {} {} in place {}, {}", list, m_BindingIds == FirstScheme ? "the index" : "the binding id",
                    ids->Get(i), i, found == byId.end() ? "which no such layer has" : "which stands there twice"));
            }
            m_Layers[found->second].m_IsListed = true;
            places.push_back(found->second);
        }
        for (const auto& [id, place] : byId)
        {
            if (!m_Layers[place].m_IsListed)
            {
                InLayer(place, [&] { throw ParseException(fmt::format("{} does not list it", list)); });
            }
        }
    }

    /// The place of the layer that feeds an input, and its output, by their numbers.
    std::pair<Place, uint32_t> SourceOf(Place place, uint32_t input) const
    {
        const schema::InputSlot& slot = *m_Layers[place].m_InputSlots[input];
        if (slot.connection() == nullptr)
        {
            throw ParseException(fmt::format("input {} is not connected", input));
        }
        const auto found = m_Places.find(slot.connection()->sourceLayerIndex());
        const uint32_t output = slot.connection()->outputSlotIndex();
        if (found == m_Places.end() || output >= m_Layers[found->second].m_OutputSlots.size())
        {
            throw ParseException(fmt::format("input {} takes from output {} of layer {}, which does not exist", input,
                                             output, slot.connection()->sourceLayerIndex()));
        }
        return {found->second, output};
    }

    void FindSources()
    {
        m_Readers.resize(m_Layers.size());
        for (Place place = 0; place < m_Layers.size(); ++place)
        {
            InLayer(place,
                    [&]
                    {
                        const auto numInputs = static_cast<uint32_t>(m_Layers[place].m_InputSlots.size());
                        m_File.Budget().Charge(numInputs * sizeof(std::pair<Place, uint32_t>));
                        for (uint32_t i = 0; i < numInputs; ++i)
                        {
                            m_Readers[SourceOf(place, i).first].emplace_back(place, i);
                        }
                    });
        }
    }

    /// Whether the input is that of depthwise weights in a file that has them as [M, I, H, W].
    bool TakesOldDepthwiseWeights(Place place, uint32_t input) const
    {
        return m_WeightsLayout == FirstScheme && input == DepthwiseWeightsInput &&
               KindOf(place) == schema::Layer::DepthwiseConvolution2dLayer;
    }

    /// The order of adding: inputs, then layers that compute, each after the layers that feed it and otherwise in the
    /// order of the file, then outputs. Throws ParseException for layers that feed each other.
    std::vector<Place> Order() const
    {
        std::vector<uint32_t> open(m_Layers.size());
        std::priority_queue<Place, std::vector<Place>, std::greater<>> ready;
        const auto settle = [&](Place place)
        {
            if (!IsBound(place))
            {
                ready.push(place);
            }
        };
        for (Place place = 0; place < m_Layers.size(); ++place)
        {
            open[place] = static_cast<uint32_t>(m_Layers[place].m_InputSlots.size());
            if (open[place] == 0)
            {
                settle(place);
            }
        }
        std::vector<Place> order = m_Inputs;
        const auto feed = [&](Place source)
        {
            for (const auto& [reader, input] : m_Readers[source])
            {
                if (--open[reader] == 0)
                {
                    settle(reader);
                }
            }
        };
        std::for_each(m_Inputs.begin(), m_Inputs.end(), feed);
        while (!ready.empty())
        {
            order.push_back(ready.top());
            ready.pop();
            feed(order.back());
        }
        order.insert(order.end(), m_Outputs.begin(), m_Outputs.end());
        for (Place place = 0; place < m_Layers.size() && order.size() != m_Layers.size(); ++place)
        {
            if (!IsBound(place) && open[place] != 0)
            {
                InLayer(place, [&] { throw ParseException("it is in a cycle of layers, or takes from one"); });
            }
        }
        return order;
    }

    /// Adds the layer, with the infos of its outputs. Its inputs are connected later.
    void Add(Place place)
    {
        FileLayer& layer = m_Layers[place];
        LayerParts parts = ReadLayer(m_File, *layer.m_Source);
        const std::vector<Optional<TensorInfo>> outputs = ReadOutputs(layer);
        if (!outputs.empty() && outputs[0].has_value())
        {
            parts.m_OutputType = outputs[0].value().GetDataType();
        }
        if (KindOf(place) == schema::Layer::ConstantLayer)
        {
            AddConstant(place, std::move(parts));
        }
        else
        {
            parts.m_HasOldDepthwiseWeights = TakesOldDepthwiseWeights(place, DepthwiseWeightsInput);
            layer.m_Layer = &AddRow(std::move(parts));
        }
        const unsigned int first = FirstOutput(place, outputs.size());
        CheckSlots("outputs", outputs.size(), layer.m_Layer->GetNumOutputSlots() - first);
        for (unsigned int i = 0; i < outputs.size(); ++i)
        {
            layer.m_Outputs.push_back(&layer.m_Layer->GetOutputSlot(first + i));
            if (outputs[i].has_value())
            {
                Declare(place, *layer.m_Outputs.back(), outputs[i].value());
            }
        }
    }

    IConnectableLayer& AddRow(LayerParts parts)
    {
        const LayerView view(std::move(parts));
        m_Network.CountLayer();
        return *FindRow(view.Name())->m_Function(view, m_Network);
    }

    /// Adds the constant transposed for depthwise convolutions whose old weights it is, and as it is for all other
    /// readers, if there are any.
    void AddConstant(Place place, LayerParts parts)
    {
        FileLayer& layer = m_Layers[place];
        const auto& readers = m_Readers[place];
        const auto isDepthwise = [&](const auto& reader)
        { return TakesOldDepthwiseWeights(reader.first, reader.second); };
        const auto numDepthwise = std::count_if(readers.begin(), readers.end(), isDepthwise);
        if (numDepthwise != 0)
        {
            LayerParts transposed = parts;
            transposed.m_HasOldDepthwiseWeights = true;
            layer.m_Layer = &AddRow(std::move(transposed));
            layer.m_Transposed = &layer.m_Layer->GetOutputSlot(0);
        }
        if (numDepthwise == 0 || static_cast<size_t>(numDepthwise) != readers.size())
        {
            layer.m_Layer = &AddRow(std::move(parts));
        }
    }

    /// Earlier releases had a UnidirectionalSequenceLstm without its first two outputs, the states.
    unsigned int FirstOutput(Place place, size_t listed) const
    {
        constexpr unsigned int numStates = 2;
        return KindOf(place) == schema::Layer::UnidirectionalSequenceLstmLayer && listed == 1 ? numStates : 0;
    }

    std::vector<Optional<TensorInfo>> ReadOutputs(const FileLayer& layer)
    {
        std::vector<Optional<TensorInfo>> infos;
        m_File.Budget().Charge(layer.m_OutputSlots.size() * sizeof(TensorInfo));
        for (size_t i = 0; i < layer.m_OutputSlots.size(); ++i)
        {
            const schema::OutputSlot& slot = *layer.m_OutputSlots[i];
            infos.emplace_back();
            if (slot.tensorInfo() != nullptr)
            {
                WithModelContext([&] { return fmt::format("output {}", i); },
                                 [&] { infos.back() = ReadTensorInfo(m_File, *slot.tensorInfo()); });
            }
        }
        return infos;
    }

    /// Sets the declared info of an output. Readers of a constant see the info that its output declares, as in Arm NN;
    /// it may differ from the info of the values in shape, scale and offset. Transposed weights keep their own info.
    void Declare(Place place, IOutputSlot& slot, TensorInfo info) const
    {
        if (KindOf(place) != schema::Layer::ConstantLayer)
        {
            slot.SetTensorInfo(info);
        }
        else if (&slot != m_Layers[place].m_Transposed)
        {
            info.SetConstant();
            if (info.GetDataType() != slot.GetTensorInfo().GetDataType() ||
                info.GetNumBytes() != slot.GetTensorInfo().GetNumBytes())
            {
                throw ParseException(fmt::format("its output is {}, but its values are {}", info.ToString(),
                                                 slot.GetTensorInfo().ToString()));
            }
            slot.SetTensorInfo(info);
        }
    }

    static void CheckSlots(const char* kind, size_t listed, unsigned int wanted)
    {
        if (listed != wanted)
        {
            throw ParseException(fmt::format("it has {} {}, should have {}", listed, kind, wanted));
        }
    }

    void Connect(Place place)
    {
        const FileLayer& target = m_Layers[place];
        const auto listed = static_cast<uint32_t>(target.m_InputSlots.size());
        unsigned int open = 0;
        for (unsigned int i = 0; i < target.m_Layer->GetNumInputSlots(); ++i)
        {
            open += target.m_Layer->GetInputSlot(i).GetConnection() == nullptr ? 1 : 0;
        }
        CheckSlots("inputs", listed, open);
        for (uint32_t i = 0; i < listed; ++i)
        {
            const auto [source, output] = SourceOf(place, i);
            IInputSlot& input = target.m_Layer->GetInputSlot(i);
            IOutputSlot* const transposed =
                TakesOldDepthwiseWeights(place, i) ? m_Layers[source].m_Transposed : nullptr;
            (transposed != nullptr ? transposed : m_Layers[source].m_Outputs[output])->Connect(input);
            const schema::InputSlot& slot = *target.m_InputSlots[i];
            if (slot.isOverridden() && slot.overriddenTensorInfo() != nullptr)
            {
                WithModelContext([&] { return fmt::format("input {}", i); },
                                 [&] { input.SetTensorInfo(ReadTensorInfo(m_File, *slot.overriddenTensorInfo())); });
            }
        }
        for (unsigned int i = 0; i < FirstOutput(place, target.m_Outputs.size()); ++i)
        {
            TensorInfo state = target.m_Layer->GetInputSlot(i + 1).GetTensorInfo();
            state.SetConstant(false);
            target.m_Layer->GetOutputSlot(i).SetTensorInfo(state);
        }
    }

    /// Arm NN declares some results of one element as [1] which are scalars here, and the other way round. Such an
    /// output gets the shape that the layer gives, and a Reshape behind it the declared one, which the rest of the
    /// network relies on.
    void KeepScalars(Place place)
    {
        FileLayer& layer = m_Layers[place];
        const auto isOneElement = [](const TensorShape& shape)
        { return shape.AreAllDimensionsSpecified() && shape.GetNumDimensions() < 2 && shape.GetNumElements64() == 1; };
        const auto isDeclaredSo = [&](const IOutputSlot* slot)
        { return isOneElement(slot->GetTensorInfo().GetShape()); };
        if (KindOf(place) == schema::Layer::InputLayer || KindOf(place) == schema::Layer::ConstantLayer ||
            std::none_of(layer.m_Outputs.begin(), layer.m_Outputs.end(), isDeclaredSo))
        {
            return;
        }
        const std::vector<TensorShape> inferred = InferShapes(*layer.m_Layer);
        const unsigned int first = FirstOutput(place, layer.m_Outputs.size());
        for (unsigned int i = 0; i < layer.m_Outputs.size() && first + i < inferred.size(); ++i)
        {
            TensorInfo info = layer.m_Outputs[i]->GetTensorInfo();
            const TensorShape declared = info.GetShape();
            if (isDeclaredSo(layer.m_Outputs[i]) && isOneElement(inferred[first + i]) &&
                declared != inferred[first + i])
            {
                m_Network.CountLayer();
                IConnectableLayer* const reshape = m_Network->AddReshapeLayer(ReshapeDescriptor(declared), "");
                reshape->GetOutputSlot(0).SetTensorInfo(info);
                info.SetShape(inferred[first + i]);
                layer.m_Outputs[i]->SetTensorInfo(info);
                layer.m_Outputs[i]->Connect(reshape->GetInputSlot(0));
                layer.m_Outputs[i] = &reshape->GetOutputSlot(0);
            }
        }
    }

    /// The shapes of the outputs; none if they do not follow from the inputs. Optimize() gives the reason.
    static std::vector<TensorShape> InferShapes(const IConnectableLayer& layer)
    {
        try
        {
            std::vector<TensorShape> inputs;
            for (unsigned int i = 0; i < layer.GetNumInputSlots(); ++i)
            {
                inputs.push_back(layer.GetInputSlot(i).GetTensorInfo().GetShape());
            }
            return layer.InferOutputShapes(inputs);
        }
        catch (const Exception&)
        {
            return {};
        }
    }

    ArmnnFile& m_File;
    const schema::SerializedGraph& m_Root;
    NetworkBuilder m_Network;
    uint32_t m_BindingIds = FirstScheme;
    uint32_t m_WeightsLayout = FirstScheme;
    std::vector<FileLayer> m_Layers;
    std::unordered_map<uint32_t, Place> m_Places;                   ///< by index
    std::vector<std::vector<std::pair<Place, uint32_t>>> m_Readers; ///< of each layer: layers and their inputs
    std::vector<Place> m_Inputs;
    std::vector<Place> m_Outputs;
};

} // namespace

ArmnnNetwork ReadNetwork(ModelBytes bytes, const Limits& limits)
{
    ArmnnFile file(std::move(bytes), limits);
    return NetworkReader(file).Read();
}

} // namespace tenon::arm_nn
