// SPDX-License-Identifier: Apache-2.0
// For backends written for Arm NN: names of the tensor handles.
#pragma once

#include <armnn/Namespace.hpp>

namespace tenon
{

class ConstTensorHandle;
class TensorHandle;
class ScopedTensorHandle;
class PassthroughTensorHandle;
class ConstPassthroughTensorHandle;

} // namespace tenon
