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
    /// Threads of a run, at most 1024. 0: as many as the interpreter was given; 1 where it was given none.
    unsigned int m_NumberOfThreads = 0;
    /// The largest partitions are taken, at most so many of a subgraph. 0: all.
    unsigned int m_MaxDelegatedPartitions = 0;
    /// Partitions of fewer nodes are left to TensorFlow Lite.
    unsigned int m_MinNodesPerPartition = 0;
    /// What the delegate writes to the log: at Info a table of the nodes that it took and of those that it left with
    /// the reasons, at Debug also each network that it loads. Not set: warnings and errors. Setting it sets the filter
    /// of Tenon's own log, too, which is that of the process.
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
    /// Of Optimize(). Its model options are also those of loading.
    OptimizerOptionsOpaque m_OptimizerOptions;
    /// Whether networks are profiled. The profile is written to standard output as JSON when a network is unloaded.
    bool m_ProfilingEnabled = false;
    ProfilingDetailsMethod m_ProfilingDetails = ProfilingDetailsMethod::Undefined;
    /// Called with the outputs of each layer where m_OptimizerOptions has debugging enabled; empty: they are printed.
    DebugCallbackFunction m_DebugCallback;
    /// Of the runtime. Delegates whose runtime options are equal, but for objects, share one.
    IRuntime::CreationOptions m_RuntimeOptions;

    /// From options as text, by the names in docs/delegate.md, those of Arm NN's delegate among them. Throws
    /// InvalidArgumentException for a name that does not exist, which lists those that do, and for a value that its
    /// option cannot have.
    TENON_API static TfLiteDelegateOptions Parse(const std::vector<std::pair<std::string, std::string>>& options);
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
