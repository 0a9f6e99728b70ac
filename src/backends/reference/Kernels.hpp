// SPDX-License-Identifier: Apache-2.0
// The reference kernels by name: Ref<Name>Kernel for each row of ops.def that says Kernel, defined in
// kernels/<Name>.cpp. Used by CpuRef's table, and by kernels of fast backends that leave some layers to the reference.
#pragma once

#include "backends/common/KernelTable.hpp"

namespace tenon::ref
{

/// The reference kernel of a layer type; null for one that has none.
template <LayerType Type>
constexpr const backends::Kernel* RefKernel = nullptr;

#define TENON_RUN_BY_Kernel(name)                                                                                      \
    extern const backends::Kernel Ref##name##Kernel;                                                                   \
    template <>                                                                                                        \
    inline constexpr const backends::Kernel* RefKernel<LayerType::name> = &Ref##name##Kernel;
#define TENON_RUN_BY_Runtime(name)
#define TENON_RUN_BY_Bound(name)
#define TENON_RUN_BY_Replaced(name)
#define TENON_RUN_BY_Others(name)
#define TENON_OP(name, descriptor, method, runner, ...) TENON_RUN_BY_##runner(name)
#include <tenon/ops.def>
#undef TENON_RUN_BY_Kernel
#undef TENON_RUN_BY_Runtime
#undef TENON_RUN_BY_Bound
#undef TENON_RUN_BY_Replaced
#undef TENON_RUN_BY_Others

/// The kernel that runs quantized layers of a type through Float32 if the kernel above refuses their types, scales or
/// zero points; null for a type without such a kernel.
const backends::Kernel* FindKernelAsFloat(LayerType type);

} // namespace tenon::ref
