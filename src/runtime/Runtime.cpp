// SPDX-License-Identifier: Apache-2.0
// Runtime: see Runtime.hpp.
#include "runtime/Runtime.hpp"

#include "common/CreationOptions.hpp"
#include "common/ErrorContext.hpp"
#include "common/Log.hpp"
#include "runtime/fusions/Fusion.hpp"

#include <tenon/Version.hpp>

#include <fmt/format.h>

#include <limits>
#include <memory>

namespace tenon
{

IRuntime* IRuntime::CreateRaw(const CreationOptions& options)
{
    std::unique_ptr<Runtime> runtime;
    CompleteCreationOptions(options,
                            [&](const CreationOptions& completed) { runtime = std::make_unique<Runtime>(completed); });
    if (runtime == nullptr)
    {
        throw RuntimeException("no runtime is made: a hook of SetCreationOptionsHook did not call its `use`, which "
                               "each hook must do");
    }
    return runtime.release();
}

IRuntimePtr IRuntime::Create(const CreationOptions& options)
{
    return IRuntimePtr(CreateRaw(options), &IRuntime::Destroy);
}

void IRuntime::Destroy(IRuntime* runtime)
{
    delete runtime;
}

Runtime::Runtime(const CreationOptions& options) : m_Limits(options.m_Limits)
{
    // Unprotected memory would be a silent fallback.
    if (options.m_ProtectedMode)
    {
        throw UnimplementedException(
            fmt::format("creation option m_ProtectedMode is not available in version {}; leave it off", TENON_VERSION));
    }
    if (options.m_ProfilingOptions.m_EnableProfiling || options.m_ProfilingOptions.m_TimelineEnabled)
    {
        LogWarning("creation options m_ProfilingOptions have no effect: nothing is sent to a profiling service or "
                   "written to a capture file; INetworkProperties::m_ProfilingEnabled and IRuntime::GetProfiler give "
                   "the times of layers");
    }
    if (options.m_EnableGpuProfiling)
    {
        LogWarning("creation option m_EnableGpuProfiling has no effect: no backend of this runtime measures a GPU");
    }
    RegisterBackends(options);
}

namespace
{

/// The files of dynamic backends that were not loaded, each with the reason, for the end of a sentence.
std::string ListUnloaded(const std::vector<DynamicBackendReport>& reports)
{
    std::string text;
    for (const DynamicBackendReport& report : reports)
    {
        text += report.m_IsLoaded ? "" : fmt::format("\n  {}: {}", report.m_Path, report.m_Reason);
    }
    return text.empty() ? text : ". Not loaded:" + text;
}

/// Unread options are no error, as in Arm NN: programs set them for all machines that they run on.
void WarnOfUnreadOptions(const BackendOptions& group, const BackendRegistry& registry, const BackendIdSet& builtin,
                         const std::vector<DynamicBackendReport>& reports)
{
    const BackendId& id = group.GetBackendId();
    if (registry.Find(id) == nullptr)
    {
        LogWarning("creation options for backend '{}' have no effect, as it is not there; there are {}{}", id.Get(),
                   registry.GetBackendIdsAsString(), ListUnloaded(reports));
        return;
    }
    for (size_t i = 0; i < group.GetOptionCount() && builtin.count(id) != 0; ++i)
    {
        const std::string name = group.GetOption(i).GetName();
        if (name != MemoryStrategyOption)
        {
            LogWarning("creation option '{}' has no effect: backend '{}' has no such option; options for a network go "
                       "into OptimizerOptionsOpaque::AddModelOption",
                       name, id.Get());
        }
    }
}

} // namespace

void Runtime::RegisterBackends(const CreationOptions& given)
{
    CreationOptions options = given;
    BackendRegistry& registry = m_DeviceSpec.m_Registry;
    RegisterBuiltinBackends(registry);
    const BackendIdSet builtin = registry.GetBackendIds();
    for (const auto& backend : options.m_Backends)
    {
        registry.Register(backend);
    }
    if (!options.m_DynamicBackendsPath.empty())
    {
        m_DynamicBackends = RegisterDynamicBackends(registry, options);
    }
    m_DeviceSpec.m_Ids = registry.GetBackendIds();
    for (const BackendOptions& group : options.m_BackendOptions)
    {
        WarnOfUnreadOptions(group, registry, builtin, m_DynamicBackends);
    }
    m_Memories = std::make_unique<const MemorySpaces>(registry, options);
    for (const BackendId& id : m_DeviceSpec.m_Ids)
    {
        if (auto context = registry.Get(id).CreateBackendContext(options))
        {
            m_Contexts.emplace(id.Get(), std::move(context));
        }
    }
}

namespace
{

/// Checks the memory source of a network's inputs or outputs.
void CheckSource(MemorySource source)
{
    if (source != MemorySource::Undefined && source != MemorySource::Malloc)
    {
        throw MemoryImportException(fmt::format("memory of source {} cannot be imported, only that of source Malloc",
                                                GetMemorySourceName(source)));
    }
}

/// A blob is only valid for the backend object that compiled it, even if another object has the same id. Throws
/// BackendUnavailableException.
void CheckBlobs(const Graph& graph, const BackendRegistry& makers, const BackendRegistry& registry)
{
    if (graph.Count(LayerType::PreCompiled) == 0 && !graph.HasBodies())
    {
        return;
    }
    for (const auto& layer : graph.Layers())
    {
        const BackendId& id = layer->GetBackendId();
        if (layer->GetType() == LayerType::PreCompiled && makers.Find(id) != registry.Find(id))
        {
            throw BackendUnavailableException(
                fmt::format("{} was compiled by backend {} of another runtime; optimize the network with the device "
                            "spec of this one",
                            layer->Describe(), id.Get()));
        }
        for (const auto& body : layer->Bodies())
        {
            CheckBlobs(*body, makers, registry);
        }
    }
}

} // namespace

NetworkId Runtime::Load(IOptimizedNetworkPtr network, const INetworkProperties& properties)
{
    if (network == nullptr)
    {
        throw NullPointerException("LoadNetwork was given a null network");
    }
    GetFusionBits(properties.m_DisabledFusions); // checked here so that an unknown name is refused before anything is
                                                 // loaded
    CheckSource(properties.m_InputSource);
    CheckSource(properties.m_OutputSource);
    // OptimizedNetwork is the only implementation of the interface.
    auto& optimized = static_cast<OptimizedNetwork&>(*network);
    const NetworkId id = NewId();
    std::shared_ptr<LoadedNetwork> loaded;
    try
    {
        CheckBlobs(optimized.GetGraph(), optimized.GetBackends(), m_DeviceSpec.m_Registry);
        const LoadedNetwork::Environment environment{m_DeviceSpec.m_Registry, *m_Memories, m_Contexts, m_Pool,
                                                     m_Limits};
        loaded = std::make_shared<LoadedNetwork>(optimized, environment, properties, id);
    }
    catch (...)
    {
        RethrowWithContext("loading the network");
    }
    const std::unique_lock lock(m_Mutex);
    m_Networks[id] = std::move(loaded);
    return id;
}

NetworkId Runtime::NewId()
{
    const std::unique_lock lock(m_Mutex);
    if (m_NextId == std::numeric_limits<NetworkId>::max())
    {
        throw RuntimeException("this runtime has no network ids left; make a new one");
    }
    return m_NextId++;
}

Status Runtime::LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network)
{
    return LoadNetwork(networkIdOut, std::move(network), INetworkProperties());
}

