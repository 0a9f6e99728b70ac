// SPDX-License-Identifier: Apache-2.0
// See NetworkSummary.hpp.
#include "tools/describe/NetworkSummary.hpp"

#include "tools/common/Assignment.hpp"
#include "tools/common/LayerWork.hpp"

#include <tenon/Descriptors.hpp>
#include <tenon/Exceptions.hpp>
#include <tenon/TensorHandle.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace tenon::tools
{
namespace
{

/// Saturates: files may claim any sizes.
void AddTo(uint64_t& sum, uint64_t value)
{
    sum = value > std::numeric_limits<uint64_t>::max() - sum ? std::numeric_limits<uint64_t>::max() : sum + value;
}

void AddTo(uint64_t& sum, uint64_t& numWithout, std::optional<uint64_t> value)
{
    AddTo(sum, value.value_or(0));
    numWithout += value ? 0 : 1;
}

class Summarizer final : public IStrategy
{
public:
    explicit Summarizer(const ShapesById& inputShapes) : m_InputShapes(inputShapes) {}

    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                         const std::vector<ConstTensor>& constants, const char*, LayerBindingId id) override
    {
        if (layer->GetType() == LayerType::Constant)
        {
            m_Infos.emplace(&layer->GetOutputSlot(0), constants.front().GetInfo());
            AddParameters(constants.front().GetInfo(), nullptr);
            return;
        }
        if (layer->GetType() == LayerType::Input)
        {
            TensorInfo info = layer->GetOutputSlot(0).GetTensorInfo();
            const auto found = m_InputShapes.find(id);
            if (found != m_InputShapes.end())
            {
                info.SetShape(found->second);
            }
            m_Infos.emplace(&layer->GetOutputSlot(0), info);
            return;
        }
        InferOutputs(*layer);
        if (Computes(layer->GetType()))
        {
            AddLayer(*layer, descriptor, constants);
        }
    }

    NetworkSummary Take()
    {
        const auto rank = [](const OperatorSummary& summary)
        {
            return std::tuple(summary.m_Work.m_Macs, summary.m_Work.m_Operations, summary.m_Parameters.m_Elements,
                              summary.m_Count);
        };
        std::stable_sort(m_Summary.m_Operators.begin(), m_Summary.m_Operators.end(),
                         [&](const OperatorSummary& a, const OperatorSummary& b) { return rank(a) > rank(b); });
        return std::move(m_Summary);
    }

private:
    TensorInfo InfoOf(const IOutputSlot& slot) const
    {
        const auto found = m_Infos.find(&slot);
        return found != m_Infos.end() ? found->second : slot.GetTensorInfo();
    }

    void InferOutputs(const IConnectableLayer& layer)
    {
        std::vector<TensorInfo> outputs;
        bool isOpen = false;
        for (unsigned int i = 0; i < layer.GetNumOutputSlots(); ++i)
        {
            outputs.push_back(layer.GetOutputSlot(i).GetTensorInfo());
            isOpen = isOpen || !outputs.back().GetShape().AreAllDimensionsSpecified();
        }
        const std::vector<TensorShape> shapes = isOpen ? InferShapes(layer) : std::vector<TensorShape>();
        for (unsigned int i = 0; i < outputs.size(); ++i)
        {
            if (i < shapes.size() && !outputs[i].GetShape().AreAllDimensionsSpecified() &&
                shapes[i].GetDimensionality() != Dimensionality::NotSpecified)
            {
                outputs[i].SetShape(shapes[i]);
            }
            m_Infos.emplace(&layer.GetOutputSlot(i), outputs[i]);
        }
    }

    std::vector<TensorShape> InferShapes(const IConnectableLayer& layer) const
    {
        std::vector<TensorShape> inputs;
        for (unsigned int i = 0; i < layer.GetNumInputSlots(); ++i)
        {
            const IInputSlot& slot = layer.GetInputSlot(i);
            if (slot.GetConnection() == nullptr)
            {
                break; // only leading inputs have shapes to give
            }
            const bool isOverridden =
                slot.IsTensorInfoOverridden() && slot.GetTensorInfo().GetShape().AreAllDimensionsSpecified();
            inputs.push_back((isOverridden ? slot.GetTensorInfo() : InfoOf(*slot.GetConnection())).GetShape());
        }
        try
        {
            return layer.InferOutputShapes(inputs);
        }
        catch (const std::exception&) // Optimize() tells why they do not fit
        {
            return {};
        }
    }

    /// Adds constants to the totals, and to those of an operator where they are its own.
    void AddParameters(const TensorInfo& info, Parameters* ofOperator)
    {
        m_Summary.m_Parameters[info.GetDataType()].Add(info);
        if (ofOperator != nullptr)
        {
            ofOperator->Add(info);
        }
    }

    void AddLayer(const IConnectableLayer& layer, const BaseDescriptor& descriptor,
                  const std::vector<ConstTensor>& constants)
    {
        const std::string type =
            layer.GetType() == LayerType::Custom
                ? fmt::format("Custom '{}'", static_cast<const CustomDescriptor&>(descriptor).m_Name)
                : GetLayerTypeAsCString(layer.GetType());
        const auto [place, isNew] = m_Places.emplace(type, m_Summary.m_Operators.size());
        if (isNew)
        {
            m_Summary.m_Operators.emplace_back().m_Type = type;
        }
        OperatorSummary& summary = m_Summary.m_Operators[place->second];
        ++summary.m_Count;
        if (layer.GetNumOutputSlots() > 0)
        {
            ++summary.m_OutputTypes[GetDataTypeName(layer.GetOutputSlot(0).GetTensorInfo().GetDataType())];
        }
        for (unsigned int i = 0; i < layer.GetNumInputSlots(); ++i)
        {
            const IOutputSlot* const source = layer.GetInputSlot(i).GetConnection();
            if (source != nullptr && source->GetOwningIConnectableLayer().GetType() == LayerType::Constant &&
                m_Counted.insert(source).second)
            {
                summary.m_Parameters.Add(InfoOf(*source));
            }
        }
        for (const ConstTensor& constant : constants)
        {
            AddParameters(constant.GetInfo(), &summary.m_Parameters);
        }
        const LayerWork work = ComputeWork(layer, [this](const IOutputSlot& slot) { return InfoOf(slot); });
        AddTo(summary.m_Work.m_Macs, summary.m_Work.m_NumWithoutMacs, work.m_Macs);
        AddTo(summary.m_Work.m_Operations, summary.m_Work.m_NumWithoutOperations, work.m_Operations);
    }

    const ShapesById& m_InputShapes;
    NetworkSummary m_Summary;
    std::unordered_map<const IOutputSlot*, TensorInfo> m_Infos;
    std::unordered_map<std::string, size_t> m_Places; ///< of operators in the summary
    std::unordered_set<const IOutputSlot*> m_Counted; ///< constants that an operator has already
};

} // namespace

