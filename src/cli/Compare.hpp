// SPDX-License-Identifier: Apache-2.0
// Outputs compared byte by byte: --compare-output and --compare-output-with-backend.
#pragma once

#include "cli/Model.hpp"
#include "cli/OutputStore.hpp"

#include <tenon/Limits.hpp>

#include <string>
#include <vector>

namespace tenon::cli
{

// Each gives a line "Byte level root mean square error: 0.5" for an output: the root of the mean square difference of
// the bytes, 0 where there are none.

/// Between two runs. Throws RunError where an output has another count of bytes.
std::string FormatByteErrors(const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const OutputStore& others);

/// With one file for each output, of the kinds that -w writes; nothing without files. Throws InputError, which names
/// the file and its output, also where the shape or the type is another one.
std::string CompareWithFiles(const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& files, const Limits& limits);

} // namespace tenon::cli
