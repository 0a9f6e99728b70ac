// SPDX-License-Identifier: Apache-2.0
// IOptimizedNetwork: the network that Optimize() returns, with the options of Optimize().
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/BackendOptions.hpp>
#include <tenon/Export.hpp>
#include <tenon/IProfiler.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Optional.hpp>
#include <tenon/SupportCode.hpp>
#include <tenon/Types.hpp>

#include <climits>

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

namespace backend
{
class BackendRegistry;
} // namespace backend
class INetwork;
class IOptimizedNetwork;
class IStrategy;

/// The backends that a runtime has. IRuntime::GetDeviceSpec() gives it.
class TENON_API IDeviceSpec
{
public:
    virtual ~IDeviceSpec();
    virtual const BackendIdSet& GetSupportedBackends() const = 0;
    virtual const backend::BackendRegistry& GetBackendRegistry() const = 0;
};

/// Bounds on the part of a network that one backend may take (Tenon); they are the options of TFLite's delegates. They
/// count subgraphs as assignment makes them, before the backend itself optimizes any. Layers that it may not have go to
/// the backends after it in the order of preference, with the reason in LayerAssignment. If none of those takes them,
/// or there is none, Optimize() refuses the network, naming them.
struct PartitionOptions
{
    /// The subgraphs with the most layers stay, the earlier one of two that are equal (TFLite:
    /// max_delegated_partitions). 0: no limit. Each network in an If or While layer is counted by itself.
    unsigned int m_MaxPartitions = 0;
    /// Subgraphs with fewer layers are taken from the backend (TFLite: min_nodes_per_partition).
    unsigned int m_MinLayersPerPartition = 0;
    /// The backend runs every layer, nested ones included, that is not bound or run by the runtime, or none at all.
    /// A layer that another backend was asked to run by a hint counts as one that it does not run.
    bool m_AllOrNothing = false;
};

/// Arm NN's older form of OptimizerOptionsOpaque, which it calls deprecated and its programs use a lot. Optimize()
/// takes both; the comments of OptimizerOptionsOpaque describe the options.
struct TENON_API OptimizerOptions
{
    OptimizerOptions() = default;
    OptimizerOptions(bool reduceFp32ToFp16, bool debug, bool reduceFp32ToBf16, bool importEnabled,
                     ModelOptions modelOptions = {}, bool exportEnabled = false, bool debugToFile = false);
    OptimizerOptions(bool reduceFp32ToFp16, bool debug, bool reduceFp32ToBf16 = false,
                     ShapeInferenceMethod shapeInferenceMethod = ShapeInferenceMethod::ValidateOnly,
                     bool importEnabled = false, ModelOptions modelOptions = {}, bool exportEnabled = false,
                     bool debugToFile = false, bool allowExpandedDims = false);

    /// One line an option.
    std::string ToString() const;

    bool m_ReduceFp32ToFp16 = false;
    bool m_Debug = false;
    bool m_DebugToFile = false;
    bool m_ReduceFp32ToBf16 = false;
    ShapeInferenceMethod m_shapeInferenceMethod = ShapeInferenceMethod::ValidateOnly;
    bool m_ImportEnabled = false;
    ModelOptions m_ModelOptions;
    bool m_ProfilingEnabled = false;
    bool m_ExportEnabled = false;
    bool m_AllowExpandedDims = false;
};

/// Options of Optimize().
class TENON_API OptimizerOptionsOpaque
{
public:
    OptimizerOptionsOpaque() = default;
    OptimizerOptionsOpaque(const OptimizerOptions& options); // NOLINT: implicit, as Arm NN's
    OptimizerOptionsOpaque(bool reduceFp32ToFp16, bool debug, bool reduceFp32ToBf16, bool importEnabled,
                           ModelOptions modelOptions = {}, bool exportEnabled = false, bool debugToFile = false);
    OptimizerOptionsOpaque(bool reduceFp32ToFp16, bool debug, bool reduceFp32ToBf16 = false,
                           ShapeInferenceMethod shapeInferenceMethod = ShapeInferenceMethod::ValidateOnly,
                           bool importEnabled = false, ModelOptions modelOptions = {}, bool exportEnabled = false,
                           bool debugToFile = false, bool allowExpandedDims = false);

