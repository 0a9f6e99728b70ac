// SPDX-License-Identifier: Apache-2.0
// The parts of a step that depend on shapes, for steps that are shaped before or during a run: its reshaped workload,
// the infos of its inputs, the bytes of its tensors.
#pragma once

#include "runtime/Program.hpp"

#include <tenon/Limits.hpp>

#include <cstddef>
#include <memory>

namespace tenon
{

/// Reshapes a step's workload. `descriptor` is the resolved one or null. `outputPitch`: see ReshapeArgs; the result is
/// null if the output cannot be written with this pitch. Errors get the layer as context.
std::unique_ptr<IShapedWorkload> ReshapeStep(const Step& step, const BaseDescriptor* descriptor,
                                             Span<const TensorInfo* const> inputs,
                                             Span<const TensorInfo* const> outputs, Span<const void* const> constants,
                                             unsigned int maxThreads, size_t outputPitch = 0);

/// The info of input i, which overrides the info `actual` of its value: type and quantization of the override, and its
/// shape if it is more specific than the declared shape of the value. Throws LayerValidationException if the value has
/// another number of elements.
TensorInfo OverriddenInfo(const Program& program, const Step& step, size_t input, const TensorInfo& actual);

/// Whether the step lets a device use host memory: its output then has the memory of its input.
bool IsImport(const Program& program, const Step& step);

/// The number of bytes that addresses of elements must be a multiple of.
size_t GetAlignment(DataType type);

/// Whether the alignment of one tensor's memory allows reading it as the other.
inline bool MayBeView(const TensorInfo& view, const TensorInfo& of)
{
    return GetAlignment(view.GetDataType()) <= GetAlignment(of.GetDataType());
}

/// The tensor's bytes. Throws LimitExceededException if they exceed a limit.
size_t CheckTensorBytes(const Step& step, const TensorInfo& info, const Limits& limits);

} // namespace tenon
