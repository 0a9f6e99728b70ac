// SPDX-License-Identifier: Apache-2.0
// The table of loops that BinaryInt16 chooses from.
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

/// The loops of a target. Index isScalarB: 0 if b is a vector, 1 if b is one element.
struct BinaryLoopsInt16
{
    BinaryInt16::Loop m_Sum[3][2][2]; ///< [SumForm][scalesA][isScalarB]; scalesA: a, not b, has the smaller scale
    BinaryInt16::Loop m_PotSum[3][2]; ///< [SumForm][isScalarB]
    BinaryInt16::Loop m_Product[2];
    BinaryInt16::Loop m_Maximum[2];
    BinaryInt16::Loop m_Minimum[2];
};

/// The loops of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const BinaryLoopsInt16& GetBinaryLoopsInt16();

} // namespace tenon::cpu
