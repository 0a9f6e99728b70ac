// SPDX-License-Identifier: Apache-2.0
// The order of the passes, and why it is this one.
#include "optimizer/Pass.hpp"

namespace tenon
{

std::span<const Pass> GetPasses()
{
    using enum Pass::Kind;
    using enum LayerType;
    static constexpr Pass list[] = {
        // So that no pass works on what nobody wants.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers},
        // Before folding, so that what several layers fold alike is folded once.
        {"MergeCommonSubexpressions", &passes::MergeCommonSubexpressions},
        // Parameters that arrive as tensors may become constants, which the passes after it then see as such.
        {"ConstantFolding", &passes::ConstantFolding},
        {"BakeParameters", &passes::BakeParameters},
        // Nothing after it meets a Permute.
        {"CanonicalTranspose", &passes::CanonicalTranspose, Necessary, {Permute}},
        // The folds of both layouts, before Transposes stand between the layers.
        {"FoldPad", &passes::FoldPad, Hiding, {Pad}},
        {"FoldMaxMin", &passes::FoldMaxMin, Hiding, {ElementwiseBinary}},
        // Before constants of these forms become parts of weights.
        {"FoldHardSwish", &passes::FoldHardSwish, Hiding, {ElementwiseBinary}},
        {"FoldGelu", &passes::FoldGelu, Hiding, {ElementwiseBinary}},
        {"FoldSoftmax", &passes::FoldSoftmax, Hiding, {Reduce}},
        {"FoldLayerNormalization", &passes::FoldLayerNormalization, Hiding, {Mean, LayerNormalization}},
        {"FoldBatchNormalization", &passes::FoldBatchNormalization, Hiding, {BatchNormalization}},
        {"FoldScaleShift", &passes::FoldScaleShift, Hiding, {ElementwiseBinary}},
        // Makes Transposes, which those after it remove wherever two NCHW layers meet or a weight is constant.
        {"LowerToNhwc", &passes::LowerToNhwc, Necessary},
        {"FoldTransposes", &passes::FoldTransposes, Optimization, {Transpose}},
        {"OptimizeInverseConversions",
         &passes::OptimizeInverseConversions,
         Optimization,
         {Cast, ConvertFp16ToFp32, ConvertFp32ToFp16, Quantize}},
        {"MoveTransposes", &passes::MoveTransposes, Optimization, {Transpose}},
        {"MergeCommonSubexpressions", &passes::MergeCommonSubexpressions, Again},
        {"ConstantFolding", &passes::ConstantFolding, Again},
        {"RemoveBroadcastTo", &passes::RemoveBroadcastTo, Optimization, {BroadcastTo}},
        {"FoldReshapes", &passes::FoldReshapes, Optimization, {Reshape, Squeeze, ExpandDims}},
        // Last: the others leave layers behind that nothing reads.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers},
    };
    return list;
}

} // namespace tenon