Status Runtime::LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network,
                            const INetworkProperties& networkProperties)
{
    networkIdOut = Load(std::move(network), networkProperties);
    return Status::Success;
}

Status Runtime::LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network, std::string& errorMessage)
{
    return LoadNetwork(networkIdOut, std::move(network), errorMessage, INetworkProperties());
}

Status Runtime::LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network, std::string& errorMessage,
                            const INetworkProperties& networkProperties)
{
    try
    {
        return LoadNetwork(networkIdOut, std::move(network), networkProperties);
    }
    catch (const std::exception& error)
    {
        errorMessage = error.what();
        return Status::Failure;
    }
}

std::shared_ptr<LoadedNetwork>& Runtime::Find(NetworkId networkId)
{
    const auto found = m_Networks.find(networkId);
    if (found == m_Networks.end())
    {
        throw InvalidArgumentException(
            fmt::format("there is no network with id {}; {} are loaded", networkId, m_Networks.size()));
    }
    return found->second;
}

std::shared_ptr<LoadedNetwork> Runtime::Share(NetworkId networkId) const
{
    const std::shared_lock lock(m_Mutex);
    return Find(networkId);
}

LoadedNetwork::RunGuard Runtime::StartRun(NetworkId networkId) const
{
    const std::shared_lock lock(m_Mutex);
    return LoadedNetwork::RunGuard(*Find(networkId));
}

