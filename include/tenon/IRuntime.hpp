// SPDX-License-Identifier: Apache-2.0
// IRuntime: loads optimized networks and runs them.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/BackendOptions.hpp>
#include <tenon/INetwork.hpp>
#include <tenon/IProfiler.hpp>
#include <tenon/Limits.hpp>
#include <tenon/NetworkPlan.hpp>
#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

namespace backend
{
class IBackend;
} // namespace backend
class ICustomAllocator;
class IGpuAccTunedParameters;
class IMemoryOptimizerStrategy;
class IRuntime;
struct DynamicBackendReport;

using NetworkId = int;
/// Tuned parameters of Arm NN's GPU backend. There is no such backend here, and nothing makes an object of this class.
using IGpuAccTunedParametersPtr = std::shared_ptr<IGpuAccTunedParameters>;
using IRuntimePtr = std::unique_ptr<IRuntime, void (*)(IRuntime* runtime)>;
using ImportedInputId = unsigned int;
using ImportedOutputId = unsigned int;

/// The states of one loaded network: the values of its ReadState layers from run to run (Tenon).
enum class SessionId : uint32_t
{
    Default = 0 ///< there from the start
};

/// How one network is loaded.
struct INetworkProperties
{
    INetworkProperties() = default;
    INetworkProperties(MemorySource inputSource, MemorySource outputSource, bool profilingEnabled = false,
                       ProfilingDetailsMethod detailsMethod = ProfilingDetailsMethod::Undefined)
        : m_InputSource(inputSource), m_OutputSource(outputSource), m_ProfilingEnabled(profilingEnabled),
          m_OutputNetworkDetailsMethod(detailsMethod)
    {
    }
    /// As Arm NN up to 24.11 has it.
    INetworkProperties(bool asyncEnabled, MemorySource inputSource, MemorySource outputSource,
                       bool profilingEnabled = false,
                       ProfilingDetailsMethod detailsMethod = ProfilingDetailsMethod::Undefined,
                       bool externalMemoryManagementEnabled = false)
        : INetworkProperties(inputSource, outputSource, profilingEnabled, detailsMethod)
    {
        m_AsyncEnabled = asyncEnabled;
        m_ExternalMemoryManagementEnabled = externalMemoryManagementEnabled;
    }

    /// Nothing to choose: any number of threads may run any network at once.
    bool m_AsyncEnabled = false;
    /// Nothing to choose: allocators and memory strategies of CreationOptions count for any network.
    bool m_ExternalMemoryManagementEnabled = false;
    /// Undefined or Malloc; LoadNetwork refuses others with a MemoryImportException.
    MemorySource m_InputSource = MemorySource::Undefined;
    MemorySource m_OutputSource = MemorySource::Undefined;
    bool m_ProfilingEnabled = false;
    /// The details of layers that IProfiler::Print() writes, see IProfiler::EnableNetworkDetailsToStdOut().
    ProfilingDetailsMethod m_OutputNetworkDetailsMethod = ProfilingDetailsMethod::Undefined;
    /// Threads that loading this network, and then one EnqueueWorkload of it, may use (Tenon). 0 means all cores that
    /// the process has: its affinity and the CPU quota of its control groups count, and of a processor with fast and
    /// slow cores the fast ones. More threads than these never run.
    unsigned int m_NumberOfThreads = 1;
    /// Options of backends, added to the options that the network was optimized with; an option that
    /// both have is taken from here. They are settings of this machine rather than of the network, such as CpuAcc's
    /// CachedNetworkFilePath, which no serialized network has (Tenon).
    ModelOptions m_ModelOptions;
    /// Fusions that are not to be tried, here and in networks inside of layers, by the names of FusionReport::m_Fusion.
    /// For finding out whether one of them makes a difference to results. LoadNetwork throws InvalidArgumentException
    /// for an unknown name (Tenon).
    std::vector<std::string> m_DisabledFusions;
};

/// How one run goes (Tenon).
struct RunOptions
{
    /// Whose states the run reads and writes.
    SessionId m_Session = SessionId::Default;
    /// Read at the beginning, before each layer and before each iteration of a loop: once it is true the run ends with
    /// a CancelledException. A wait for another run of the session, and the planning of new shapes, are not cut short.
    /// Outputs are undefined then, states are as before the run. Null: the run goes to its end.
    const std::atomic<bool>* m_IsCancelled = nullptr;
    /// Inputs and outputs that are not among the tensors of the call, see IRuntime::ImportInputs().
    std::vector<ImportedInputId> m_ImportedInputs;
    std::vector<ImportedOutputId> m_ImportedOutputs;
};

