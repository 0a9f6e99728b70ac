// SPDX-License-Identifier: Apache-2.0
// Writes a tensor as an .npy file, which NumPy reads. DebugRun uses it.
#pragma once

#include <tenon/Tensor.hpp>

#include <filesystem>

namespace tenon
{

/// The tensor's stored values: of BFloat16 the bit patterns as uint16, of 4-bit types one value a byte. Throws
/// RuntimeException when the file cannot be written.
void WriteNpyFile(const std::filesystem::path& path, const TensorInfo& info, const void* data);

} // namespace tenon
