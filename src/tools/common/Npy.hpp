// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: read for -d, written for -w. Versions 1 to 3, little endian, C or Fortran order, plain types.
// A file is hostile input: its header is bounded, and its claims are checked against its size before memory is taken.
#pragma once

#include "tools/common/Buffer.hpp"
#include "tools/common/File.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tenon::tools
{

struct NpyArray
{
    /// The expected type and quantization, with the file's shape.
    TensorInfo m_Info;
    Buffer m_Data;
};

/// The info of the result of ReadNpy. Throws the same exceptions, except for 4-bit values out of their range.
TensorInfo ReadNpyInfo(const InputSource& source, const TensorInfo& expected, uint64_t maxBytes);

/// Reads a file as elements of `expected`'s type; the shape is the file's. Throws InputError, also if the type differs
/// and for more than `maxBytes` of data.
NpyArray ReadNpy(const InputSource& source, const TensorInfo& expected, uint64_t maxBytes);

/// Writes a tensor of fully known shape in its own type. Throws RunError when that fails.
void WriteNpy(const std::string& path, const TensorInfo& info, const std::byte* data);

} // namespace tenon::tools