    /// Float32 becomes Float16 (BFloat16 with the next one) in layers that backends take so, but not in inputs, outputs
    /// and states, nor in layers that compute sizes, detect boxes or are the application's. Results differ by 1e-3
    /// (1e-2) of the largest. CpuAcc takes Float32's time for Float16. Layers keep Float32 in place of BFloat16
    /// where their backend's capability FastBFloat16 is false: CpuAcc's is true with AMX, and with AVX512-BF16 of AMD,
    /// and BFloat16 takes about half the time there. Both at once are refused.
    void SetReduceFp32ToFp16(bool value) { m_ReduceFp32ToFp16 = value; }
    void SetReduceFp32ToBf16(bool value) { m_ReduceFp32ToBf16 = value; }
    /// Each run shows its inputs and the outputs of each layer, those of nested networks included, to the function of
    /// IRuntime::RegisterDebugCallback; without one it prints a line of JSON for each to standard output.
    void SetDebugEnabled(bool value) { m_Debug = value; }
    /// Each run writes the same values to files in GetDebugFolder(), which LoadNetwork() makes:
    /// "<layer>_<guid>_<output>_run<n>.npy", with "_turn<k>" for values that a loop gives again. Runs are numbered in
    /// the whole process. LoadNetwork() and EnqueueWorkload() throw RuntimeException when that fails.
    void SetDebugToFileEnabled(bool value) { m_DebugToFile = value; }
    /// Made where it is not there, along with those above it. (Tenon; Arm NN's is "ArmNNIntermediateLayerOutputs".)
    void SetDebugFolder(std::string folder) { m_DebugFolder = std::move(folder); }
    void SetShapeInferenceMethod(ShapeInferenceMethod method) { m_ShapeInferenceMethod = method; }
    /// Nothing to choose: memory of the caller is always used in place where it can be.
    void SetImportEnabled(bool value) { m_ImportEnabled = value; }
    void SetExportEnabled(bool value) { m_ExportEnabled = value; }
    void SetProfilingEnabled(bool value) { m_ProfilingEnabled = value; }
    /// A declared shape that differs from the inferred one in sizes of 1 only is no error: the inferred one is used.
    void SetAllowExpandedDims(bool value) { m_AllowExpandedDims = value; }
    void AddModelOption(BackendOptions options) { m_ModelOptions.push_back(std::move(options)); }
    void SetLimits(const Limits& limits) { m_Limits = limits; }
    /// How much of the network `backend` may take; without it, as much as it supports.
    void SetPartitionOptions(const BackendId& backend, const PartitionOptions& options);

    bool GetReduceFp32ToFp16() const { return m_ReduceFp32ToFp16; }
    bool GetReduceFp32ToBf16() const { return m_ReduceFp32ToBf16; }
    bool GetDebugEnabled() const { return m_Debug; }
    bool GetDebugToFileEnabled() const { return m_DebugToFile; }
    const std::string& GetDebugFolder() const { return m_DebugFolder; }
    ShapeInferenceMethod GetShapeInferenceMethod() const { return m_ShapeInferenceMethod; }
    bool GetImportEnabled() const { return m_ImportEnabled; }
    bool GetExportEnabled() const { return m_ExportEnabled; }
    bool GetProfilingEnabled() const { return m_ProfilingEnabled; }
    bool GetAllowExpandedDims() const { return m_AllowExpandedDims; }
    const ModelOptions& GetModelOptions() const { return m_ModelOptions; }
    const Limits& GetLimits() const { return m_Limits; }
    PartitionOptions GetPartitionOptions(const BackendId& backend) const;

    /// One line an option.
    std::string ToString() const;

private:
    bool m_ReduceFp32ToFp16 = false;
    bool m_ReduceFp32ToBf16 = false;
    bool m_Debug = false;
    bool m_DebugToFile = false;
    std::string m_DebugFolder = "TenonIntermediateLayerOutputs";
    ShapeInferenceMethod m_ShapeInferenceMethod = ShapeInferenceMethod::ValidateOnly;
    bool m_ImportEnabled = false;
    bool m_ExportEnabled = false;
    bool m_ProfilingEnabled = false;
    bool m_AllowExpandedDims = false;
    ModelOptions m_ModelOptions;
    Limits m_Limits;
    std::vector<std::pair<BackendId, PartitionOptions>> m_PartitionOptions;
};

