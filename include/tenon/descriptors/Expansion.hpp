// SPDX-License-Identifier: Apache-2.0
// The parameters of layers that repeat elements or add a value around and between them.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace tenon
{

/// Pad. With m_ParametersAsInputs input 1 holds the paddings [rank, 2].
struct PadDescriptor : detail::Described<PadDescriptor>
{
    PadDescriptor() = default;
    PadDescriptor(const std::vector<std::pair<unsigned int, unsigned int>>& padList, float padValue = 0,
                  PaddingMode paddingMode = PaddingMode::Constant)
        : m_PadList(padList), m_PadValue(padValue), m_PaddingMode(paddingMode)
    {
    }

    std::vector<std::pair<unsigned int, unsigned int>> m_PadList; ///< (before, after) of each dimension
    float m_PadValue = 0; ///< as stored: for a quantized tensor its zero point pads with real 0
    PaddingMode m_PaddingMode = PaddingMode::Constant;
    bool m_ParametersAsInputs = false;
    bool m_ValueAsInput = false; ///< Tenon: input 2 is the value, of the type of input 0

    uint32_t GetNumInputs() const { return m_ValueAsInput ? 3 : (m_ParametersAsInputs ? 2 : 1); }
    bool NeedsInput(uint32_t i) const
    {
        return i == 0 || (i == 1 && m_ParametersAsInputs) || (i == 2 && m_ValueAsInput);
    }

    template <typename V>
    static void Visit(V&& v)
    {
        v("PadList", &PadDescriptor::m_PadList);
        v("PadValue", &PadDescriptor::m_PadValue);
        v("PaddingMode", &PadDescriptor::m_PaddingMode);
        v("ParametersAsInputs", &PadDescriptor::m_ParametersAsInputs);
        v("ValueAsInput", &PadDescriptor::m_ValueAsInput);
    }
};

/// StablehloPad (Tenon): StableHLO's pad. Copies of input 1 (one element) around and between the elements of input 0;
/// negative edges cut off elements. Where nothing remains in a dimension all sizes of the output are 0, as in TFLite.
struct StablehloPadDescriptor : detail::Described<StablehloPadDescriptor>
{
    std::vector<int32_t> m_EdgeLow;  ///< one a dimension; may be negative
    std::vector<int32_t> m_EdgeHigh; ///< likewise
    std::vector<int32_t> m_Interior; ///< between two elements; not negative

    template <typename V>
    static void Visit(V&& v)
    {
        v("EdgeLow", &StablehloPadDescriptor::m_EdgeLow);
        v("EdgeHigh", &StablehloPadDescriptor::m_EdgeHigh);
        v("Interior", &StablehloPadDescriptor::m_Interior);
    }
};

/// Dilate (Tenon): spreads the elements of input 0, with copies of input 1 (one element) between them. The output has
/// (size - 1) * dilation + 1 elements in a dimension. With m_ParametersAsInputs input 2 holds the dilations.
struct DilateDescriptor : detail::Described<DilateDescriptor>
{
    std::vector<uint32_t> m_Dilations; ///< one a dimension, at least 1
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 3 : 2; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Dilations", &DilateDescriptor::m_Dilations);
        v("ParametersAsInputs", &DilateDescriptor::m_ParametersAsInputs);
    }
};

/// Tile: repeats along each dimension. With m_ParametersAsInputs input 1 holds the multiples.
struct TileDescriptor : detail::Described<TileDescriptor>
{
    TileDescriptor() = default;
    explicit TileDescriptor(std::vector<uint32_t> multiples) : m_Multiples(std::move(multiples)) {}

    std::vector<uint32_t> m_Multiples;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Multiples", &TileDescriptor::m_Multiples);
        v("ParametersAsInputs", &TileDescriptor::m_ParametersAsInputs);
    }
};

/// BroadcastTo. With m_ParametersAsInputs input 1 holds the target shape.
struct BroadcastToDescriptor : detail::Described<BroadcastToDescriptor>
{
    BroadcastToDescriptor() = default;
    BroadcastToDescriptor(const TensorShape& shape) : m_BroadcastToShape(shape) {}

    TensorShape m_BroadcastToShape;
    bool m_ParametersAsInputs = false;

    uint32_t GetNumInputs() const { return m_ParametersAsInputs ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("BroadcastToShape", &BroadcastToDescriptor::m_BroadcastToShape);
        v("ParametersAsInputs", &BroadcastToDescriptor::m_ParametersAsInputs);
    }
};

/// Fill: input 0 holds the output's shape; every element is the value.
struct FillDescriptor : detail::Described<FillDescriptor>
{
    FillDescriptor() = default;
    FillDescriptor(const float& value) : m_Value(value) {}

    float m_Value = 0;
    bool m_ValueAsInput = false; ///< Tenon: input 1 is the value, of any type

    uint32_t GetNumInputs() const { return m_ValueAsInput ? 2 : 1; }

    template <typename V>
    static void Visit(V&& v)
    {
        v("Value", &FillDescriptor::m_Value);
        v("ValueAsInput", &FillDescriptor::m_ValueAsInput);
    }
};

} // namespace tenon
