// SPDX-License-Identifier: Apache-2.0
// Multipliers of the sums of integer LSTM and Svdf layers, made from their scales and clips. Used by the kernels of
// CpuRef and of CpuAcc.
#pragma once

#include "backends/common/Quantization.hpp"
#include "backends/reference/kernels/LstmCell.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

/// The scales of int8 data with 16-bit gates and cell state.
struct IntegerLstmScales
{
    struct Gate
    {
        backends::QuantizedMultiplier m_Input; ///< for the data's products
        backends::QuantizedMultiplier m_Recurrent;
        backends::QuantizedMultiplier m_Peephole;
        backends::QuantizedMultiplier m_LayerNorm; ///< for normalized values
        int32_t m_MinVariance = 1;
    };

    IntegerLstmScales(const ReshapeArgs& args, const LstmGeometry& geometry, const LstmParameters& parameters);

    std::array<Gate, LstmSlots::NumGates> m_Gates; ///< the gates that the cell has
    int m_CellExponent = 0;                        ///< exponent of the cell state's scale, a power of two
    int16_t m_CellClip = 0;
    int8_t m_ProjectionClip = 0;
    backends::QuantizedMultiplier m_Hidden;     ///< for output gates times cells
    backends::QuantizedMultiplier m_Projection; ///< for the projection's products
};

/// Mean and deviation by which the values of a gate are normalized, as in TFLite.
struct GateMoments
{
    /// Fraction bits of the mean and of normalized values; the variance has twice as many.
    static constexpr int Bits = 10;

    /// Precondition: there are values.
    GateMoments(const int16_t* values, size_t count, int32_t minVariance);

    int32_t m_Mean = 0;
    backends::QuantizedMultiplier m_Inverse; ///< inverse of the standard deviation
};

/// The scales of Svdf of int8 data.
struct SvdfScales
{
    explicit SvdfScales(const ReshapeArgs& args);

    backends::QuantizedMultiplier m_ToState;
    backends::QuantizedMultiplier m_ToOutput;
};

} // namespace tenon::ref
