// SPDX-License-Identifier: Apache-2.0
// What a step is with known shapes, whether they are known before the run or during it: its reshaped workload, the
// infos that it takes its inputs for, the bytes of its tensors.
#pragma once

#include "runtime/Program.hpp"

#include <tenon/Limits.hpp>

#include <cstddef>
#include <memory>

namespace tenon
{

/// Reshapes a step's workload. `descriptor` is the resolved one or null. `outputPitch`: see ReshapeArgs; null is given
/// where the output cannot be written so. Errors get the layer as context.
std::unique_ptr<IShapedWorkload> ReshapeStep(const Step& step, const BaseDescriptor* descriptor,
                                             Span<const TensorInfo* const> inputs,
                                             Span<const TensorInfo* const> outputs, Span<const void* const> constants,
                                             unsigned int maxThreads, size_t outputPitch = 0);

/// The info that a step takes input i for, whose value is of info `actual`, where the input overrides it: type and
/// quantization of the override, and its shape if that says more than the value's declared one did.
/// Throws LayerValidationException where the value has another number of elements.
TensorInfo OverriddenInfo(const Program& program, const Step& step, size_t input, const TensorInfo& actual);

/// Whether the step lets a device use host memory: its output then lies where its input does.
bool IsImport(const Program& program, const Step& step);

/// The number of bytes that addresses of elements must be a multiple of.
size_t GetAlignment(DataType type);

/// Whether memory of one tensor may be read as the other: it is aligned well enough.
inline bool MayBeView(const TensorInfo& view, const TensorInfo& of)
{
    return GetAlignment(view.GetDataType()) <= GetAlignment(of.GetDataType());
}

/// The tensor's bytes. Throws LimitExceededException where they are more than a limit allows.
size_t CheckTensorBytes(const Step& step, const TensorInfo& info, const Limits& limits);

} // namespace tenon
