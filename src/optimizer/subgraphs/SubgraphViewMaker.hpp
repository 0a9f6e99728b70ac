// SPDX-License-Identifier: Apache-2.0
// SubgraphViewMaker: the SubgraphView of one subgraph for its backend, and the way back: the layer and the output slot
// that belong to each index in the backend's answer.
#pragma once

#include "graph/MakeLayerView.hpp"

#include <tenon/backend/SubgraphView.hpp>

#include <span>
#include <unordered_map>
#include <vector>

namespace tenon
{

class SubgraphViewMaker
{
public:
    /// The layers that PartitionGraph gave one number, in their order.
    explicit SubgraphViewMaker(std::span<Layer* const> layers);

    /// Valid until a tensor info or a constant of the graph changes.
    SubgraphView View() const;

    size_t NumLayers() const { return m_ViewLayers.size(); }
    size_t NumTensors() const { return m_Slots.size(); }
    Layer& GetLayer(size_t place) const { return *m_Layers[place]; }
    /// Where the tensor comes from.
    OutputSlot& GetSlot(SubgraphTensor tensor) const { return *m_Slots[tensor]; }
    const TensorInfo& GetInfo(SubgraphTensor tensor) const { return m_Slots[tensor]->GetTensorInfo(); }
    /// Place of a layer in the view; NumLayers() for layers outside of it.
    size_t PlaceOf(const Layer& layer) const;
    Span<const SubgraphTensor> OutputsOf(size_t place) const { return m_ViewLayers[place].m_Outputs; }

private:
    SubgraphTensor NumberOf(OutputSlot& slot);

    std::vector<Layer*> m_Layers;
    std::unordered_map<const Layer*, size_t> m_Places;
    std::unordered_map<const OutputSlot*, SubgraphTensor> m_Numbers;
    std::vector<OutputSlot*> m_Slots;
    std::vector<LayerViewMaker> m_Makers;  ///< hold the arrays of the views
    std::vector<SubgraphTensor> m_Tensors; ///< of all layers' slots, one after the other
    std::vector<SubgraphLayer> m_ViewLayers;
    std::vector<SubgraphTensor> m_Inputs;
    std::vector<SubgraphTensor> m_Outputs;
    std::vector<const TensorInfo*> m_Infos;
};

} // namespace tenon
