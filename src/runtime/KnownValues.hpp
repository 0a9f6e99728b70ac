// SPDX-License-Identifier: Apache-2.0
// KnownValues: values that are known while a plan is made. They are constants, and shape arithmetic that was computed
// for the shapes of the plan. Shape inference of later steps reads them, so that sizes which follow from them are
// planned, too.
#pragma once

#include "common/AlignedMemory.hpp"
#include "runtime/Program.hpp"

#include <vector>

namespace tenon
{

class KnownValues
{
public:
    explicit KnownValues(const Program& program) : m_Program(program) {}

    /// The memory of a value that is constant or was computed; null for any other value, and for NoValue.
    const void* Find(ValueId value) const;
    /// Whether any value that is no constant was computed.
    bool HasComputed() const { return !m_Blocks.empty(); }

    /// Runs the workload of a step that decides shapes, if it depends on nothing but known values and the shapes of its
    /// inputs, and its outputs are small. `outputs` are their infos, of known shape. An error is left to the run that
    /// reaches the step: that run may have other shapes.
    void Compute(const Step& step, const IShapedWorkload& workload, Span<const TensorInfo* const> outputs);

private:
    bool IsComputable(const Step& step) const;

    const Program& m_Program;
    std::vector<AlignedMemory> m_Blocks;
    std::vector<const void*> m_Computed; ///< by value; empty as long as no value is computed
};

} // namespace tenon
