// SPDX-License-Identifier: Apache-2.0
// FillQueue: see FillQueue.hpp.
#include "armnn/FillQueue.hpp"

#include "armnn/CellMembers.hpp"

#include <utility>
#include <vector>

namespace tenon
{

namespace
{

const ConstTensorHandle* Handle(const ConstantHandles& constants, size_t slot)
{
    return slot < constants.size() ? constants[slot].get() : nullptr;
}

/// Where each of several boxes that stand one after the other along an axis begins.
std::vector<TensorBoxOrigin> StackBoxes(const std::vector<const TensorInfo*>& boxes, unsigned int axis)
{
    std::vector<TensorBoxOrigin> origins;
    unsigned int end = 0;
    for (const TensorInfo* box : boxes)
    {
        std::vector<unsigned int> origin(box->GetNumDimensions(), 0);
        origin.at(axis) = end;
        end += box->GetShape()[axis];
        origins.emplace_back(std::move(origin));
    }
    return origins;
}

template <typename Queue>
void FillCell(Queue& queue, const ConstantHandles& constants)
{
    ForEachCellMember(queue, [&](const ConstTensorHandle*& member, size_t slot) { member = Handle(constants, slot); });
}

} // namespace

void FillQueue(DetectionPostProcessQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants,
               const void*)
{
    queue.m_Anchors = Handle(constants, 2);
}

void FillQueue(BatchNormalizationQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants,
               const void*)
{
    queue.m_Mean = Handle(constants, 1);
    queue.m_Variance = Handle(constants, 2);
    queue.m_Beta = Handle(constants, 3);
    queue.m_Gamma = Handle(constants, 4);
}

void FillQueue(TransposeConvolution2dQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants,
               const void*)
{
    queue.m_Weight = Handle(constants, 1);
    queue.m_Bias = Handle(constants, 2);
}

void FillQueue(PreCompiledQueueDescriptor& queue, const ShownLayer&, const ConstantHandles&, const void* blob)
{
    queue.m_PreCompiledObject = const_cast<void*>(blob); // as Arm NN has it; the backend made it
}

void FillQueue(ConcatQueueDescriptor& queue, const ShownLayer& layer, const ConstantHandles&, const void*)
{
    OriginsDescriptor& parameters = queue.m_Parameters;
    const unsigned int axis = parameters.GetConcatAxis();
    const unsigned int rank = layer.m_Outputs[0]->GetNumDimensions();
    queue.m_ViewOrigins = StackBoxes(layer.m_Inputs, axis);
    parameters = OriginsDescriptor(static_cast<uint32_t>(layer.m_Inputs.size()), rank);
    parameters.SetConcatAxis(axis);
    for (uint32_t i = 0; i < parameters.GetNumViews(); ++i)
    {
        parameters.SetViewOriginCoord(i, axis, queue.m_ViewOrigins[i].m_Origin[axis]);
    }
}

void FillQueue(SplitterQueueDescriptor& queue, const ShownLayer&, const ConstantHandles&, const void*)
{
    const ViewsDescriptor& parameters = queue.m_Parameters;
    for (uint32_t i = 0; i < parameters.GetNumViews(); ++i)
    {
        const uint32_t* const origin = parameters.GetViewOrigin(i);
        queue.m_ViewOrigins.emplace_back(std::vector<unsigned int>(origin, origin + parameters.GetNumDimensions()));
    }
}

void FillQueue(LstmQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants, const void*)
{
    FillCell(queue, constants);
}
void FillQueue(QLstmQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants, const void*)
{
    FillCell(queue, constants);
}
void FillQueue(UnidirectionalSequenceLstmQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants,
               const void*)
{
    FillCell(queue, constants);
}

void FillQueue(QuantizedLstmQueueDescriptor& queue, const ShownLayer&, const ConstantHandles& constants, const void*)
{
    ForEachQuantizedCellMember(queue, [&](const ConstTensorHandle*& member, size_t slot)
                               { member = Handle(constants, slot); });
}

} // namespace tenon
