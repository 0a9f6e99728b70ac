// SPDX-License-Identifier: Apache-2.0
// ShownLayer: a layer in the form that a backend written for Arm NN gets, with the types, parameters and tensors that
// Arm NN 23.08 has.
#pragma once

#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/LayerView.hpp>

#include <armnn/backends/ILayerSupport.hpp>
#include <armnn/backends/WorkloadData.hpp>
#include <armnn/backends/WorkloadInfo.hpp>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

/// Handles of the constants of a layer, by input slot; null where there is none.
using ConstantHandles = std::vector<std::unique_ptr<ConstTensorHandle>>;

struct ShownLayer
{
    LayerType m_Type = LayerType::Input; ///< may be a deprecated one: Addition in place of ElementwiseBinary
    std::string m_Name;
    /// The parameters, with paddings and shapes computed, as Arm NN has them.
    std::shared_ptr<const BaseDescriptor> m_Descriptor;
    std::vector<const TensorInfo*> m_Inputs; ///< by slot; null where not connected
    std::vector<const TensorInfo*> m_Outputs;
    /// The slots whose tensors are inputs of the workload. Further ones are constants of the queue descriptor.
    std::vector<size_t> m_Tensors;
};

/// Shows a layer, which must outlive `shown`. The answer is no, with the reason, for a layer that Arm NN does not have
/// like this, that has unknown shapes, or that lacks tensors or has tensors of a wrong rank.
SupportResult ShowLayer(const LayerView& view, ShownLayer& shown);

/// A part of ShowLayer, in LayerChecks.cpp. The answer is yes where the layer has the tensors that it must have, and
/// all are as Arm NN has them, with shapes that are known.
SupportResult CheckLayer(const LayerView& view);
/// A part of ShowLayer, too. Sets paddings and target shapes in `base`, a copy of the descriptor of `view`, for which
/// CheckLayer says yes. Throws LayerValidationException where a tensor has another rank than a layer of the type takes.
void CompleteDescriptor(LayerType type, BaseDescriptor& base, const LayerView& view);

/// The parameters of a layer as Optimize() shows them, for ShowLayer when shapes are known: by then shape inference has
/// made other ones of them, e.g. axes counted from the front, about which the backend would be asked anew. Null for
/// layers that Arm NN does not have, and for Concat and Splitter, whose parameters may be complete only then.
std::shared_ptr<const BaseDescriptor> KeepDescriptor(const LayerView& view);

/// Asks the backend about a layer that was shown. If it does not know ElementwiseBinary, the question is repeated with
/// the deprecated type of layer, which `shown` then has. An exception of the backend is a no.
SupportResult AskBackend(const ILayerSupport& support, ShownLayer& shown);

/// All input slots of a layer of this type, those of constants too. `descriptor` is the type's own.
size_t CountInputSlots(LayerType type, const BaseDescriptor& descriptor);

/// Whether the layer gives the bytes of its input under another shape and Arm NN has no such layer: the adapter runs
/// it.
bool OnlyRenamesDimensions(LayerType type);

/// The queue descriptor of the layer's type, without tensors. `constants` outlive it.
std::unique_ptr<QueueDescriptor> MakeQueueDescriptor(const ShownLayer& layer, const ConstantHandles& constants,
                                                     const void* blob);

/// Infos in the order of the queue descriptor's tensors. `isConstant` is by slot.
WorkloadInfo MakeWorkloadInfo(const ShownLayer& layer, const std::vector<bool>& isConstant);

} // namespace tenon
