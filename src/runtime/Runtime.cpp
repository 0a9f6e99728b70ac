// SPDX-License-Identifier: Apache-2.0
// Runtime: see Runtime.hpp.
#include "runtime/Runtime.hpp"

#include "common/ErrorContext.hpp"

#include <tenon/Version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tenon
{

IRuntime* IRuntime::CreateRaw(const CreationOptions& options)
{
    return new Runtime(options);
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
    // What is asked for but not there is refused: going on without it would be a silent fallback.
    const std::pair<bool, const char*> unavailable[] = {
        {options.m_EnableGpuProfiling, "m_EnableGpuProfiling"},
        {options.m_ProtectedMode, "m_ProtectedMode"},
        {options.m_ProfilingOptions.m_EnableProfiling, "m_ProfilingOptions.m_EnableProfiling"},
        {options.m_ProfilingOptions.m_TimelineEnabled, "m_ProfilingOptions.m_TimelineEnabled"},
    };
    for (const auto& [asked, name] : unavailable)
    {
        if (asked)
        {
            throw UnimplementedException(
                fmt::format("creation option {} is not available in version {}; leave it off", name, TENON_VERSION));
        }
    }
    RegisterBackends(options);
}

void Runtime::RegisterBackends(const CreationOptions& options)
{
    BackendRegistry& registry = m_DeviceSpec.m_Registry;
    RegisterBuiltinBackends(registry);
    for (const auto& backend : options.m_Backends)
    {
        registry.Register(backend);
    }
    if (!options.m_DynamicBackendsPath.empty())
    {
        m_DynamicBackends = RegisterDynamicBackends(registry, options.m_DynamicBackendsPath, options.m_BackendOptions);
    }
    m_DeviceSpec.m_Ids = registry.GetBackendIds();
    for (const BackendOptions& group : options.m_BackendOptions)
    {
        const bool isDynamic = std::any_of(m_DynamicBackends.begin(), m_DynamicBackends.end(),
                                           [&](const DynamicBackendReport& report)
                                           { return report.m_IsLoaded && report.m_BackendId == group.GetBackendId(); });
        if (!isDynamic)
        {
            throw InvalidArgumentException(fmt::format(
                "creation options are given for backend '{}', which was not loaded from "
                "m_DynamicBackendsPath; options for a network go into OptimizerOptionsOpaque::AddModelOption",
                group.GetBackendId().Get()));
        }
    }
}

namespace
{

/// Host memory is the only kind that the built-in backends share.
void CheckSource(MemorySource source)
{
    if (source != MemorySource::Undefined && source != MemorySource::Malloc)
    {
        throw MemoryImportException("only memory of source Malloc can be imported");
    }
}

} // namespace

NetworkId Runtime::Load(IOptimizedNetworkPtr network, const INetworkProperties& properties)
{
    if (network == nullptr)
    {
        throw NullPointerException("LoadNetwork was given a null network");
    }
    CheckSource(properties.m_InputSource);
    CheckSource(properties.m_OutputSource);
    // OptimizedNetwork is the only implementation of the interface.
    auto& optimized = static_cast<OptimizedNetwork&>(*network);
    std::shared_ptr<LoadedNetwork> loaded;
    try
    {
        loaded = std::make_shared<LoadedNetwork>(optimized, m_DeviceSpec.m_Registry, m_Pool, m_Limits, properties);
    }
    catch (...)
    {
        RethrowWithContext("loading the network");
    }
    const std::unique_lock lock(m_Mutex);
    if (m_NextId == std::numeric_limits<NetworkId>::max())
    {
        throw RuntimeException("this runtime has no network ids left; make a new one");
    }
    const NetworkId id = m_NextId++;
    m_Networks[id].m_Network = std::move(loaded);
    return id;
}

Status Runtime::LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network)
{
    networkIdOut = Load(std::move(network), INetworkProperties());
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
        networkIdOut = Load(std::move(network), networkProperties);
        return Status::Success;
    }
    catch (const std::exception& error)
    {
        errorMessage = error.what();
        return Status::Failure;
    }
}

Runtime::Entry& Runtime::Find(NetworkId networkId)
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
    return Find(networkId).m_Network;
}

LoadedNetwork::RunGuard Runtime::StartRun(NetworkId networkId) const
{
    const std::shared_lock lock(m_Mutex);
    return LoadedNetwork::RunGuard(*Find(networkId).m_Network);
}

TensorInfo Runtime::GetInputTensorInfo(NetworkId networkId, LayerBindingId layerId) const
{
    return Share(networkId)->GetInputInfo(layerId);
}

