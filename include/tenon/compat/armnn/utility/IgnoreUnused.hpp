// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: IgnoreUnused, which silences warnings about unused parameters.
#pragma once

#include <armnn/Namespace.hpp>

namespace tenon
{

template <typename... Ts>
void IgnoreUnused(const Ts&...)
{
}

} // namespace tenon
