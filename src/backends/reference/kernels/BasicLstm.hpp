// SPDX-License-Identifier: Apache-2.0
// The inputs of BasicLstm and QuantizedLstm, and the scale of the sums of their gates. Used by the kernels of CpuRef
// and of CpuAcc.
#pragma once

#include "backends/common/Quantization.hpp"

#include <tenon/Tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

/// Gates in the order of the rows of BasicLstm's weights.
struct BasicLstmGates
{
    enum Gate : size_t
    {
        Input,
        Update,
        Forget,
        Output
    };
};
constexpr size_t NumBasicLstmGates = 4;

/// Inputs of QuantizedLstm: data, cell state, output state; then for input, forget, cell and output gate the weights of
/// the data, the weights of the output state, and the biases.
struct QuantizedLstmSlots
{
    static constexpr size_t Weights = 3;
    static constexpr size_t Recurrent = 7;
    static constexpr size_t Bias = 11;
    /// The gates in this order, as gates of BasicLstm.
    static constexpr BasicLstmGates::Gate Gates[] = {BasicLstmGates::Input, BasicLstmGates::Forget,
                                                     BasicLstmGates::Update, BasicLstmGates::Output};
};

/// The zero point that uint8 data, output state and output must have.
constexpr int32_t LstmZeroPointInt8 = 128;

/// The multiplier from the scale of the bias (data times weights) to sums with 3 bits left of the binary point.
inline backends::QuantizedMultiplier GetLstmSumMultiplier(float biasScale)
{
    constexpr float StepsPerUnit = 4096.0f;
    return backends::QuantizeMultiplier(StepsPerUnit * biasScale);
}

struct BasicLstmSizes
{
    BasicLstmSizes(const TensorShape& data, const TensorShape& outputState)
        : m_Batches(data[0]), m_Inputs(data[1]), m_Units(outputState[1])
    {
    }

    size_t GetColumns() const { return m_Inputs + m_Units; } ///< columns of the row [data, output state]

    size_t m_Batches;
    size_t m_Inputs;
    size_t m_Units;
};

/// The concatenated rows [data, output state].
template <typename T>
void JoinLstmRows(const T* data, const T* state, const BasicLstmSizes& sizes, T* joined)
{
    for (size_t batch = 0; batch < sizes.m_Batches; ++batch)
    {
        joined = std::copy_n(data + batch * sizes.m_Inputs, sizes.m_Inputs, joined);
        joined = std::copy_n(state + batch * sizes.m_Units, sizes.m_Units, joined);
    }
}

} // namespace tenon::ref
