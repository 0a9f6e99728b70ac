// SPDX-License-Identifier: Apache-2.0
// InferredShapes: the shapes that the outputs of layers have before a network is optimized. The parser and the
// deserializer tell callers how large an output is, where its info leaves sizes open.
#pragma once

#include <tenon/IConnectableLayer.hpp>

#include <unordered_map>
#include <vector>

namespace tenon
{

class InferredShapes
{
public:
    /// The shape of the slot's info where that is fully known, else the one that follows from the shapes of the layers
    /// before it. Of unknown rank where none follows: it depends on values, or the layers do not fit together.
    TensorShape Get(const IOutputSlot& slot);

private:
    /// The layer before `layer` that has to be settled first; null where there is none left.
    const IConnectableLayer* FindOpenProducer(const IConnectableLayer& layer) const;
    void Settle(const IConnectableLayer& layer);
    /// Of an output whose layer is settled, or whose info says all.
    TensorShape Known(const IOutputSlot& slot) const;

    std::unordered_map<const IConnectableLayer*, std::vector<TensorShape>> m_Settled; ///< by output; empty: unknown
};

} // namespace tenon
