// SPDX-License-Identifier: Apache-2.0
// TfLiteParser: see TfLiteParser.hpp.
#include "parsers/tflite/TfLiteParser.hpp"

#include "parsers/common/ModelFile.hpp"
#include "parsers/tflite/Metadata.hpp"
#include "parsers/tflite/SubgraphReader.hpp"
#include "parsers/tflite/containers/ContainedModel.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <iterator>
#include <tflite_generated.h>
#include <utility>

namespace tenon
{

ITfLiteParser* ITfLiteParser::CreateRaw(const Optional<TfLiteParserOptions>& options)
{
    return new tflite::TfLiteParser(options.has_value() ? options.value() : TfLiteParserOptions());
}

ITfLiteParserPtr ITfLiteParser::Create(const Optional<TfLiteParserOptions>& options)
{
    return {CreateRaw(options), &ITfLiteParser::Destroy};
}

void ITfLiteParser::Destroy(ITfLiteParser* parser)
{
    delete parser;
}

} // namespace tenon

namespace tenon::tflite
{

namespace
{

/// The model's list of inputs or outputs, and behind it further places for tensors that have more names in the
/// signature than places in the list.
std::vector<int32_t> ListPlaces(const flatbuffers::Vector<int32_t>* list,
                                const std::multimap<size_t, std::string>& names)
{
    struct Counts
    {
        size_t m_Names = 0;
        size_t m_Places = 0;
    };
    std::map<int32_t, Counts> named;
    for (const auto& [tensor, name] : names)
    {
        ++named[static_cast<int32_t>(tensor)].m_Names;
    }
    std::vector<int32_t> places;
    for (unsigned int i = 0; list != nullptr && i < list->size(); ++i)
    {
        places.push_back(list->Get(i));
        const auto found = named.find(places.back());
        if (found != named.end())
        {
            ++found->second.m_Places;
        }
    }
    for (const auto& [tensor, counts] : named)
    {
        if (counts.m_Places != 0 && counts.m_Names > counts.m_Places)
        {
            places.insert(places.end(), counts.m_Names - counts.m_Places, tensor);
        }
    }
    return places;
}

} // namespace

INetworkPtr TfLiteParser::CreateNetworkFromBinaryFile(const char* graphFile)
{
    return parsers::WithModelFile(graphFile, [&](const std::string& path)
                                  { return Open(ModelBytes::FromFile(path, m_Options.m_Limits)); });
}

INetworkPtr TfLiteParser::CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent)
{
    return Open(ModelBytes::FromCopy(binaryContent, m_Options.m_Limits));
}

INetworkPtr TfLiteParser::CreateNetworkFromMemory(const void* data, size_t bytes)
{
    if (data == nullptr)
    {
        throw InvalidArgumentException("CreateNetworkFromMemory: the data is null");
    }
    constexpr size_t anyAlignment = 1;
    return Open(ModelBytes::FromMemory({static_cast<const uint8_t*>(data), bytes}, anyAlignment, m_Options.m_Limits));
}

INetworkPtr TfLiteParser::Open(const ModelBytes& file)
{
    m_Entries.clear();
    const std::vector<ContainedModel> models = ListModels(file.m_Bytes, m_Options.m_Limits);
    m_Entries = NamesOf(models);
    const ContainedModel& chosen = ChooseModel(models, m_Options.m_Entry);
    try
    {
        return Parse(Model::FromFile(file, chosen, m_Options.m_Limits));
    }
    catch (Exception& error)
    {
        if (!chosen.m_Name.empty())
        {
            error.AddContext(fmt::format("'{}'", chosen.m_Name));
        }
        throw;
    }
}

