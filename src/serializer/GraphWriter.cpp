// SPDX-License-Identifier: Apache-2.0
// WriteGraphs: see GraphWriter.hpp.
#include "serializer/GraphWriter.hpp"

#include "serializer/Attributes.hpp"
#include "serializer/Format.hpp"
#include "serializer/TensorInfos.hpp"

#include <tenon/backend/ICustomOperator.hpp>

#include <fmt/format.h>

namespace tenon::serializer
{

namespace
{

/// Writes layer by layer; nested graphs are numbered as they are met and written after the graph that they are in.
class GraphWriter
{
public:
    GraphWriter(FileWriter& file, const BackendRegistry* backends) : m_File(file), m_Backends(backends) {}

    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Graph>>> Write(const Graph& root)
    {
        m_Graphs.push_back(&root);
        std::vector<flatbuffers::Offset<schema::Graph>> written;
        for (size_t i = 0; i < m_Graphs.size(); ++i) // grows on the way
        {
            written.push_back(WriteGraph(*m_Graphs[i]));
        }
        return m_File.Builder().CreateVector(written);
    }

private:
    flatbuffers::Offset<schema::Graph> WriteGraph(const Graph& graph)
    {
        ValidateGraph(graph);
        std::vector<flatbuffers::Offset<schema::Layer>> layers;
        layers.reserve(graph.Size());
        for (const auto& layer : graph.Layers())
        {
            try
            {
                layers.push_back(WriteLayer(*layer));
            }
            catch (InvalidArgumentException& error)
            {
                error.AddContext(fmt::format("writing {}", layer->Describe()));
                throw;
            }
        }
        return schema::CreateGraphDirect(m_File.Builder(), &layers);
    }

    flatbuffers::Offset<schema::Layer> WriteLayer(const Layer& layer)
    {
        flatbuffers::FlatBufferBuilder& builder = m_File.Builder();
        const auto type = m_File.AddText(layer.GetSchema().m_Name);
        const auto name = m_File.AddOptionalText(layer.GetNameStr());
        const auto attributes = WriteDescriptor(m_File, layer.GetType(), layer.GetParameters());
        const auto inputs = WriteInputs(layer);
        const auto overrides = WriteOverrides(layer);
        const auto outputs = WriteOutputs(layer);
        const auto constant = WriteConstant(layer);
        std::vector<uint32_t> bodies;
        for (const auto& body : layer.Bodies())
        {
            bodies.push_back(static_cast<uint32_t>(m_Graphs.size()));
            m_Graphs.push_back(body.get());
        }
        const auto bodyIndices = builder.CreateVector(bodies);
        const auto hint = m_File.AddOptionalText(
            layer.GetBackendHint().has_value() ? layer.GetBackendHint().value().Get() : std::string());
        const auto customOperator = m_File.AddOptionalText(OperatorName(layer));
        const auto assignment = WriteAssignment(layer);

        schema::LayerBuilder made(builder);
        made.add_type(type);
        made.add_name(name);
        made.add_guid(layer.GetGuid());
        made.add_attributes(attributes);
        made.add_inputs(inputs);
        made.add_overrides(overrides);
        made.add_outputs(outputs);
        made.add_first_own_constant(layer.m_FirstOwnConstant);
        made.add_binding_id(layer.GetBindingId());
        made.add_constant(constant);
        made.add_bodies(bodyIndices);
        made.add_backend_hint(hint);
        made.add_custom_operator(customOperator);
        made.add_assignment(assignment);
        return made.Finish();
    }

