// SPDX-License-Identifier: Apache-2.0
// OpRules: the answers of a row of ops.def, whose head explains each of them. The code of a rule stands once, in the
// file that its enumeration names here; no code asks for single layer types in place of a rule. Read through OpSchema,
// and by the files that have the rules' code.
#pragma once

#include <cstdint>

namespace tenon
{

/// Column `method`. Code: graph/Network.hpp.
enum class AddMethod : uint8_t
{
    Described,
    Plain,
    ByHand,
    NoMethod
};

/// Column `runner`. Code: graph/Layer.cpp, backends/reference/Kernels.hpp.
enum class Runner : uint8_t
{
    Kernel,
    Runtime,
    Bound,
    Replaced,
    Others
};

/// A rule of column `types`. Code: graph/InferTensors.cpp.
enum class OutputType : uint8_t
{
    First,
    Input0,
    Input1,
    Input2,
    Input4,
    Boolean,
    Signed32,
    Signed64,
    Float32,
    Unsigned8,
    Named,
    Part,
    Spectrum,
    Body0,
    Body1,
    Extremes,
    Updates,
    Scores,
    Initial,
    Declared,
    Bare,
    MakersOwn
};

/// Column `types`: the rules of outputs 0, 1 and all further ones.
struct OutputTypes
{
    OutputType m_First;
    OutputType m_Second;
    OutputType m_Others;

    constexpr OutputTypes(OutputType all) : m_First(all), m_Second(all), m_Others(all) {} // NOLINT: implicit, for rows
    constexpr OutputTypes(OutputType first, OutputType second, OutputType others)
        : m_First(first), m_Second(second), m_Others(others)
    {
    }
};
constexpr OutputTypes Each(OutputType first, OutputType others)
{
    return {first, others, others};
}
constexpr OutputTypes Each(OutputType first, OutputType second, OutputType others)
{
    return {first, second, others};
}

/// Column `rank`. Code: graph/Ranks.cpp.
enum class RankRule : uint8_t
{
    AnyRank,
    Rank4,
    Rank5,
    Mappings,
    Target,
    KeepDims
};

/// Column `form`. Code: optimizer/rewriting/ShapeFacts.cpp.
enum class FormRule : uint8_t
{
    NoMore,
    Stored,
    Weights0,
    Weights3,
    Units,
    Target,
    Largest
};

/// Column `layout`. Code: graph/ChannelsLast.cpp.
enum class LayoutRule : uint8_t
{
    NoLayout,
    Ignored,
    Data,
    DataAndWeights
};
/// Whether the layer's layout is made a channels-last one before kernels see it.
constexpr bool IsLowered(LayoutRule rule)
{
    return rule == LayoutRule::Data || rule == LayoutRule::DataAndWeights;
}

/// Column `axes`. Code: optimizer/layout/LayoutRules.cpp.
enum class AxesRule : uint8_t
{
    OwnAxes,
    NoAxes,
    OneAxis,
    AxisList,
    PerAxis,
    Joined,
    Split
};

/// Column `widths`. Code: optimizer/widths/FitFloatWidths.cpp.
enum class WidthRule : uint8_t
{
    AnyWidth,
    Coordinates,
    Bits,
    MakersOwn
};

/// Column `tiling`. Code: graph/OpSchema.cpp.
enum class Tiling : uint8_t
{
    None,
    Elementwise,
    BeforeAxis,
    BeforeMatrices
};

} // namespace tenon
