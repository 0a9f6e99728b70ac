// SPDX-License-Identifier: Apache-2.0
// ReplaceFile: writes a file so that others see all of it or none.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace tenon
{

/// Writes the parts one behind the other into a new file in the same folder, and then puts that file in the place of
/// `path`. Mappings and open handles of an older file stay as they are; Windows refuses to replace a file that is
/// mapped. Throws InvalidArgumentException where something other than a regular file is in the place, RuntimeException
/// for an error of the system; no new file is left then.
void ReplaceFile(const std::string& path, std::span<const std::span<const std::byte>> parts);

} // namespace tenon
