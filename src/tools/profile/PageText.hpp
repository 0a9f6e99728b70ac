// SPDX-License-Identifier: Apache-2.0
// The page of a profile as the folder `page` has it, with style and scripts. {{profile}} and {{against}} stand for the
// profiles. CMake makes its source.
#pragma once

#include <string_view>

namespace tenon::tools
{

std::string_view GetPageText();

} // namespace tenon::tools
