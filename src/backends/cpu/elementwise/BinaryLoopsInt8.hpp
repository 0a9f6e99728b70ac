// SPDX-License-Identifier: Apache-2.0
// The loops that ByteBinary chooses from.
#pragma once

#include "backends/cpu/elementwise/BinaryInt8.hpp"

namespace tenon::cpu
{

/// The loops of a target: [0] for two inputs that move, [1] for a second one that stands still.
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
    ByteBinary::Loop m_TablePrelu; ///< for inputs that move; null where the processor is no good at it
};

/// Those of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const ByteBinaryLoops& GetByteBinaryLoops();

} // namespace tenon::cpu