INetworkPtr TfLiteParser::Parse(Model model)
{
    m_Inputs = {};
    m_Outputs = {};
    m_Metadata = {};
    m_NumSubgraphs = model.NumSubgraphs();
    ChooseSubgraph(model);
    const bool inferShapes = m_Options.m_InferAndValidate || !m_Options.m_InputShapes.empty();
    ModelSubgraphs subgraphs(model, inferShapes);
    Construction construction(m_Options.m_Limits);
    construction.m_Owner = model.Owner();
    construction.m_StandInForUnsupported = m_Options.m_StandInLayerForUnsupported;
    construction.m_CustomOperators = m_Options.m_CustomOperators;
    construction.m_Subgraphs = &subgraphs;
    NetworkState state;
    SubgraphReader reader(model, m_Subgraph, inferShapes, SubgraphReader::Use::Once);
    NetworkBuilder builder(construction, state, m_Subgraph, reader.NumTensors());
    const schema::SubGraph& subgraph = model.Subgraph(m_Subgraph);
    const auto context = [&] { return reader.Describe(); };
    WithModelContext(context, [&] { AddInputs(subgraph, reader.Tensors(), builder); });
    m_Inputs.m_Table.CheckShapes(m_Options.m_InputShapes);
    reader.AddOperators(builder);
    WithModelContext(context, [&] { AddOutputs(subgraph, reader.Tensors(), builder); });
    builder.WriteStates();
    m_Metadata = ReadMetadata(model, m_Subgraph, m_Inputs.m_Tensors, m_Outputs.m_Tensors);
    return std::move(state.m_Network);
}

void TfLiteParser::ChooseSubgraph(Model& model)
{
    m_SignatureNames.clear();
    m_Subgraph = m_Options.m_Subgraph;
    bool isFound = m_Options.m_Signature.empty();
    const auto* signatures = model.Root().signature_defs();
    for (unsigned int i = 0; signatures != nullptr && i < signatures->size(); ++i)
    {
        const auto* key = signatures->Get(i)->signature_key();
        model.Charge(key != nullptr ? key->size() : 0);
        m_SignatureNames.push_back(key != nullptr ? key->str() : std::string());
        if (!isFound && m_SignatureNames.back() == m_Options.m_Signature)
        {
            isFound = true;
            m_Subgraph = signatures->Get(i)->subgraph_index();
            auto name = [&](const auto* maps, Bindings& bindings)
            {
                for (unsigned int k = 0; maps != nullptr && k < maps->size(); ++k)
                {
                    if (maps->Get(k)->name() != nullptr)
                    {
                        model.Charge(maps->Get(k)->name()->size());
                        bindings.m_SignatureNames.emplace(maps->Get(k)->tensor_index(), maps->Get(k)->name()->str());
                    }
                }
            };
            name(signatures->Get(i)->inputs(), m_Inputs);
            name(signatures->Get(i)->outputs(), m_Outputs);
        }
    }
    if (!isFound)
    {
        throw InvalidArgumentException(fmt::format("the model has no signature '{}'; its signatures are {}",
                                                   m_Options.m_Signature, parsers::Quote(m_SignatureNames)));
    }
    const size_t numSubgraphs = model.Root().subgraphs() != nullptr ? model.Root().subgraphs()->size() : 0;
    if (m_Options.m_Signature.empty() && m_Subgraph != 0 && m_Subgraph >= numSubgraphs)
    {
        throw InvalidArgumentException(fmt::format("the model has no subgraph {}; it has {} of them, and its "
                                                   "signatures are {}",
                                                   m_Subgraph, numSubgraphs, parsers::Quote(m_SignatureNames)));
    }
}

void TfLiteParser::AddInputs(const schema::SubGraph& subgraph, TensorTable& tensors, NetworkBuilder& builder)
{
    const std::vector<int32_t> inputs = ListPlaces(subgraph.inputs(), m_Inputs.m_SignatureNames);
    for (size_t i = 0; i < inputs.size(); ++i)
    {
        const int32_t index = inputs[i];
        WithModelContext([&] { return fmt::format("graph input {}", i); },
                         [&]
                         {
                             // An absent entry or one with values in the file is nothing to feed.
                             if (index == -1 || tensors.HasData(index))
                             {
                                 return;
                             }
                             const TensorView& tensor = tensors.Get(index);
                             const LayerBindingId id = m_Inputs.m_Table.NextId();
                             const std::string name = m_Inputs.AddName(tensor);
                             ReshapeInput(index, name, tensors);
                             builder.AddInput(tensor, id, name);
                             TensorInfo info = tensor.m_Info;
                             if (!tensors.TellsRanks() &&
                                 info.GetShape().GetDimensionality() == Dimensionality::NotSpecified)
                             {
                                 // As in TFLite, an input without sizes takes one element unless the caller gives it
                                 // a shape. The network leaves its rank open.
                                 info.SetShape(TensorShape(Dimensionality::Scalar));
                             }
                             // As in Arm NN: a ConstTensor, which is how inputs are given, is made from it as it is.
                             info.SetConstant();
                             m_Inputs.m_Table.Set(name, {id, info});
                         });
    }
}

