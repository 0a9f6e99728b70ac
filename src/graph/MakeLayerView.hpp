// SPDX-License-Identifier: Apache-2.0
// LayerViewMaker: shows a Layer to a backend. Used by assignment and by loading.
#pragma once

#include "graph/Layer.hpp"

#include <tenon/backend/LayerView.hpp>

#include <vector>

namespace tenon
{

/// Keeps the arrays that a LayerView points to, so that showing layer after layer allocates nothing.
class LayerViewMaker
{
public:
    /// Valid until the next call. Unconnected inputs at the end are left out.
    LayerView Make(const Layer& layer)
    {
        layer.CollectInputInfos(m_Inputs);
        while (!m_Inputs.empty() && m_Inputs.back() == nullptr)
        {
            m_Inputs.pop_back();
        }
        m_Data.assign(m_Inputs.size(), nullptr);
        for (unsigned int i = 0; i < m_Inputs.size(); ++i)
        {
            m_Data[i] = layer.GetConstantInput(i);
        }
        m_Outputs.clear();
        for (const OutputSlot& output : layer.Outputs())
        {
            m_Outputs.push_back(&output.GetTensorInfo());
        }
        LayerView view;
        view.m_Type = layer.GetType();
        view.m_Name = &layer.GetNameStr();
        view.m_Guid = layer.GetGuid();
        view.m_Descriptor = &layer.GetParameters();
        view.m_FusedActivation = layer.GetFusedActivation();
        view.m_Inputs = m_Inputs;
        view.m_Outputs = m_Outputs;
        view.m_ConstantData = m_Data;
        view.m_Blob = layer.GetBlob().get();
        return view;
    }

private:
    std::vector<const TensorInfo*> m_Inputs;
    std::vector<const TensorInfo*> m_Outputs;
    std::vector<const void*> m_Data;
};

} // namespace tenon