using IOptimizedNetworkPtr = std::unique_ptr<IOptimizedNetwork, void (*)(IOptimizedNetwork* network)>;

/// Who runs a layer, and why no backend before it in the preference list does (Tenon).
struct LayerAssignment
{
    static constexpr unsigned int NoSubgraph = UINT_MAX;

    LayerGuid m_Guid;
    /// Where the layer stands: empty in the network itself; "<name>/then", "<name>/else", "<name>/condition" or
    /// "<name>/body" in a nested network of the If or While layer of that name (of that type, where it has no name);
    /// further ones with the path of the network around them in front.
    std::string m_Network;
    std::string m_Name;
    LayerType m_Type = LayerType::Input;
    DataType m_DataType = DataType::Float32; ///< of output 0, or of input 0 where there is no output
    BackendId m_Backend;
    /// "preferred", or one "<backend>: <reason>" for each backend that refused, or who made the layer; before it, where
    /// the layer runs in another element type than was asked for, "Float32 in place of Float16: <why>".
    std::string m_Reason;
    /// Why the first of those backends does not run it; Supported where none refused.
    SupportCode m_Code = SupportCode::Supported;
    /// The activation that runs as a part of the layer, e.g. "BoundedReLu(6, 0)"; empty where there is none.
    std::string m_FusedActivation;
    /// Number of the subgraph that the layer runs in: the subgraphs of a network count from 0 in order of execution.
    /// NoSubgraph for layers that the runtime binds or runs itself.
    unsigned int m_Subgraph = NoSubgraph;
};

/// A network that is ready to be loaded. Immutable.
class TENON_API IOptimizedNetwork
{
public:
    virtual ~IOptimizedNetwork();
    static void Destroy(IOptimizedNetwork* network);

    virtual Status PrintGraph() = 0;
    virtual Status SerializeToDot(std::ostream& stream) const = 0;
    virtual void SerializeToJson(std::ostream& stream) const = 0;
    virtual LayerGuid GetGuid() const = 0;
    virtual size_t GetNumInputs() const = 0;
    virtual size_t GetNumOutputs() const = 0;
    virtual void ExecuteStrategy(IStrategy& strategy) const = 0;
    virtual const std::shared_ptr<IProfiler>& GetProfiler() const = 0;
    /// Who runs which layer, in order of execution; behind the layers of a network those of its nested ones (Tenon).
    virtual std::vector<LayerAssignment> GetAssignment() const = 0;
};

/// Validates `network`, simplifies it, assigns a backend to each layer in the order of `backendPreferences` and cuts it
/// into subgraphs. The network itself is not changed. Warnings ("WARNING: ...") go to `messages` or, if that is
/// absent, to the log, as such. The text of an exception ("ERROR: ...") goes behind them, where there are `messages`.
/// Throws, never returns null:
///   InvalidArgumentException     no backend is given, or none of them is there; an option of a backend is unknown or
///                                wrong; Float32 is to be reduced to Float16 and to BFloat16
///   GraphValidationException     the network as a whole is malformed
///   LayerValidationException     a layer's inputs, parameters and outputs do not fit together, an input that the layer
///                                needs is not connected, or an output's tensor info is missing
///   UnimplementedException       layers that no backend takes; names all of them with each backend's reason. It is an
///                                InvalidArgumentException, too, as of Arm NN
///   BackendCapabilityException   a backend's change of a subgraph (IBackend::OptimizeSubgraphView) does not fit
///   LimitExceededException       layers, nesting, or the rank or bytes of a tensor are above the options' Limits
///   MemoryValidationException    memory ran out
/// Each text starts with "optimizing the network: ". Backends of the application's own may throw any kind.
TENON_API IOptimizedNetworkPtr Optimize(const INetwork& network, const std::vector<BackendId>& backendPreferences,
                                        const IDeviceSpec& deviceSpec,
                                        const OptimizerOptionsOpaque& options = OptimizerOptionsOpaque(),
                                        Optional<std::vector<std::string>&> messages = EmptyOptional());

} // namespace tenon