    flatbuffers::Offset<flatbuffers::Vector<const schema::Connection*>> WriteInputs(const Layer& layer)
    {
        const uint32_t wanted = layer.GetSchema().m_NumInputs(layer.GetParameters());
        std::vector<schema::Connection> inputs;
        for (const InputSlot& input : layer.Inputs())
        {
            const OutputSlot* source = input.GetConnectedOutputSlot();
            if (source == nullptr && input.GetSlotIndex() >= wanted)
            {
                continue; // a slot for a parameter that the optimizer has put into the descriptor
            }
            inputs.push_back(source == nullptr ? schema::Connection(NotConnected, 0)
                                               : schema::Connection(source->GetOwningLayer().m_Index,
                                                                    source->CalculateIndexOnOwner()));
        }
        return m_File.Builder().CreateVectorOfStructs(inputs);
    }

    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Override>>> WriteOverrides(const Layer& layer)
    {
        std::vector<flatbuffers::Offset<schema::Override>> overrides;
        for (const InputSlot& input : layer.Inputs())
        {
            if (input.IsTensorInfoOverridden())
            {
                const auto info = WriteTensorInfo(m_File, input.GetTensorInfo());
                overrides.push_back(schema::CreateOverride(m_File.Builder(), input.GetSlotIndex(), info));
            }
        }
        return m_File.Builder().CreateVector(overrides);
    }

    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Output>>> WriteOutputs(const Layer& layer)
    {
        std::vector<flatbuffers::Offset<schema::Output>> outputs;
        for (const OutputSlot& output : layer.Outputs())
        {
            flatbuffers::Offset<schema::TensorInfo> info;
            if (output.IsTensorInfoSet())
            {
                info = WriteTensorInfo(m_File, output.GetTensorInfo());
            }
            outputs.push_back(schema::CreateOutput(m_File.Builder(), info));
        }
        return m_File.Builder().CreateVector(outputs);
    }

    flatbuffers::Offset<schema::Constant> WriteConstant(const Layer& layer)
    {
        if (layer.GetConstant() == nullptr)
        {
            return {};
        }
        const ConstTensor& tensor = layer.GetConstant()->m_Tensor;
        const auto info = WriteTensorInfo(m_File, tensor.GetInfo());
        const uint32_t buffer = m_File.AddBuffer(tensor.GetMemoryArea(), tensor.GetNumBytes());
        return schema::CreateConstant(m_File.Builder(), info, buffer);
    }

    flatbuffers::Offset<schema::Assignment> WriteAssignment(const Layer& layer)
    {
        if (m_Backends == nullptr)
        {
            if (layer.GetBlob() != nullptr)
            {
                throw UnimplementedException(
                    fmt::format("{} holds a blob that a backend compiled; only optimized networks are written with "
                                "such layers",
                                layer.Describe()));
            }
            return {};
        }
        const auto backend = m_File.AddText(layer.GetBackendId().Get());
        const auto reason = m_File.AddOptionalText(layer.GetAssignmentReason());
        const auto code = m_File.AddText(GetSupportCodeAsCString(layer.m_AssignmentCode));
        const ActivationDescriptor* fused = layer.GetFusedActivation();
        const auto activation = fused == nullptr ? 0 : WriteDescriptor(m_File, LayerType::Activation, *fused);
        return schema::CreateAssignment(m_File.Builder(), backend, reason, layer.m_Subgraph, code, activation,
                                        WriteBlob(layer));
    }

    /// What a blob is only its backend knows.
    uint32_t WriteBlob(const Layer& layer)
    {
        if (layer.GetBlob() == nullptr)
        {
            return NoBuffer;
        }
        try
        {
            return m_File.AddOwnedBuffer(m_Backends->Get(layer.GetBackendId()).SaveCompiledBlob(layer.GetBlob().get()));
        }
        catch (Exception& error)
        {
            error.AddContext(fmt::format("writing what was compiled for {}", layer.Describe()));
            throw;
        }
    }

    static std::string OperatorName(const Layer& layer)
    {
        if (layer.GetType() != LayerType::Custom || layer.Descriptor<CustomDescriptor>().m_Operator == nullptr)
        {
            return {};
        }
        std::string name = layer.Descriptor<CustomDescriptor>().m_Operator->GetName();
        if (name.empty())
        {
            throw InvalidArgumentException("its operator is the application's own and has no name to find it by");
        }
        return name;
    }

    FileWriter& m_File;
    const BackendRegistry* m_Backends; ///< null: the network is not optimized
    std::vector<const Graph*> m_Graphs;
};

} // namespace

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Graph>>>
WriteGraphs(FileWriter& file, const Graph& graph, const BackendRegistry* backends)
{
    return GraphWriter(file, backends).Write(graph);
}

} // namespace tenon::serializer
