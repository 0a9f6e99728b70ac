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

/// Types of old files become their successors. A scale says nothing of floats and Booleans, and is left out there.
/// Throws ParseException for an unknown type, for sizes that no shape has and for scales that are no numbers.
TensorInfo ReadTensorInfo(ArmnnFile& file, const schema::TensorInfo& info);

/// The tensor lies in the file wherever kernels can read it there, else in a copy that it owns. Throws ParseException
/// for values that are not as many as the info says.
parsers::TensorView ReadConstant(ArmnnFile& file, const schema::ConstTensor& tensor);

} // namespace tenon::arm_nn
