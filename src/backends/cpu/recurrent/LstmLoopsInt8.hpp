// SPDX-License-Identifier: Apache-2.0
// What an LSTM cell of int8 data does with the sums of its gates, bit for bit as the reference kernel: 16-bit gates and
// cell state, 8-bit hidden state.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/backend/LstmSlots.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

struct LstmGate8
{
    size_t m_Column = 0; ///< of its first unit in rows of sums
    backends::QuantizedMultiplier m_Data;
    backends::QuantizedMultiplier m_State;
    backends::QuantizedMultiplier m_Peephole;
    const int16_t* m_PeepholeWeights = nullptr; ///< null: it has none
    /// With layer normalization:
    backends::QuantizedMultiplier m_LayerNorm;
    int32_t m_LeastVariance = 1;
    const int16_t* m_LayerNormWeights = nullptr;
    const int32_t* m_Bias = nullptr; ///< else it is in the sums of the data
};

struct LstmCell8
{
    LstmGate8 m_Gates[LstmSlots::NumGates];
    bool m_HasInputGate = true; ///< else its values are 1 less those of the forget gate
    size_t m_Units = 0;
    int m_CellExponent = 0; ///< of the cell state's scale, in [-15, -9]
    int16_t m_CellClip = 0; ///< 0: none
    backends::QuantizedMultiplier m_Hidden;
    int32_t m_HiddenZeroPoint = 0;
};

/// One row of each. All are read, and states written, in whole vectors: up to LstmLoops8::PastUnits more than there are
/// units.
struct LstmRow8
{
    const int32_t* m_Data = nullptr; ///< sums of the data, bias included
    const int32_t* m_State = nullptr;
    int16_t* m_Cell = nullptr;
    int8_t* m_Hidden = nullptr;
};

/// How sums of a projection become bytes.
struct LstmProjection8
{
    backends::QuantizedMultiplier m_Multiplier;
    int32_t m_ZeroPoint = 0;
    int8_t m_Min = INT8_MIN;
    int8_t m_Max = INT8_MAX;
};

struct LstmLoops8
{
    static constexpr size_t PastUnits = 32;

    /// A step of `rows` cells: row r begins at first.m_Data + r * strides[0], and so on.
    void (*m_Step)(const LstmCell8& cell, const LstmRow8& first, const size_t (&strides)[4], size_t rows) = nullptr;
    /// The same of one cell with layer normalization. `values`: room for as many of each gate as there are units, and
    /// PastUnits more.
    void (*m_NormalizedStep)(const LstmCell8& cell, const LstmRow8& row, int16_t* values) = nullptr;
    /// Reads and writes in whole vectors.
    void (*m_Project)(const LstmProjection8& projection, const int32_t* sums, size_t count, int8_t* state) = nullptr;
    /// The sums times the multiplier, saturated; reads and writes likewise.
    void (*m_ToShorts)(const backends::QuantizedMultiplier& multiplier, const int32_t* sums, size_t count,
                       int16_t* values) = nullptr;
};

/// Those of the best target that the processor has. Precondition: it has vectors, see CpuFeatures.
const LstmLoops8& GetLstmLoops8();

} // namespace tenon::cpu
