// SPDX-License-Identifier: Apache-2.0
// A workload lives in three steps:
//   create   IWorkloadFactory::CreateWorkload: reads the layer, packs weights. Knows no shapes that may still change.
//   reshape  IWorkload::Reshape: all that depends on shapes. Once per set of input shapes; the result is cached.
//   execute  IShapedWorkload::Execute: no allocation, no lookup, no logging.
// All three objects are immutable when made, so that any number of contexts may run one loaded network at once.
#pragma once

#include <tenon/backend/Fusion.hpp>
#include <tenon/backend/ITensorHandleFactory.hpp>
#include <tenon/backend/LayerView.hpp>

#include <climits>

#include <cstddef>
#include <functional>
#include <memory>

namespace tenon
{

/// Splits a loop over the threads that the caller of the network allowed.
class TENON_API IParallelFor
{
public:
    virtual ~IParallelFor();
    /// Runs body(begin, end) over [0, count) in pieces of at least `grain`. Returns when all are done. The first
    /// exception of a piece is thrown here. Nested calls run inline. A std::function allocates for a lambda with more
    /// than two references: where nothing may be allocated, name the lambda and pass std::ref of it.
    virtual void Run(size_t count, size_t grain, const std::function<void(size_t begin, size_t end)>& body) = 0;
    /// How many threads Run may use.
    virtual unsigned int GetNumThreads() const = 0;
};

/// The arguments of reshape: everything about the layer, with all shapes known.
struct ReshapeArgs
{
    /// Parameters that arrived as tensors are resolved into it, and so are SAME paddings.
    const BaseDescriptor* m_Descriptor = nullptr;
    const ActivationDescriptor* m_FusedActivation = nullptr; ///< see LayerView
    Span<const TensorInfo* const> m_Inputs;                  ///< null where not connected
    Span<const TensorInfo* const> m_Outputs;
    Span<const void* const> m_ConstantData; ///< values of constant inputs, else null
    const std::string* m_Name = nullptr;
    /// The most threads that runs will use, at least 1; UINT_MAX: not known. A kernel takes scratch memory for no more
    /// threads. It has to work with more, on the threads that it has memory for.
    unsigned int m_MaxThreads = UINT_MAX;
    /// Elements from the beginning of one pixel of output 0 (all elements along the last dimension) to that of the
    /// next; between them nothing is written. 0: pixels follow each other. Another value is passed only where
    /// FusionHooks::m_WritesPitched of the same layer and shapes says so.
    size_t m_OutputPitch = 0;

    bool HasInput(size_t i) const { return i < m_Inputs.size() && m_Inputs[i] != nullptr; }
    const TensorInfo& GetInput(size_t i) const { return *m_Inputs[i]; }
    const TensorInfo& GetOutput(size_t i) const { return *m_Outputs[i]; }
    template <typename D>
    const D& GetDescriptor() const
    {
        return static_cast<const D&>(*m_Descriptor);
    }
};

/// Gives memory for an output whose shape only the execution knows (flag Late in ops.def).
class TENON_API ILateOutputs
{
public:
    virtual ~ILateOutputs();
    /// Fixes the shape of output i and returns its memory. Throws where a limit is exceeded.
    virtual void* Allocate(size_t output, const TensorShape& shape) = 0;
    /// The same for a backend with an ITensorHandleFactory: memory of its device. Throws UnimplementedException where
    /// the layer is not run on a device, which is the default.
    virtual DeviceTensor AllocateOnDevice(size_t output, const TensorShape& shape);
};

/// Memory of one execution. Pointers are at least aligned to their element type; 64 bytes inside the arena.
struct ExecuteArgs
{
    Span<const void* const> m_Inputs; ///< null where not connected
    Span<void* const> m_Outputs;
    void* m_Scratch = nullptr;             ///< GetScratchBytes() bytes, 64-byte aligned, contents undefined
    IParallelFor* m_Parallel = nullptr;    ///< never null while running
    ILateOutputs* m_LateOutputs = nullptr; ///< only for layers whose outputs are shaped by their execution

    /// Only for backends with an ITensorHandleFactory: their tensors are here, and the pointers above are null but for
    /// constants and for inputs whose values shape inference needs, which stay in host memory. Execute submits its work
    /// to the queue and may return before that has run; the bytes at a host pointer then stay the same until it has
    /// run, if they are a constant's; other bytes must be read before Execute returns. Memory stays until the queue is
    /// done with it. As on the host, an output may lie where an input does (flags View and InPlace in ops.def).
    IDeviceQueue* m_Queue = nullptr;
    Span<const DeviceTensor> m_DeviceInputs;
    Span<const DeviceTensor> m_DeviceOutputs;
    DeviceTensor m_DeviceScratch;

    template <typename T>
    const T* GetInput(size_t i) const
    {
        return static_cast<const T*>(m_Inputs[i]);
    }
    template <typename T>
    T* GetOutput(size_t i) const
    {
        return static_cast<T*>(m_Outputs[i]);
    }
};

/// A workload for known shapes. It lives until a device's queue has run all that Execute submitted.
class TENON_API IShapedWorkload
{
public:
    virtual ~IShapedWorkload();
    /// Bytes that Execute wants as scratch memory.
    virtual size_t GetScratchBytes() const { return 0; }
    /// Whether output 0, the only one, gets the bytes of input 0 as they are, as a Transpose of dimensions of size 1
    /// does. The runtime may then let both be the same memory, where Execute has to do nothing.
    virtual bool IsCopy() const { return false; }
    /// The workload's offers to the planner. They live as long as the workload.
    virtual const FusionHooks& GetFusion() const;
    /// Thread-safe: all that changes is in args.
    virtual void Execute(const ExecuteArgs& args) const = 0;
};

namespace backend
{

/// A layer as one backend runs it.
class TENON_API IWorkload
{
public:
    virtual ~IWorkload();
    /// Thread-safe. `args` is valid during the call only, but for constant data, which stays. Null only where
    /// args.m_OutputPitch is not 0 and the output cannot be written so after all.
    virtual std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const = 0;
    /// The kernel's name for profiles, e.g. "RefConvolution2d".
    virtual const char* GetName() const = 0;
};

} // namespace backend

#ifndef TENON_BACKEND_NO_SHORT_NAMES
#define TENON_BACKEND_SHORT_NAMES
using backend::IWorkload;
#endif

} // namespace tenon
