// SPDX-License-Identifier: Apache-2.0
// The table of loops that BinaryInt8 chooses from.
#pragma once

#include "backends/cpu/elementwise/BinaryInt8.hpp"

namespace tenon::cpu
{

/// The loops of a target: [0] if b is a vector, [1] if b is one element.
struct ByteBinaryLoops
{
    ByteBinary::Loop m_ExactSum[2];
    ByteBinary::AllPairs m_AllExactSums;
    ByteBinary::Loop m_ExactSquare[2];
    ByteBinary::Loop m_FloatSquare[2];
    ByteBinary::Loop m_FloatSum[2];
    ByteBinary::Loop m_ExactProduct[2];
    ByteBinary::Loop m_FloatProduct[2];
    ByteBinary::Loop m_Maximum[2];
    ByteBinary::Loop m_Minimum[2];
    ByteBinary::Loop m_ExactPrelu[2];
    ByteBinary::Loop m_FloatPrelu[2];
    ByteBinary::Loop m_TablePrelu; ///< for vectors; null if the processor has no fast lookup
};

/// The loops of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const ByteBinaryLoops& GetByteBinaryLoops();

} // namespace tenon::cpu
