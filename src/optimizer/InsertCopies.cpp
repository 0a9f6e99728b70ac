// SPDX-License-Identifier: Apache-2.0
// InsertCopies (Stages.hpp): connects layers whose backends work in different memories.
#include "optimizer/Stages.hpp"
#include "optimizer/assignment/Assignment.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

namespace tenon
{

namespace
{

constexpr const char* Host = "Host";

/// The memories of a registry's backends. Null stands for the host.
class Memories
{
public:
    explicit Memories(const BackendRegistry& registry)
    {
        for (const BackendId& id : registry.GetBackendIds())
        {
            if (const ITensorHandleFactory* factory = registry.Get(id).GetTensorHandleFactory())
            {
                // Backends that share a memory count as one.
                const ITensorHandleFactory* first = m_ByName.emplace(factory->GetId(), factory).first->second;
                m_Devices.emplace(id.Get(), first);
            }
        }
    }

    bool IsHostOnly() const { return m_Devices.empty(); }

    /// Where the layer's workload works. What the runtime binds or runs is on the host, whatever backend is shown.
    const ITensorHandleFactory* Of(const Layer& layer) const
    {
        if (IsBoundByRuntime(layer.GetType()))
        {
            return nullptr;
        }
        const auto found = m_Devices.find(layer.GetBackendId().Get());
        return found == m_Devices.end() ? nullptr : found->second;
    }

private:
    std::map<std::string, const ITensorHandleFactory*> m_ByName;
    std::map<std::string, const ITensorHandleFactory*> m_Devices; ///< by backend
};

const char* NameOf(const ITensorHandleFactory* memory)
{
    return memory == nullptr ? Host : memory->GetId();
}

Layer& AddCopy(Graph& graph, const OutputSlot& source, const ITensorHandleFactory* from, const ITensorHandleFactory* to,
               const BackendId& target)
{
    const bool isImport = from == nullptr && to != nullptr &&
                          (to->GetImportFlags() & static_cast<MemorySourceFlags>(MemorySource::Malloc)) != 0;
    Layer& copy =
        graph.AddLayer(isImport ? LayerType::MemImport : LayerType::MemCopy, nullptr,
                       fmt::format("{}:{}", source.GetOwningLayer().GetNameStr(), isImport ? "import" : "copy"));
    copy.Output(0).SetTensorInfo(source.GetTensorInfo());
    copy.SetBackendId(target);
    copy.SetAssignmentReason(isImport ? fmt::format("lets memory {} use host memory", NameOf(to))
                                      : fmt::format("copies from memory {} to memory {}", NameOf(from), NameOf(to)));
    return copy;
}

} // namespace

void InsertCopies(Graph& graph, const BackendRegistry& registry)
{
    const Memories memories(registry);
    if (memories.IsHostOnly())
    {
        return;
    }
    std::map<std::pair<const OutputSlot*, const ITensorHandleFactory*>, Layer*> copies;
    const size_t size = graph.Size();
    for (size_t i = 0; i < size; ++i)
    {
        const Layer& consumer = *graph.Layers()[i];
        const ITensorHandleFactory* const own = memories.Of(consumer);
        const uint32_t valueInputs = consumer.GetSchema().m_ValueInputs(consumer.GetParameters());
        for (InputSlot& input : consumer.Inputs())
        {
            OutputSlot* const source = input.GetConnectedOutputSlot();
            if (source == nullptr || source->GetOwningLayer().GetType() == LayerType::Constant)
            {
                continue;
            }
            const bool staysOnHost = input.GetSlotIndex() < 32 && ((valueInputs >> input.GetSlotIndex()) & 1U) != 0;
            const ITensorHandleFactory* const to = staysOnHost ? nullptr : own;
            const ITensorHandleFactory* const from = memories.Of(source->GetOwningLayer());
            if (from == to)
            {
                continue;
            }
            Layer*& copy = copies[{source, to}];
            if (copy == nullptr)
            {
                copy =
                    &AddCopy(graph, *source, from, to, to == nullptr ? BackendId(RuntimeId) : consumer.GetBackendId());
                source->Connect(copy->Input(0));
            }
            source->Disconnect(input); // an info that overrides the tensor's stays with the input
            copy->Output(0).Connect(input);
        }
    }
}

} // namespace tenon
