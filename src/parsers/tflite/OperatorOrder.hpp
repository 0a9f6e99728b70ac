// SPDX-License-Identifier: Apache-2.0
// OrderOperators: the order in which SubgraphReader visits the operators of a subgraph, if the file lists some before
// the operators whose results they read.
#pragma once

#include "parsers/tflite/Model.hpp"

#include <cstdint>
#include <vector>

namespace tenon::tflite
{

/// The indices of a subgraph's operators in a topological order: an operator comes after the producers of its inputs.
/// It is empty if the list itself is in such an order. Otherwise the order is stable, and operators that use variables,
/// or call subgraphs that do, keep their relative order. Throws ParseException that names the operators of a cycle.
std::vector<uint32_t> OrderOperators(Model& model, const schema::SubGraph& subgraph);

} // namespace tenon::tflite
