// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: a base for visitors that know some layer types. Its parameter handles other types.
#pragma once

#include <tenon/Tensor.hpp>

#include <armnn/INetwork.hpp>
#include <armnn/IStrategy.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/utility/IgnoreUnused.hpp>
#include <string>
#include <vector>

namespace tenon
{

/// Refuses a layer type that the visitor does not know.
struct ThrowingStrategy
{
    void Apply(const std::string& errorMessage = "") { throw UnimplementedException(errorMessage); }
};

/// Ignores a layer type that the visitor does not know.
struct NoThrowStrategy
{
    void Apply(const std::string&) {}
};

/// A visitor that gives the name of each layer's type to DefaultStrategy. Visitors override ExecuteStrategy and call
/// m_DefaultStrategy for layers that they do not know.
template <typename DefaultStrategy>
class StrategyBase : public IStrategy
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                         const std::vector<ConstTensor>& constants, const char* name,
                         const LayerBindingId id = 0) override
    {
        IgnoreUnused(descriptor, constants, name, id);
        m_DefaultStrategy.Apply(GetLayerTypeAsCString(layer->GetType()));
    }

protected:
    ~StrategyBase() override = default;

    DefaultStrategy m_DefaultStrategy;
};

} // namespace tenon
