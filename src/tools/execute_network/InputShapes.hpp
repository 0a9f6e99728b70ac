// SPDX-License-Identifier: Apache-2.0
// Shapes of inputs that differ from the model's: those of --input-tensor-shape, and messages about all of them.
#pragma once

#include "tools/common/Model.hpp"
#include "tools/execute_network/Options.hpp"

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::tools
{

/// The shapes of --input-tensor-shape, one for each of the model's inputs, empty if the input keeps the model's shape.
/// Throws UsageError for another number of shapes; further shapes at the end are allowed if they are empty.
std::vector<std::vector<unsigned int>> OrderShapes(const Options& options, size_t numInputs);

/// "input 'image' as [1,7,8,1] (from wrong.npy; the model says [1,8,8,1])", for the input of this number, which gets a
/// shape of the options or of its file.
std::string DescribeNewShape(const Binding& binding, const TensorShape& shape, size_t index, const Options& options);

} // namespace tenon::tools
