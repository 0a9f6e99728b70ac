// SPDX-License-Identifier: Apache-2.0
// OrderOperators: the order in which the operators of a subgraph are read, where the file lists some before the ones
// whose results they take. SubgraphReader visits operators in it.
#pragma once

#include "parsers/tflite/Model.hpp"

#include <cstdint>
#include <vector>

namespace tenon::tflite
{

/// The indices of a subgraph's operators in a topological order: an operator comes after the producers of its inputs.
/// Empty where the list itself is such an order. Otherwise the order is stable, and operators that use variables, or
/// call subgraphs that do, keep their order among each other. Throws ParseException that names the operators of a
/// cycle.
std::vector<uint32_t> OrderOperators(Model& model, const schema::SubGraph& subgraph);

} // namespace tenon::tflite