TensorInfo Runtime::GetInputTensorInfo(NetworkId networkId, LayerBindingId layerId) const
{
    return Share(networkId)->GetInputInfo(layerId);
}

TensorInfo Runtime::GetOutputTensorInfo(NetworkId networkId, LayerBindingId layerId) const
{
    return Share(networkId)->GetOutputInfo(layerId);
}

std::vector<ImportedInputId> Runtime::ImportInputs(NetworkId networkId, const InputTensors& inputTensors,
                                                   MemorySource forceImportMemorySource)
{
    return StartRun(networkId)->ImportInputs(inputTensors, forceImportMemorySource);
}

std::vector<ImportedOutputId> Runtime::ImportOutputs(NetworkId networkId, const OutputTensors& outputTensors,
                                                     MemorySource forceImportMemorySource)
{
    return StartRun(networkId)->ImportOutputs(outputTensors, forceImportMemorySource);
}

void Runtime::ClearImportedInputs(NetworkId networkId, const std::vector<ImportedInputId>& inputIds)
{
    StartRun(networkId)->ClearImportedInputs(inputIds);
}

void Runtime::ClearImportedOutputs(NetworkId networkId, const std::vector<ImportedOutputId>& outputIds)
{
    StartRun(networkId)->ClearImportedOutputs(outputIds);
}

Status Runtime::EnqueueWorkload(NetworkId networkId, const InputTensors& inputTensors,
                                const OutputTensors& outputTensors, std::vector<ImportedInputId> preImportedInputIds,
                                std::vector<ImportedOutputId> preImportedOutputIds)
{
    RunOptions options;
    options.m_ImportedInputs = std::move(preImportedInputIds);
    options.m_ImportedOutputs = std::move(preImportedOutputIds);
    Run(networkId, inputTensors, outputTensors, options);
    return Status::Success;
}

Status Runtime::EnqueueWorkload(NetworkId networkId, const InputTensors& inputTensors, const OutputAllocator& allocator)
{
    Run(networkId, inputTensors, allocator, RunOptions());
    return Status::Success;
}

Status Runtime::EnqueueWorkload(NetworkId networkId, SessionId sessionId, const InputTensors& inputTensors,
                                const OutputTensors& outputTensors)
{
    RunOptions options;
    options.m_Session = sessionId;
    Run(networkId, inputTensors, outputTensors, options);
    return Status::Success;
}

Status Runtime::EnqueueWorkload(NetworkId networkId, SessionId sessionId, const InputTensors& inputTensors,
                                const OutputAllocator& allocator)
{
    RunOptions options;
    options.m_Session = sessionId;
    Run(networkId, inputTensors, allocator, options);
    return Status::Success;
}

Status Runtime::UnloadNetwork(NetworkId networkId)
{
    std::shared_ptr<LoadedNetwork> network;
    {
        const std::unique_lock lock(m_Mutex);
        const auto found = m_Networks.find(networkId);
        if (found != m_Networks.end())
        {
            network = std::move(found->second);
            m_Networks.erase(found);
        }
    }
    if (network == nullptr)
    {
        LogWarning("there is no network with id {} to unload", networkId);
        return Status::Failure;
    }
    network->WaitUntilIdle();
    return Status::Success;
}

const std::shared_ptr<IProfiler> Runtime::GetProfiler(NetworkId networkId) const
{
    const std::shared_lock lock(m_Mutex);
    const auto found = m_Networks.find(networkId);
    return found != m_Networks.end() ? found->second->GetProfiler() : nullptr;
}

void Runtime::RegisterDebugCallback(NetworkId networkId, const DebugCallbackFunction& func)
{
    Share(networkId)->RegisterDebugCallback(func);
}

NetworkStatistics Runtime::GetStatistics(NetworkId networkId) const
{
    return Share(networkId)->GetStatistics();
}

NetworkPlan Runtime::GetPlan(NetworkId networkId) const
{
    return StartRun(networkId)->GetPlan();
}

void Runtime::SetNumberOfThreads(NetworkId networkId, unsigned int numberOfThreads)
{
    Share(networkId)->SetNumberOfThreads(numberOfThreads);
}

} // namespace tenon
