// SPDX-License-Identifier: Apache-2.0
// The pointwise part of a cell of BasicLstm and QuantizedLstm of uint8 data, bit for bit as the reference kernel: int16
// gates with 3 integer bits, int16 cell state with 4, uint8 output with zero point 128.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// One row. `sums` has `units` int16 sums for each of ref::BasicLstmGates, with 3 integer bits; `cell` is read and
/// written. Loads and stores are whole vectors: buffers have up to LstmLoopsInt8::ExtraUnits elements more than units.
using BasicLstmCellInt8 = void (*)(const int16_t* sums, size_t units, int16_t* cell, uint8_t* output);

/// The loop of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
BasicLstmCellInt8 GetBasicLstmCellInt8();

} // namespace tenon::cpu