void Parameters::Add(const TensorInfo& info)
{
    ++m_Tensors;
    AddTo(m_Elements, info.GetShape().GetNumElements64());
    AddTo(m_Bytes, info.GetNumBytes());
}

void Parameters::Add(const Parameters& other)
{
    AddTo(m_Tensors, other.m_Tensors);
    AddTo(m_Elements, other.m_Elements);
    AddTo(m_Bytes, other.m_Bytes);
}

void WorkSum::Add(const WorkSum& other)
{
    AddTo(m_Macs, other.m_Macs);
    AddTo(m_Operations, other.m_Operations);
    AddTo(m_NumWithoutMacs, other.m_NumWithoutMacs);
    AddTo(m_NumWithoutOperations, other.m_NumWithoutOperations);
}

uint64_t NetworkSummary::CountLayers() const
{
    uint64_t count = 0;
    for (const OperatorSummary& summary : m_Operators)
    {
        count += summary.m_Count;
    }
    return count;
}

Parameters NetworkSummary::SumParameters() const
{
    Parameters sum;
    for (const auto& [type, parameters] : m_Parameters)
    {
        sum.Add(parameters);
    }
    return sum;
}

WorkSum NetworkSummary::SumWork() const
{
    WorkSum sum;
    for (const OperatorSummary& summary : m_Operators)
    {
        sum.Add(summary.m_Work);
    }
    return sum;
}

void NetworkSummary::ForgetWork()
{
    for (OperatorSummary& summary : m_Operators)
    {
        summary.m_Work = {0, 0, summary.m_Count, summary.m_Count};
    }
}

NetworkSummary Summarize(const VisitNetwork& visit, const ShapesById& inputShapes)
{
    Summarizer summarizer(inputShapes);
    visit(summarizer);
    return summarizer.Take();
}

} // namespace tenon::tools
