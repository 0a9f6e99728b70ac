// SPDX-License-Identifier: Apache-2.0
// Networks of one recurrent layer, whose states are inputs and outputs of the network.
#include "NetworkMaker.hpp"

#include <tenon/backend/LstmSlots.hpp>

namespace tenon::bench
{

LayerNetwork MakeLstm(Element element, const LstmSizes& sizes)
{
    Maker maker(element, "lstm/" + ShapeName({sizes.m_Batches, sizes.m_Steps, sizes.m_Inputs}) + "to" +
                             std::to_string(sizes.m_Units));
    constexpr float HiddenScale = 1.0f / 128.0f;
    constexpr float CellScale = 1.0f / 4096.0f;
    constexpr uint32_t TanH = 4;
    const bool isQuantized = IsQuantized(element);
    UnidirectionalSequenceLstmDescriptor descriptor;
    descriptor.m_ActivationFunc = TanH;
    descriptor.m_CifgEnabled = false;
    descriptor.m_HiddenStateScale = isQuantized ? HiddenScale : 0.0f;
    descriptor.m_InputIntermediateScale = descriptor.m_ForgetIntermediateScale = descriptor.m_CellIntermediateScale =
        descriptor.m_OutputIntermediateScale = isQuantized ? CellScale : 0.0f;
    const auto hidden = [&](const TensorShape& shape) {
        return isQuantized ? TensorInfo(shape, DataTypeOf(element), HiddenScale, 0)
                           : TensorInfo(shape, DataType::Float32);
    };
    const TensorInfo state = hidden({sizes.m_Batches, sizes.m_Units});
    const TensorInfo cell = isQuantized ? TensorInfo(state.GetShape(), DataType::QSymmS16, CellScale, 0) : state;
    maker.SetLayer(maker.Network().AddUnidirectionalSequenceLstmLayer(descriptor, "layer"),
                   {DataInfo(element, {sizes.m_Batches, sizes.m_Steps, sizes.m_Inputs}), state, cell});
    constexpr LstmSlots Slots = GetLstmSlots();
    for (size_t gate = 0; gate < LstmSlots::NumGates; ++gate)
    {
        maker.AddMatrix(static_cast<unsigned int>(Slots.m_InputWeights[gate]), {sizes.m_Units, sizes.m_Inputs});
        maker.AddMatrix(static_cast<unsigned int>(Slots.m_RecurrentWeights[gate]), {sizes.m_Units, sizes.m_Units});
        const auto bias = static_cast<unsigned int>(Slots.m_Bias[gate]);
        if (isQuantized)
        {
            maker.AddConstant(bias, TensorInfo({sizes.m_Units}, DataType::Signed32, WeightScale * DataScale),
                              std::vector<int32_t>(sizes.m_Units, 100));
        }
        else
        {
            maker.AddConstant(bias, TensorInfo({sizes.m_Units}, DataType::Float32),
                              std::vector<float>(sizes.m_Units, 0.1f));
        }
    }
    const size_t weights = LstmSlots::NumGates * (size_t{sizes.m_Inputs} + sizes.m_Units) * sizes.m_Units;
    maker.SetMacs(static_cast<double>(sizes.m_Batches * sizes.m_Steps * weights));
    return maker.Finish({state, cell, hidden({sizes.m_Batches, sizes.m_Steps, sizes.m_Units})});
}

LayerNetwork MakeSequence(Element element, RecurrentCell cell, SequenceDirection direction, const LstmSizes& sizes)
{
    RecurrentSequenceDescriptor descriptor;
    descriptor.m_Cell = cell;
    descriptor.m_Direction = direction;
    descriptor.m_LinearBeforeReset = cell == RecurrentCell::Gru;
    const unsigned int directions = descriptor.GetNumDirections();
    const bool isLstm = cell == RecurrentCell::Lstm;
    const unsigned int gates = isLstm ? 4 : cell == RecurrentCell::Gru ? 3 : 1;
    const unsigned int sums = gates * sizes.m_Units;
    Maker maker(element, std::string("sequence/") +
                             (isLstm       ? "lstm"
                              : gates == 3 ? "gru"
                                           : "rnn") +
                             (directions == 2 ? "-both-ways/" : "/") +
                             ShapeName({sizes.m_Batches, sizes.m_Steps, sizes.m_Inputs}) + "to" +
                             std::to_string(sizes.m_Units));
    maker.SetLayer(maker.Network().AddRecurrentSequenceLayer(descriptor, "layer"),
                   {DataInfo(element, {sizes.m_Steps, sizes.m_Batches, sizes.m_Inputs})});
    maker.AddMatrix(1, {directions, sums, sizes.m_Inputs});
    maker.AddMatrix(2, {directions, sums, sizes.m_Units});
    maker.AddConstant(3, TensorInfo({directions, 2 * sums}, DataType::Float32),
                      std::vector<float>(size_t{directions} * 2 * sums, 0.1f));
    const size_t weights = size_t{directions} * sums * (size_t{sizes.m_Inputs} + sizes.m_Units);
    maker.SetMacs(static_cast<double>(sizes.m_Batches * sizes.m_Steps * weights));
    const TensorInfo state({directions, sizes.m_Batches, sizes.m_Units}, DataType::Float32);
    std::vector<TensorInfo> outputs(isLstm ? 3 : 2, state);
    outputs[0].SetShape({sizes.m_Steps, directions, sizes.m_Batches, sizes.m_Units});
    return maker.Finish(outputs);
}

} // namespace tenon::bench
