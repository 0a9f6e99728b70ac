// SPDX-License-Identifier: Apache-2.0
// Loops of recurrent layers of integers, bit for bit as the reference kernels. LstmLoopsInt8 is the pointwise part of
// an LSTM cell of int8 data (TFLite's integer LSTM), BasicLstmCellInt8 that of BasicLstm, RowDotsInt16 the filters of
// Svdf.
//
// LstmLoopsInt8:
//     int32 sums -> int16 gates (3 integer bits before sigmoid and tanh, 15 fraction bits after)
//                -> int16 cell state with scale 2^m_CellExponent -> int8 hidden state
// Vectors go along units; buffers have ExtraUnits elements more than units.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/backend/LstmSlots.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct LstmGateInt8
{
    size_t m_Column = 0; ///< column of its first unit in rows of sums
    backends::QuantizedMultiplier m_Data;
    backends::QuantizedMultiplier m_State;
    backends::QuantizedMultiplier m_Peephole;
    const int16_t* m_PeepholeWeights = nullptr; ///< null: no peephole
    /// With layer normalization:
    backends::QuantizedMultiplier m_LayerNorm;
    int32_t m_MinVariance = 1;
    const int16_t* m_LayerNormWeights = nullptr;
    const int32_t* m_Bias = nullptr; ///< null: the sums of the data include the bias
};

struct LstmCellInt8
{
    LstmGateInt8 m_Gates[LstmSlots::NumGates];
    bool m_HasInputGate = true; ///< false (CIFG): its values are 1 less those of the forget gate
    size_t m_Units = 0;
    int m_CellExponent = 0; ///< the cell state's scale is 2^this, in [-15, -9]
    int16_t m_CellClip = 0; ///< 0: none
    backends::QuantizedMultiplier m_Hidden;
    int32_t m_HiddenZeroPoint = 0;
};

/// Addresses of one row. Loads and stores are whole vectors: buffers have up to LstmLoopsInt8::ExtraUnits elements more
/// than units.
struct LstmRowInt8
{
    const int32_t* m_Data = nullptr; ///< sums of the data, bias included
    const int32_t* m_State = nullptr;
    int16_t* m_Cell = nullptr;
    int8_t* m_Hidden = nullptr;
};

/// Requantization of a projection's sums to int8.
struct LstmProjectionInt8
{
    backends::QuantizedMultiplier m_Multiplier;
    int32_t m_ZeroPoint = 0;
    int8_t m_Min = INT8_MIN;
    int8_t m_Max = INT8_MAX;
};

struct LstmLoopsInt8
{
    static constexpr size_t ExtraUnits = 32;

    /// One step of `rows` cells: row r begins at first.m_Data + r * strides[0], and so on.
    void (*m_Step)(const LstmCellInt8& cell, const LstmRowInt8& first, const size_t (&strides)[4],
                   size_t rows) = nullptr;
    /// One step of one cell with layer normalization. `values` is scratch memory of units + ExtraUnits elements a gate.
    void (*m_NormalizedStep)(const LstmCellInt8& cell, const LstmRowInt8& row, int16_t* values) = nullptr;
    /// Loads and stores are whole vectors.
    void (*m_Project)(const LstmProjectionInt8& projection, const int32_t* sums, size_t count, int8_t* state) = nullptr;
    /// The sums times the multiplier, saturated to int16. Loads and stores are whole vectors.
    void (*m_ToInt16)(const backends::QuantizedMultiplier& multiplier, const int32_t* sums, size_t count,
                      int16_t* values) = nullptr;
};

/// The loops of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const LstmLoopsInt8& GetLstmLoopsInt8();

/// The pointwise part of a cell of BasicLstm and QuantizedLstm of uint8 data, one row: int16 gates with 3 integer bits,
/// int16 cell state with 4, uint8 output with zero point 128. `sums` has `units` int16 sums for each of
/// ref::BasicLstmGates, with 3 integer bits; `cell` is read and written. Loads and stores are whole vectors: buffers
/// have up to LstmLoopsInt8::ExtraUnits elements more than units.
using BasicLstmCellInt8 = void (*)(const int16_t* sums, size_t units, int16_t* cell, uint8_t* output);

/// The loop of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
BasicLstmCellInt8 GetBasicLstmCellInt8();

/// The time filters of Svdf: sums[r] = bias[r] + sum over k of data[r][k] * weights[r][k], of int16, wrapping in 32
/// bits.
struct RowDotsInt16
{
    /// Rows of weights are padded with zeros to a multiple of this; as many elements beyond the data may be read.
    static constexpr size_t Unit = 8;

    const int16_t* m_Data = nullptr;    ///< [rows][depth]
    const int16_t* m_Weights = nullptr; ///< [rows][depth rounded up to Unit]
    const int32_t* m_Bias = nullptr;    ///< [rows]
    size_t m_Rows = 0;
    size_t m_Depth = 0;
    int32_t* m_Sums = nullptr; ///< [rows]; sums wrap on overflow
};

/// Precondition: the processor has vectors, see CpuFeatures.
void RunRowDotsInt16(const RowDotsInt16& dots);

} // namespace tenon::cpu
