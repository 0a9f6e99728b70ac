// SPDX-License-Identifier: Apache-2.0
// Elements of a tensor's memory, of any type: read, write, print, and NumPy's name of the type. This is the only place
// of ExecuteNetwork that switches over DataType. 4-bit elements are addressed one by one, too.
#pragma once

#include <tenon/Types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon::tools
{

/// The stored value of element i, without quantization; the real part of a complex element.
double GetElement(DataType type, const std::byte* data, size_t i);

/// Stores a value: rounded and clamped for integer types, as the real part for complex types; a Boolean is value != 0.
void SetElement(DataType type, std::byte* data, size_t i, double value);

/// Appends element i as text that reads back as the same value (16-bit floats: to their precision).
void AppendElement(DataType type, const std::byte* data, size_t i, std::string& text);

/// The same, and a Boolean as 0 or 1.
void AppendPlainElement(DataType type, const std::byte* data, size_t i, std::string& text);

/// Stores the number that `text` spells; false if it is no number, or out of the type's range. Complex: "1.5+2j" or
/// "1.5".
bool ParseElement(DataType type, std::string_view text, std::byte* data, size_t i);

/// Whether the type holds whole numbers (quantized or not).
bool IsIntegerType(DataType type);
/// Float16, BFloat16, Float32 and Float64.
bool IsFloatType(DataType type);

/// The type of this name, as GetDataTypeName() gives it.
std::optional<DataType> FindDataType(std::string_view name);

/// The name of the type in .npy files: "<f4". BFloat16 is "<u2" (its bits), 4-bit is "|i1" (its values).
const char* GetNpyType(DataType type);
/// The type in NumPy's words, for messages: "float32".
const char* GetNumPyName(DataType type);

} // namespace tenon::tools
