// SPDX-License-Identifier: Apache-2.0
// Metadata of networks that were read from .tflite and .onnx models.
#include "c_api/Handles.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

namespace tenon::c_api
{

namespace
{

std::vector<const char*> ToPointers(const std::vector<std::string>& texts)
{
    std::vector<const char*> pointers;
    for (const std::string& text : texts)
    {
        pointers.push_back(text.c_str());
    }
    return pointers;
}

/// Empty metadata where the network is of no .tflite model.
const tenon_tensor_metadata* GetPortMetadata(const Ports& ports, const std::deque<PortMetadata>& metadata, size_t index,
                                             const char* kind)
{
    static const PortMetadata none{ITfLiteParser::TensorMetadata()};
    GetPort(ports, index, kind, nullptr, nullptr);
    return metadata.empty() ? none.Get() : metadata.at(index).Get();
}

} // namespace

PortMetadata::PortMetadata(const ITfLiteParser::TensorMetadata& metadata)
    : m_Metadata(metadata), m_Labels(ToPointers(m_Metadata.m_AxisLabels)),
      m_ValueLabels(ToPointers(m_Metadata.m_ValueLabels))
{
    m_CMetadata.struct_size = sizeof(m_CMetadata);
    m_CMetadata.name = m_Metadata.m_Name.c_str();
    m_CMetadata.description = m_Metadata.m_Description.c_str();
    m_CMetadata.num_means = m_Metadata.m_Mean.size();
    m_CMetadata.means = m_Metadata.m_Mean.data();
    m_CMetadata.num_stds = m_Metadata.m_Std.size();
    m_CMetadata.stds = m_Metadata.m_Std.data();
    m_CMetadata.num_labels = m_Labels.size();
    m_CMetadata.labels = m_Labels.data();
    m_CMetadata.num_value_labels = m_ValueLabels.size();
    m_CMetadata.value_labels = m_ValueLabels.data();
}

NetworkMetadata::NetworkMetadata(const ITfLiteParser::ModelMetadata& metadata)
    : m_Inputs(metadata.m_Inputs.begin(), metadata.m_Inputs.end()),
      m_Outputs(metadata.m_Outputs.begin(), metadata.m_Outputs.end())
{
    const auto add = [&](const char* key, const std::string& text)
    {
        if (!text.empty())
        {
            m_Texts.emplace_back(key, text);
        }
    };
    add("author", metadata.m_Author);
    add("description", metadata.m_Description);
    add("license", metadata.m_License);
    add("name", metadata.m_Name);
    add("version", metadata.m_Version);
}

} // namespace tenon::c_api

using namespace tenon::c_api;

size_t tenon_network_num_metadata(const tenon_network* network)
{
    return network == nullptr ? 0 : network->m_Metadata->m_Texts.size();
}

tenon_status tenon_network_metadata(const tenon_network* network, size_t index, const char** key, const char** text,
                                    tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const auto& metadata = Deref(network, "the network").m_Metadata->m_Texts;
                     if (index >= metadata.size())
                     {
                         throw tenon::InvalidArgumentException(
                             fmt::format("there is no text {}; the number of texts is {}", index, metadata.size()));
                     }
                     if (key != nullptr)
                     {
                         *key = metadata[index].first.c_str();
                     }
                     if (text != nullptr)
                     {
                         *text = metadata[index].second.c_str();
                     }
                 });
}

tenon_status tenon_network_input_metadata(const tenon_network* network, size_t index,
                                          const tenon_tensor_metadata** metadata, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const tenon_network& read = Deref(network, "the network");
                     Deref(metadata, "the pointer to the metadata") =
                         GetPortMetadata(read.m_Inputs, read.m_Metadata->m_Inputs, index, "input");
                 });
}

tenon_status tenon_network_output_metadata(const tenon_network* network, size_t index,
                                           const tenon_tensor_metadata** metadata, tenon_error** error)
{
    return Guard(error,
                 [&]
                 {
                     const tenon_network& read = Deref(network, "the network");
                     Deref(metadata, "the pointer to the metadata") =
                         GetPortMetadata(read.m_Outputs, read.m_Metadata->m_Outputs, index, "output");
                 });
}
