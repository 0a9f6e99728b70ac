// SPDX-License-Identifier: Apache-2.0
// The reference kernels by name: Ref<Name>Kernel for each layer type that has one, defined in kernels/<Name>.cpp. For
// CpuRef's table, and for kernels of fast backends that leave some layers to them.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

#define TENON_KERNEL(name) extern const backends::Kernel Ref##name##Kernel;
#include "backends/reference/Kernels.def"

} // namespace tenon::ref
