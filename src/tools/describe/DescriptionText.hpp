// SPDX-License-Identifier: Apache-2.0
// Descriptions of models for people.
#pragma once

#include "tools/describe/Inspection.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::tools
{

/// "9999", "12.3 k", "300.8 M", "4.09 G": powers of 1000 and at least three digits.
std::string FormatLarge(uint64_t number);
/// "9999 bytes", "13.3 MiB": powers of 1024.
std::string FormatBytes(uint64_t bytes);

/// All about one model, in lines and a table of its operators with bars, at most `width` wide where names allow it.
std::string FormatDescription(const ModelDescription& model, size_t width);

/// A line for each model: format, inputs, layers, parameters, multiply-accumulates, and whether it can run.
std::string FormatDescriptionTable(const std::vector<ModelDescription>& models);

/// A line for each model: format, layers, backends, and whether it can run.
std::string FormatCanRunTable(const std::vector<ModelDescription>& models);

} // namespace tenon::tools
