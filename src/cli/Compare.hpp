// SPDX-License-Identifier: Apache-2.0
// Outputs compared byte by byte: --compare-output and --compare-output-with-backend.
#pragma once

#include "cli/Model.hpp"
#include "cli/OutputStore.hpp"

#include <tenon/Limits.hpp>

#include <string>

namespace tenon::cli
{

/// "Byte level root mean square error: 0.5": the root of the mean square difference of the bytes, 0 where there are
/// none. Throws RunError where the two have another count of bytes.
std::string FormatByteError(const std::string& name, const OutputData& output, const OutputData& expected);

/// Reads a file of --compare-output, of the kinds that -w writes, as a tensor with the shape and type of `output`.
/// Throws InputError, which names the file and its output.
OutputData ReadExpected(const std::string& file, const std::string& name, const TensorInfo& output,
                        const Limits& limits);

} // namespace tenon::cli
