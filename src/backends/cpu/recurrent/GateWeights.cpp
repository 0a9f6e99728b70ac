// SPDX-License-Identifier: Apache-2.0
// See GateWeights.hpp.
#include "backends/cpu/recurrent/GateWeights.hpp"

#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"

#include <algorithm>

namespace tenon::cpu
{

std::vector<size_t> GetGateSlots(const LstmSlots::PerGate& slots, const GateOrder& order, bool hasInputGate)
{
    std::vector<size_t> used;
    for (const LstmSlots::Gate gate : order)
    {
        if (gate != LstmSlots::Input || hasInputGate)
        {
            used.push_back(slots[gate]);
        }
    }
    return used;
}

bool IsKnownMatrix(const TensorShape& shape)
{
    return shape.AreAllDimensionsSpecified() && shape.GetNumDimensions() == 2 && shape.GetNumElements64() != 0;
}

size_t GetMaxRows(const LayerView& layer, size_t slot)
{
    const TensorShape& shape = layer.GetInput(slot).GetShape();
    const unsigned int dimensions = shape.AreAllDimensionsSpecified() ? shape.GetNumDimensions() : 0;
    const unsigned int depth = dimensions != 0 ? shape[dimensions - 1] : 0;
    return depth != 0 ? static_cast<size_t>(std::min<uint64_t>(shape.GetNumElements64() / depth, UnknownRows))
                      : UnknownRows;
}

SupportResult CheckGateSize(const LayerView& layer, size_t slot, size_t gates)
{
    const TensorInfo& weights = layer.GetInput(slot);
    const size_t columns = gates * weights.GetShape()[0];
    const size_t depth = weights.GetShape()[1];
    const bool isFloat = weights.GetDataType() == DataType::Float32;
    return CheckPackedSize(isFloat ? PackedWeightsF32::GetPackedBytes({1, columns, depth})
                                   : PackedWeightsInt8::GetPackedBytes(columns, depth),
                           gates * weights.GetShape().GetNumElements64() * (isFloat ? sizeof(float) : 1));
}

SupportResult CheckLstmSize(const LayerView& layer, const LstmSlots& slots, bool hasInputGate, bool hasProjection)
{
    const size_t gates = hasInputGate ? 4 : 3;
    SupportResult result = CheckGateSize(layer, slots.m_InputWeights[LstmSlots::Output], gates);
    result = result ? CheckGateSize(layer, slots.m_RecurrentWeights[LstmSlots::Output], gates) : result;
    return result && hasProjection ? CheckGateSize(layer, slots.m_Projection, 1) : result;
}

bool IsConstantOf(const LayerView& layer, size_t slot, const TensorShape& shape)
{
    return layer.HasInput(slot) && layer.IsConstant(slot) && layer.GetInput(slot).GetShape() == shape;
}

bool IsEachConstantOf(const LayerView& layer, const std::vector<size_t>& slots, const TensorShape& shape)
{
    return std::all_of(slots.begin(), slots.end(), [&](size_t slot) { return IsConstantOf(layer, slot, shape); });
}

PackedWeightsInt8 PackGateWeightsInt8(const LayerView& layer, const std::vector<size_t>& slots, size_t rows,
                                      const std::vector<float>& bias, backends::PackedStore& store)
{
    const TensorShape& shape = layer.GetInput(slots.front()).GetShape();
    const auto columns = static_cast<unsigned int>(slots.size()) * shape[0];
    std::vector<float> scales;
    std::vector<const void*> segments;
    for (const size_t slot : slots)
    {
        segments.push_back(layer.m_ConstantData[slot]);
        // Weights without a scale count as zeros if data are float.
        const TensorInfo& info = layer.GetInput(slot);
        scales.insert(scales.end(), shape[0], info.IsQuantized() ? info.GetQuantizationScale() : 0.0f);
    }
    const TensorInfo weights(TensorShape({columns, shape[1]}), DataType::QSymmS8, scales, 0);
    const TensorInfo biasInfo(TensorShape({columns}), DataType::Float32);
    const std::vector<const TensorInfo*> inputs = {layer.m_Inputs[0], &weights, bias.empty() ? nullptr : &biasInfo};
    const std::vector<const void*> constants = {nullptr, segments.front(), bias.data()};
    LayerView view = layer;
    view.m_Inputs = inputs;
    view.m_ConstantData = constants;
    GemmShapeInt8 product = {columns, shape[1], rows, RoundingInt8::None};
    product.m_MayStayUnpacked = true;
    product.m_Segments = segments;
    return PackedWeightsInt8(view, product, store);
}

} // namespace tenon::cpu
