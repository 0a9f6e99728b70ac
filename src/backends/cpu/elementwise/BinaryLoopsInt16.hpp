// SPDX-License-Identifier: Apache-2.0
// The loops that ShortBinary chooses from.
#pragma once

#include "backends/cpu/elementwise/BinaryInt16.hpp"

namespace tenon::cpu
{

enum class SumForm
{
    Add,
    Sub,    ///< a - b
    SubFrom ///< b - a
};

/// The loops of a target. [isFixed]: 0 for two inputs that move, 1 for a second one that stands still.
struct ShortBinaryLoops
{
    ShortBinary::Loop m_Sum[3][2][2]; ///< [SumForm][scalesA][isFixed]: a has the lesser scale, or b
    ShortBinary::Loop m_PotSum[3][2]; ///< [SumForm][isFixed]
    ShortBinary::Loop m_Product[2];
    ShortBinary::Loop m_Maximum[2];
    ShortBinary::Loop m_Minimum[2];
};

/// Those of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const ShortBinaryLoops& GetShortBinaryLoops();

} // namespace tenon::cpu
