// SPDX-License-Identifier: Apache-2.0
// The namespace armnn, for programs written for Arm NN: another name for tenon. Every header of this folder includes
// it; programs do not.
#pragma once

namespace tenon
{
}
namespace armnn = tenon;
