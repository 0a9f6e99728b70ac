// SPDX-License-Identifier: Apache-2.0
// Inputs, outputs and texts in the reports of programs as JSON.
#pragma once

#include "json/JsonWriter.hpp"
#include "tools/common/Model.hpp"

#include <string>
#include <vector>

namespace tenon::tools
{

/// Writes a name and a list of texts.
void WriteTexts(JsonWriter& json, const char* key, const std::vector<std::string>& texts);

/// Writes name, type, shape and quantization of a tensor into an object.
void WriteTensor(JsonWriter& json, const Binding& binding);

/// Writes a name and a list of such objects.
void WriteTensors(JsonWriter& json, const char* key, const std::vector<Binding>& bindings);

} // namespace tenon::tools
