// SPDX-License-Identifier: Apache-2.0
// SequenceGeometry: the sizes of a RecurrentSequence, the offsets of one direction, step and sequence in its tensors,
// and the functions of its gates. Used by the kernels of CpuRef and CpuAcc.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>
#include <tenon/descriptors/Recurrent.hpp>

#include <array>
#include <cstddef>

namespace tenon::ref
{

struct GateFunction
{
    RecurrentActivation m_Function = RecurrentActivation::Tanh;
    float m_Alpha = 0.0f;
    float m_Beta = 0.0f;
};

struct SequenceGeometry
{
    // Inputs.
    static constexpr size_t Data = 0;
    static constexpr size_t Weights = 1;
    static constexpr size_t Recurrent = 2;
    static constexpr size_t Bias = 3;
    static constexpr size_t Lengths = 4;
    static constexpr size_t State = 5;
    static constexpr size_t CellState = 6;
    static constexpr size_t Peepholes = 7;
    static constexpr size_t NumInputs = 8;

    /// Throws LayerValidationException where shapes do not fit each other, which shape inference has seen before.
    explicit SequenceGeometry(const ReshapeArgs& args);

    size_t Sums() const { return m_Gates * m_Units; }
    bool IsReverse(size_t direction) const { return direction == 1 || m_StartsReverse; }
    /// The row of the data for a step of a sequence.
    size_t GetDataRow(size_t time, size_t batch) const
    {
        return m_IsBatchMajor ? batch * m_Steps + time : time * m_Batches + batch;
    }
    /// The offset, in elements, of a step of a sequence in output 0.
    size_t GetOutput(size_t time, size_t direction, size_t batch) const
    {
        return (m_IsBatchMajor ? (batch * m_Steps + time) * m_Directions + direction
                               : (time * m_Directions + direction) * m_Batches + batch) *
               m_Units;
    }
    /// The same for a state.
    size_t GetState(size_t direction, size_t batch) const
    {
        return (m_IsBatchMajor ? batch * m_Directions + direction : direction * m_Batches + batch) * m_Units;
    }
    /// The number of steps of a sequence.
    size_t GetLength(const ExecuteArgs& args, size_t batch) const
    {
        return m_HasInput[Lengths] ? static_cast<size_t>(args.GetInput<int32_t>(Lengths)[batch]) : m_Steps;
    }
    /// Throws InvalidArgumentException for a length below 0 or above the number of steps.
    void CheckLengths(const ExecuteArgs& args) const;

    size_t m_Steps = 0;
    size_t m_Batches = 0;
    size_t m_Inputs = 0; ///< elements of a step's data
    size_t m_Units = 0;
    size_t m_Gates = 0;
    size_t m_Directions = 1;
    bool m_IsBatchMajor = false;
    bool m_StartsReverse = false; ///< the first direction is the reverse one
    std::array<bool, NumInputs> m_HasInput{};
    std::array<GateFunction, 6> m_Functions; ///< three per direction, in the descriptor's order
};

/// Whether the types of inputs and outputs fit each other.
SupportResult CheckRecurrentSequence(const LayerView& layer);

} // namespace tenon::ref
