// SPDX-License-Identifier: Apache-2.0
// Requirements of the kernels of int8, uint8, int16 or float (hybrid) data by constant weights of 8 or 4 bits. The
// reference kernel runs layers that fail them.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/cpu/weights/WeightsCheck.hpp"
#include "backends/reference/kernels/Requantizer.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace tenon::cpu
{

/// Weight types of signed 8-bit integers.
constexpr backends::TypeSet SignedInt8Weights = {DataType::QSymmS8, DataType::QAsymmS8};
/// The same and int4, two weights to a byte.
constexpr backends::TypeSet SignedWeights = SignedInt8Weights | DataType::QSymmS4;

/// data, weights, bias -> output
constexpr backends::TypeRow Int8Types[] = {
    backends::Types({DataType::QAsymmU8, DataType::QAsymmU8, DataType::Signed32}, DataType::QAsymmU8),
    backends::Types({DataType::QAsymmS8, SignedWeights, DataType::Signed32}, DataType::QAsymmS8),
};

/// float data, weights, bias -> output: the data are quantized at run time.
constexpr backends::TypeRow HybridTypes[] = {
    backends::Types({DataType::Float32, SignedWeights | DataType::QAsymmU8, DataType::Float32}, DataType::Float32),
};

/// int16 data, weights, bias -> output
constexpr backends::TypeRow Int16Types[] = {
    backends::Types({DataType::QSymmS16, SignedWeights, {DataType::Signed32, DataType::Signed64}}, DataType::QSymmS16),
};

/// Checks for constant weights of `rank` known dimensions, and a constant bias or none. `weightsAxis`: the output
/// channels' dimension in the weights.
inline SupportResult CheckConstantWeights(const LayerView& layer, unsigned int rank, unsigned int weightsAxis)
{
    if (!layer.HasInput(1) || !layer.IsConstant(1) || (layer.HasInput(2) && !layer.IsConstant(2)))
    {
        return SupportResult::No(SupportCode::UnsupportedDynamic, "the weights or the bias are not constant");
    }
    const SupportResult result = CheckWeightsShape(layer, rank);
    if (!result)
    {
        return result;
    }
    const unsigned int columns = layer.GetInput(1).GetShape()[weightsAxis];
    if (layer.HasInput(2) &&
        (!layer.GetInput(2).GetShape().AreAllDimensionsSpecified() || layer.GetInput(2).GetNumElements() != columns))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the bias is not as long as there are outputs");
    }
    return result;
}

/// The same, and scales that the reference kernel supports.
inline SupportResult CheckWeightsInt8(const LayerView& layer, unsigned int rank, unsigned int weightsAxis)
{
    const SupportResult result = CheckConstantWeights(layer, rank, weightsAxis);
    return result ? ref::CheckWeightsQuantization(layer, weightsAxis) : result;
}

/// The rows of a FullyConnected; none where its shapes do not fit together.
inline std::optional<size_t> FindConnectedRows(const ReshapeArgs& args, size_t columns, size_t depth)
{
    const TensorShape& output = args.GetOutput(0).GetShape();
    const size_t rows = args.GetOutput(0).GetNumElements() / columns;
    const bool fits = output.GetNumDimensions() >= 1 && output[output.GetNumDimensions() - 1] == columns &&
                      rows * depth == args.GetInput(0).GetNumElements();
    return fits ? std::optional(rows) : std::nullopt;
}

/// How TFLite quantizes the float data of a Convolution2d: symmetrically unless the channels' scales differ or the
/// convolution is grouped.
inline bool IsHybridAsymmetric(const ReshapeArgs& args)
{
    const std::vector<float> scales = args.GetInput(1).GetQuantizationScales();
    return args.GetInput(0).GetShape()[3] != args.GetInput(1).GetShape()[3] ||
           std::adjacent_find(scales.begin(), scales.end(), std::not_equal_to<>()) != scales.end();
}

} // namespace tenon::cpu
