// SPDX-License-Identifier: Apache-2.0
// Pass CanonicalTranspose: one kind of transposition for all that follows.
#include "optimizer/Pass.hpp"

#include <tenon/descriptors/Arrangement.hpp>

namespace tenon::passes
{

void CanonicalTranspose(Graph& graph)
{
    for (Layer* layer : graph.LayersOf(LayerType::Permute))
    {
        const PermutationVector inverse = layer->Descriptor<PermuteDescriptor>().m_DimMappings.Inverse();
        graph.ChangeType(*layer, LayerType::Transpose, std::make_unique<TransposeDescriptor>(inverse));
    }
}

} // namespace tenon::passes
