// SPDX-License-Identifier: Apache-2.0
// FlexOptions: the options of a custom operator, a FlexBuffers map, as attributes. Called by OperatorReader and by the
// delegate.
#pragma once

#include "common/ModelBytes.hpp"
#include "parsers/common/Attribute.hpp"

#include <tenon/Span.hpp>

#include <cstdint>

namespace tenon::tflite
{

using parsers::AttributeList;

/// The entries of the map; none if there are no bytes. Entries of kinds that no row reads, such as nested maps, have no
/// value. The attributes' names are in `bytes`. Throws ParseException when lists are out of proportion.
AttributeList ReadFlexOptions(ReadBudget& budget, Span<const uint8_t> bytes);

} // namespace tenon::tflite
