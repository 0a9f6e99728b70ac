// SPDX-License-Identifier: Apache-2.0
// WriteGraphs: the layers of a network in a .tenon file.
#pragma once

#include "graph/Graph.hpp"
#include "serializer/FileWriter.hpp"

namespace tenon::serializer
{

/// The graph and those nested in it. `isOptimized`: with backends and subgraphs. Throws as ISerializer::Serialize says.
flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Graph>>>
WriteGraphs(FileWriter& file, const Graph& graph, bool isOptimized);

} // namespace tenon::serializer