/// Figures of the tensors and scratch buffers that one run keeps in one memory (Tenon).
struct ArenaStatistics
{
    std::string m_Memory; ///< "Host", or the name of a device's memory: ITensorHandleFactory::GetId()
    size_t m_Bytes = 0;
    size_t m_LowerBoundBytes = 0; ///< the largest sum of bytes alive at once: no packing of the same tensors needs less
    /// Whether the size is proven to be the smallest: the tensors that are alive at once, each in whole units of the
    /// memory's alignment, fill these bytes rounded up to such units, so that no packing at aligned offsets needs
    /// fewer. Where false, a better packing may exist.
    bool m_IsSmallest = false;
};

/// Figures of a loaded network (Tenon). Tensors that are shaped only during the run, and networks inside of If and
/// While layers, have memory of their own, outside of the arenas.
struct NetworkStatistics
{
    size_t m_ArenaBytes = 0; ///< memory for intermediate tensors and scratch of one run, for the latest input shapes
    size_t m_ArenaLowerBoundBytes = 0;     ///< the sum of the arenas' lower bounds
    std::vector<ArenaStatistics> m_Arenas; ///< by memory, the host's first
    size_t m_NumWorkloads = 0;
    size_t m_NumContexts = 0; ///< how many runs have been under way at once
};

/// Gives the memory for an output whose shape is known only during the run; called once per output and run.
/// The memory must hold info.GetNumBytes() bytes (it may be null where that is 0), and stay valid until EnqueueWorkload
/// returns. It may be aligned anyhow and overlap inputs: results are then copied there at the end; memory that is
/// aligned as std::max_align_t and apart from the inputs is written in place (Tenon).
using OutputAllocator = std::function<void*(LayerBindingId id, const TensorInfo& info)>;

/// Loads and runs networks. All methods are thread-safe; any number of threads may run one network at once.
class TENON_API IRuntime
{
public:
    struct ExternalProfilingOptions
    {
        bool m_EnableProfiling = false;
        bool m_TimelineEnabled = false;
        std::string m_OutgoingCaptureFile;
        std::string m_IncomingCaptureFile;
        bool m_FileOnly = false;
        uint32_t m_CapturePeriod = 10000U; ///< microseconds
        std::string m_FileFormat = "binary";
    };

    struct CreationOptions
    {
        using ExternalProfilingOptions = IRuntime::ExternalProfilingOptions;

        IGpuAccTunedParametersPtr m_GpuAccTunedParameters; ///< null: no backend here is tuned by it
        bool m_EnableGpuProfiling = false; ///< of no effect: no backend measures a GPU; the log warns of it
        /// Folder with dynamic backends (*_backend.so), or one such file; empty: none are loaded. They are plugins of
        /// Tenon's, or dynamic backends of Arm NN that are compiled with Tenon's headers. See RegisterDynamicBackends
        /// in <tenon/backend/BackendRegistry.hpp>, and docs/backends.md.
        std::string m_DynamicBackendsPath;
        bool m_ProtectedMode = false; ///< true is refused: no backend has protected memory
        /// These options have no effect: there is no service that takes such profiles. The log warns of
        /// m_EnableProfiling and m_TimelineEnabled. INetworkProperties::m_ProfilingEnabled asks for profiles.
        ExternalProfilingOptions m_ProfilingOptions;
        /// Options of backends at their creation. Each backend takes its own: dynamic backends, and backends of the
        /// application (IBackend::CreateBackendContext). Built-in backends have one, "MemoryOptimizerStrategy": the
        /// name of a strategy (MakeMemoryOptimizerStrategy), for a memory that m_MemoryOptimizerStrategyMap has none
        /// for. Options that nobody reads, such as options of a backend that is not there, have no effect; the log
        /// warns of them. Options for a network go into OptimizerOptionsOpaque::AddModelOption.
        std::vector<BackendOptions> m_BackendOptions;
        /// Bounds on what networks may ask for (Tenon).
        Limits m_Limits;
        /// Memory for the arenas of backends: one for each memory. Backends that share a memory ("Host" for all
        /// built-in ones) share its allocator; two different ones for one memory are refused, and so is one whose kind
        /// of memory the backend's device does not import (InvalidArgumentException). One for a backend that is not
        /// there has no effect; the log warns of it.
        std::map<BackendId, std::shared_ptr<ICustomAllocator>> m_CustomAllocatorMap;
        /// The strategies that pack arenas; the same rule holds for them. The default is "BestOfOrders". See
        /// MemoryOptimizerStrategies.hpp.
        std::map<BackendId, std::shared_ptr<IMemoryOptimizerStrategy>> m_MemoryOptimizerStrategyMap;
        /// Backends of the application's own, in addition to the built-in ones (Tenon).
        std::vector<std::shared_ptr<const backend::IBackend>> m_Backends;
    };

    virtual ~IRuntime();

