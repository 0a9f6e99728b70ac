// SPDX-License-Identifier: Apache-2.0
// LayerReader: the fields and constants of any layer of a .armnn file, by the reflection that flatc generates from
// armnn.fbs: no code here depends on the kind of layer. Called by NetworkReader.
#pragma once

#include "parsers/armnn/ArmnnFile.hpp"
#include "parsers/armnn/LayerView.hpp"

#include <optional>
#include <string_view>

namespace tenon::arm_nn
{

namespace schema
{
struct AnyLayer;
struct BindableLayerBase;
struct LayerBase;
} // namespace schema

/// The kind of a layer: "Convolution2d"; nothing for a kind that the format of release 23.08 does not have.
std::optional<std::string_view> FindKind(const schema::AnyLayer& layer);

/// Whether the layer is an Input or Output.
bool IsBindable(const schema::AnyLayer& layer);

/// The part of an Input or Output that has the binding id; null for other layers, and if the file lacks it.
const schema::BindableLayerBase* FindBindable(const schema::AnyLayer& layer);

/// The part that layers of all kinds have. Throws ParseException if it is missing. The kind must be known.
const schema::LayerBase& GetBase(const schema::AnyLayer& layer);

/// The parts that do not depend on the rest of the network. The kind must be known.
LayerParts ReadLayer(ArmnnFile& file, const schema::AnyLayer& layer);

} // namespace tenon::arm_nn
