// SPDX-License-Identifier: Apache-2.0
// ReadGraphs: reads the layers of a network from a .tenon file.
#pragma once

#include "common/BackendNames.hpp"
#include "graph/Graph.hpp"
#include "serializer/FileReader.hpp"

#include <memory>
#include <vector>

namespace tenon
{

class ICustomOperator;
} // namespace tenon

namespace tenon::serializer
{

using CustomOperators = std::vector<std::shared_ptr<const ICustomOperator>>;

/// Fills `graph`, which must be empty, and the graphs nested in it; each passes ValidateGraph. Its exceptions are
/// documented at IDeserializer.
void ReadGraphs(FileReader& file, const CustomOperators& operators, const BackendRegistry* backends, Graph& graph);

} // namespace tenon::serializer
