// SPDX-License-Identifier: Apache-2.0
// Writes a tensor as an .npy file, which NumPy reads. DebugRun uses it.
#pragma once

#include <tenon/Tensor.hpp>

#include <filesystem>

namespace tenon
{

/// Writes the tensor's stored values: BFloat16 as bit patterns in uint16, 4-bit types as one value per byte. Throws
/// RuntimeException when the file cannot be written.
void WriteNpyFile(const std::filesystem::path& path, const TensorInfo& info, const void* data);

} // namespace tenon
