// SPDX-License-Identifier: Apache-2.0
// What the cells of BasicLstm and QuantizedLstm of uint8 data do with the sums of their gates, bit for bit as the
// reference kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// One row: `sums` of as many units for each of ref::BasicLstmGates, with 3 bits left of the binary point; the cell
/// state, which is read and written. All are read and written in whole vectors: up to LstmLoops8::PastUnits more than
/// there are units.
using BasicLstmLoop = void (*)(const int16_t* sums, size_t units, int16_t* cell, uint8_t* output);

/// That of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
BasicLstmLoop GetBasicLstmLoop();

} // namespace tenon::cpu
