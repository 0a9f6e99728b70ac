// SPDX-License-Identifier: Apache-2.0
// LayerReader: one layer out of a .tenon file, with everything but its nested graphs. Used by GraphReader.
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
    /// `backends`: those that an optimized network may name; else null.
    LayerReader(FileReader& file, const CustomOperators& operators, const BackendRegistry* backends)
        : m_File(file), m_Operators(operators), m_Backends(backends)
    {
    }

    /// "layer 12 'conv1' (Convolution2d)", as far as the file says so.
    static std::string Describe(const schema::Layer& source, uint32_t index);
    /// Adds the layer, with its outputs, but nothing that it is connected to.
    Layer& Add(const schema::Layer& source, Graph& graph);
    /// Connects its inputs, once all layers are there.
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
