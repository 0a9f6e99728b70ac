// SPDX-License-Identifier: Apache-2.0
// The rows of one time step in a tensor of a sequence: time major [steps][batches] or batch major [batches][steps].
#pragma once

#include "backends/reference/kernels/GateProduct.hpp"

#include <cstddef>

namespace tenon::cpu
{

struct StepRows
{
    size_t m_First = 0;  ///< row of the step's first batch
    size_t m_Stride = 1; ///< rows from batch to batch
};

inline StepRows GetStepRows(const ref::SequenceShape& sequence, size_t time)
{
    return sequence.m_IsTimeMajor ? StepRows{time * sequence.m_Batches, 1} : StepRows{time, sequence.m_Steps};
}

} // namespace tenon::cpu
