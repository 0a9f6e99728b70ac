// SPDX-License-Identifier: Apache-2.0
// An ONNX model as a network. Model.cpp calls it.
#pragma once

#include "tools/common/Model.hpp"

namespace tenon::tools
{

/// Throws UsageError for a subgraph, a signature, or a dimension that the model does not have, and the exceptions of
/// the parser.
Model LoadOnnx(const InputSource& file, const ModelChoice& choice, const Limits& limits);

/// Throws UsageError that asks for the sizes that the model leaves open, by their names: "--dim batch=SIZE". Does
/// nothing if all sizes are known, and for an input of unknown rank.
void AskForDimensions(const Binding& input);

} // namespace tenon::tools