    /// Throws
    ///   UnimplementedException     an option that is not available: see CreationOptions
    ///   FileNotFoundException      there is no m_DynamicBackendsPath
    ///   InvalidArgumentException   that path cannot be read; an allocator or a strategy is for a backend that does not
    ///                              take it; two backends have one id; the environment variable TENON_FORCE_ISA names
    ///                              no instruction set
    /// A dynamic backend that cannot be loaded is no error: see GetDynamicBackendReports(). Backends of the
    /// application's own may throw any kind.
    static IRuntime* CreateRaw(const CreationOptions& options);
    static IRuntimePtr Create(const CreationOptions& options);
    static void Destroy(IRuntime* runtime);

    /// Loads a network and gives its id. The pointer is consumed, also on failure.
    /// Returns Success or throws; the overloads with `errorMessage` return Failure and the text instead of throwing:
    ///   NullPointerException          the network is null
    ///   MemoryImportException         a memory source of INetworkProperties other than Malloc
    ///   BackendUnavailableException   a layer's backend is not there, or is that of another runtime and compiled a
    ///                                 blob
    ///   LayerValidationException      a layer does not fit the shapes that its inputs have
    ///   GraphValidationException      the network was not optimized for the memories of these backends
    ///   LimitExceededException        a tensor, or all together, are above CreationOptions::m_Limits
    ///   MemoryValidationException     memory ran out, or a memory strategy gives what cannot be used
    ///   RuntimeException              the debug folder cannot be made, a file that options have written cannot be, a
    ///                                 backend failed, or no ids are left
    ///   InvalidArgumentException      options that a backend of the network does not have, or of a wrong type; files
    ///                                 that they name are of another network, or no files
    ///   FileNotFoundException         there is no file that options name (CpuAcc's CachedNetworkFilePath)
    ///   ParseException                it is damaged
    /// A backend or custom operator of the application's own may throw any kind of tenon::Exception.
    virtual Status LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network) = 0;
    virtual Status LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network,
                               const INetworkProperties& networkProperties) = 0; ///< (Tenon)
    virtual Status LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network, std::string& errorMessage) = 0;
    virtual Status LoadNetwork(NetworkId& networkIdOut, IOptimizedNetworkPtr network, std::string& errorMessage,
                               const INetworkProperties& networkProperties) = 0;

    /// The info of an input or output, for the shapes that the network was loaded with. Sizes that follow from these
    /// shapes by shape arithmetic (Shape layers, constants, and layers that compute on them) are known too. Where an
    /// output depends on values of inputs, or on an input of unknown shape, its sizes are those that were declared
    /// (IOutputSlot::SetTensorInfo); else they, or its rank, may be unknown: an OutputAllocator is told them. An
    /// input's info is not constant. Throws InvalidArgumentException for an unknown network or binding id.
    virtual TensorInfo GetInputTensorInfo(NetworkId networkId, LayerBindingId layerId) const = 0;
    virtual TensorInfo GetOutputTensorInfo(NetworkId networkId, LayerBindingId layerId) const = 0;

    /// Plans a run whose inputs have these infos, one for each input, so that a run with them does not begin with it;
    /// returns the infos of all outputs. Their sizes, or rank, are unknown where they depend on values. Throws
    /// InvalidArgumentException for an unknown network, and for inputs that a run would refuse,
    /// LayerValidationException where shapes do not fit the layers and MemoryValidationException where a limit is
    /// exceeded (Tenon).
    virtual std::vector<std::pair<LayerBindingId, TensorInfo>>
    PlanRun(NetworkId networkId, const std::vector<std::pair<LayerBindingId, TensorInfo>>& inputInfos) = 0;

    /// Remembers memory of the caller, which EnqueueWorkload then uses by id, and returns the ids in the order of the
    /// tensors. A tensor that cannot be imported (unknown binding id, wrong type, a shape that is not fully known,
    /// null, memory that is forced but cannot be used as it is) gets no id; the log warns of it, with the reason. There
    /// are fewer ids than tensors then. Whether a shape fits is seen at the run, since input shapes may change from run
    /// to run. Throws InvalidArgumentException for an unknown network.
    virtual std::vector<ImportedInputId>
    ImportInputs(NetworkId networkId, const InputTensors& inputTensors,
                 MemorySource forceImportMemorySource = MemorySource::Undefined) = 0;
    virtual std::vector<ImportedOutputId>
    ImportOutputs(NetworkId networkId, const OutputTensors& outputTensors,
                  MemorySource forceImportMemorySource = MemorySource::Undefined) = 0;
    /// Forgets imported memory, which is kept until then or UnloadNetwork(). Runs under way still use it: it may be
    /// freed once they have ended. Ids are not given out again. Throws InvalidArgumentException for an id that is not
    /// there, and forgets nothing then. (Arm NN had both up to 24.11.)
    virtual void ClearImportedInputs(NetworkId networkId, const std::vector<ImportedInputId>& inputIds) = 0;
    virtual void ClearImportedOutputs(NetworkId networkId, const std::vector<ImportedOutputId>& outputIds) = 0;

    /// Runs the network once. Inputs may have other shapes than it was loaded with: shapes and memory are then planned
    /// anew (and kept), weights are not packed again. Memory of the caller may be aligned anyhow, and outputs may
    /// overlap inputs. Throws InvalidArgumentException when a tensor is missing, of the wrong type or size,
    /// LayerValidationException when input shapes or values do not fit a layer, LimitExceededException when a limit is
    /// exceeded, MemoryValidationException when memory runs out, RuntimeException when a workload fails otherwise. A
    /// backend or custom operator of the application's own may throw any kind of tenon::Exception; any other exception
    /// of theirs becomes a RuntimeException.
    virtual Status EnqueueWorkload(NetworkId networkId, const InputTensors& inputTensors,
                                   const OutputTensors& outputTensors,
                                   std::vector<ImportedInputId> preImportedInputIds = {},
                                   std::vector<ImportedOutputId> preImportedOutputIds = {}) = 0;
    /// The same where output shapes are not known beforehand: `allocator` is asked for the memory of each output
    /// (Tenon).
    virtual Status EnqueueWorkload(NetworkId networkId, const InputTensors& inputTensors,
                                   const OutputAllocator& allocator) = 0;

    /// The same with the states of a session (the ones above use SessionId::Default). Runs of one session wait for each
    /// other if the network has states; runs of different sessions share nothing but weights (Tenon).
    virtual Status EnqueueWorkload(NetworkId networkId, SessionId sessionId, const InputTensors& inputTensors,
                                   const OutputTensors& outputTensors) = 0;
    virtual Status EnqueueWorkload(NetworkId networkId, SessionId sessionId, const InputTensors& inputTensors,
                                   const OutputAllocator& allocator) = 0;
    /// The same with all options of a run. Outputs that an allocator gives cannot be imported ones as well: the second
    /// one throws InvalidArgumentException for those (Tenon).
    virtual void Run(NetworkId networkId, const InputTensors& inputTensors, const OutputTensors& outputTensors,
                     const RunOptions& options) = 0;
    virtual void Run(NetworkId networkId, const InputTensors& inputTensors, const OutputAllocator& allocator,
                     const RunOptions& options) = 0;
    /// A session whose states have their initial values (Tenon). Throws InvalidArgumentException for an unknown id, as
    /// does everything below that takes one and does not say otherwise.
    virtual SessionId CreateSession(NetworkId networkId) = 0;
    /// Throws InvalidArgumentException for one that is not there and for the default one. A run under way goes on to
    /// its end (Tenon).
    virtual void DestroySession(NetworkId networkId, SessionId sessionId) = 0;
    /// Gives the states of a session their initial values again, after the run under way if there is one (Tenon).
    virtual void ResetStates(NetworkId networkId, SessionId sessionId = SessionId::Default) = 0;

    /// Waits for runs under way, then frees the network: afterwards nothing touches memory that was given to it. Not to
    /// be called from inside a run of that network (allocators, debug callbacks, custom operators). Returns Failure
    /// for an id that is not there; the log warns of it.
    virtual Status UnloadNetwork(NetworkId networkId) = 0;

    virtual const IDeviceSpec& GetDeviceSpec() const = 0;
    /// The outcome for each file of CreationOptions::m_DynamicBackendsPath, in order of their names (Tenon).
    virtual const std::vector<DynamicBackendReport>& GetDynamicBackendReports() const = 0;
    /// Null for an id that is not there.
    virtual const std::shared_ptr<IProfiler> GetProfiler(NetworkId networkId) const = 0;
    /// Runs that begin from now on call `func` in place of printing their values, if the network was optimized with
    /// SetDebugEnabled(true); an empty one ends that.
    virtual void RegisterDebugCallback(NetworkId networkId, const DebugCallbackFunction& func) = 0;
    virtual NetworkStatistics GetStatistics(NetworkId networkId) const = 0;
    /// How the network runs with the input shapes of its latest run, or of its load. The plan is made once more for it,
    /// which takes as long as at first; throws as a run does, InvalidArgumentException for an unknown id (Tenon).
    virtual NetworkPlan GetPlan(NetworkId networkId) const = 0;

    /// Sets how many threads one run may use from now on; 0 means all cores. Memory is planned for those that a network
    /// was loaded with: where they become more, the next run plans anew, and takes longer (Tenon).
    virtual void SetNumberOfThreads(NetworkId networkId, unsigned int numberOfThreads) = 0;
};

} // namespace tenon
