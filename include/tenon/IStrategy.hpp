// SPDX-License-Identifier: Apache-2.0
// IStrategy: a visitor of a network's layers.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <vector>

namespace tenon
{

class IConnectableLayer;
struct BaseDescriptor;

class TENON_API IStrategy
{
public:
    virtual ~IStrategy();
    /// Called once a layer, in the order in which data flows.
    /// `constants` are a Constant layer's tensor, or those that an Add... method took and wired to inputs.
    /// `id` is the binding id of Input and Output layers, else 0.
    virtual void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                                 const std::vector<ConstTensor>& constants, const char* name,
                                 LayerBindingId id = 0) = 0;
    virtual void FinishStrategy() {}
};

} // namespace tenon
