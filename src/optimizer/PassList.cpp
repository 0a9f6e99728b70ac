// SPDX-License-Identifier: Apache-2.0
// The order of the passes, and why it is this one.
#include "optimizer/Pass.hpp"

namespace tenon
{

std::span<const Pass> GetPasses()
{
    static constexpr Pass list[] = {
        // First, so that nothing after it meets a Permute.
        {"CanonicalTranspose", &passes::CanonicalTranspose},
        // Makes Transposes, which the next two remove again wherever two NCHW layers meet or a weight is constant.
        {"LowerToNhwc", &passes::LowerToNhwc},
        {"FoldConstantTranspose", &passes::FoldConstantTranspose},
        {"FoldTransposes", &passes::FoldTransposes},
        {"OptimizeInverseConversions", &passes::OptimizeInverseConversions},
        // Last: the others leave layers behind that nothing reads.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers},
    };
    return list;
}

} // namespace tenon
