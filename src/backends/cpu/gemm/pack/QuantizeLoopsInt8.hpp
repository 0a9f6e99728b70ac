// SPDX-License-Identifier: Apache-2.0
// Quantization of float data for hybrid layers at run time.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Sets m_FindRange, m_Quantize and m_QuantizeToFloats.
void UseQuantizeLoops(MicrokernelsInt8& microkernels);

} // namespace tenon::cpu
