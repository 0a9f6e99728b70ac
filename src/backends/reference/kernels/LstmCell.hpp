// SPDX-License-Identifier: Apache-2.0
// LstmCell: the core of all LSTM kernels with weights per gate. A cell is made in a kernel's prepare step for one of
// four arithmetics (float data by float or 8-bit weights, int8 data with 16-bit or with 8-bit gate products) and runs a
// whole sequence. States are copied to the state outputs and updated there.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/reference/kernels/GateProduct.hpp"

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/IWorkload.hpp>
#include <tenon/backend/LstmSlots.hpp>
#include <tenon/descriptors/Recurrent.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace tenon::ref
{

/// Parameters of a cell, independent of the descriptor that they come from.
struct LstmParameters
{
    bool m_HasInputGate = true;
    bool m_HasPeephole = false;
    bool m_HasProjection = false;
    bool m_HasLayerNorm = false;
    uint32_t m_Activation = TanhCode;
    float m_CellClip = 0.0f; ///< 0: none
    float m_ProjectionClip = 0.0f;
    bool m_TimeMajor = true;
    bool m_Asymmetric = false;
    bool m_HasSparseRecurrent = false; ///< see LstmDescriptor
    /// The rest is for int8 data:
    std::array<float, LstmSlots::NumGates> m_IntermediateScales{};
    float m_HiddenScale = 0.0f;
    int32_t m_HiddenZeroPoint = 0;
    std::vector<float> m_ProductScales; ///< see LstmDescriptor
    std::vector<int32_t> m_ProductZeroPoints;

    LstmParameters() = default;
    explicit LstmParameters(const LstmDescriptor& descriptor);
    explicit LstmParameters(const QLstmDescriptor& descriptor);
};

/// The outputs that a cell writes.
struct LstmOutputs
{
    size_t m_OutputState = 0; ///< outputs of the layer
    size_t m_CellState = 1;
    size_t m_Output = 2;
    size_t m_Offset = 0; ///< offset of the cell's outputs in each row of that output
};

/// The outputs of layers of sequences, and of Lstm, whose output 0 is scratch memory in the API that it comes from.
constexpr LstmOutputs SequenceLstmOutputs = {0, 1, 2, 0};
constexpr LstmOutputs StepLstmOutputs = {1, 2, 3, 0};

/// Sizes and offsets that all arithmetics need.
struct LstmGeometry
{
    LstmGeometry(const ReshapeArgs& args, const LstmSlots& slots, const LstmParameters& parameters,
                 const LstmOutputs& outputs, bool isBackward);

    LstmSlots m_Slots; ///< absent inputs, and inputs that the parameters leave out, are None
    LstmOutputs m_OutputSlots;
    SequenceShape m_Sequence;
    size_t m_Inputs = 0;
    size_t m_AuxInputs = 0;
    size_t m_Units = 0;
    size_t m_Outputs = 0;
    size_t m_OutputStride = 0; ///< elements in a row of the output
    size_t m_StateBytes = 0;   ///< bytes of the output state
    bool m_IsBackward = false;

    bool HasGate(size_t gate) const { return m_Slots.m_InputWeights[gate] != LstmSlots::None; }
    bool HasProjection() const { return m_Slots.m_Projection != LstmSlots::None; }

    /// Copies the states from the inputs to the outputs and calls step(batch, row) for all steps. After each step the
    /// output state, in T, is copied to the output.
    template <typename T, typename C, typename Step>
    void RunSteps(const ExecuteArgs& args, const Step& step) const
    {
        T* state = args.GetOutput<T>(m_OutputSlots.m_OutputState);
        const size_t batches = m_Sequence.m_Batches;
        std::memcpy(state, args.m_Inputs[m_Slots.m_OutputState], m_StateBytes);
        std::copy_n(args.GetInput<C>(m_Slots.m_CellState), batches * m_Units,
                    args.GetOutput<C>(m_OutputSlots.m_CellState));
        T* output = args.GetOutput<T>(m_OutputSlots.m_Output) + m_OutputSlots.m_Offset;
        m_Sequence.ForEach(m_IsBackward,
                           [&](size_t batch, size_t row)
                           {
                               step(batch, row);
                               for (size_t i = 0; i < m_Sequence.RowsPerStep(); ++i)
                               {
                                   std::copy_n(state + (batch + i) * m_Outputs, m_Outputs,
                                               output + (row + i) * m_OutputStride);
                               }
                           });
    }
};

/// A prepared cell. Immutable.
class LstmCell
{
public:
    virtual ~LstmCell() = default;
    virtual void Run(const ExecuteArgs& args) const = 0;
};

/// The cell for the types of the layer's inputs. Its scratch memory is laid out in `scratch`.
std::shared_ptr<const LstmCell> MakeLstmCell(const ReshapeArgs& args, const LstmSlots& slots,
                                             const LstmParameters& parameters, const LstmOutputs& outputs,
                                             bool isBackward, backends::Scratch& scratch);

// The arithmetics; called by MakeLstmCell.
std::shared_ptr<const LstmCell> MakeFloatLstmCell(const ReshapeArgs& args, const LstmGeometry& geometry,
                                                  const LstmParameters& parameters, backends::Scratch& scratch);
std::shared_ptr<const LstmCell> MakeIntegerLstmCell(const ReshapeArgs& args, const LstmGeometry& geometry,
                                                    const LstmParameters& parameters, backends::Scratch& scratch);
std::shared_ptr<const LstmCell> MakeInteger8LstmCell(const ReshapeArgs& args, const LstmGeometry& geometry,
                                                     const LstmParameters& parameters, backends::Scratch& scratch);

// Refuses scales, zero points and parameters that the integer arithmetics do not support; called by CheckLstm.
SupportResult CheckIntegerLstm(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters);
SupportResult CheckInteger8Lstm(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters);

/// Whether the types of a cell's inputs and outputs fit each other, and its parameters and quantization make sense.
SupportResult CheckLstm(const LayerView& layer, const LstmSlots& slots, const LstmParameters& parameters,
                        const LstmOutputs& outputs);

} // namespace tenon::ref
