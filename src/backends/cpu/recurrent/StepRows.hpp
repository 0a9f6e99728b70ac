// SPDX-License-Identifier: Apache-2.0
// Where the rows of a step of a sequence lie, all batches of which a recurrent layer runs together.
#pragma once

#include "backends/reference/kernels/GateProduct.hpp"

#include <cstddef>

namespace tenon::cpu
{

struct StepRows
{
    size_t m_First = 0;  ///< of the step's first batch
    size_t m_Stride = 1; ///< from batch to batch
};

inline StepRows GetStepRows(const ref::SequenceShape& sequence, size_t time)
{
    return sequence.m_IsTimeMajor ? StepRows{time * sequence.m_Batches, 1} : StepRows{time, sequence.m_Steps};
}

} // namespace tenon::cpu
