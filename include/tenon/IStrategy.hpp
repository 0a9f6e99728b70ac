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
    /// `constants` has a Constant layer's tensor, or the tensors that an Add... method took: in the order of the
    /// method's parameters, those of an LstmInputParams as far as they are there: weights of input and of recurrence
    /// and biases of the forget, cell and output gates, then of the input gate (weights of input and of recurrence,
    /// bias), peepholes of input, forget and output gate, weights and bias of the projection, layer normalization of
    /// input, forget, cell and output gate. The Constant layers that feed these to the layer alone are not visited.
    /// `id` is the binding id of Input and Output layers, else 0.
    virtual void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                                 const std::vector<ConstTensor>& constants, const char* name,
                                 LayerBindingId id = 0) = 0;
    virtual void FinishStrategy() {}
};

} // namespace tenon
