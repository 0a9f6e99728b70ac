// SPDX-License-Identifier: Apache-2.0
// OptionsReader: the options of any builtin operator as attributes, by the reflection that flatc generates from
// tflite.fbs: no code here depends on the operator. Called by OperatorReader, and by the delegate, which fills the same
// list from structs.
#pragma once

#include "parsers/common/Attribute.hpp"
#include "parsers/tflite/Model.hpp"

#include <cstdint>

namespace tenon::tflite
{

using parsers::AttributeList;

/// All fields of the options table that belongs to the builtin code, none of them set; the list is empty if it has no
/// table.
AttributeList ListOptions(int32_t builtin);

/// The same list with the operator's values. Throws ParseException when its lists are out of proportion.
AttributeList ReadOptions(Model& model, const schema::Operator& op, int32_t builtin);

} // namespace tenon::tflite
