// SPDX-License-Identifier: Apache-2.0
// IProfiler: measurements of the time that the parts of a network take.
#pragma once

#include <tenon/Export.hpp>
#include <tenon/Types.hpp>

#include <ostream>

namespace tenon
{

/// Records the events of Optimize(), LoadNetwork() and EnqueueWorkload() while it is enabled. It belongs to one
/// network, from IOptimizedNetwork::GetProfiler() or IRuntime::GetProfiler(), and may outlive it. Thread-safe. While
/// disabled it costs next to nothing; enabled, some 100 ns an event. About a million events are kept, further ones only
/// counted.
///
/// Events nest:
///     optimize_measurements         the optimizer's passes, assignment, partition
///     loaded_network_measurements   CreateWorkload for each layer, Plan
///     inference_measurements        PrepareInputs, PrepareOutputs, Execute, WriteOutputs; below Execute one
///                                   <kernel>_Execute for each layer; Plan when shapes are new
class TENON_API IProfiler
{
public:
    virtual ~IProfiler();
    virtual void EnableProfiling(bool enableProfiling) = 0;
    virtual bool IsProfilingEnabled() = 0;
    /// A table of events: name and layer, total, min, max, average in microseconds, count. Where faster kernels
    /// declined the shapes of a layer, the line below names them and says why; where a kernel has variants, a line says
    /// which one runs, and why.
    virtual void AnalyzeEventsAndWriteResults(std::ostream& outStream) const = 0;
    /// The events as JSON, in Arm NN's form with "Tenon" as root: an event is an object "<name>_#<number>" with its
    /// measurements, which hold one value for each time that it occurred, and the events within it. Events of a layer
    /// have "layer", "guid" and "backend", and, where faster kernels declined the layer's shapes, "declined":
    /// "<kernel>: <reason>"; where the kernel has variants, "variant": the one that runs, and why. "dropped_events" is
    /// there if there were any.
    virtual void Print(std::ostream& outStream) const = 0;
    /// The events in the Trace Event Format of chrome://tracing and Perfetto: one complete event ("ph": "X") for each,
    /// times in microseconds from the first one on, "args" with the layer's name, guid and backend (Tenon), and
    /// "declined" and "variant" as in Print(). With several threads, each loop of a workload has an event "loop" in its
    /// caller (args: its number, threads that took part, threads that might have), and one "share" in each thread that
    /// took part, from its first chunk to its last (args: the loop's number, chunks, "work": microseconds in them).
    virtual void WriteChromeTrace(std::ostream& outStream) const = 0;
    /// Lets Print() add "layer_details", an object for each workload of the loaded network (guid, layer name, type,
    /// backend, kernel, tensors, parameters), or write nothing else (DetailsOnly). Where tensors have shapes that
    /// follow from the inputs, they are those of the latest run.
    virtual void EnableNetworkDetailsToStdOut(ProfilingDetailsMethod detailsMethod) = 0;
};

} // namespace tenon
