// SPDX-License-Identifier: Apache-2.0
// The executor that Convolution2d and FullyConnected share: sums of products over patches, for each combination of
// types. Called by their prepare functions.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/reference/kernels/ConvolutionGeometry.hpp"
#include "backends/reference/kernels/Requantizer.hpp"
#include "backends/reference/kernels/SumRequantizer.hpp"

namespace tenon::ref
{

/// Signed weights: TFLite's files have 8-bit weights, per tensor with a zero point or per axis without, and 4-bit
/// weights.
constexpr backends::TypeSet SignedWeights = {DataType::QSymmS8, DataType::QAsymmS8, DataType::QSymmS4};

/// data, weights, bias -> output; DepthwiseConvolution2d and TransposeConvolution2d use it, too.
constexpr backends::TypeRow WeightedSumTypes[] = {
    backends::Types({DataType::Float32, DataType::Float32, DataType::Float32}, DataType::Float32),
    backends::Types({DataType::QAsymmU8, DataType::QAsymmU8, DataType::Signed32}, DataType::QAsymmU8),
    backends::Types({DataType::QAsymmS8, SignedWeights, DataType::Signed32}, DataType::QAsymmS8),
    backends::Types({DataType::QSymmS16, SignedWeights, {DataType::Signed32, DataType::Signed64}}, DataType::QSymmS16),
    backends::Types({DataType::Float32, SignedWeights | DataType::QAsymmU8, DataType::Float32}, DataType::Float32),
    backends::Types({DataType::Float16, DataType::Float16, {DataType::Float16, DataType::Float32}}, DataType::Float16),
    backends::Types({DataType::BFloat16, DataType::BFloat16, {DataType::BFloat16, DataType::Float32}},
                    DataType::BFloat16),
    backends::Types({DataType::Float64, DataType::Float64, DataType::Float64}, DataType::Float64),
    // For RequantizationMode::FloatHalfEven alone.
    backends::Types({DataType::QAsymmU8, SignedWeights, DataType::Signed32}, DataType::QAsymmU8),
};

/// `weights`: read in place of input 1's memory if not null; they stay alive with the layer. `asymmetric`: whether
/// float data of a layer with integer weights is quantized asymmetrically. `sumsOf32Bits`: see Convolution2dDescriptor.
backends::Prepared PrepareWeightedSum(const ReshapeArgs& args, const ConvolutionGeometry& g,
                                      SumRequantizer::Method method, bool asymmetric, const void* weights = nullptr,
                                      bool sumsOf32Bits = false);

} // namespace tenon::ref
