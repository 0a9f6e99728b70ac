// SPDX-License-Identifier: Apache-2.0
// Products of float rows with the weights of recurrent layers, which are float or 8-bit integers ("hybrid": the rows
// are then quantized while running), and the activations after them. Used by the float cells of LSTM, RNN and SVDF.
#pragma once

#include "backends/common/Scratch.hpp"

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::ref
{

/// Whether the type is a type of 8-bit weights. All of them are read as signed, whatever their type, and without a zero
/// point, as in TFLite.
bool IsInt8Weights(DataType type);

/// Whether the weights at these inputs, as far as they are connected and quantized, have one finite scale.
SupportResult CheckGateWeights(const LayerView& layer, std::initializer_list<size_t> slots);

/// Weights at an input of a layer.
struct GateWeights
{
    size_t m_Slot = SIZE_MAX;
    bool m_IsInteger = false;
    float m_Scale = 0.0f; ///< of integers; those without a scale count as zeros

    GateWeights() = default;
    /// Weights at an optional input.
    GateWeights(const ReshapeArgs& args, size_t slot);

    bool IsPresent() const { return m_Slot != SIZE_MAX; }
    /// Element i as a real number.
    float At(const ExecuteArgs& args, size_t i) const
    {
        return m_IsInteger ? m_Scale * static_cast<float>(args.GetInput<int8_t>(m_Slot)[i])
                           : args.GetInput<float>(m_Slot)[i];
    }
};

/// Rows of data to be multiplied by weights.
class GateRows
{
public:
    GateRows() = default;
    /// `rows`: the maximum for Load. `isQuantized`: whether any weights for them are integers.
    GateRows(size_t rows, size_t columns, bool isQuantized, bool isAsymmetric, backends::Scratch& scratch);

    /// Makes `values` the current rows; they must stay while products are taken.
    void Load(void* scratch, const float* values, size_t rows) const;

    /// sums[row * units + unit] += weights[unit] * row. `partial`: scratch for `units` sums.
    void Accumulate(const ExecuteArgs& args, const GateWeights& weights, const float* values, size_t rows, size_t units,
                    void* partial, float* sums) const;

    /// Makes products with integers use the scales of `other`, which has the same number of rows.
    void TakeScalesOf(const GateRows& other) { m_UsedScales = other.m_Scales; }

    size_t GetColumns() const { return m_Columns; }

private:
    size_t m_Columns = 0;
    bool m_IsQuantized = false;
    bool m_IsAsymmetric = false;
    size_t m_Bytes = 0; ///< offsets in the scratch memory: quantized values
    size_t m_Steps = 0; ///< quantized values less their zero point
    size_t m_Scales = 0;
    size_t m_UsedScales = 0;
};

/// The activation of a recurrent descriptor's m_ActivationFunc, in place. Precondition: CheckRecurrentActivation
/// accepts the code.
void ApplyRecurrentActivation(uint32_t code, float* values, size_t count);
SupportResult CheckRecurrentActivation(uint32_t code);

constexpr uint32_t ReluCode = 1;
constexpr uint32_t TanhCode = 4;
constexpr uint32_t SigmoidCode = 6;

/// Clamps each value to [-limit, limit], if limit is above 0.
template <typename T>
void ClipValues(T* values, size_t count, T limit)
{
    if (!(limit > 0))
    {
        return;
    }
    const T min = static_cast<T>(-limit);
    for (size_t i = 0; i < count; ++i)
    {
        values[i] = values[i] > limit ? limit : (values[i] < min ? min : values[i]);
    }
}

/// The positions of the steps of a sequence in the data. Layers of rank 2 are sequences of one step.
struct SequenceShape
{
    size_t m_Batches = 0;
    size_t m_Steps = 1;
    bool m_IsTimeMajor = true;

    SequenceShape() = default;
    SequenceShape(const TensorShape& data, bool isTimeMajor);

    /// The number of batches that a step processes together.
    size_t RowsPerStep() const { return m_IsTimeMajor ? m_Batches : 1; }

    /// Calls step(batch, row) for each group of RowsPerStep() batches. `batch` is the first one, and `row` is its row
    /// in the data.
    template <typename Step>
    void ForEach(bool isBackward, const Step& step) const
    {
        const size_t groups = m_IsTimeMajor ? 1 : m_Batches;
        for (size_t group = 0; group < groups && m_Batches != 0; ++group)
        {
            for (size_t t = 0; t < m_Steps; ++t)
            {
                const size_t time = isBackward ? m_Steps - 1 - t : t;
                step(group, m_IsTimeMajor ? time * m_Batches : group * m_Steps + time);
            }
        }
    }
};

} // namespace tenon::ref
