// SPDX-License-Identifier: Apache-2.0
// The table of loops that BinaryInt8 chooses from.
#pragma once

#include "backends/cpu/elementwise/BinaryInt8.hpp"

namespace tenon::cpu
{

/// The loops of a target: [0] if b is a vector, [1] if b is one element.
struct BinaryLoopsInt8
{
    BinaryInt8::Loop m_ExactSum[2];
    BinaryInt8::AllPairs m_AllExactSums;
    BinaryInt8::Loop m_ExactSquare[2];
    BinaryInt8::Loop m_FloatSquare[2];
    BinaryInt8::Loop m_FloatSum[2];
    BinaryInt8::Loop m_ExactProduct[2];
    BinaryInt8::Loop m_FloatProduct[2];
    BinaryInt8::Loop m_Maximum[2];
    BinaryInt8::Loop m_Minimum[2];
    BinaryInt8::Loop m_ExactPrelu[2];
    BinaryInt8::Loop m_FloatPrelu[2];
    BinaryInt8::Loop m_TablePrelu; ///< for vectors; null if the processor has no fast lookup
    // In real numbers, for RequantizationMode::FloatHalfEven.
    BinaryInt8::Loop m_RealSum[2];
    BinaryInt8::Loop m_RealSquare[2];
    BinaryInt8::Loop m_RealProduct[2];
    BinaryInt8::Loop m_RealQuotient[2];
    BinaryInt8::Loop m_RealInverse[2]; ///< b / a
    BinaryInt8::Loop m_RealMaximum[2];
    BinaryInt8::Loop m_RealMinimum[2];
};

/// The loops of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const BinaryLoopsInt8& GetBinaryLoopsInt8();

} // namespace tenon::cpu
