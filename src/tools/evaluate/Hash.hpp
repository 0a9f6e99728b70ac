// SPDX-License-Identifier: Apache-2.0
// Hashes by which a state knows models, options and pictures again.
#pragma once

#include "tools/common/File.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools::evaluate
{

/// 32 digits for all parts, whose ends count.
std::string HashParts(const std::vector<std::string_view>& parts);

/// The same of a whole file, of which a part at a time is in memory. Throws InputError.
std::string HashFile(const InputSource& file);

} // namespace tenon::tools::evaluate
