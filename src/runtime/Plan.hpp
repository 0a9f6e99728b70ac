// SPDX-License-Identifier: Apache-2.0
// Plan: all that a run needs and that depends on the shapes of the inputs: infos of all values, reshaped workloads, and
// where each value lies. Made once per set of input shapes, then shared by contexts.
#pragma once

#include "common/Pages.hpp"
#include "common/SharedParts.hpp"
#include "runtime/MemoryPlanner.hpp"
#include "runtime/Pitches.hpp"
#include "runtime/Program.hpp"
#include "runtime/Strips.hpp"
#include "runtime/Sums.hpp"

#include <tenon/Limits.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

class KernelNames;

/// Where a value's memory comes from.
enum class Place : uint8_t
{
    None,     ///< no step of the plan gives or reads it
    Constant, ///< memory of the constant value m_Index
    Input,    ///< memory of the caller; m_Index says which input
    Output,   ///< memory of the caller; m_Index says which output
    State,    ///< memory of the session; m_Index says which state
    Imported, ///< host memory that a device uses; m_Index is the output of the MemImport step
    Arena     ///< the arena in the memory of the root of those that share it, see Plan::Sharing
};

struct Location
{
    Place m_Place = Place::None;
    uint32_t m_Index = 0;
    size_t m_Offset = 0; ///< bytes from the beginning of that memory
};

/// What a run needs of one memory.
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

/// Values of a device that end up, by a copy, in a network output that holds nothing else. Where the device imported
/// the caller's memory for that output, they may lie there, and nothing is copied.
struct DirectOutput
{
    uint32_t m_Output = 0; ///< index into Program::Outputs()
    uint32_t m_Copy = 0;   ///< the step that copies
    std::vector<ValueId> m_Values;
};

/// A step whose shapes are known.
struct PlannedStep
{
    std::unique_ptr<IShapedWorkload> m_Workload; ///< null: the runtime runs it
    size_t m_ScratchBytes = 0;                   ///< what the workload asks for, so that nobody need ask again
    size_t m_ScratchOffset = 0;
    bool m_IsCopy = false;                ///< see IShapedWorkload::IsCopy
    uint32_t m_Sum = PlannedSum::None;    ///< index into Plan::GetSums() of what it is a part of
    const SharedParts* m_Parts = nullptr; ///< of the workload; null: none
    const char* m_KernelName = nullptr;   ///< see GetKernelName; "+InPlace" is added where nothing need be copied
};

class Plan
{
public:
    /// `inputShapes` are by index of program.Inputs(); `threads`: of which layers get memory to work on at once. Throws
    /// LayerValidationException where shapes do not fit and MemoryValidationException where a limit is exceeded, both
    /// before anything is allocated.
    Plan(const Program& program, const std::vector<TensorShape>& inputShapes, unsigned int threads,
         const Limits& limits);

    const std::vector<TensorShape>& InputShapes() const { return m_InputShapes; }
    unsigned int GetNumThreads() const { return m_NumThreads; }
    /// By value. Of values that are not planned the shape may be unknown.
    const PageVector<TensorInfo>& Infos() const { return m_Infos; }
    const PageVector<Location>& Locations() const { return m_Locations; }
    /// The values that lie in memory of the caller or session, which differs from run to run.
    const PageVector<ValueId>& Bound() const { return m_Bound; }
    /// The steps that could be shaped before the run: the first ones of the program. The rest is shaped during the run.
    const PageVector<PlannedStep>& Steps() const { return m_Steps; }
    bool IsComplete() const { return m_Complete; }
    /// In the order of their steps.
    const std::vector<std::unique_ptr<Strips>>& GetStrips() const { return m_Strips; }
    const std::vector<PlannedSum>& GetSums() const { return m_Sums; }
    /// Null where pixels of the value follow each other.
    const PlannedPitch* FindPitch(ValueId value) const;
    /// By MemoryId.
    const std::vector<PlannedArena>& Arenas() const { return m_Arenas; }
    /// What a run writes of the host's arena, in order and apart. Tensors that are there in strips alone are left out,
    /// and so the gaps between tensors.
    const std::vector<ByteRange>& GetWritten() const { return m_Written; }
    uint64_t TotalBytes() const;
    const std::vector<DirectOutput>& DirectOutputs() const { return m_DirectOutputs; }

private:
    class Sharing;
    /// What lies in an arena: first values, then scratch.
    struct Contents
    {
        PageVector<PlannedBuffer> m_Buffers;
        PageVector<ValueId> m_Values;
        std::vector<uint32_t> m_ScratchSteps;
    };

