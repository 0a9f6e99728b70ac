// SPDX-License-Identifier: Apache-2.0
// Tensor infos and constants of .armnn files. Called by the readers of layers and networks.
#pragma once

#include "parsers/armnn/ArmnnFile.hpp"
#include "parsers/common/OperatorView.hpp"

#include <tenon/Tensor.hpp>

namespace tenon::arm_nn
{

namespace schema
{
struct ConstTensor;
struct TensorInfo;
} // namespace schema

/// Types of old files become their successors. A scale has no meaning for floats and Booleans, and is dropped there.
/// Throws ParseException for an unknown type, for sizes that no shape has, and for scales that are NaN or infinite.
TensorInfo ReadTensorInfo(ArmnnFile& file, const schema::TensorInfo& info);

/// The tensor lies in the file if kernels can read it there, else in a copy that it owns. Throws ParseException if the
/// number of values differs from the info's.
parsers::TensorView ReadConstant(ArmnnFile& file, const schema::ConstTensor& tensor);

} // namespace tenon::arm_nn
