// SPDX-License-Identifier: Apache-2.0
// A layer's parameters as a list of named values, derived from each descriptor's Visit: the form in which they leave
// the process (plugins) and come back. A new operator or field needs nothing here.
#pragma once

#include <tenon/Tensor.hpp>
#include <tenon/Types.hpp>
#include <tenon/descriptors/Base.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tenon
{

/// Integers, enumerations and axes are int64; a pair is two of them.
using AttributeValue =
    std::variant<bool, std::vector<int64_t>, std::vector<double>, std::string, std::vector<uint8_t>, TensorShape>;

struct Attribute
{
    std::string m_Name; ///< the field's; of a field of a nested struct "Outer.Inner"
    AttributeValue m_Value;
};

/// All fields that the descriptor's Visit names. `descriptor` is of the kind that ops.def lists for the type.
std::vector<Attribute> ToAttributes(LayerType type, const BaseDescriptor& descriptor);

/// The descriptor of a layer type; fields that are not listed have their defaults. An enumerator may be given by its
/// name (see Names.hpp), a list of them by names with commas between them, and floats as integers. Throws
/// InvalidArgumentException, naming the attribute, for one that the descriptor has not, a value of the wrong kind, too
/// few or too many values, a name or number that the enumeration does not have, and an integer that the field cannot
/// hold.
std::unique_ptr<BaseDescriptor> FromAttributes(LayerType type, const std::vector<Attribute>& attributes);

} // namespace tenon
