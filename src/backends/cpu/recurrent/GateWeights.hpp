// SPDX-License-Identifier: Apache-2.0
// Weights of the gates of a recurrent layer: checks that they are constant and of a size that may be packed, the order
// of gates in rows of sums, and the packing of several gates' 8-bit weights as one matrix.
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

/// The slots of the gates that an LSTM cell has, in the given order.
std::vector<size_t> GetGateSlots(const LstmSlots::PerGate& slots, const GateOrder& order, bool hasInputGate);

/// Whether the shape is that of a matrix with elements.
bool IsKnownMatrix(const TensorShape& shape);

/// The rows of this input over all batches and steps; UnknownRows if its shape is not known yet.
size_t GetMaxRows(const LayerView& layer, size_t slot);

/// Whether the packed weights of `gates` gates, each of the shape of this input, stay within the bounds of
/// CheckPackedSize.
SupportResult CheckGateSize(const LayerView& layer, size_t slot, size_t gates);

/// The same check for all weights of an LSTM cell.
SupportResult CheckLstmSize(const LayerView& layer, const LstmSlots& slots, bool hasInputGate, bool hasProjection);

/// Whether the input is present, constant and of this shape.
bool IsConstantOf(const LayerView& layer, size_t slot, const TensorShape& shape);

/// Whether each of the inputs is.
bool IsEachConstantOf(const LayerView& layer, const std::vector<size_t>& slots, const TensorShape& shape);

/// The number of rows of an input of unknown shape.
constexpr size_t UnknownRows = std::numeric_limits<size_t>::max();

/// Packs the constants at these inputs, each of the shape [columns of a gate, depth], as one int8 matrix without a zero
/// point, whatever their type: see ref::GateWeights. GemmInt8 reads it with int8 or float data. `rows`: the largest
/// number of rows of data. `bias`: one float a column, or none.
PackedWeightsInt8 PackGateWeightsInt8(const LayerView& layer, const std::vector<size_t>& slots, size_t rows,
                                      const std::vector<float>& bias, backends::PackedStore& store);

/// The constants at these inputs one after the other, then `padding` zeros.
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
