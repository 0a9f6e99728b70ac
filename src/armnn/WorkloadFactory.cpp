// SPDX-License-Identifier: Apache-2.0
// IWorkloadFactory::IsLayerSupported: asks a backend about a layer of a network that is being built.
#include "armnn/BuiltinBackend.hpp"
#include "armnn/RegisteredBackends.hpp"
#include "armnn/ShownLayer.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/IConnectableLayer.hpp>
#include <tenon/backend/ILayerSupport.hpp>
#include <tenon/backend/LayerView.hpp>

#include <algorithm>
#include <armnn/backends/WorkloadFactory.hpp>
#include <deque>
#include <string>
#include <vector>

namespace tenon
{

namespace
{

/// The infos of a layer's slots; a view of them.
struct SlotInfos
{
    SlotInfos(const IConnectableLayer& layer, Optional<DataType> type)
    {
        // The last ones may be constants that an Add method took, which GetNumInputSlots() does not count.
        const size_t numInputs = CountInputSlots(layer.GetType(), layer.GetParameters());
        for (unsigned int i = 0; i < std::max<size_t>(layer.GetNumInputSlots(), numInputs); ++i)
        {
            const IInputSlot& slot = layer.GetInputSlot(i);
            const IOutputSlot* const source = slot.GetConnection();
            const bool isConstant =
                source != nullptr && source->GetOwningIConnectableLayer().GetType() == LayerType::Constant;
            m_Inputs.push_back(source != nullptr ? Keep(slot.GetTensorInfo(), type, isConstant) : nullptr);
        }
        for (unsigned int i = 0; i < layer.GetNumOutputSlots(); ++i)
        {
            m_Outputs.push_back(Keep(layer.GetOutputSlot(i).GetTensorInfo(), type, false));
        }
    }

    std::vector<const TensorInfo*> m_Inputs; ///< null where not connected
    std::vector<const TensorInfo*> m_Outputs;

private:
    const TensorInfo* Keep(TensorInfo info, const Optional<DataType>& type, bool isConstant)
    {
        const DataType own = info.GetDataType();
        if (type && (own == DataType::Float32 || own == DataType::Float16 || own == DataType::BFloat16))
        {
            info.SetDataType(type.value());
        }
        info.SetConstant(info.IsConstant() || isConstant);
        m_Infos.push_back(std::move(info));
        return &m_Infos.back();
    }

    std::deque<TensorInfo> m_Infos;
};

SupportResult AskRegistered(const BackendId& id, const LayerView& view, const ModelOptions& options)
{
    try
    {
        return GetBackendForQuestions(id)->GetLayerSupport(options)->IsLayerSupported(view);
    }
    catch (const BackendUnavailableException& e)
    {
        return SupportResult::No(SupportCode::Unavailable, "backend " + id.Get() + " is not available: " + e.what());
    }
}

} // namespace

bool IWorkloadFactory::IsLayerSupported(const BackendId& backendId, const IConnectableLayer& layer,
                                        Optional<DataType> dataType, std::string& outReasonIfUnsupported,
                                        const ModelOptions& modelOptions)
{
    const SlotInfos infos(layer, dataType);
    const std::string name = layer.GetName();
    LayerView view;
    view.m_Type = layer.GetType();
    view.m_Name = &name;
    view.m_Guid = layer.GetGuid();
    view.m_Descriptor = &layer.GetParameters();
    view.m_Inputs = infos.m_Inputs;
    view.m_Outputs = infos.m_Outputs;
    view.m_HasValues = false;
    const auto found = GetBuiltinBackends().Find(backendId);
    const SupportResult result = found != nullptr ? found->GetLayerSupport(modelOptions)->IsLayerSupported(view)
                                                  : AskRegistered(backendId, view, modelOptions);
    outReasonIfUnsupported = result.m_Reason;
    return result.IsSupported();
}

bool IWorkloadFactory::IsLayerSupported(const BackendId& backendId, const IConnectableLayer& layer,
                                        Optional<DataType> dataType, std::string& outReasonIfUnsupported)
{
    return IsLayerSupported(backendId, layer, dataType, outReasonIfUnsupported, {});
}

bool IWorkloadFactory::IsLayerSupported(const IConnectableLayer& layer, Optional<DataType> dataType,
                                        std::string& outReasonIfUnsupported, const ModelOptions& modelOptions)
{
    return IsLayerSupported(layer.GetBackendId(), layer, dataType, outReasonIfUnsupported, modelOptions);
}

bool IWorkloadFactory::IsLayerSupported(const IConnectableLayer& layer, Optional<DataType> dataType,
                                        std::string& outReasonIfUnsupported)
{
    return IsLayerSupported(layer.GetBackendId(), layer, dataType, outReasonIfUnsupported, {});
}

} // namespace tenon
