// SPDX-License-Identifier: Apache-2.0
// DynamicMemory: memory of the values whose shapes depend on data and are known during the run only. Each is allocated
// when its step has been shaped, counts towards Limits::m_MaxTotalBytes, and is released after the last step that reads
// it.
#pragma once

#include "common/AlignedMemory.hpp"
#include "runtime/RunTensors.hpp"

#include <tenon/Limits.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tenon
{

class DynamicMemory
{
public:
    /// Tensors and queues must outlive it. `queues` may be null if the program uses no devices.
    DynamicMemory(RunTensors& tensors, DeviceQueues* queues) : m_Tensors(tensors), m_Queues(queues) {}

    /// Begins a run whose plan is not complete: no value has memory, and the plan's arenas are counted.
    void BeginRun();
    /// Releases all blocks. No device may be at work.
    void EndRun() { m_Blocks.clear(); }

    /// Gives memory of its own to an output of a step, and sets the shape in its info. Returns its host memory, null on
    /// a device. Throws LimitExceededException if a limit is exceeded, and MemoryValidationException if memory is
    /// exhausted.
    void* Allocate(ValueId value, const Step& step, const TensorShape& shape, const Limits& limits);
    /// Lets output 0 of a step, of that shape, share the memory of input 0; false if it may not.
    bool ShareView(const Step& step, const TensorShape& shape);
    /// Lets output 0 of a step that imports its input keep the memory of the input.
    void ShareImport(const Step& step) { m_Blocks[step.m_FirstOutput] = m_Blocks[step.m_Inputs[0]]; }
    bool HasMemory(ValueId value) const { return m_Blocks[value] != nullptr; }
    /// Releases the inputs and outputs of a step that has run, except values that a later step reads.
    void Release(size_t stepIndex);

    /// Returns host memory for one step, which is not counted. Errors name the step's layer.
    AlignedMemory TakeHostMemory(const Step& step, size_t bytes, size_t alignment) const;
    /// Counts bytes. Throws LimitExceededException that names the step's layer.
    void Charge(size_t bytes, const Step& step, const Limits& limits);
    void Discharge(size_t bytes) { m_UsedBytes -= bytes; }
    uint64_t GetUsedBytes() const { return m_UsedBytes; }
    uint64_t GetBytesLeft(const Limits& limits) const
    {
        return limits.m_MaxTotalBytes > m_UsedBytes ? limits.m_MaxTotalBytes - m_UsedBytes : 0;
    }

private:
    struct Block
    {
        AlignedMemory m_Host;
        std::unique_ptr<DeviceBlock> m_Device; ///< used in place of m_Host
    };

    void Release(size_t stepIndex, ValueId value);

    RunTensors& m_Tensors;
    DeviceQueues* m_Queues;
    /// Blocks by value; views of a value share its block. A block is null for values that were placed before the run,
    /// and for their views.
    std::vector<std::shared_ptr<Block>> m_Blocks;
    uint64_t m_UsedBytes = 0; ///< bytes of the arenas and all blocks
};

} // namespace tenon
