// SPDX-License-Identifier: Apache-2.0
// LayerReader: reads one layer from a .tenon file, without its nested graphs. Used by GraphReader.
#pragma once

#include "graph/Graph.hpp"
#include "serializer/FileReader.hpp"
#include "serializer/GraphReader.hpp"

#include <set>
#include <string>

namespace tenon::serializer
{

class LayerReader
{
public:
    /// `backends`: the backends that an optimized network may name; else null.
    LayerReader(FileReader& file, const CustomOperators& operators, const BackendRegistry* backends)
        : m_File(file), m_Operators(operators), m_Backends(backends)
    {
    }

    /// "layer 12 'conv1' (Convolution2d)", as far as the file has these data.
    static std::string Describe(const schema::Layer& source, uint32_t index);
    /// Adds the layer with its outputs, but without connections.
    Layer& Add(const schema::Layer& source, Graph& graph);
    /// Connects its inputs. All layers must have been added.
    void Connect(const schema::Layer& source, Layer& layer);

private:
    LayerType ReadType(const schema::Layer& source);
    void SetOperator(const schema::Layer& source, LayerType type, BaseDescriptor* descriptor);
    void CheckSlots(const schema::Layer& source, LayerType type, const BaseDescriptor* descriptor);
    void ReadConstant(const schema::Layer& source, Layer& layer);
    void ReadBlob(uint32_t buffer, Layer& layer);
    void ReadAssignment(const schema::Layer& source, Layer& layer);

    FileReader& m_File;
    const CustomOperators& m_Operators;
    const BackendRegistry* m_Backends;
    std::set<uint32_t> m_Blobs; ///< buffers that were read as one
};

} // namespace tenon::serializer
