// SPDX-License-Identifier: Apache-2.0
// The order of the fusions, and the reasons for it.
#include "runtime/fusions/Fusion.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/NetworkPlan.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tenon
{

std::span<const Fusion> GetFusions()
{
    using namespace fusions;
    static constexpr Fusion list[] = {
        // Attention runs before the fusions that would use its mask or its softmax: one kernel for all of it gains
        // most.
        {FusionKind::Attention, "Attention", &FuseAttention},
        // Blocks of a chain are smaller than tiles, and a chain is one call; if a tiled run has more steps, it replaces
        // the chain that begins with it.
        {FusionKind::ElementwiseChain, "ElementwiseChain", &FuseElementwiseChains},
        {FusionKind::CrossLayerTiling, "CrossLayerTiling", &TileAcrossLayers},
        // ResidualAdd uses steps that are in no run. ElementwiseChain leaves out the additions that ResidualAdd will
        // use.
        {FusionKind::ResidualAdd, "ResidualAdd", &FuseResidualAdds},
        // ConcatInPlace is the last one: it reshapes layers that run alone, which the earlier fusions decide.
        {FusionKind::ConcatInPlace, "ConcatInPlace", &FindConcatsInPlace},
    };
    return list;
}

std::vector<std::string> GetFusionNames()
{
    std::vector<std::string> names;
    for (const Fusion& fusion : GetFusions())
    {
        names.emplace_back(fusion.m_Name);
    }
    return names;
}

uint32_t GetFusionBits(const std::vector<std::string>& names)
{
    if (names.empty())
    {
        return 0;
    }
    const std::vector<std::string> known = GetFusionNames();
    uint32_t bits = 0;
    for (const std::string& name : names)
    {
        const auto found = std::find(known.begin(), known.end(), name);
        if (found == known.end())
        {
            throw InvalidArgumentException(
                fmt::format("there is no fusion '{}'; there are {}", name, fmt::join(known, ", ")));
        }
        bits |= uint32_t{1} << (found - known.begin());
    }
    return bits;
}

} // namespace tenon
