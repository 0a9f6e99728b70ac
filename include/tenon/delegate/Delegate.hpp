// SPDX-License-Identifier: Apache-2.0
// The TensorFlow Lite delegate: a program keeps its TensorFlow Lite interpreter, and Tenon runs the nodes of the model
// that its backends take. libtenonDelegate.so has it, and needs neither a header nor a library of TensorFlow Lite.
// Other programs load that file as an external delegate, by its two plugin symbols and options as text: see
// docs/delegate.md.
#pragma once

#include <tenon/BackendId.hpp>
#include <tenon/Export.hpp>
#include <tenon/IRuntime.hpp>
#include <tenon/Logging.hpp>
#include <tenon/Optional.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct TfLiteDelegate; // TensorFlow Lite's

namespace tenon
{

/// How a delegate takes nodes and runs them.
struct TfLiteDelegateOptions
{
    /// In order of preference: a layer runs on the first one that supports it. A node of which no backend supports a
    /// layer is left to TensorFlow Lite. Named ones that are not there are left out with a warning.
    std::vector<BackendId> m_Backends{"CpuAcc", "CpuRef"};
    /// Threads of a run, at most 1024. 0: the interpreter's number, or 1 where it has none.
    unsigned int m_NumberOfThreads = 0;
    /// Maximum number of partitions of a subgraph; the largest ones are taken. 0: no limit.
    unsigned int m_MaxDelegatedPartitions = 0;
    /// Partitions of fewer nodes are left to TensorFlow Lite.
    unsigned int m_MinNodesPerPartition = 0;
    /// Severity of the log. Info adds a table of the nodes that were taken, and of the nodes that were left with their
    /// reasons; Debug adds the optimizer's messages. Not set: warnings and errors. It sets the filter of Tenon's log,
    /// which is one for the process.
    Optional<LogSeverity> m_LoggingSeverity;
    /// Make an error of a node that is left, which names all of them, in place of running it in TensorFlow Lite.
    bool m_DisableFallback = false;
    /// The file gets the networks that were made, as Graphviz's digraphs: one for each partition, in the order of
    /// loading. With several partitions the further ones are FILE.1, FILE.2, … Empty: none.
    std::string m_SerializeToDot;
    /// See CachedNetworkFilePath and SaveCachedNetwork in <tenon/BackendOptions.hpp>; numbered as m_SerializeToDot.
    /// They are for CpuAcc.
    std::string m_CachedNetworkFilePath;
    bool m_SaveCachedNetwork = false;
    /// The options of Optimize(). Its model options are also those of loading.
    OptimizerOptionsOpaque m_OptimizerOptions;
    /// Whether networks are profiled. The profile is written to standard output as JSON when a network is unloaded.
    bool m_ProfilingEnabled = false;
    ProfilingDetailsMethod m_ProfilingDetails = ProfilingDetailsMethod::Undefined;
    /// Called with the outputs of each layer where m_OptimizerOptions has debugging enabled; empty: they are printed.
    DebugCallbackFunction m_DebugCallback;
    /// The options of the runtime. Delegates whose runtime options are equal, but for objects, share one runtime.
    IRuntime::CreationOptions m_RuntimeOptions;

    /// From options as text. docs/delegate.md lists their names, among them the names of Arm NN's delegate. Throws
    /// InvalidArgumentException for an unknown name, with the list of known ones, and for a value that its option
    /// cannot have.
    TENON_API static TfLiteDelegateOptions Parse(const std::vector<std::pair<std::string, std::string>>& options);
    /// The same from `count` names and values, as TensorFlow Lite passes options. Throws for a null one, too.
    TENON_API static TfLiteDelegateOptions Parse(const char* const* names, const char* const* values, size_t count);
};

/// A delegate for ModifyGraphWithDelegate of any number of interpreters, which it has to outlive; they may be used by
/// different threads. Throws InvalidArgumentException where none of the backends is there.
TENON_API TfLiteDelegate* CreateTfLiteDelegate(const TfLiteDelegateOptions& options = {});
/// Null is allowed.
TENON_API void DeleteTfLiteDelegate(TfLiteDelegate* delegate);

using TfLiteDelegatePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate* delegate)>;
/// The same, with an owner.
inline TfLiteDelegatePtr MakeTfLiteDelegate(const TfLiteDelegateOptions& options = {})
{
    return {CreateTfLiteDelegate(options), &DeleteTfLiteDelegate};
}

} // namespace tenon
