// SPDX-License-Identifier: Apache-2.0
// ReadLiteRtLm: the models of a .litertlm file in memory.
#pragma once

#include "parsers/tflite/containers/ContainedModel.hpp"

#include <tenon/Limits.hpp>
#include <tenon/Span.hpp>

#include <cstdint>
#include <vector>

namespace tenon::tflite
{

/// The models by their model_type. A model without one, or with one that another model has too, has the number of its
/// section as name. Sections of other kinds are passed over, but all sections must lie in the file and apart. Throws
/// ParseException for a damaged file, UnimplementedException for another version of the format.
std::vector<ContainedModel> ReadLiteRtLm(Span<const uint8_t> file, const Limits& limits);

} // namespace tenon::tflite
