// SPDX-License-Identifier: Apache-2.0
// Parts of a layer as JSON, for the dump of a graph and for the details in a profile.
#pragma once

#include "graph/Layer.hpp"
#include "json/JsonWriter.hpp"

namespace tenon
{

/// {"type": "QAsymmS8", "shape": [1, -1], "scales": [0.5], "zero_points": [3]}; a size of -1 is unknown, and a shape of
/// null is one of unknown rank.
void WriteInfo(JsonWriter& json, const TensorInfo& info);

/// "guid", "name" and "type" of the object under way.
void WriteIdentity(JsonWriter& json, const Layer& layer);

/// "parameters" of the object under way: the descriptor's fields as text.
void WriteParameters(JsonWriter& json, const Layer& layer);

} // namespace tenon
