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
        // The folds of both layouts, before Transposes stand between the layers.
        {"FoldPad", &passes::FoldPad, true},
        {"FoldMaxMin", &passes::FoldMaxMin, true},
        // Before constants of these forms become parts of weights.
        {"FoldHardSwish", &passes::FoldHardSwish, true},
        {"FoldGelu", &passes::FoldGelu, true},
        {"FoldSoftmax", &passes::FoldSoftmax, true},
        {"FoldLayerNormalization", &passes::FoldLayerNormalization, true},
        {"FoldBatchNormalization", &passes::FoldBatchNormalization, true},
        {"FoldScaleShift", &passes::FoldScaleShift, true},
        // Makes Transposes, which the next two remove again wherever two NCHW layers meet or a weight is constant.
        {"LowerToNhwc", &passes::LowerToNhwc},
        {"FoldConstantTranspose", &passes::FoldConstantTranspose},
        {"FoldTransposes", &passes::FoldTransposes},
        // Last: the others leave layers behind that nothing reads.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers},
    };
    return list;
}

} // namespace tenon
