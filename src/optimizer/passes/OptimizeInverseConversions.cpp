// SPDX-License-Identifier: Apache-2.0
// Pass OptimizeInverseConversions: conversions that undo each other, or that change nothing, go.
#include "optimizer/Pass.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace tenon::passes
{

namespace
{

/// The numbers that an element type holds, as far as a cast is concerned: quantized types are the integers stored.
struct Numbers
{
    bool m_IsFloat;
    bool m_IsSigned;
    int m_Digits;   ///< binary ones of an integer, or of a float's significand
    int m_Smallest; ///< of floats: exponent of the smallest positive number
    int m_Largest;  ///< of floats: all are below 2 to this power
};

/// False for types with which the pass does not deal.
bool GetNumbers(DataType type, Numbers& numbers)
{
    switch (type)
    {
    case DataType::Float16: numbers = {true, true, 11, -24, 16}; return true;
    case DataType::BFloat16: numbers = {true, true, 8, -133, 128}; return true;
    case DataType::Float32: numbers = {true, true, 24, -149, 128}; return true;
    case DataType::Float64: numbers = {true, true, 53, -1074, 1024}; return true;
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::Signed8: numbers = {false, true, 7, 0, 0}; return true;
    case DataType::QAsymmU8:
    case DataType::Unsigned8: numbers = {false, false, 8, 0, 0}; return true;
    case DataType::QSymmS16:
    case DataType::Signed16: numbers = {false, true, 15, 0, 0}; return true;
    case DataType::Unsigned16: numbers = {false, false, 16, 0, 0}; return true;
    case DataType::Signed32: numbers = {false, true, 31, 0, 0}; return true;
    case DataType::Unsigned32: numbers = {false, false, 32, 0, 0}; return true;
    case DataType::Signed64: numbers = {false, true, 63, 0, 0}; return true;
    case DataType::Unsigned64: numbers = {false, false, 64, 0, 0}; return true;
    default: return false;
    }
}

/// Whether `to` holds every number of `from`.
bool Holds(DataType to, DataType from)
{
    Numbers inner{};
    Numbers outer{};
    if (!GetNumbers(from, inner) || !GetNumbers(to, outer))
    {
        return false;
    }
    if (inner.m_IsFloat)
    {
        return outer.m_IsFloat && inner.m_Digits <= outer.m_Digits && inner.m_Smallest >= outer.m_Smallest &&
               inner.m_Largest <= outer.m_Largest;
    }
    if (outer.m_IsFloat)
    {
        return inner.m_Digits <= outer.m_Digits && inner.m_Digits < outer.m_Largest;
    }
    return (outer.m_IsSigned || !inner.m_IsSigned) && inner.m_Digits <= outer.m_Digits;
}

/// Whether Dequantize to Float32 and Quantize, both of this quantization, give back every stored number: the two
/// roundings to Float32 must stay far below half a step.
bool SurvivesDequantize(const TensorInfo& info)
{
    switch (info.GetDataType())
    {
    case DataType::QAsymmU8:
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::QSymmS16: break;
    default: return false;
    }
    const std::vector<float> scales = info.GetQuantizationScales();
    const std::vector<int32_t> offsets = info.GetQuantizationOffsets();
    return !scales.empty() &&
           std::all_of(scales.begin(), scales.end(),
                       [](float scale) { return scale >= 0x1p-100f && scale <= 0x1p100f; }) &&
           std::all_of(offsets.begin(), offsets.end(),
                       [](int32_t offset) { return offset >= -65536 && offset <= 65536; });
}

/// A layer of these types whose input is taken for what it is.
bool Is(const Layer& layer, std::initializer_list<LayerType> types)
{
    return std::find(types.begin(), types.end(), layer.GetType()) != types.end() &&
           !layer.Input(0).IsTensorInfoOverridden();
}

bool IsCast(const Layer& layer)
{
    return Is(layer, {LayerType::Cast, LayerType::ConvertFp16ToFp32, LayerType::ConvertFp32ToFp16});
}

/// The tensor whose bytes and type a Bitcast, or a Bitcast after another one, gives back; or null. Elements keep their
/// size, so that shapes are the same.
OutputSlot* FindEqualBytes(const Layer& layer)
{
    const TensorInfo& result = layer.Output(0).GetTensorInfo();
    const auto isEqual = [&](const OutputSlot& slot) { return slot.GetTensorInfo().IsTypeSpaceMatch(result); };
    OutputSlot& source = *layer.Input(0).GetConnectedOutputSlot();
    if (isEqual(source))
    {
        return &source;
    }
    const Layer& before = source.GetOwningLayer();
    if (!Is(before, {LayerType::Bitcast}) ||
        GetDataTypeBits(source.GetTensorInfo().GetDataType()) != GetDataTypeBits(result.GetDataType()))
    {
        return nullptr;
    }
    OutputSlot& origin = *before.Input(0).GetConnectedOutputSlot();
    return isEqual(origin) ? &origin : nullptr;
}

/// A value that equals the layer's output bit for bit and is there before it, or null.
OutputSlot* FindEqual(const Layer& layer)
{
    if (Is(layer, {LayerType::Bitcast}))
    {
        return FindEqualBytes(layer);
    }
    if (!IsCast(layer) && !Is(layer, {LayerType::Quantize}))
    {
        return nullptr;
    }
    OutputSlot& source = *layer.Input(0).GetConnectedOutputSlot();
    const TensorInfo& given = source.GetTensorInfo();
    const TensorInfo& result = layer.Output(0).GetTensorInfo();
    Numbers numbers{};
    if (given.IsTypeSpaceMatch(result))
    {
        // A Cast of Boolean to itself makes other bytes of true 1, and stays.
        const bool changesNothing =
            IsCast(layer) ? GetNumbers(given.GetDataType(), numbers) : SurvivesDequantize(result);
        return changesNothing ? &source : nullptr;
    }
    const Layer& before = source.GetOwningLayer();
    if (before.NumInputs() == 0)
    {
        return nullptr;
    }
    OutputSlot* origin = before.Input(0).GetConnectedOutputSlot();
    if (origin == nullptr || !origin->GetTensorInfo().IsTypeSpaceMatch(result))
    {
        return nullptr;
    }
    if (IsCast(layer))
    {
        // Dequantize of 16-bit floats is a cast as well.
        const bool isCast = IsCast(before) || (Is(before, {LayerType::Dequantize}) &&
                                               GetNumbers(result.GetDataType(), numbers) && numbers.m_IsFloat);
        return isCast && Holds(given.GetDataType(), result.GetDataType()) ? origin : nullptr;
    }
    return Is(before, {LayerType::Dequantize}) && given.GetDataType() == DataType::Float32 && SurvivesDequantize(result)
               ? origin
               : nullptr;
}

} // namespace

void OptimizeInverseConversions(Graph& graph)
{
    // In order of data flow each conversion sees the ones before it shortened already.
    for (Layer* layer : graph.TopologicalOrder())
    {
        OutputSlot* equal = FindEqual(*layer);
        if (equal != nullptr)
        {
            layer->Output(0).MoveAllConnections(*equal);
        }
    }
}

} // namespace tenon::passes
