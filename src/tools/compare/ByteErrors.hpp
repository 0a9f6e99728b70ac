// SPDX-License-Identifier: Apache-2.0
// Comparisons of outputs as --compare-output and --compare-output-with-backend print them.
#pragma once

#include "tools/common/Model.hpp"
#include "tools/common/OutputStore.hpp"

#include <tenon/Limits.hpp>

#include <string>
#include <vector>

namespace tenon::tools
{

// The text is a line "Byte level root mean square error: 0.5" for each output: the root of the mean square difference
// of the bytes, 0 if there are no bytes. Unless `asArmNN`, floats have a second line: "largest difference 2e-07, 1e-07
// of the largest value".

/// Compares the outputs of two runs. Throws RunError if an output has another number of bytes.
std::string CompareWithOthers(const std::vector<Binding>& bindings, const OutputStore& outputs,
                              const OutputStore& others, bool asArmNN);

/// Compares outputs with one file for each, in the formats of --write-outputs-to-file; the text is empty without files.
/// Throws InputError, which names the file and its output, also if the shape or the type differs.
std::string CompareWithFiles(const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& files, const Limits& limits, bool asArmNN);

} // namespace tenon::tools
