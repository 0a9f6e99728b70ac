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
    /// before it. The rank is unknown where no shape follows: it depends on values, or the layers do not fit together.
    TensorShape Get(const IOutputSlot& slot);

private:
    /// A layer to be settled, and from which of its inputs on the layers before it are to be looked at.
    struct Visit
    {
        const IConnectableLayer* m_Layer;
        unsigned int m_NextInput;
    };

    /// The next layer that has to be settled before; null where there is none left.
    const IConnectableLayer* FindOpenProducer(Visit& visit) const;
    void Settle(const IConnectableLayer& layer);
    /// The shape of an output whose layer is settled, or whose info is complete.
    TensorShape Known(const IOutputSlot& slot) const;

    std::unordered_map<const IConnectableLayer*, std::vector<TensorShape>> m_Settled; ///< by output; empty: unknown
};

} // namespace tenon
