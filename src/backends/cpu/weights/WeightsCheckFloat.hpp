// SPDX-License-Identifier: Apache-2.0
// Requirements of the kernels of F32 and Bf16 by constant weights. Layers that fail them run on another kernel.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Products.hpp>

namespace tenon::cpu
{

/// data, weights, bias -> output
constexpr backends::TypeRow FloatTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32)};

/// The same, or weights stored as Float16, for kernels that pack their weights.
constexpr backends::TypeRow PackedFloatTypes[] = {
    FloatTypes[0], backends::Types({DataType::Float32, DataType::Float16, DataType::Float32}, DataType::Float32)};

/// The same in BFloat16.
constexpr backends::TypeRow Bf16Types[] = {backends::Types(
    {DataType::BFloat16, DataType::BFloat16, {DataType::BFloat16, DataType::Float32}}, DataType::BFloat16)};

/// Whether the processor has fast bf16 dot products; without them the Float32 kernels run BFloat16 layers, see
/// WeightedLayersF16.cpp.
inline SupportResult CheckBf16Products()
{
    return GetMicrokernelsBf16().m_HasDots
               ? SupportResult::Yes()
               : SupportResult::No(SupportCode::UnsupportedType,
                                   "the processor multiplies bfloat16 no faster than float32");
}

/// The bias is constant and has `columns` elements, or there is none.
inline SupportResult CheckConstantBias(const LayerView& layer, unsigned int columns)
{
    if (layer.HasInput(2) && (!layer.IsConstant(2) || !layer.GetInput(2).GetShape().AreAllDimensionsSpecified() ||
                              layer.GetInput(2).GetNumElements() != columns))
    {
        return SupportResult::No(SupportCode::UnsupportedDynamic, "the bias is not constant, or of another length");
    }
    return SupportResult::Yes();
}

/// Constant weights of `rank` known dimensions.
inline SupportResult CheckFloatWeights(const LayerView& layer, unsigned int rank)
{
    if (!layer.HasInput(1) || !layer.IsConstant(1))
    {
        return SupportResult::No(SupportCode::UnsupportedDynamic, "the weights are not constant");
    }
    return CheckWeightsShape(layer, rank);
}

/// The sizes of the weights of a FullyConnected.
inline WeightSizes GetConnectedSizes(const LayerView& layer)
{
    const bool isTransposed = layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix;
    const TensorShape& shape = layer.GetInput(1).GetShape();
    return {1, isTransposed ? shape[0] : shape[1], isTransposed ? shape[1] : shape[0]};
}

/// The order of the weights of a FullyConnected.
inline WeightOrder GetConnectedOrder(const LayerView& layer)
{
    return layer.GetDescriptor<FullyConnectedDescriptor>().m_TransposeWeightMatrix ? WeightOrder::Columns
                                                                                   : WeightOrder::Depth;
}

/// The rows of a FullyConnected. Throws LayerValidationException where its shapes do not fit together.
inline size_t GetConnectedRows(const ReshapeArgs& args, const WeightSizes& sizes)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const size_t rows = output.GetNumElements() / sizes.m_Columns;
    if (rows * sizes.m_Columns != output.GetNumElements() || rows * sizes.m_Depth != input.GetNumElements() ||
        (args.HasInput(2) && args.GetInput(2).GetNumElements() != sizes.m_Columns))
    {
        throw LayerValidationException("FullyConnected of " + input.ToString() + " with " +
                                       args.GetInput(1).GetShape().ToString() + " to " + output.ToString() +
                                       ": the elements of input and output must be whole rows of the weights' sizes, "
                                       "and a bias as long as a row of the output");
    }
    return rows;
}

} // namespace tenon::cpu
