// SPDX-License-Identifier: Apache-2.0
// The files of --write-outputs-to-file.
#pragma once

#include "tools/common/Model.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/execute_network/Options.hpp"

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

} // namespace tenon::tools
