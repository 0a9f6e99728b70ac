// SPDX-License-Identifier: Apache-2.0
// Plan: the data of a run that depend on the shapes of the inputs: infos of all values, reshaped workloads, fused runs,
// and the place of each value. PlanBuilder makes it, once for each set of input shapes; then it is immutable and shared
// by contexts.
#pragma once

#include "common/Pages.hpp"
#include "runtime/FusedRun.hpp"
#include "runtime/Program.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

/// The kind of memory in which a value lies.
enum class Place : uint8_t
{
    None,     ///< no step of the plan writes or reads it
    Constant, ///< memory of the constant value m_Index
    Input,    ///< memory of the caller; m_Index says which input
    Output,   ///< memory of the caller; m_Index says which output
    State,    ///< memory of the session; m_Index says which state
    Imported, ///< host memory that a device uses; m_Index is the output of the MemImport step
    Arena     ///< the arena; values that share memory lie in the memory of their root, see MemorySharing
};

struct Location
{
    Place m_Place = Place::None;
    uint32_t m_Index = 0;
    size_t m_Offset = 0; ///< offset in bytes from the beginning of the memory
};

/// The part of one memory that a run needs.
struct PlannedArena
{
    size_t m_Bytes = 0;
    size_t m_LowerBoundBytes = 0; ///< the largest sum of bytes alive at once
    bool m_IsSmallest = true;     ///< see ArenaStatistics
};

struct ByteRange
{
    size_t m_Begin = 0;
    size_t m_End = 0;
};

/// A value on a device whose copy is all that a network output holds. If the device imported the caller's memory for
/// that output, the value may lie there, and nothing is copied.
struct DirectOutput
{
    uint32_t m_Output = 0; ///< index into Program::Outputs()
    uint32_t m_Copy = 0;   ///< the step that copies
    std::vector<ValueId> m_Values;
};

/// A layer and the following addition of a residual to its output, as one workload that adds in its epilogue. It runs
/// at the step of the addition. The tensor between the two steps still has memory, because debug callbacks see it: in
/// runs with a callback, the two steps run one after the other.
struct ResidualAdd
{
    static constexpr uint32_t None = std::numeric_limits<uint32_t>::max();

    uint32_t m_Layer = 0; ///< the steps of the layer and of the addition
    uint32_t m_Add = 0;
    uint32_t m_Residual = 0;                     ///< index of the addition's input that is not the layer's output
    std::unique_ptr<IShapedWorkload> m_Workload; ///< of both steps: inputs of the layer, then the residual
    const char* m_KernelName = nullptr;
};

/// A value that its writer stores among the channels of the output of a Concat: nothing is left to copy.
struct PitchedValue
{
    ValueId m_Value = NoValue;
    uint32_t m_Concat = 0; ///< the step that reads it
    size_t m_Offset = 0;   ///< offset in bytes of its first byte in the output of the Concat
    size_t m_Pitch = 0;    ///< distance in elements from one of its pixels to the next
    uint32_t m_Writer = 0; ///< the step that makes it
};

/// A step whose shapes are known.
struct PlannedStep
{
    std::unique_ptr<IShapedWorkload> m_Workload; ///< null: the runtime runs it
    size_t m_ScratchBytes = 0; ///< the workload's need, or more if the step's part of a fused run needs more
    size_t m_ScratchOffset = 0;
    bool m_IsCopy = false;                      ///< see IShapedWorkload::IsCopy
    uint32_t m_ResidualAdd = ResidualAdd::None; ///< index into Plan::GetResidualAdds() of the ResidualAdd that it is
                                                ///< part of
    const TensorAliases* m_Aliases = nullptr;   ///< aliases of the workload; null: none
    const char* m_KernelName = nullptr;         ///< see GetKernelName; "+InPlace" is added if nothing has to be copied
};

class Plan
{
public:
    /// The decisions of PlanBuilder. Lists by value or step are in the program's order.
    struct Contents
    {
        std::vector<TensorShape> m_InputShapes; ///< by index of Program::Inputs()
        unsigned int m_MaxThreads = 1;          ///< number of threads for which layers have scratch memory
        PageVector<TensorInfo> m_Infos;         ///< by value
        PageVector<Location> m_Locations;       ///< by value
        PageVector<ValueId> m_Bound;
        PageVector<PlannedStep> m_Steps;
        std::vector<std::unique_ptr<FusedRun>> m_FusedRuns;
        std::vector<ResidualAdd> m_ResidualAdds;
        std::vector<PitchedValue> m_PitchedValues;                ///< sorted by value
        std::vector<std::unique_ptr<const std::string>> m_Labels; ///< names of kernels that differ from the workload's
        std::vector<PlannedArena> m_Arenas;                       ///< by MemoryId
        std::vector<ByteRange> m_Written;
        std::vector<DirectOutput> m_DirectOutputs;
        bool m_IsComplete = false;
    };

    explicit Plan(Contents contents);

    const std::vector<TensorShape>& InputShapes() const { return m_Contents.m_InputShapes; }
    unsigned int GetMaxThreads() const { return m_Contents.m_MaxThreads; }
    /// Infos by value. The shape of a value that is not planned may be unknown.
    const PageVector<TensorInfo>& Infos() const { return m_Contents.m_Infos; }
    const PageVector<Location>& Locations() const { return m_Contents.m_Locations; }
    /// The values that lie in memory of the caller or session, which differs from run to run.
    const PageVector<ValueId>& Bound() const { return m_Contents.m_Bound; }
    /// The steps that could be shaped before the run: the first ones of the program. The rest is shaped during the run.
    const PageVector<PlannedStep>& Steps() const { return m_Contents.m_Steps; }
    bool IsComplete() const { return m_Contents.m_IsComplete; }
    /// Fused runs in the order of their steps; no step is in two of them.
    const std::vector<std::unique_ptr<FusedRun>>& GetFusedRuns() const { return m_Contents.m_FusedRuns; }
    const std::vector<ResidualAdd>& GetResidualAdds() const { return m_Contents.m_ResidualAdds; }
    /// The pitch of a value; null if its pixels follow each other.
    const PitchedValue* FindPitch(ValueId value) const;
    /// The arenas by MemoryId.
    const std::vector<PlannedArena>& Arenas() const { return m_Contents.m_Arenas; }
    /// The ranges of the host's arena that a run writes, in ascending order and disjoint. Tensors that exist tile by
    /// tile, and gaps between tensors, are left out.
    const std::vector<ByteRange>& GetWritten() const { return m_Contents.m_Written; }
    uint64_t TotalBytes() const { return m_TotalBytes; }
    const std::vector<DirectOutput>& DirectOutputs() const { return m_Contents.m_DirectOutputs; }

private:
    const Contents m_Contents;
    const uint64_t m_TotalBytes; ///< bytes of all arenas
};

/// The sum of the arenas' bytes; UINT64_MAX if it does not fit.
uint64_t CountArenaBytes(const std::vector<PlannedArena>& arenas);

} // namespace tenon
