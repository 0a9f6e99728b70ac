// SPDX-License-Identifier: Apache-2.0
// The order of the passes, and why it is this one.
#include "optimizer/Pass.hpp"

namespace tenon
{

namespace
{

constexpr PassSeeds FindLayersWithLayout()
{
    PassSeeds seeds;
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, values, types, rank, form,    \
                 layout, ...)                                                                                          \
    if (IsLowered(LayoutRule::layout))                                                                                 \
    {                                                                                                                  \
        seeds.Add(LayerType::name);                                                                                    \
    }
#include <tenon/ops.def>
    return seeds;
}

} // namespace

std::span<const Pass> GetPasses()
{
    using enum Pass::Kind;
    using enum LayerType;
    // Shape, Rank and ZerosLike read the shape of their input alone, so they fold where it is fixed.
    static constexpr PassSeeds foldable = {Constant, Shape, Rank, ZerosLike};
    static constexpr PassSeeds readersF16 = PassSeeds({Cast, ConvertFp16ToFp32, Dequantize}).AndConstants();
    static constexpr PassSeeds scalarMath = PassSeeds({ElementwiseBinary}).AndConstants();
    // A function of two layers has at least one of these types, as a rule.
    static constexpr PassSeeds mathInt8 = {Activation, ElementwiseBinary, ElementwiseUnary, Prelu, Quantize};
    static constexpr PassSeeds withLayout = FindLayersWithLayout();
    static constexpr Pass list[] = {
        // So that no pass works on dead layers.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers},
        // Before folding, so that what several layers fold alike is folded once.
        {"MergeCommonSubexpressions", &passes::MergeCommonSubexpressions},
        // Nothing after it meets a scale per block but in front of layers that take it.
        {"DequantizeBlocks", &passes::DequantizeBlocks, Necessary, PassSeeds().AndConstants()},
        // Before folding, which would make floats of all weights; after equal conversions have become one.
        {"ReadWeightsF16", &passes::ReadWeightsF16, Optimization, readersF16},
        // Parameters that arrive as tensors may become constants, which the passes after it then see as such.
        {"ConstantFolding", &passes::ConstantFoldingOfFloats, Optimization, foldable},
        {"BakeComputedParameters", &passes::BakeComputedParameters, Optimization, {Shape}},
        {"ConstantFolding", &passes::ConstantFoldingOfFloats, Again, foldable},
        {"BakeParameters", &passes::BakeParameters},
        // Nothing after it meets a Permute.
        {"CanonicalTranspose", &passes::CanonicalTranspose, Necessary, {Permute}},
        // Before the folds into weights, which then find them as they stay.
        {"GroupedToDepthwise", &passes::GroupedToDepthwise, Optimization, {Convolution2d}},
        // Before other Transposes come.
        {"FoldShuffles", &passes::FoldShuffles, Hiding, {Transpose}},
        // The folds of both layouts, before Transposes stand between the layers.
        {"FoldPad", &passes::FoldPad, Hiding, {Pad}},
        {"FoldMaxMin", &passes::FoldMaxMin, Hiding, scalarMath},
        // Before constants of these forms become parts of weights.
        {"FoldHardSwish", &passes::FoldHardSwish, Hiding, scalarMath},
        {"FoldGelu", &passes::FoldGelu, Hiding, scalarMath},
        {"FoldSwish", &passes::FoldSwish, Hiding, {ElementwiseBinary}},
        {"FoldSoftmax", &passes::FoldSoftmax, Hiding, {Reduce}},
        {"FoldLayerNormalization", &passes::FoldLayerNormalization, Hiding, {Mean, LayerNormalization}},
        {"FoldScaledNormalization", &passes::FoldScaledNormalization, Hiding, {Mean}},
        // So that sums and products after it become a part of its weights, too.
        {"FoldFullyConnected", &passes::FoldFullyConnected, Hiding, PassSeeds({BatchMatMul}).AndConstants()},
        {"FoldBatchNormalization", &passes::FoldBatchNormalization, Hiding, {BatchNormalization}},
        {"FoldScaleShift", &passes::FoldScaleShift, Hiding, scalarMath},
        // Dead layers behind the folds would hold Transposes back.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers, Again},
        // Makes Transposes, which those after it remove wherever two NCHW layers meet or a weight is constant.
        {"LowerToNhwc", &passes::LowerToNhwc, Necessary, withLayout},
        // Kernels know channels-last alone, and backends are asked about the quantized layers. Then weights that stay
        // floats become constants, and the folds before look at them and at quantized weights.
        {"FoldQuantization", &passes::FoldQuantization, Hiding, {Quantize}},
        {"RemoveDeadLayers", &passes::RemoveDeadLayers, Again}, // or the weights of layers that went become floats
        {"ConstantFolding", &passes::ConstantFolding, Optimization, {Dequantize}},
        {"GroupedToDepthwise", &passes::GroupedToDepthwise, Again, {Convolution2d}},
        {"FoldPad", &passes::FoldPad, Hiding, {Pad}},
        {"FoldFullyConnected", &passes::FoldFullyConnected, Hiding, {Dequantize, Quantize}},
        {"FoldScaleShift", &passes::FoldScaleShift, Hiding, {Dequantize, Quantize}},
        {"MoveUnitReshapes", &passes::MoveUnitReshapes, Optimization, {Transpose}},
        {"FoldTransposes", &passes::FoldTransposes, Optimization, {Transpose}},
        {"OptimizeInverseConversions",
         &passes::OptimizeInverseConversions,
         Optimization,
         {Bitcast, Cast, ConvertFp16ToFp32, ConvertFp32ToFp16, Quantize}},
        {"MoveTransposes", &passes::MoveTransposes, Optimization, {Transpose}},
        {"RepeatTransposePasses", &passes::RepeatTransposePasses, Optimization, {Transpose}},
        // The Transposes that remain.
        {"FoldMatMulTransposes", &passes::FoldMatMulTransposes, Optimization, {BatchMatMul}},
        // FoldAttention makes masks and keys of constants, which ConstantFolding folds, and counts readers.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers, Again},
        {"FoldAttention", &passes::FoldAttention, Hiding, {BatchMatMul}},
        {"MergeCommonSubexpressions", &passes::MergeCommonSubexpressions, Again},
        {"ConstantFolding", &passes::ConstantFolding, Again, foldable},
        // After Transposes, which may move through slices and Concats, and not through a Roll.
        {"FoldRolls", &passes::FoldRolls, Hiding, {Concat}},
        // LowerToNhwc has made the channels the last dimension.
        {"FoldLayerNormalization", &passes::FoldLayerNormalization, Hiding, {Mean}},
        {"RemoveBroadcastTo", &passes::RemoveBroadcastTo, Optimization, {BroadcastTo}},
        {"FoldReshapes", &passes::FoldReshapes, Optimization, {Reshape, Squeeze, ExpandDims}},
        // After all passes that fold a product or a sum into another layer, and after MoveTransposes.
        {"FoldMulAdd", &passes::FoldMulAdd, Hiding, scalarMath},
        // In the one layout that is left, and through fewer layers.
        {"MoveStrides", &passes::MoveStrides, Hiding, {Convolution2d, DepthwiseConvolution2d}},
        // After all passes that look for the layers of which such functions are made.
        {"FoldFunctionsInt8", &passes::FoldFunctionsInt8, Hiding, mathInt8},
        // Last: the others leave layers behind that nothing reads.
        {"RemoveDeadLayers", &passes::RemoveDeadLayers, Again},
    };
    return list;
}

} // namespace tenon
