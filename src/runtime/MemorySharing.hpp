// SPDX-License-Identifier: Apache-2.0
// MemorySharing: which values of a plan share memory.
#pragma once

#include "runtime/PlanDraft.hpp"

#include <vector>

namespace tenon
{

/// Sets of values that share memory, as a union-find forest. The name of a set is its root: the first value of the set,
/// or the value that contains the others as ranges.
class MemorySharing
{
public:
    /// `inPlace`: by step, whether its aliases and pitched values are to lie in place where they can.
    MemorySharing(const PlanDraft& draft, const std::vector<bool>& inPlace);

    ValueId Root(ValueId v) const
    {
        Settle(v);
        return m_Parent[v];
    }
    /// The offset of the value in its root's memory.
    size_t Offset(ValueId v) const
    {
        Settle(v);
        return m_Offset[v];
    }
    /// Whether the value takes all of its root's memory.
    bool TakesAllMemory(ValueId v) const;
    bool IsExternal(ValueId root) const { return m_External[root]; }
    /// The steps during which the root's memory is in use.
    uint32_t First(ValueId root) const { return m_First[root]; }
    uint32_t Last(ValueId root) const { return m_Last[root]; }

private:
    /// Makes the root the direct parent of a value and of the values on the path to it (path compression).
    void Settle(ValueId v) const
    {
        if (m_Parent[m_Parent[v]] != m_Parent[v])
        {
            SettleFar(v);
        }
    }
    void SettleFar(ValueId v) const;
    MemoryId MemoryOf(ValueId v) const { return m_Program.Values()[v].m_Memory; }
    void FindSyncSteps();
    void AddStep(uint32_t index, const Step& step, const PlannedStep& planned);
    void ShareAliases(const Step& step, const TensorAliases& aliases);
    void Join(ValueId output, ValueId input, size_t offset = 0);
    void PutInto(ValueId whole, ValueId part, size_t offset);
    bool MayBeIn(ValueId part, ValueId whole, size_t offset) const;
    ValueId FindOverwritable(uint32_t index, const Step& step, const PlannedStep& planned) const;
    bool MayBeWritten(ValueId root, MemoryId from) const;
    bool Clashes(ValueId input, ValueId other, const TensorInfo& output) const;
    bool IsReadWithResidual(uint32_t residualAdd, ValueId root) const;

    const Program& m_Program;
    const PageVector<TensorInfo>& m_Infos;
    const std::vector<ResidualAdd>& m_ResidualAdds;
    const uint32_t m_NumSteps;
    mutable PageVector<ValueId> m_Parent; ///< the value in whose memory it lies: itself for a root
    mutable PageVector<size_t> m_Offset;  ///< in the parent's memory; 0 for a root
    PageVector<uint32_t> m_First;
    PageVector<uint32_t> m_Last;
    std::vector<bool> m_External;   ///< by root: memory that no step may write
    std::vector<bool> m_IsOutput;   ///< by root: a value of the set is a network output
    std::vector<bool> m_IsImported; ///< by root: a device reads it at a time of its own; empty: no device
    std::vector<std::vector<uint32_t>> m_SyncSteps; ///< by memory
};

} // namespace tenon
