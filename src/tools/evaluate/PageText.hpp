// SPDX-License-Identifier: Apache-2.0
// The page of an evaluation as the folder `page` has it, with style and script. {{report}} and {{worst}} stand for the
// report and the worst pictures. CMake makes its source.
#pragma once

#include <string_view>

namespace tenon::tools::evaluate
{

std::string_view GetPageText();

} // namespace tenon::tools::evaluate