void TfLiteParser::ReshapeInput(int32_t index, const std::string& name, TensorTable& tensors) const
{
    const auto found = m_Options.m_InputShapes.find(name);
    if (found != m_Options.m_InputShapes.end())
    {
        tensors.Reshape(index, found->second);
    }
}

void TfLiteParser::AddOutputs(const schema::SubGraph& subgraph, TensorTable& tensors, NetworkBuilder& builder)
{
    const std::vector<int32_t> outputs = ListPlaces(subgraph.outputs(), m_Outputs.m_SignatureNames);
    InferredShapes shapes;
    for (size_t i = 0; i < outputs.size(); ++i)
    {
        WithModelContext([&] { return fmt::format("graph output {}", i); },
                         [&]
                         {
                             const TensorView& tensor = tensors.Get(outputs[i]);
                             const LayerBindingId id = m_Outputs.m_Table.NextId();
                             const std::string name = m_Outputs.AddName(tensor);
                             TensorInfo info = tensor.m_Info;
                             const IOutputSlot& source = builder.AddOutput(tensor, id, name);
                             // What computes it may be of another type: an option decides in some operators.
                             info.SetDataType(source.GetTensorInfo().GetDataType());
                             info.SetShape(ShapeOfOutput(tensor, source, shapes));
                             m_Outputs.m_Table.Set(name, {id, info});
                         });
    }
}

/// All of it is known where that is possible: programs size the memory of outputs by it.
TensorShape TfLiteParser::ShapeOfOutput(const TensorView& tensor, const IOutputSlot& source,
                                        InferredShapes& shapes) const
{
    if (source.GetTensorInfo().GetShape().AreAllDimensionsSpecified())
    {
        return source.GetTensorInfo().GetShape();
    }
    // The shape that the file gives holds unless the caller changes what it follows from.
    const bool isAsInFile = m_Options.m_InputShapes.empty();
    if (isAsInFile && tensor.m_DeclaredShape.AreAllDimensionsSpecified())
    {
        return tensor.m_DeclaredShape;
    }
    const TensorShape inferred = shapes.Get(source);
    if (inferred.AreAllDimensionsSpecified())
    {
        return inferred;
    }
    return isAsInFile ? tensor.m_WrittenShape : tensor.m_Info.GetShape();
}

/// The signature's name, else the tensor's, else one made from its index; with a number behind it if there is such a
/// name. Where the signature has several names for the tensor, each place in the model's list takes the next one.
std::string TfLiteParser::Bindings::AddName(const TensorView& tensor)
{
    m_Tensors.push_back(static_cast<int32_t>(tensor.m_Index));
    const auto [first, last] = m_SignatureNames.equal_range(tensor.m_Index);
    const std::string base = first != last           ? first->second
                             : tensor.m_Name.empty() ? fmt::format("tensor_{}", tensor.m_Index)
                                                     : tensor.m_Name;
    if (first != last && std::next(first) != last)
    {
        m_SignatureNames.erase(first);
    }
    std::string name = m_Table.AddName(base);
    m_Table.AddAlias(tensor.m_Name);
    return name;
}

void TfLiteParser::CheckSubgraph(size_t subgraphId) const
{
    if (subgraphId != m_Subgraph)
    {
        throw ParseException(fmt::format("subgraph {} has no bindings: subgraph {} is the network; choose another with "
                                         "TfLiteParserOptions::m_Subgraph",
                                         subgraphId, m_Subgraph));
    }
}

BindingPointInfo TfLiteParser::GetNetworkInputBindingInfo(size_t subgraphId, const std::string& name) const
{
    CheckSubgraph(subgraphId);
    return m_Inputs.m_Table.Find(name, "input");
}

BindingPointInfo TfLiteParser::GetNetworkOutputBindingInfo(size_t subgraphId, const std::string& name) const
{
    CheckSubgraph(subgraphId);
    return m_Outputs.m_Table.Find(name, "output");
}

std::vector<std::string> TfLiteParser::GetSubgraphInputTensorNames(size_t subgraphId) const
{
    CheckSubgraph(subgraphId);
    return m_Inputs.m_Table.Names();
}

std::vector<std::string> TfLiteParser::GetSubgraphOutputTensorNames(size_t subgraphId) const
{
    CheckSubgraph(subgraphId);
    return m_Outputs.m_Table.Names();
}

} // namespace tenon::tflite
