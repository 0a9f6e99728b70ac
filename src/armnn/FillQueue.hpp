// SPDX-License-Identifier: Apache-2.0
// FillQueue: sets the members of a queue descriptor other than parameters and tensors, from a layer, its constants and
// the blob of a PreCompiled layer.
#pragma once

#include "armnn/ShownLayer.hpp"

#include <armnn/backends/WorkloadData.hpp>

namespace tenon
{

/// Nothing for the types that have no overload.
inline void FillQueue(QueueDescriptor&, const ShownLayer&, const ConstantHandles&, const void*) {}

void FillQueue(DetectionPostProcessQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles& constants,
               const void* blob);
void FillQueue(BatchNormalizationQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles& constants,
               const void* blob);
void FillQueue(TransposeConvolution2dQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles& constants,
               const void* blob);
void FillQueue(PreCompiledQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles& constants,
               const void* blob);
void FillQueue(ConcatQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles& constants,
               const void* blob);
void FillQueue(SplitterQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles& constants,
               const void* blob);
void FillQueue(LstmQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles& constants, const void* blob);
void FillQueue(QLstmQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles& constants,
               const void* blob);
void FillQueue(UnidirectionalSequenceLstmQueueDescriptor& queue, const ShownLayer& layer,
               const ConstantHandles& constants, const void* blob);
void FillQueue(QuantizedLstmQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles& constants,
               const void* blob);

} // namespace tenon
