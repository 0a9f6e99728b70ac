// SPDX-License-Identifier: Apache-2.0
// Constant 8-bit weights of several gates of a recurrent layer, one behind the other, as one product.
#pragma once

#include "backends/cpu/gemm/pack/PackedWeightsInt8.hpp"

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/LstmSlots.hpp>

#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace tenon::cpu
{

using GateOrder = std::array<LstmSlots::Gate, LstmSlots::NumGates>;

/// The slots of the gates that an LSTM cell has, in this order.
std::vector<size_t> GetGateSlots(const LstmSlots::PerGate& slots, const GateOrder& order, bool hasInputGate);

/// Whether it is a matrix with elements.
bool IsKnownMatrix(const TensorShape& shape);

/// How many rows the tensor at this input has, of all batches and steps; the most that there are where that is not
/// known.
size_t GetMostRows(const LayerView& layer, size_t slot);

/// Whether what is packed of so many gates' weights, floats or bytes of the shape that this input has, stays within
/// bounds. See CheckPackedBytes.
SupportResult CheckGateSize(const LayerView& layer, size_t slot, size_t gates);

/// The same for all weights of an LSTM cell.
SupportResult CheckLstmSize(const LayerView& layer, const LstmSlots& slots, bool hasInputGate, bool hasProjection);

/// Whether the input is constant and has this shape. An input that is missing is not.
bool IsConstantOf(const LayerView& layer, size_t slot, const TensorShape& shape);

/// In place of a number of rows that is not known.
constexpr size_t AnyRows = std::numeric_limits<size_t>::max();

/// The weights at these inputs, constants of one shape [columns of a gate, depth], read as int8 without a zero point,
/// whatever their type: as ref::GateWeights. For Product8 of int8 sums or of float data. `rows`: of the data, at most.
/// `bias`: floats, one for each column; or none.
PackedWeights8 PackGateWeights8(const LayerView& layer, const std::vector<size_t>& slots, size_t rows,
                                const std::vector<float>& bias, backends::PackedStore& store);

/// The constants at these inputs, one behind the other, with `padding` zeros behind the last one.
template <typename T>
std::vector<T> JoinConstants(const LayerView& layer, const std::vector<size_t>& slots, size_t padding = 0)
{
    size_t elements = padding;
    for (const size_t slot : slots)
    {
        elements += layer.GetInput(slot).GetNumElements();
    }
    std::vector<T> joined;
    joined.reserve(elements);
    for (const size_t slot : slots)
    {
        const auto* values = static_cast<const T*>(layer.m_ConstantData[slot]);
        joined.insert(joined.end(), values, values + layer.GetInput(slot).GetNumElements());
    }
    joined.resize(elements);
    return joined;
}

} // namespace tenon::cpu
