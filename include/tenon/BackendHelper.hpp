// SPDX-License-Identifier: Apache-2.0
// Questions about backends, without a call of Optimize(): their capabilities, and whether they support a layer.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/BackendOptions.hpp>
#include <tenon/Export.hpp>
#include <tenon/LayerQueries.hpp>
#include <tenon/Optional.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tenon
{

namespace backend
{
class BackendRegistry;
class ILayerSupport;
} // namespace backend

/// The capability of that name, if the list has it, or the backend, which is a built-in one or one that a library
/// brought along (SetBackendLookup of <tenon/backend/BackendRegistry.hpp>); one that is not there has none.
TENON_API Optional<BackendOptions::BackendOption> GetCapability(const std::string& name,
                                                                const BackendCapabilities& capabilities);
TENON_API Optional<BackendOptions::BackendOption> GetCapability(const std::string& name, const BackendId& backend);
/// Whether the list, or the built-in backend, has a capability of that name.
TENON_API bool HasCapability(const std::string& name, const BackendCapabilities& capabilities);
TENON_API bool HasCapability(const std::string& name, const BackendId& backend);
/// Whether the list, or the built-in backend, has a capability of that name and value.
TENON_API bool HasMatchingCapability(const BackendOptions::BackendOption& capability,
                                     const BackendCapabilities& capabilities);
TENON_API bool HasMatchingCapability(const BackendOptions::BackendOption& capability, const BackendId& backend);
TENON_API bool HasCapability(const BackendOptions::BackendOption& capability, const BackendCapabilities& capabilities);
TENON_API bool HasCapability(const BackendOptions::BackendOption& capability, const BackendId& backend);

/// How many files a built-in backend saves for a network that it is told to cache (its capability
/// "NumberOfCacheFiles"): 1 of CpuAcc, see "CachedNetworkFilePath" in BackendOptions.hpp.
TENON_API unsigned int GetNumberOfCacheFiles(const BackendId& backend);

/// Asks one backend whether it runs a layer, of any type or as Arm NN's programs ask it.
class TENON_API LayerSupportHandle : public LayerQueries
{
public:
    explicit LayerSupportHandle(std::shared_ptr<const backend::ILayerSupport> support);
    ~LayerSupportHandle();

    /// False for a backend that is not there; such a handle supports nothing.
    bool IsBackendRegistered() const { return m_Support != nullptr; }

    /// `inputs` and `outputs` are in the order of the layer's slots; `descriptor` is the type's own (see ops.def), a
    /// NullDescriptor where it has none. No input counts as constant unless its info does; the values of
    /// constants are not asked for. `reasonIfUnsupported` gets the reason of a refusal. A backend is asked about
    /// channels-last layers alone: a channels-first layer is turned before, and a Permute is asked as a Transpose, as
    /// Optimize() does.
    bool IsLayerSupported(LayerType type, const std::vector<TensorInfo>& inputs, const std::vector<TensorInfo>& outputs,
                          const BaseDescriptor& descriptor,
                          Optional<std::string&> reasonIfUnsupported = EmptyOptional()) const;
};

/// The handle of a built-in backend, or of one that a library brought along.
TENON_API LayerSupportHandle GetILayerSupportByBackendId(const BackendId& backend);
/// The handle of any backend that a runtime has: pass runtime->GetDeviceSpec().GetBackendRegistry().
TENON_API LayerSupportHandle GetILayerSupportByBackendId(const BackendId& backend,
                                                         const backend::BackendRegistry& registry);

} // namespace tenon
