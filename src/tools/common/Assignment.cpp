// SPDX-License-Identifier: Apache-2.0
// See Assignment.hpp.
#include "tools/common/Assignment.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::tools
{
namespace
{

struct LayerCounter final : IStrategy
{
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                         const char*, LayerBindingId) override
    {
        m_Count += Computes(layer->GetType()) ? 1 : 0;
    }
    uint64_t m_Count = 0;
};

/// As layers_before counts: nested networks are a part of their layer.
bool IsCounted(const LayerAssignment& layer)
{
    return layer.m_Network.empty() && Computes(layer.m_Type);
}

} // namespace

bool Computes(LayerType type)
{
    return type != LayerType::Input && type != LayerType::Output && type != LayerType::Constant;
}

uint64_t CountLayers(const INetwork& network)
{
    LayerCounter counter;
    network.ExecuteStrategy(counter);
    return counter.m_Count;
}

uint64_t CountLayers(const std::vector<LayerAssignment>& assignment)
{
    return static_cast<uint64_t>(std::count_if(assignment.begin(), assignment.end(), IsCounted));
}

BackendCounts CountByBackend(const std::vector<LayerAssignment>& assignment)
{
    BackendCounts counts;
    for (const LayerAssignment& layer : assignment)
    {
        if (!IsCounted(layer))
        {
            continue;
        }
        const std::string& backend = layer.m_Backend.Get();
        const auto found =
            std::find_if(counts.begin(), counts.end(), [&](const auto& count) { return count.first == backend; });
        if (found == counts.end())
        {
            counts.emplace_back(backend, 1);
        }
        else
        {
            ++found->second;
        }
    }
    return counts;
}

std::string FormatCounts(const BackendCounts& counts)
{
    std::string text;
    for (const auto& [backend, count] : counts)
    {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", backend, count);
    }
    return text;
}

} // namespace tenon::tools
