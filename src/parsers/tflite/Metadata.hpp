// SPDX-License-Identifier: Apache-2.0
// ReadMetadata: TFLite's metadata of a model, with the labels in the archive behind it.
#pragma once

#include "parsers/tflite/Model.hpp"

#include <tenon/parsers/ITfLiteParser.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::tflite
{

/// The metadata of the model and of the inputs and outputs of one of its subgraphs, which are given by their tensors.
/// Throws nothing for damaged metadata, which become faults: the model itself may still be whole.
ITfLiteParser::ModelMetadata ReadMetadata(const Model& model, size_t subgraph, const std::vector<int32_t>& inputs,
                                          const std::vector<int32_t>& outputs);

} // namespace tenon::tflite
