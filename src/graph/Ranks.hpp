// SPDX-License-Identifier: Apache-2.0
// Ranks: the ranks of outputs as operators fix them, whatever a run brings. Read by the inference of tensors and by
// passes.
#pragma once

#include "graph/Layer.hpp"

namespace tenon
{

/// The one rank that the operator or its parameters give both input 0 and output 0; 0 where there is none.
unsigned int GetOperatorRank(const Layer& layer);
/// The same for a layer of this type and descriptor, which must be the type's own.
unsigned int GetOperatorRank(LayerType type, const BaseDescriptor& descriptor);
/// The rank of output 0 that the operator or its parameters fix; 0 where they fix none.
unsigned int GetFixedRank(const Layer& layer);

/// Whether output 0 always has the rank of input 0.
bool KeepsRank(const Layer& layer);

} // namespace tenon
