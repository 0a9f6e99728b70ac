// SPDX-License-Identifier: Apache-2.0
// Sparse constants of a model, written out in full: no kernel computes with the sparse form. Used by TensorTable.
#pragma once

#include "parsers/tflite/Model.hpp"

#include <tenon/Tensor.hpp>

#include <cstdint>
#include <vector>

namespace tenon::tflite
{

namespace schema
{
struct SparsityParameters;
}

/// All elements of the tensor, zeros included, as `info` describes it; `values` are those that are stored. Throws
/// ParseException when the description does not fit the shape or the values, UnimplementedException for 4-bit types.
std::vector<uint8_t> Densify(Model& model, const schema::SparsityParameters& sparsity, const TensorInfo& info,
                             Span<const uint8_t> values);

} // namespace tenon::tflite
