// SPDX-License-Identifier: Apache-2.0
// Questions about backends beside Optimize(): capabilities, and whether a layer is supported.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/BackendOptions.hpp>
#include <tenon/Descriptors.hpp>
#include <tenon/Export.hpp>
#include <tenon/Optional.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tenon
{

class BackendRegistry;
class ILayerSupport;

/// The capability of that name, if the list has it.
TENON_API Optional<BackendOptions::BackendOption> GetCapability(const std::string& name,
                                                                const BackendCapabilities& capabilities);
/// Whether the list has a capability of that name.
TENON_API bool HasCapability(const std::string& name, const BackendCapabilities& capabilities);
/// Whether the list has a capability of that name and value.
TENON_API bool HasMatchingCapability(const BackendOptions::BackendOption& capability,
                                     const BackendCapabilities& capabilities);

/// Asks one backend whether it runs a layer. Arm NN has a method per layer type; here the type is an argument.
class TENON_API LayerSupportHandle
{
public:
    explicit LayerSupportHandle(std::shared_ptr<const ILayerSupport> support);
    ~LayerSupportHandle();

    /// False for a backend that is not there; such a handle supports nothing.
    bool IsBackendRegistered() const { return m_Support != nullptr; }

    /// `inputs` and `outputs` are in the order of the layer's slots; `descriptor` is the type's own (see ops.def), a
    /// NullDescriptor where it has none. No input counts as constant unless its info does; the values of
    /// constants are not asked for. Why not goes to `reasonIfUnsupported`.
    bool IsLayerSupported(LayerType type, const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs,
                          const BaseDescriptor& descriptor,
                          Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const;

private:
    std::shared_ptr<const ILayerSupport> m_Support;
};

/// Of a built-in backend.
TENON_API LayerSupportHandle GetILayerSupportByBackendId(const BackendId& backend);
/// Of any backend that a runtime has: pass runtime->GetDeviceSpec().GetBackendRegistry().
TENON_API LayerSupportHandle GetILayerSupportByBackendId(const BackendId& backend, const BackendRegistry& registry);

} // namespace tenon
