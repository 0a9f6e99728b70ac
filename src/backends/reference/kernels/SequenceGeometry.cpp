// SPDX-License-Identifier: Apache-2.0
// See RecurrentSequence.hpp.
#include "backends/reference/kernels/RecurrentSequence.hpp"

#include <tenon/Exceptions.hpp>

#include <string>

namespace tenon::ref
{

namespace
{

size_t GetNumGates(RecurrentCell cell)
{
    switch (cell)
    {
    case RecurrentCell::Rnn: return 1;
    case RecurrentCell::Gru: return 3;
    case RecurrentCell::Lstm: break;
    }
    return 4;
}

size_t GetNumFunctions(RecurrentCell cell)
{
    switch (cell)
    {
    case RecurrentCell::Rnn: return 1;
    case RecurrentCell::Gru: return 2;
    case RecurrentCell::Lstm: break;
    }
    return 3;
}

void CheckShape(const ReshapeArgs& args, size_t input, const TensorShape& wanted)
{
    if (args.HasInput(input) && args.GetInput(input).GetShape() != wanted)
    {
        throw LayerValidationException("input " + std::to_string(input) + " has shape " +
                                       args.GetInput(input).GetShape().ToString() + ", but it must have " +
                                       wanted.ToString());
    }
}

} // namespace

SequenceGeometry::SequenceGeometry(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<RecurrentSequenceDescriptor>();
    const TensorShape& data = args.GetInput(Data).GetShape();
    const TensorShape& recurrent = args.GetInput(Recurrent).GetShape();
    if (data.GetNumDimensions() != 3 || recurrent.GetNumDimensions() != 3)
    {
        throw LayerValidationException("inputs " + std::to_string(Data) + " and " + std::to_string(Recurrent) +
                                       " must have 3 dimensions, but have shapes " + data.ToString() + " and " +
                                       recurrent.ToString());
    }
    m_IsBatchMajor = descriptor.m_BatchMajor;
    m_StartsReverse = descriptor.m_Direction == SequenceDirection::Reverse;
    m_Directions = descriptor.GetNumDirections();
    m_Steps = data[m_IsBatchMajor ? 1 : 0];
    m_Batches = data[m_IsBatchMajor ? 0 : 1];
    m_Inputs = data[2];
    m_Units = recurrent[2];
    m_Gates = GetNumGates(descriptor.m_Cell);
    for (size_t i = 0; i < NumInputs; ++i)
    {
        m_HasInput[i] = args.HasInput(i);
    }

    const auto directions = static_cast<unsigned int>(m_Directions);
    const auto batches = static_cast<unsigned int>(m_Batches);
    const auto units = static_cast<unsigned int>(m_Units);
    const auto sums = static_cast<unsigned int>(m_Gates * m_Units);
    const TensorShape state =
        m_IsBatchMajor ? TensorShape({batches, directions, units}) : TensorShape({directions, batches, units});
    CheckShape(args, Weights, {directions, sums, static_cast<unsigned int>(m_Inputs)});
    CheckShape(args, Recurrent, {directions, sums, units});
    CheckShape(args, Bias, {directions, 2 * sums});
    CheckShape(args, Lengths, {batches});
    CheckShape(args, State, state);
    CheckShape(args, CellState, state);
    CheckShape(args, Peepholes, {directions, 3 * units});

    const size_t functions = GetNumFunctions(descriptor.m_Cell);
    for (size_t direction = 0; direction < m_Directions; ++direction)
    {
        for (size_t i = 0; i < functions; ++i)
        {
            GateFunction& function = m_Functions[direction * 3 + i];
            const size_t place = direction * functions + i;
            if (descriptor.m_Activations.empty())
            {
                function.m_Function =
                    i == 0 && functions > 1 ? RecurrentActivation::Sigmoid : RecurrentActivation::Tanh;
                continue;
            }
            function.m_Function = descriptor.m_Activations.at(place);
            function.m_Alpha = descriptor.m_Alphas.empty() ? 0.0f : descriptor.m_Alphas.at(place);
            function.m_Beta = descriptor.m_Betas.empty() ? 0.0f : descriptor.m_Betas.at(place);
        }
    }
}

void SequenceGeometry::CheckLengths(const ExecuteArgs& args) const
{
    for (size_t batch = 0; m_HasInput[Lengths] && batch < m_Batches; ++batch)
    {
        const int32_t length = args.GetInput<int32_t>(Lengths)[batch];
        if (length < 0 || static_cast<size_t>(length) > m_Steps)
        {
            throw InvalidArgumentException("element " + std::to_string(batch) + " of input " + std::to_string(Lengths) +
                                           ", the lengths of the sequences, is " + std::to_string(length) +
                                           ", which is not within 0 and " + std::to_string(m_Steps));
        }
    }
}

SupportResult CheckRecurrentSequence(const LayerView& layer)
{
    const DataType type = layer.GetInput(SequenceGeometry::Data).GetDataType();
    for (size_t input = SequenceGeometry::Lengths; input < SequenceGeometry::NumInputs; ++input)
    {
        const DataType wanted = input == SequenceGeometry::Lengths ? DataType::Signed32 : type;
        if (layer.HasInput(input) && layer.GetInput(input).GetDataType() != wanted)
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     "input " + std::to_string(input) + " has type " +
                                         GetDataTypeName(layer.GetInput(input).GetDataType()) + "; it must be " +
                                         GetDataTypeName(wanted));
        }
    }
    for (size_t output = 1; output < layer.GetNumOutputs(); ++output)
    {
        if (layer.GetOutput(output).GetDataType() != type)
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     "output " + std::to_string(output) + " has type " +
                                         GetDataTypeName(layer.GetOutput(output).GetDataType()) + "; it must be " +
                                         GetDataTypeName(type));
        }
    }
    return SupportResult::Yes();
}

} // namespace tenon::ref
