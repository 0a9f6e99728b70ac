// SPDX-License-Identifier: Apache-2.0
// The order of the passes, and why it is this one.
#include "optimizer/Pass.hpp"

namespace tenon
{

std::span<const Pass> GetPasses()
{
    static constexpr Pass list[] = {
        // So that no pass works on what nobody wants.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers},
        // Before folding, so that what several layers fold alike is folded once.
        {"MergeCommonSubexpressions", &passes::MergeCommonSubexpressions},
        // Parameters that arrive as tensors may become constants, which the passes after it then see as such.
        {"ConstantFolding", &passes::ConstantFolding},
        {"BakeParameters", &passes::BakeParameters},
        // Nothing after it meets a Permute.
        {"CanonicalTranspose", &passes::CanonicalTranspose, Pass::Kind::Necessary},
        // The folds of both layouts, before Transposes stand between the layers.
        {"FoldPad", &passes::FoldPad, Pass::Kind::Hiding},
        {"FoldMaxMin", &passes::FoldMaxMin, Pass::Kind::Hiding},
        // Before constants of these forms become parts of weights.
        {"FoldHardSwish", &passes::FoldHardSwish, Pass::Kind::Hiding},
        {"FoldGelu", &passes::FoldGelu, Pass::Kind::Hiding},
        {"FoldSoftmax", &passes::FoldSoftmax, Pass::Kind::Hiding},
        {"FoldLayerNormalization", &passes::FoldLayerNormalization, Pass::Kind::Hiding},
        {"FoldBatchNormalization", &passes::FoldBatchNormalization, Pass::Kind::Hiding},
        {"FoldScaleShift", &passes::FoldScaleShift, Pass::Kind::Hiding},
        // Makes Transposes, which those after it remove wherever two NCHW layers meet or a weight is constant.
        {"LowerToNhwc", &passes::LowerToNhwc, Pass::Kind::Necessary},
        {"FoldTransposes", &passes::FoldTransposes},
        {"OptimizeInverseConversions", &passes::OptimizeInverseConversions},
        {"MoveTransposes", &passes::MoveTransposes},
        {"MergeCommonSubexpressions", &passes::MergeCommonSubexpressions},
        {"ConstantFolding", &passes::ConstantFolding},
        {"RemoveBroadcastTo", &passes::RemoveBroadcastTo},
        {"FoldReshapes", &passes::FoldReshapes},
        // Last: the others leave layers behind that nothing reads.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers},
    };
    return list;
}

} // namespace tenon
