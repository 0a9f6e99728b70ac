// SPDX-License-Identifier: Apache-2.0
// Type and quantization of a model's tensor as a TensorInfo. Used by TensorTable.
#pragma once

#include "parsers/tflite/Model.hpp"

#include <tenon/Tensor.hpp>

namespace tenon::tflite
{

namespace schema
{
struct Tensor;
}

/// The info of a tensor of this shape. Throws ParseException when the quantization contradicts itself or the shape,
/// UnimplementedException for types that no layer takes. The tensor's name is added by the caller.
TensorInfo ReadInfo(Model& model, const schema::Tensor& tensor, const TensorShape& shape);

} // namespace tenon::tflite