TensorInfo Runtime::GetOutputTensorInfo(NetworkId networkId, LayerBindingId layerId) const
{
    return Share(networkId)->GetOutputInfo(layerId);
}

namespace
{

/// `given` and those of `known` that `ids` name.
template <typename Id, typename Tensors>
Tensors Merged(const Tensors& given, const Tensors& known, const std::vector<Id>& ids, const char* kind)
{
    Tensors merged = given;
    for (Id id : ids)
    {
        if (id >= known.size())
        {
            throw InvalidArgumentException(fmt::format("there is no imported {} with id {}", kind, id));
        }
        merged.push_back(known[id]);
    }
    return merged;
}

} // namespace

template <typename Id, typename Tensors>
std::vector<Id> Runtime::Import(NetworkId networkId, const Tensors& tensors, MemorySource source,
                                Tensors Entry::*imported)
{
    CheckSource(source);
    const std::unique_lock lock(m_Mutex);
    Entry& entry = Find(networkId);
    for (const auto& [id, tensor] : tensors)
    {
        entry.m_Network->CheckImport(id, tensor);
    }
    std::vector<Id> ids;
    for (const auto& tensor : tensors)
    {
        ids.push_back(static_cast<Id>((entry.*imported).size()));
        (entry.*imported).push_back(tensor);
    }
    return ids;
}

std::vector<ImportedInputId> Runtime::ImportInputs(NetworkId networkId, const InputTensors& inputTensors,
                                                   MemorySource forceImportMemorySource)
{
    return Import<ImportedInputId>(networkId, inputTensors, forceImportMemorySource, &Entry::m_ImportedInputs);
}

std::vector<ImportedOutputId> Runtime::ImportOutputs(NetworkId networkId, const OutputTensors& outputTensors,
                                                     MemorySource forceImportMemorySource)
{
    return Import<ImportedOutputId>(networkId, outputTensors, forceImportMemorySource, &Entry::m_ImportedOutputs);
}

Status Runtime::EnqueueWorkload(NetworkId networkId, const InputTensors& inputTensors,
                                const OutputTensors& outputTensors, std::vector<ImportedInputId> preImportedInputIds,
                                std::vector<ImportedOutputId> preImportedOutputIds)
{
    const auto run = StartRun(networkId);
    if (preImportedInputIds.empty() && preImportedOutputIds.empty())
    {
        run->Enqueue(SessionId::Default, inputTensors, outputTensors);
        return Status::Success;
    }
    InputTensors inputs;
    OutputTensors outputs;
    {
        const std::shared_lock lock(m_Mutex);
        const Entry& entry = Find(networkId);
        inputs = Merged(inputTensors, entry.m_ImportedInputs, preImportedInputIds, "input");
        outputs = Merged(outputTensors, entry.m_ImportedOutputs, preImportedOutputIds, "output");
    }
    run->Enqueue(SessionId::Default, inputs, outputs);
    return Status::Success;
}

Status Runtime::EnqueueWorkload(NetworkId networkId, const InputTensors& inputTensors, const OutputAllocator& allocator)
{
    StartRun(networkId)->Enqueue(SessionId::Default, inputTensors, allocator);
    return Status::Success;
}

Status Runtime::EnqueueWorkload(NetworkId networkId, SessionId sessionId, const InputTensors& inputTensors,
                                const OutputTensors& outputTensors)
{
    StartRun(networkId)->Enqueue(sessionId, inputTensors, outputTensors);
    return Status::Success;
}

Status Runtime::EnqueueWorkload(NetworkId networkId, SessionId sessionId, const InputTensors& inputTensors,
                                const OutputAllocator& allocator)
{
    StartRun(networkId)->Enqueue(sessionId, inputTensors, allocator);
    return Status::Success;
}

Status Runtime::UnloadNetwork(NetworkId networkId)
{
    std::shared_ptr<LoadedNetwork> network;
    {
        const std::unique_lock lock(m_Mutex);
        network = Find(networkId).m_Network;
        m_Networks.erase(networkId);
    }
    network->WaitUntilIdle();
    return Status::Success;
}

const std::shared_ptr<IProfiler> Runtime::GetProfiler(NetworkId networkId) const
{
    return Share(networkId)->GetProfiler();
}

void Runtime::RegisterDebugCallback(NetworkId networkId, const DebugCallbackFunction& func)
{
    Share(networkId)->RegisterDebugCallback(func);
}

NetworkStatistics Runtime::GetStatistics(NetworkId networkId) const
{
    return Share(networkId)->GetStatistics();
}

void Runtime::SetNumberOfThreads(NetworkId networkId, unsigned int numberOfThreads)
{
    Share(networkId)->SetNumberOfThreads(numberOfThreads);
}

} // namespace tenon
