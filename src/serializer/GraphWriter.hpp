// SPDX-License-Identifier: Apache-2.0
// WriteGraphs: writes the layers of a network to a .tenon file.
#pragma once

#include "graph/Graph.hpp"
#include "serializer/FileWriter.hpp"

#include <tenon/backend/BackendRegistry.hpp>

namespace tenon::serializer
{

/// Writes the graph and the graphs nested in it. `backends`: the backends of an optimized network, which is written
/// with its backends and subgraphs; else null. Its exceptions are documented at ISerializer::Serialize.
flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Graph>>>
WriteGraphs(FileWriter& file, const Graph& graph, const BackendRegistry* backends);

} // namespace tenon::serializer
