// SPDX-License-Identifier: Apache-2.0
// ReplaceFile: writes a file so that others see all of it or none.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tenon
{

/// Writes the parts one behind the other, beside the path first, and then puts that in its place. What is mapped or
/// open of an older file stays as it is; Windows refuses to replace a file that is mapped. Throws
/// InvalidArgumentException where something other than a regular file is in the place, RuntimeException for what the
/// system refuses; nothing is left beside the path then.
void ReplaceFile(const std::string& path, std::span<const std::span<const std::byte>> parts);

} // namespace tenon
