// SPDX-License-Identifier: Apache-2.0
// WidthChanger: changes tensors of a graph between Float32 and 16 bits, as FitFloatWidths has decided for each layer,
// and puts conversions where layers of two widths meet. ConvertedConstants converts constants, each once.
#pragma once

#include "graph/Graph.hpp"
#include "optimizer/widths/ConvertedConstants.hpp"

#include <tenon/Optional.hpp>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tenon
{

/// What becomes of the floating-point tensors that a layer reads and writes.
enum class Width : uint8_t
{
    Keep,
    Narrow, ///< Float32 becomes the type to reduce to
    Widen   ///< Float16 and BFloat16 become Float32
};

inline bool Is16BitFloat(DataType type)
{
    return type == DataType::Float16 || type == DataType::BFloat16;
}

class WidthChanger
{
public:
    /// Narrow means `reduceTo`; empty where nothing is narrowed. Constants are converted by `constants`.
    WidthChanger(Optional<DataType> reduceTo, ConvertedConstants& constants)
        : m_ReduceTo(reduceTo), m_Constants(constants)
    {
    }

    /// The type at `width` of a tensor of type `type`.
    DataType Mapped(DataType type, Width width) const;
    /// Gives the layers these widths, by index. Conversions that undo each other go, and so does what nobody reads
    /// then.
    void Apply(Graph& graph, const std::vector<Width>& widths);

private:
    /// Gives the input its value in the type that its layer is to read.
    void FitInput(Graph& graph, InputSlot& input, Width reader, Width writer);
    OutputSlot& Convert(Graph& graph, OutputSlot& value, DataType from, DataType to);

    const Optional<DataType> m_ReduceTo;
    ConvertedConstants& m_Constants;
    /// Of the graph under way: values in another type than the one they are made in.
    std::map<std::pair<const OutputSlot*, DataType>, OutputSlot*> m_Converted;
};

} // namespace tenon
