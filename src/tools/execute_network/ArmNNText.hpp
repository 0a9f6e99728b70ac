// SPDX-License-Identifier: Apache-2.0
// The output of --armnn-output: lines as Arm NN's ExecuteNetwork prints them and scripts read them. Run.cpp and
// Summary.cpp use it.
#pragma once

#include "tools/common/Model.hpp"
#include "tools/common/OutputStore.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools
{

/// "Info: ArmNN v35.0.0": the version that armnn/Version.hpp says.
std::string FormatArmNNVersion();

// "Info: Execution time: 0.12 ms." Some lines of Arm NN end with a full stop, and others with an empty line.

std::string FormatArmNNInitialization(double milliseconds);
std::string FormatArmNNOptimization(double milliseconds);
std::string FormatArmNNExecution(double milliseconds);
/// The lines about an iteration, with lines about a bound if there is one.
std::string FormatArmNNInference(double milliseconds, std::optional<float> maxMilliseconds);
std::string FormatArmNNShutdown(double milliseconds);

/// The inputs and outputs by name, shape, type and quantization, a line for each.
std::string FormatArmNNNetwork(const std::vector<Binding>& inputs, const std::vector<Binding>& outputs);

/// "Info: Writing output: name bindingId: '0' of iteration: 1 to file: 'x.txt'"
std::string FormatArmNNWriting(const Binding& output, size_t iteration, const std::string& file);

/// "name: 0.500000 1.000000 ": all values; floats have six digits after the point.
std::string FormatArmNNValues(const std::string& name, const OutputData& output);

/// A profile as IProfiler::Print() writes it, with "ArmNN" as its root.
std::string NameRootArmNN(std::string profile);

} // namespace tenon::tools
