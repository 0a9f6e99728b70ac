// SPDX-License-Identifier: Apache-2.0
// IsFunctionOfInputs, ReadsShapeAlone: for passes that compute a layer beforehand or leave out one of two equal ones,
// and for plans, which compute values that decide sizes.
#pragma once

#include "graph/Layer.hpp"

namespace tenon
{

/// Whether the layer gives the same whenever its inputs are the same, does nothing else, and is not run by the runtime.
inline bool IsFunctionOfInputs(const Layer& layer)
{
    const OpSchema& schema = layer.GetSchema();
    return !schema.Has(OpFlags::Effect) && !schema.Has(OpFlags::Internal) && !schema.Has(OpFlags::Random) &&
           !IsRunByRuntime(layer.GetType());
}

/// Whether the kernels of built-in backends read the shape of input 0, and no element of it.
inline bool ReadsShapeAlone(LayerType type)
{
    return type == LayerType::Shape || type == LayerType::Rank || type == LayerType::ZerosLike;
}

} // namespace tenon
