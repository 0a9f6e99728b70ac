// SPDX-License-Identifier: Apache-2.0
// The files of --write-outputs-to-file, and comparisons of outputs with others.
#pragma once

#include "tools/common/Model.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/execute_network/Options.hpp"

#include <tenon/Limits.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::tools
{

/// Throws UsageError unless the number of files of --write-outputs-to-file and of --compare-output fits `numOutputs`;
/// files of a series of inputs are not looked at.
void CheckOutputFiles(const Options& options, size_t numOutputs);

/// A remark if the name of a file of --write-outputs-to-file does not show whether the file gets text or .npy; empty if
/// all names do, and for streams and devices.
std::string DescribeOutputKinds(const Options& options);

/// The set of files of an iteration, counted from 0; none if a later iteration writes them again.
std::vector<std::string> GetOutputFiles(const Options& options, size_t numOutputs, unsigned int iteration);

/// Writes each output to its file, if there are files. Returns the lines of --armnn-output about it. Throws RunError.
std::string WriteOutputFiles(const Options& options, const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& files, size_t iteration);

// Comparisons give a line "Byte level root mean square error: 0.5" for each output: the root of the mean square
// difference of the bytes, 0 if there are no bytes. Unless `asArmNN`, floats have a second line: "largest difference
// 2e-07, 1e-07 of the largest value".

/// Compares the outputs of two runs. Throws RunError if an output has another number of bytes.
std::string CompareWithOthers(const std::vector<Binding>& bindings, const OutputStore& outputs,
                              const OutputStore& others, bool asArmNN);

/// Compares outputs with one file for each, in the formats of --write-outputs-to-file; the text is empty without files.
/// Throws InputError, which names the file and its output, also if the shape or the type differs.
std::string CompareWithFiles(const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& files, const Limits& limits, bool asArmNN);

} // namespace tenon::tools
