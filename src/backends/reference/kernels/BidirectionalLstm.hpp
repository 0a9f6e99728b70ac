// SPDX-License-Identifier: Apache-2.0
// The two LSTM cells of a BidirectionalSequenceLstm layer: the inputs, parameters and outputs of each. Used by the
// kernels of CpuRef and of CpuAcc.
#pragma once

#include "backends/reference/kernels/LstmCell.hpp"

#include <tenon/descriptors/Recurrent.hpp>

namespace tenon::ref
{

struct BidirectionalLstmCell
{
    /// Layer: LayerView or ReshapeArgs. Auxiliary data without weights is the backward cell's data.
    template <typename Layer>
    BidirectionalLstmCell(const Layer& layer, bool isBackward)
        : m_IsBackward(isBackward), m_Slots(GetBidirectionalLstmSlots(isBackward))
    {
        const size_t weights = GetBidirectionalLstmSlots(false).m_AuxWeights[LstmSlots::Forget];
        if (isBackward && layer.HasInput(m_Slots.m_Aux) && !layer.HasInput(weights))
        {
            m_Slots.m_Data = m_Slots.m_Aux;
        }
        const auto& descriptor = layer.template GetDescriptor<BidirectionalSequenceLstmDescriptor>();
        m_Parameters.m_HasInputGate = layer.HasInput(m_Slots.m_InputWeights[LstmSlots::Input]);
        m_Parameters.m_HasPeephole = layer.HasInput(m_Slots.m_Peephole[LstmSlots::Output]);
        m_Parameters.m_HasProjection = layer.HasInput(m_Slots.m_Projection);
        m_Parameters.m_Activation = descriptor.m_ActivationFunc;
        m_Parameters.m_CellClip = descriptor.m_ClippingThresCell;
        m_Parameters.m_ProjectionClip = descriptor.m_ClippingThresProj;
        m_Parameters.m_TimeMajor = descriptor.m_TimeMajor;
        m_Parameters.m_Asymmetric = descriptor.m_AsymmetricQuantizeInputs;
        m_Outputs = !isBackward                 ? LstmOutputs{0, 1, 4, 0}
                    : descriptor.m_MergeOutputs ? LstmOutputs{2, 3, 4, 0}
                                                : LstmOutputs{2, 3, 5, 0};
    }

    /// The outputs with the offset that only shapes give: if merged, the backward cell's outputs follow the forward
    /// cell's.
    LstmOutputs GetOutputs(const ReshapeArgs& args) const
    {
        LstmOutputs outputs = m_Outputs;
        if (m_IsBackward && outputs.m_Output == 4)
        {
            const size_t recurrent = GetBidirectionalLstmSlots(false).m_RecurrentWeights[LstmSlots::Output];
            outputs.m_Offset = args.GetInput(recurrent).GetShape()[1];
        }
        return outputs;
    }

    bool m_IsBackward;
    LstmSlots m_Slots;
    LstmParameters m_Parameters;
    LstmOutputs m_Outputs; ///< without offset
};

} // namespace tenon::ref
