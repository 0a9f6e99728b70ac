// SPDX-License-Identifier: Apache-2.0
// Floats quantized to bytes while a hybrid product runs.
#pragma once

#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"

namespace tenon::cpu
{

/// Sets m_FindRange, m_Quantize and m_QuantizeToFloats.
void UseQuantizeLoops(Engine8& engine);

} // namespace tenon::cpu
