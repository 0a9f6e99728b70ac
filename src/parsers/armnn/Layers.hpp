// SPDX-License-Identifier: Apache-2.0
// The table of Arm NN's kinds of layers: one row each (operators/Rows.hpp), found by name.
#pragma once

#include "parsers/armnn/NetworkBuilder.hpp"

#include <tenon/Span.hpp>

#include <string_view>

namespace tenon::arm_nn
{

struct LayerRow
{
    /// Adds the layer, which has the slots of the layer in the file, and layers that feed its further slots. Throws
    /// ParseException or, from the network, InvalidArgumentException.
    using Function = IConnectableLayer* (*)(const LayerView& op, NetworkBuilder& network);

    std::string_view m_Name; ///< "Convolution2d": the table of the layer in armnn.fbs is Convolution2dLayer
    Function m_Function = nullptr;
};

/// All rows, sorted by name.
Span<const LayerRow> GetRows();

/// The row of a kind; null for an unknown kind.
const LayerRow* FindRow(std::string_view name);

} // namespace tenon::arm_nn
