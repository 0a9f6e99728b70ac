// SPDX-License-Identifier: Apache-2.0
// OrderOperators: the order in which the operators of a subgraph are read, where the file lists some before the ones
// whose results they take. SubgraphReader visits operators in it.
#pragma once

#include "parsers/tflite/Model.hpp"

#include <cstdint>
#include <vector>

namespace tenon::tflite
{

/// The operators' indices in an order in which each comes behind those whose results it takes. Empty where the list
/// itself is such an order. Otherwise operators keep their places as far as results allow, and those that use variables
/// or call subgraphs that do keep their order among each other. Throws ParseException, with the operators, where there
/// is no such order.
std::vector<uint32_t> OrderOperators(Model& model, const schema::SubGraph& subgraph);

} // namespace tenon::tflite
