// SPDX-License-Identifier: Apache-2.0
// Deserializer: the implementation of IDeserializer. It keeps the bindings of the last network.
#pragma once

#include "common/ModelBytes.hpp"
#include "graph/Graph.hpp"
#include "serializer/FileReader.hpp"

#include <tenon/serializer/IDeserializer.hpp>

#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::serializer
{

class Deserializer final : public IDeserializer
{
public:
    explicit Deserializer(const DeserializerOptions& options) : m_Options(options) {}

    INetworkPtr CreateNetworkFromBinary(const std::vector<uint8_t>& binaryContent) override;
    INetworkPtr CreateNetworkFromBinary(std::istream& binaryContent) override;
    INetworkPtr CreateNetworkFromBinaryFile(const char* graphFile) override;
    IOptimizedNetworkPtr CreateOptimizedNetworkFromBinary(const std::vector<uint8_t>& binaryContent,
                                                          const IDeviceSpec& deviceSpec) override;
    IOptimizedNetworkPtr CreateOptimizedNetworkFromBinary(std::istream& binaryContent,
                                                          const IDeviceSpec& deviceSpec) override;
    IOptimizedNetworkPtr CreateOptimizedNetworkFromBinaryFile(const char* graphFile,
                                                              const IDeviceSpec& deviceSpec) override;
    bool IsOptimizedFile(const char* graphFile) const override;
    bool IsOptimizedBinary(const std::vector<uint8_t>& binaryContent) const override;

    BindingPointInfo GetNetworkInputBindingInfo(unsigned int layerId, const std::string& layerName) const override;
    BindingPointInfo GetNetworkOutputBindingInfo(unsigned int layerId, const std::string& layerName) const override;
    std::vector<std::string> GetNetworkInputNames() const override { return m_Inputs.m_Names; }
    std::vector<std::string> GetNetworkOutputNames() const override { return m_Outputs.m_Names; }

private:
    /// Inputs or outputs in the network's order. Names are unique.
    struct Bindings
    {
        std::vector<std::string> m_Names;
        std::unordered_map<std::string, BindingPointInfo> m_Infos;
        std::unordered_map<std::string, size_t> m_LastSuffix; ///< last number of names that occur more than once

        void Add(const Layer& layer, const char* kind, const TensorInfo& info);
        const BindingPointInfo& Find(const std::string& name, const char* kind) const;
    };

    INetworkPtr Read(ModelBytes bytes);
    /// The network of a .armnn file.
    INetworkPtr ReadArmnn(ModelBytes bytes);
    IOptimizedNetworkPtr ReadOptimized(ModelBytes bytes, const IDeviceSpec& deviceSpec);
    void KeepBindings(const Graph& graph);

    DeserializerOptions m_Options;
    Bindings m_Inputs;
    Bindings m_Outputs;
};

} // namespace tenon::serializer
