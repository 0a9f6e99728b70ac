// SPDX-License-Identifier: Apache-2.0
// --limit NAME=VALUE: the fields of tenon::Limits by names that a command line can have.
#pragma once

#include <tenon/Limits.hpp>

#include <string>
#include <vector>

namespace tenon::tools
{

/// Limits with these changes: "tensor-bytes=8G". Throws UsageError for an unknown or repeated name, and for an invalid
/// value.
Limits ParseLimits(const std::vector<std::string>& changes);

/// For --help: each name with its default.
std::string DescribeLimits();

/// A message of the library with the option in place of the field: "raise Limits::m_MaxTensorBytes" becomes "raise
/// --limit tensor-bytes".
std::string NameLimitOptions(std::string message);

} // namespace tenon::tools
