// SPDX-License-Identifier: Apache-2.0
// The implementation of ISerializer.
#include "graph/Network.hpp"
#include "graph/OptimizedNetwork.hpp"
#include "serializer/Attributes.hpp"
#include "serializer/FileWriter.hpp"
#include "serializer/GraphWriter.hpp"

#include <tenon/serializer/ISerializer.hpp>

#include <vector>

namespace tenon
{

namespace serializer
{

namespace
{

class Serializer final : public ISerializer
{
public:
    void Serialize(const INetwork& inNetwork) override
    {
        // Network is the only implementation of INetwork, OptimizedNetwork that of IOptimizedNetwork.
        const auto& network = static_cast<const Network&>(inNetwork);
        FileWriter file;
        const auto graphs = WriteGraphs(file, network.GetGraph(), nullptr);
        const auto options = WriteOptions(file, network.GetOptions());
        m_File = file.Finish(false, graphs, options, {});
    }

    void Serialize(const IOptimizedNetwork& network) override
    {
        const auto& optimized = static_cast<const OptimizedNetwork&>(network);
        FileWriter file;
        const auto graphs = WriteGraphs(file, optimized.GetGraph(), &optimized.GetBackends());
        const auto options = WriteOptions(file, optimized.GetModelOptions());
        const auto optimizerOptions = WriteOptimizerOptions(file, optimized.GetOptions());
        m_File = file.Finish(true, graphs, options, optimizerOptions);
    }

    bool SaveSerializedToStream(std::ostream& stream) override
    {
        if (m_File.empty())
        {
            throw InvalidArgumentException("SaveSerializedToStream: call Serialize() first");
        }
        stream.write(reinterpret_cast<const char*>(m_File.data()), static_cast<std::streamsize>(m_File.size()));
        return stream.good();
    }

private:
    std::vector<uint8_t> m_File;
};

} // namespace

} // namespace serializer

ISerializer* ISerializer::CreateRaw()
{
    return new serializer::Serializer();
}

ISerializerPtr ISerializer::Create()
{
    return {CreateRaw(), &ISerializer::Destroy};
}

void ISerializer::Destroy(ISerializer* serializer)
{
    delete serializer;
}

} // namespace tenon