    bool ShapeStep(const Program& program, const Step& step, const Limits& limits, KernelNames& names);
    // PlanStrips.cpp
    void FindStrips(const Program& program);
    std::unique_ptr<Strips> FindRun(const Program& program, uint32_t first) const;
    std::unique_ptr<Strips> CutRun(const Program& program, uint32_t first, size_t parts, size_t mostSteps) const;
    struct PartInfos;
    std::optional<PartInfos> CutInfos(const Program& program, uint32_t index, size_t parts, StripStep& strip) const;
    std::optional<StripStep> CutStep(const Program& program, uint32_t index, size_t parts) const;
    size_t CountInnerBytes(const Program& program, const Strips& strips) const;
    static bool IsMadeBy(const Program& program, uint32_t first, uint32_t end, ValueId value);
    // PlanAttention.cpp
    struct AttentionSteps;
    std::optional<AttentionSteps> FindAttention(const Program& program, uint32_t first) const;
    std::unique_ptr<Strips> MakeAttention(const Program& program, uint32_t first) const;
    bool JoinLayers(const Program& program, const AttentionSteps& of, Strips& strips) const;
    // PlanChains.cpp
    class ChainFinder;
    std::unique_ptr<Strips> MakeChain(const Program& program, uint32_t first) const;
    uint32_t CountChainSteps(const Program& program, uint32_t first) const;
    bool IsSumOfLayer(const Program& program, uint32_t sum) const;
    // PlanStripMemory.cpp
    void SettleStrips(const Program& program, const Sharing& sharing);
    bool SettleStrips(const Program& program, const Sharing& sharing, Strips& strips) const;
    std::pair<uint32_t, uint32_t> RunsWith(uint32_t step) const;
    // PlanSums.cpp
    uint32_t FindSumOf(const Program& program, uint32_t layer) const;
    void FindSums(const Program& program);
    void DropCostlySums(const Program& program);
    // PlanPitches.cpp
    bool HasPitches(uint32_t join) const;
    bool RunsAlone(const Program& program, uint32_t index) const;
    std::unique_ptr<IShapedWorkload> ShapePitched(const Program& program, uint32_t index, size_t pitch) const;
    uint32_t FindWriter(const Program& program, ValueId value) const;
    void TryPitch(const Program& program, uint32_t join, size_t input);
    void FindPitches(const Program& program);
    void ApplyPitches(const Program& program, const std::vector<bool>& sharesParts);

    void PlaceValues(const Program& program, const Limits& limits);
    void NameStep(size_t index, const char* addition);
    std::vector<bool> ChooseParts(const Program& program);
    size_t CountHostBytes(const Program& program, const std::vector<bool>& sharesParts);
    bool IsInPlace(const Step& step, const SharedParts& parts) const;
    void LocateImports(const Program& program, const Sharing& sharing);
    void PlaceBound(const Program& program, const Sharing& sharing);
    std::vector<Contents> ListBuffers(const Program& program, const Sharing& sharing) const;
    void PlaceInArenas(const Program& program, const Sharing& sharing);
    // PlanWritten.cpp
    void FindWritten(const Program& program, const Sharing& sharing, const Contents& host);
    void CheckTotal(const Program& program, const Limits& limits) const;
    void FindDirectOutputs(const Program& program, const Sharing& sharing);

    std::vector<TensorShape> m_InputShapes;
    unsigned int m_NumThreads;
    PageVector<TensorInfo> m_Infos;
    PageVector<Location> m_Locations;
    PageVector<ValueId> m_Bound;
    PageVector<PlannedStep> m_Steps;
    std::vector<std::unique_ptr<Strips>> m_Strips;
    std::vector<PlannedSum> m_Sums;
    std::vector<PlannedPitch> m_Pitches;                      ///< in the order of their joins
    std::vector<size_t> m_PitchesByValue;                     ///< which of them, in the order of their values
    std::vector<std::unique_ptr<const std::string>> m_Labels; ///< of kernels, where it is not the workload's
    bool m_MayHaveStrips = false;                             ///< no tensor is too small
    std::vector<PlannedArena> m_Arenas;
    std::vector<ByteRange> m_Written;
    std::vector<DirectOutput> m_DirectOutputs;
    bool m_Complete = false;
};

/// Reshapes one step's workload, for an output with gaps where `outputPitch` is not 0; null where that is not to be
/// had. `descriptor` is the resolved one or null. Errors get the layer as context.
std::unique_ptr<IShapedWorkload> ReshapeStep(const Step& step, const BaseDescriptor* descriptor,
                                             Span<const TensorInfo* const> inputs,
                                             Span<const TensorInfo* const> outputs, Span<const void* const> constants,
                                             size_t outputPitch = 0);

/// What a step takes input i for, whose value is of info `actual`, where the input overrides it: type and quantization
/// of the override, and its shape if that says more than the value's declared one did.
/// Throws LayerValidationException where the value has another number of elements.
TensorInfo OverriddenInfo(const Program& program, const Step& step, size_t input, const TensorInfo& actual);

/// Whether the step lets a device use host memory: its output then lies where its input does.
bool IsImport(const Program& program, const Step& step);

/// Whether the step adds two tensors of the host up.
bool IsSum(const Step& step);

/// What addresses of elements must be a multiple of.
size_t GetAlignment(DataType type);

/// Whether memory of one tensor may be read as the other: it is aligned well enough.
inline bool MayBeView(const TensorInfo& view, const TensorInfo& of)
{
    return GetAlignment(view.GetDataType()) <= GetAlignment(of.GetDataType());
}

/// The tensor's bytes. Throws LimitExceededException where they are more than a limit allows.
size_t CheckTensorBytes(const Step& step, const TensorInfo& info, const Limits& limits);

} // namespace tenon
