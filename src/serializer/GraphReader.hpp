// SPDX-License-Identifier: Apache-2.0
// ReadGraphs: the layers of a network out of a .tenon file.
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

/// Fills `graph`, which must be empty, and the graphs nested in it; each passes ValidateGraph. Throws as IDeserializer
/// says.
void ReadGraphs(FileReader& file, const CustomOperators& operators, const BackendRegistry* backends, Graph& graph);

} // namespace tenon::serializer
