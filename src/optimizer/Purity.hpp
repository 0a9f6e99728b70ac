// SPDX-License-Identifier: Apache-2.0
// IsFunctionOfInputs: for passes that compute a layer beforehand or leave out one of two equal ones.
#pragma once

#include "graph/Layer.hpp"

namespace tenon
{

/// Whether the layer gives the same whenever its inputs are the same, does nothing else, and is not run by the runtime.
inline bool IsFunctionOfInputs(const Layer& layer)
{
    switch (layer.GetType())
    {
    case LayerType::If:
    case LayerType::While:
    case LayerType::ReadState:
    case LayerType::Random:
    case LayerType::Multinomial:
    case LayerType::RngBitGenerator: return false;
    default: return !layer.GetSchema().Has(OpFlags::Effect) && !layer.GetSchema().Has(OpFlags::Internal);
    }
}

} // namespace tenon
