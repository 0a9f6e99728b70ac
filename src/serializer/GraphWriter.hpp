// SPDX-License-Identifier: Apache-2.0
// WriteGraphs: the layers of a network in a .tenon file.
#pragma once

#include "graph/Graph.hpp"
#include "serializer/FileWriter.hpp"

#include <tenon/backend/BackendRegistry.hpp>

namespace tenon::serializer
{

/// The graph and those nested in it. `backends`: of an optimized network, which is written with its backends and
/// subgraphs; else null. Throws as ISerializer::Serialize says.
flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Graph>>>
WriteGraphs(FileWriter& file, const Graph& graph, const BackendRegistry* backends);

} // namespace tenon::serializer
