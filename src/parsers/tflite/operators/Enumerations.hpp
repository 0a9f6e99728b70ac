// SPDX-License-Identifier: Apache-2.0
// Options that are enumerators of the format, for the rows. All throw ParseException for a number that does not exist.
#pragma once

#include "parsers/tflite/NetworkBuilder.hpp"

#include <tenon/Types.hpp>

namespace tenon::tflite
{

/// Option padding.
PaddingScheme GetPadding(const OperatorView& op);
/// Option fused_activation_function.
FusedActivation GetActivation(const OperatorView& op);
/// Option combiner of EMBEDDING_LOOKUP_SPARSE.
EmbeddingCombiner GetCombiner(const OperatorView& op);
/// Option mode of MIRROR_PAD.
PaddingMode GetMirrorMode(const OperatorView& op);
/// Option reduce_function of REDUCE_WINDOW.
ReduceWindowFunction GetReduceWindowFunction(const OperatorView& op);
/// Option algorithm of STABLEHLO_RNG_BIT_GENERATOR.
RngAlgorithm GetRngAlgorithm(const OperatorView& op);
/// Whether option weights_format of FULLY_CONNECTED is SHUFFLED4x16INT8.
bool HasShuffledWeights(const OperatorView& op);
/// Whether option kernel_type of LSTM is BASIC, the one with five inputs.
bool IsBasicLstm(const OperatorView& op);
/// Whether option quantized_bias_type requests sums of 32 bits for 16-bit data.
bool HasSumsOf32Bits(const OperatorView& op);
/// Throws ParseException if data has 16 bits and the bias does not have the type in option quantized_bias_type. `data`
/// and `bias` are indices of inputs.
void CheckBiasType(const OperatorView& op, size_t data, size_t bias);
/// The type in an option that must be INT32 or INT64.
DataType GetIntegerType(const OperatorView& op, const char* option);
/// Option idx_out_type of UNIQUE. Throws ParseException if output 1, the indices, has another type.
DataType GetIndexType(const OperatorView& op);

} // namespace tenon::tflite
