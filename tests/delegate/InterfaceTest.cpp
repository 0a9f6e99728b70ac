// SPDX-License-Identifier: Apache-2.0
// The declarations in delegate/TfLiteInterface.hpp and delegate/BuiltinData.hpp against TensorFlow Lite's own headers,
// of release 2.18 or later, or LiteRT's. Built only where the CMake variable TENON_TFLITE_INCLUDE names their folder:
// nothing else here needs them, and no package has them.
#include "delegate/BuiltinData.hpp"
#include "delegate/TfLiteInterface.hpp"

#include <gtest/gtest.h>

// All of the standard library that those headers include, so that only their own declarations get into the namespace.
#include <algorithm>
#include <cstdarg>
#include <cstdbool>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// NOLINTBEGIN: macros, to name what is compared
namespace theirs
{
#if __has_include("tensorflow/lite/core/c/builtin_op_data.h")
#include "tensorflow/lite/core/c/builtin_op_data.h"
#include "tensorflow/lite/core/c/common.h"
#else
#include "tflite/core/c/builtin_op_data.h"
#include "tflite/core/c/common.h"
#endif
} // namespace theirs

namespace tenon::test::interface_test
{

#define COMPARE_MEMBER(Struct, member)                                                                                 \
    EXPECT_EQ(offsetof(::Struct, member), offsetof(theirs::Struct, member)) << #Struct "::" #member;                   \
    EXPECT_EQ(sizeof(std::declval<::Struct&>().member), sizeof(std::declval<theirs::Struct&>().member))                \
        << #Struct "::" #member
#define COMPARE_SIZE(Struct) EXPECT_EQ(sizeof(::Struct), sizeof(theirs::Struct)) << #Struct
#define COMPARE_ENUMERATOR(name) EXPECT_EQ(static_cast<int64_t>(::name), static_cast<int64_t>(theirs::name)) << #name

TEST(DelegateInterface, Structs)
{
    COMPARE_SIZE(TfLiteQuantizationParams);
    COMPARE_MEMBER(TfLiteQuantizationParams, scale);
    COMPARE_MEMBER(TfLiteQuantizationParams, zero_point);
    COMPARE_SIZE(TfLiteQuantization);
    COMPARE_MEMBER(TfLiteQuantization, type);
    COMPARE_MEMBER(TfLiteQuantization, params);
    COMPARE_SIZE(TfLiteAffineQuantization);
    COMPARE_MEMBER(TfLiteAffineQuantization, scale);
    COMPARE_MEMBER(TfLiteAffineQuantization, zero_point);
    COMPARE_MEMBER(TfLiteAffineQuantization, quantized_dimension);
    COMPARE_SIZE(TfLiteDimensionMetadata);
    COMPARE_MEMBER(TfLiteDimensionMetadata, format);
    COMPARE_MEMBER(TfLiteDimensionMetadata, dense_size);
    COMPARE_MEMBER(TfLiteDimensionMetadata, array_segments);
    COMPARE_MEMBER(TfLiteDimensionMetadata, array_indices);
    COMPARE_SIZE(TfLiteSparsity);
    COMPARE_MEMBER(TfLiteSparsity, traversal_order);
    COMPARE_MEMBER(TfLiteSparsity, block_map);
    COMPARE_MEMBER(TfLiteSparsity, dim_metadata);
    COMPARE_MEMBER(TfLiteSparsity, dim_metadata_size);
    COMPARE_SIZE(TfLiteTensor);
    COMPARE_MEMBER(TfLiteTensor, type);
    COMPARE_MEMBER(TfLiteTensor, data);
    COMPARE_MEMBER(TfLiteTensor, dims);
    COMPARE_MEMBER(TfLiteTensor, params);
    COMPARE_MEMBER(TfLiteTensor, allocation_type);
    COMPARE_MEMBER(TfLiteTensor, bytes);
    COMPARE_MEMBER(TfLiteTensor, allocation);
    COMPARE_MEMBER(TfLiteTensor, name);
    COMPARE_MEMBER(TfLiteTensor, delegate);
    COMPARE_MEMBER(TfLiteTensor, buffer_handle);
    COMPARE_MEMBER(TfLiteTensor, data_is_stale);
    COMPARE_MEMBER(TfLiteTensor, is_variable);
    COMPARE_MEMBER(TfLiteTensor, quantization);
    COMPARE_MEMBER(TfLiteTensor, sparsity);
    COMPARE_MEMBER(TfLiteTensor, dims_signature);
    COMPARE_SIZE(TfLiteNode);
    COMPARE_MEMBER(TfLiteNode, inputs);
    COMPARE_MEMBER(TfLiteNode, outputs);
    COMPARE_MEMBER(TfLiteNode, intermediates);
    COMPARE_MEMBER(TfLiteNode, temporaries);
    COMPARE_MEMBER(TfLiteNode, user_data);
    COMPARE_MEMBER(TfLiteNode, builtin_data);
    COMPARE_MEMBER(TfLiteNode, custom_initial_data);
    COMPARE_MEMBER(TfLiteNode, custom_initial_data_size);
    COMPARE_MEMBER(TfLiteNode, delegate);
    COMPARE_MEMBER(TfLiteNode, might_have_side_effect);
    COMPARE_SIZE(TfLiteRegistration);
    COMPARE_MEMBER(TfLiteRegistration, init);
    COMPARE_MEMBER(TfLiteRegistration, free);
    COMPARE_MEMBER(TfLiteRegistration, prepare);
    COMPARE_MEMBER(TfLiteRegistration, invoke);
    COMPARE_MEMBER(TfLiteRegistration, profiling_string);
    COMPARE_MEMBER(TfLiteRegistration, builtin_code);
    COMPARE_MEMBER(TfLiteRegistration, custom_name);
    COMPARE_MEMBER(TfLiteRegistration, version);
    COMPARE_MEMBER(TfLiteRegistration, registration_external);
    COMPARE_MEMBER(TfLiteRegistration, async_kernel);
    COMPARE_MEMBER(TfLiteRegistration, inplace_operator);
    COMPARE_SIZE(TfLiteDelegateParams);
    COMPARE_MEMBER(TfLiteDelegateParams, delegate);
    COMPARE_MEMBER(TfLiteDelegateParams, nodes_to_replace);
    COMPARE_MEMBER(TfLiteDelegateParams, input_tensors);
    COMPARE_MEMBER(TfLiteDelegateParams, output_tensors);
    COMPARE_SIZE(TfLiteContext);
    COMPARE_MEMBER(TfLiteContext, tensors_size);
    COMPARE_MEMBER(TfLiteContext, GetExecutionPlan);
    COMPARE_MEMBER(TfLiteContext, tensors);
    COMPARE_MEMBER(TfLiteContext, impl_);
    COMPARE_MEMBER(TfLiteContext, ResizeTensor);
    COMPARE_MEMBER(TfLiteContext, ReportError);
    COMPARE_MEMBER(TfLiteContext, AddTensors);
    COMPARE_MEMBER(TfLiteContext, GetNodeAndRegistration);
    COMPARE_MEMBER(TfLiteContext, ReplaceNodeSubsetsWithDelegateKernels);
    COMPARE_MEMBER(TfLiteContext, recommended_num_threads);
    COMPARE_MEMBER(TfLiteContext, GetExternalContext);
    COMPARE_MEMBER(TfLiteContext, SetExternalContext);
    COMPARE_MEMBER(TfLiteContext, allow_fp32_relax_to_fp16);
    COMPARE_MEMBER(TfLiteContext, profiler);
    COMPARE_MEMBER(TfLiteContext, AllocatePersistentBuffer);
    COMPARE_MEMBER(TfLiteContext, AllocateBufferForEval);
    COMPARE_MEMBER(TfLiteContext, RequestScratchBufferInArena);
    COMPARE_MEMBER(TfLiteContext, GetScratchBuffer);
    COMPARE_MEMBER(TfLiteContext, ResizeTensorExplicit);
    COMPARE_MEMBER(TfLiteContext, PreviewDelegatePartitioning);
    COMPARE_MEMBER(TfLiteContext, GetTensor);
    COMPARE_MEMBER(TfLiteContext, GetEvalTensor);
    COMPARE_MEMBER(TfLiteContext, GetModelMetadata);
    COMPARE_MEMBER(TfLiteContext, AcquireSubgraphContext);
    COMPARE_MEMBER(TfLiteContext, ReleaseSubgraphContext);
    COMPARE_SIZE(TfLiteDelegate);
    COMPARE_MEMBER(TfLiteDelegate, data_);
    COMPARE_MEMBER(TfLiteDelegate, Prepare);
    COMPARE_MEMBER(TfLiteDelegate, CopyFromBufferHandle);
    COMPARE_MEMBER(TfLiteDelegate, CopyToBufferHandle);
    COMPARE_MEMBER(TfLiteDelegate, FreeBufferHandle);
    COMPARE_MEMBER(TfLiteDelegate, flags);
    COMPARE_MEMBER(TfLiteDelegate, opaque_delegate_builder);
}

TEST(DelegateInterface, Arrays)
{
    COMPARE_MEMBER(TfLiteIntArray, size);
    EXPECT_EQ(offsetof(::TfLiteIntArray, data), offsetof(theirs::TfLiteIntArray, data));
    // Of this one there are two layouts, of which NodeReader finds out by itself.
    const bool isOf2026 = offsetof(theirs::TfLiteFloatArray, data) == 0;
    EXPECT_EQ(isOf2026 ? offsetof(::TfLiteFloatArrayOf2026, size) : offsetof(::TfLiteFloatArray, size),
              offsetof(theirs::TfLiteFloatArray, size));
    EXPECT_EQ(isOf2026 ? offsetof(::TfLiteFloatArrayOf2026, data) : offsetof(::TfLiteFloatArray, data),
              offsetof(theirs::TfLiteFloatArray, data));
}

TEST(DelegateInterface, StructsOfOptions)
{
    COMPARE_SIZE(TfLiteConvParams);
    COMPARE_MEMBER(TfLiteConvParams, padding);
    COMPARE_MEMBER(TfLiteConvParams, stride_width);
    COMPARE_MEMBER(TfLiteConvParams, stride_height);
    COMPARE_MEMBER(TfLiteConvParams, activation);
    COMPARE_MEMBER(TfLiteConvParams, dilation_width_factor);
    COMPARE_MEMBER(TfLiteConvParams, dilation_height_factor);
    COMPARE_MEMBER(TfLiteConvParams, quantized_bias_type);
    COMPARE_SIZE(TfLiteConv3DParams);
    COMPARE_MEMBER(TfLiteConv3DParams, padding);
    COMPARE_MEMBER(TfLiteConv3DParams, stride_width);
    COMPARE_MEMBER(TfLiteConv3DParams, stride_height);
    COMPARE_MEMBER(TfLiteConv3DParams, stride_depth);
    COMPARE_MEMBER(TfLiteConv3DParams, dilation_width_factor);
    COMPARE_MEMBER(TfLiteConv3DParams, dilation_height_factor);
    COMPARE_MEMBER(TfLiteConv3DParams, dilation_depth_factor);
    COMPARE_MEMBER(TfLiteConv3DParams, activation);
    COMPARE_SIZE(TfLitePoolParams);
    COMPARE_MEMBER(TfLitePoolParams, padding);
    COMPARE_MEMBER(TfLitePoolParams, stride_width);
    COMPARE_MEMBER(TfLitePoolParams, stride_height);
    COMPARE_MEMBER(TfLitePoolParams, filter_width);
    COMPARE_MEMBER(TfLitePoolParams, filter_height);
    COMPARE_MEMBER(TfLitePoolParams, activation);
    COMPARE_SIZE(TfLiteDepthwiseConvParams);
    COMPARE_MEMBER(TfLiteDepthwiseConvParams, padding);
    COMPARE_MEMBER(TfLiteDepthwiseConvParams, stride_width);
    COMPARE_MEMBER(TfLiteDepthwiseConvParams, stride_height);
    COMPARE_MEMBER(TfLiteDepthwiseConvParams, depth_multiplier);
    COMPARE_MEMBER(TfLiteDepthwiseConvParams, activation);
    COMPARE_MEMBER(TfLiteDepthwiseConvParams, dilation_width_factor);
    COMPARE_MEMBER(TfLiteDepthwiseConvParams, dilation_height_factor);
    COMPARE_SIZE(TfLiteTransposeConvParams);
    COMPARE_MEMBER(TfLiteTransposeConvParams, padding);
    COMPARE_MEMBER(TfLiteTransposeConvParams, stride_width);
    COMPARE_MEMBER(TfLiteTransposeConvParams, stride_height);
    COMPARE_MEMBER(TfLiteTransposeConvParams, activation);
    COMPARE_MEMBER(TfLiteTransposeConvParams, quantized_bias_type);
    COMPARE_SIZE(TfLiteFullyConnectedParams);
    COMPARE_MEMBER(TfLiteFullyConnectedParams, activation);
    COMPARE_MEMBER(TfLiteFullyConnectedParams, weights_format);
    COMPARE_MEMBER(TfLiteFullyConnectedParams, keep_num_dims);
    COMPARE_MEMBER(TfLiteFullyConnectedParams, asymmetric_quantize_inputs);
    COMPARE_MEMBER(TfLiteFullyConnectedParams, quantized_bias_type);
    COMPARE_SIZE(TfLiteBatchMatMulParams);
    COMPARE_MEMBER(TfLiteBatchMatMulParams, adj_x);
    COMPARE_MEMBER(TfLiteBatchMatMulParams, adj_y);
    COMPARE_MEMBER(TfLiteBatchMatMulParams, asymmetric_quantize_inputs);
    COMPARE_SIZE(TfLiteSVDFParams);
    COMPARE_MEMBER(TfLiteSVDFParams, rank);
    COMPARE_MEMBER(TfLiteSVDFParams, activation);
    COMPARE_MEMBER(TfLiteSVDFParams, asymmetric_quantize_inputs);
    COMPARE_SIZE(TfLiteRNNParams);
    COMPARE_MEMBER(TfLiteRNNParams, activation);
    COMPARE_MEMBER(TfLiteRNNParams, asymmetric_quantize_inputs);
    COMPARE_SIZE(TfLiteSequenceRNNParams);
    COMPARE_MEMBER(TfLiteSequenceRNNParams, time_major);
    COMPARE_MEMBER(TfLiteSequenceRNNParams, activation);
    COMPARE_MEMBER(TfLiteSequenceRNNParams, asymmetric_quantize_inputs);
    COMPARE_SIZE(TfLiteBidirectionalSequenceRNNParams);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceRNNParams, time_major);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceRNNParams, activation);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceRNNParams, merge_outputs);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceRNNParams, asymmetric_quantize_inputs);
    COMPARE_SIZE(TfLiteLSTMParams);
    COMPARE_MEMBER(TfLiteLSTMParams, activation);
    COMPARE_MEMBER(TfLiteLSTMParams, cell_clip);
    COMPARE_MEMBER(TfLiteLSTMParams, proj_clip);
    COMPARE_MEMBER(TfLiteLSTMParams, kernel_type);
    COMPARE_MEMBER(TfLiteLSTMParams, asymmetric_quantize_inputs);
    COMPARE_SIZE(TfLiteUnidirectionalSequenceLSTMParams);
    COMPARE_MEMBER(TfLiteUnidirectionalSequenceLSTMParams, activation);
    COMPARE_MEMBER(TfLiteUnidirectionalSequenceLSTMParams, cell_clip);
    COMPARE_MEMBER(TfLiteUnidirectionalSequenceLSTMParams, proj_clip);
    COMPARE_MEMBER(TfLiteUnidirectionalSequenceLSTMParams, time_major);
    COMPARE_MEMBER(TfLiteUnidirectionalSequenceLSTMParams, asymmetric_quantize_inputs);
    COMPARE_MEMBER(TfLiteUnidirectionalSequenceLSTMParams, diagonal_recurrent_tensors);
    COMPARE_SIZE(TfLiteBidirectionalSequenceLSTMParams);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceLSTMParams, activation);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceLSTMParams, cell_clip);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceLSTMParams, proj_clip);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceLSTMParams, merge_outputs);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceLSTMParams, time_major);
    COMPARE_MEMBER(TfLiteBidirectionalSequenceLSTMParams, asymmetric_quantize_inputs);
    COMPARE_SIZE(TfLiteSoftmaxParams);
    COMPARE_MEMBER(TfLiteSoftmaxParams, beta);
    COMPARE_SIZE(TfLiteLeakyReluParams);
    COMPARE_MEMBER(TfLiteLeakyReluParams, alpha);
    COMPARE_SIZE(TfLiteGeluParams);
    COMPARE_MEMBER(TfLiteGeluParams, approximate);
    COMPARE_SIZE(TfLiteConcatenationParams);
    COMPARE_MEMBER(TfLiteConcatenationParams, axis);
    COMPARE_MEMBER(TfLiteConcatenationParams, activation);
    COMPARE_SIZE(TfLiteAddParams);
    COMPARE_MEMBER(TfLiteAddParams, activation);
    COMPARE_MEMBER(TfLiteAddParams, pot_scale_int16);
    COMPARE_SIZE(TfLiteMulParams);
    COMPARE_MEMBER(TfLiteMulParams, activation);
    COMPARE_SIZE(TfLiteLocalResponseNormParams);
    COMPARE_MEMBER(TfLiteLocalResponseNormParams, radius);
    COMPARE_MEMBER(TfLiteLocalResponseNormParams, bias);
    COMPARE_MEMBER(TfLiteLocalResponseNormParams, alpha);
    COMPARE_MEMBER(TfLiteLocalResponseNormParams, beta);
    COMPARE_SIZE(TfLiteResizeBilinearParams);
    COMPARE_MEMBER(TfLiteResizeBilinearParams, align_corners);
    COMPARE_MEMBER(TfLiteResizeBilinearParams, half_pixel_centers);
    COMPARE_SIZE(TfLiteReshapeParams);
    COMPARE_MEMBER(TfLiteReshapeParams, shape);
    COMPARE_MEMBER(TfLiteReshapeParams, num_dimensions);
    COMPARE_SIZE(TfLiteSqueezeParams);
    COMPARE_MEMBER(TfLiteSqueezeParams, squeeze_dims);
    COMPARE_MEMBER(TfLiteSqueezeParams, num_squeeze_dims);
    COMPARE_SIZE(TfLiteSpaceToDepthParams);
    COMPARE_MEMBER(TfLiteSpaceToDepthParams, block_size);
    COMPARE_SIZE(TfLiteCastParams);
    COMPARE_MEMBER(TfLiteCastParams, in_data_type);
    COMPARE_MEMBER(TfLiteCastParams, out_data_type);
    COMPARE_SIZE(TfLiteEmbeddingLookupSparseParams);
    COMPARE_MEMBER(TfLiteEmbeddingLookupSparseParams, combiner);
    COMPARE_SIZE(TfLiteGatherParams);
    COMPARE_MEMBER(TfLiteGatherParams, axis);
    COMPARE_MEMBER(TfLiteGatherParams, batch_dims);
    COMPARE_SIZE(TfLiteReducerParams);
    COMPARE_MEMBER(TfLiteReducerParams, keep_dims);
    COMPARE_SIZE(TfLiteSplitParams);
    COMPARE_MEMBER(TfLiteSplitParams, num_splits);
    COMPARE_SIZE(TfLiteStridedSliceParams);
    COMPARE_MEMBER(TfLiteStridedSliceParams, begin_mask);
    COMPARE_MEMBER(TfLiteStridedSliceParams, end_mask);
    COMPARE_MEMBER(TfLiteStridedSliceParams, ellipsis_mask);
    COMPARE_MEMBER(TfLiteStridedSliceParams, new_axis_mask);
    COMPARE_MEMBER(TfLiteStridedSliceParams, shrink_axis_mask);
    COMPARE_MEMBER(TfLiteStridedSliceParams, offset);
    COMPARE_SIZE(TfLiteArgMaxParams);
    COMPARE_MEMBER(TfLiteArgMaxParams, output_type);
    COMPARE_SIZE(TfLiteSparseToDenseParams);
    COMPARE_MEMBER(TfLiteSparseToDenseParams, validate_indices);
    COMPARE_SIZE(TfLiteShapeParams);
    COMPARE_MEMBER(TfLiteShapeParams, out_type);
    COMPARE_SIZE(TfLiteFakeQuantParams);
    COMPARE_MEMBER(TfLiteFakeQuantParams, min);
    COMPARE_MEMBER(TfLiteFakeQuantParams, max);
    COMPARE_MEMBER(TfLiteFakeQuantParams, num_bits);
    COMPARE_MEMBER(TfLiteFakeQuantParams, narrow_range);
    COMPARE_SIZE(TfLitePackParams);
    COMPARE_MEMBER(TfLitePackParams, values_count);
    COMPARE_MEMBER(TfLitePackParams, axis);
    COMPARE_SIZE(TfLiteOneHotParams);
    COMPARE_MEMBER(TfLiteOneHotParams, axis);
    COMPARE_SIZE(TfLiteUnpackParams);
    COMPARE_MEMBER(TfLiteUnpackParams, num);
    COMPARE_MEMBER(TfLiteUnpackParams, axis);
    COMPARE_SIZE(TfLiteUniqueParams);
    COMPARE_MEMBER(TfLiteUniqueParams, index_out_type);
    COMPARE_SIZE(TfLiteReverseSequenceParams);
    COMPARE_MEMBER(TfLiteReverseSequenceParams, seq_dim);
    COMPARE_MEMBER(TfLiteReverseSequenceParams, batch_dim);
    COMPARE_SIZE(TfLiteMirrorPaddingParams);
    COMPARE_MEMBER(TfLiteMirrorPaddingParams, mode);
    COMPARE_SIZE(TfLiteCumsumParams);
    COMPARE_MEMBER(TfLiteCumsumParams, exclusive);
    COMPARE_MEMBER(TfLiteCumsumParams, reverse);
    COMPARE_SIZE(TfLiteBucketizeParams);
    COMPARE_MEMBER(TfLiteBucketizeParams, num_boundaries);
    COMPARE_MEMBER(TfLiteBucketizeParams, boundaries);
    COMPARE_SIZE(TfLiteReduceWindowParams);
    COMPARE_MEMBER(TfLiteReduceWindowParams, reduce_function);
    COMPARE_SIZE(TfLiteStablehloGatherParams);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, offset_dims);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, num_offset_dims);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, collapsed_slice_dims);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, num_collapsed_slice_dims);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, start_index_map);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, num_start_index_map);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, index_vector_dim);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, slice_sizes);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, num_slice_sizes);
    COMPARE_MEMBER(TfLiteStablehloGatherParams, indices_are_sorted);
    COMPARE_SIZE(TfLiteStablehloScatterParams);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, indices_are_sorted);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, update_window_dims);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, num_update_window_dims);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, inserted_window_dims);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, num_inserted_window_dims);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, scatter_dims_to_operand_dims);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, num_scatter_dims_to_operand_dims);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, index_vector_dim);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, unique_indices);
    COMPARE_MEMBER(TfLiteStablehloScatterParams, update_computation_subgraph_index);
    COMPARE_SIZE(TfLiteStablehloPadParams);
    COMPARE_MEMBER(TfLiteStablehloPadParams, edge_padding_low);
    COMPARE_MEMBER(TfLiteStablehloPadParams, edge_padding_high);
    COMPARE_MEMBER(TfLiteStablehloPadParams, interior_padding);
    COMPARE_SIZE(TfLiteStablehloReduceWindowParams);
    COMPARE_MEMBER(TfLiteStablehloReduceWindowParams, window_dimensions);
    COMPARE_MEMBER(TfLiteStablehloReduceWindowParams, window_strides);
    COMPARE_MEMBER(TfLiteStablehloReduceWindowParams, base_dilations);
    COMPARE_MEMBER(TfLiteStablehloReduceWindowParams, window_dilations);
    COMPARE_MEMBER(TfLiteStablehloReduceWindowParams, padding);
    COMPARE_MEMBER(TfLiteStablehloReduceWindowParams, body_subgraph_index);
    COMPARE_SIZE(TfLiteStablehloRngBitGeneratorParams);
    COMPARE_MEMBER(TfLiteStablehloRngBitGeneratorParams, algorithm);
}

/// Structs that are declared once here, and once for each of some operators there.
TEST(DelegateInterface, StructsOfSeveralOperators)
{
    EXPECT_EQ(sizeof(::TfLiteAddParams), sizeof(theirs::TfLiteSubParams));
    EXPECT_EQ(offsetof(::TfLiteAddParams, pot_scale_int16), offsetof(theirs::TfLiteSubParams, pot_scale_int16));
    EXPECT_EQ(sizeof(::TfLiteMulParams), sizeof(theirs::TfLiteDivParams));
    EXPECT_EQ(sizeof(::TfLiteMulParams), sizeof(theirs::TfLiteL2NormParams));
    EXPECT_EQ(sizeof(::TfLiteResizeBilinearParams), sizeof(theirs::TfLiteResizeNearestNeighborParams));
    EXPECT_EQ(offsetof(::TfLiteResizeBilinearParams, half_pixel_centers),
              offsetof(theirs::TfLiteResizeNearestNeighborParams, half_pixel_centers));
    EXPECT_EQ(sizeof(::TfLiteSpaceToDepthParams), sizeof(theirs::TfLiteDepthToSpaceParams));
    EXPECT_EQ(sizeof(::TfLiteSplitParams), sizeof(theirs::TfLiteSplitVParams));
    EXPECT_EQ(sizeof(::TfLiteArgMaxParams), sizeof(theirs::TfLiteArgMinParams));
}

TEST(DelegateInterface, Enumerators)
{
    COMPARE_ENUMERATOR(kTfLiteOk);
    COMPARE_ENUMERATOR(kTfLiteError);
    COMPARE_ENUMERATOR(kTfLiteDelegateError);
    COMPARE_ENUMERATOR(kTfLiteApplicationError);
    COMPARE_ENUMERATOR(kTfLiteCancelled);
    COMPARE_ENUMERATOR(kTfLiteNoType);
    COMPARE_ENUMERATOR(kTfLiteFloat32);
    COMPARE_ENUMERATOR(kTfLiteInt32);
    COMPARE_ENUMERATOR(kTfLiteUInt8);
    COMPARE_ENUMERATOR(kTfLiteInt64);
    COMPARE_ENUMERATOR(kTfLiteString);
    COMPARE_ENUMERATOR(kTfLiteBool);
    COMPARE_ENUMERATOR(kTfLiteInt16);
    COMPARE_ENUMERATOR(kTfLiteComplex64);
    COMPARE_ENUMERATOR(kTfLiteInt8);
    COMPARE_ENUMERATOR(kTfLiteFloat16);
    COMPARE_ENUMERATOR(kTfLiteFloat64);
    COMPARE_ENUMERATOR(kTfLiteComplex128);
    COMPARE_ENUMERATOR(kTfLiteUInt64);
    COMPARE_ENUMERATOR(kTfLiteResource);
    COMPARE_ENUMERATOR(kTfLiteVariant);
    COMPARE_ENUMERATOR(kTfLiteUInt32);
    COMPARE_ENUMERATOR(kTfLiteUInt16);
    COMPARE_ENUMERATOR(kTfLiteInt4);
    COMPARE_ENUMERATOR(kTfLiteBFloat16);
    COMPARE_ENUMERATOR(kTfLiteInt2);
    COMPARE_ENUMERATOR(kTfLiteUInt4);
    COMPARE_ENUMERATOR(kTfLiteFloat8E4M3FN);
    COMPARE_ENUMERATOR(kTfLiteFloat8E5M2);
    COMPARE_ENUMERATOR(kTfLiteMemNone);
    COMPARE_ENUMERATOR(kTfLiteMmapRo);
    COMPARE_ENUMERATOR(kTfLiteArenaRw);
    COMPARE_ENUMERATOR(kTfLiteArenaRwPersistent);
    COMPARE_ENUMERATOR(kTfLiteDynamic);
    COMPARE_ENUMERATOR(kTfLitePersistentRo);
    COMPARE_ENUMERATOR(kTfLiteCustom);
    COMPARE_ENUMERATOR(kTfLiteVariantObject);
    COMPARE_ENUMERATOR(kTfLiteNonCpu);
    COMPARE_ENUMERATOR(kTfLiteNoQuantization);
    COMPARE_ENUMERATOR(kTfLiteAffineQuantization);
    COMPARE_ENUMERATOR(kTfLiteBlockwiseQuantization);
    COMPARE_ENUMERATOR(kTfLiteMultiAxisQuantization);
    COMPARE_ENUMERATOR(kTfLiteDelegateFlagsNone);
    COMPARE_ENUMERATOR(kTfLiteDelegateFlagsAllowDynamicTensors);
    COMPARE_ENUMERATOR(kTfLiteDimDense);
    COMPARE_ENUMERATOR(kTfLiteDimSparseCSR);
    COMPARE_ENUMERATOR(kTfLitePaddingUnknown);
    COMPARE_ENUMERATOR(kTfLitePaddingSame);
    COMPARE_ENUMERATOR(kTfLitePaddingValid);
    COMPARE_ENUMERATOR(kTfLiteMirrorPaddingUnknown);
    COMPARE_ENUMERATOR(kTfLiteMirrorPaddingReflect);
    COMPARE_ENUMERATOR(kTfLiteMirrorPaddingSymmetric);
    COMPARE_ENUMERATOR(kTfLiteRngAlgorithmUnknown);
    COMPARE_ENUMERATOR(kTfLiteRngAlgorithmDefault);
    COMPARE_ENUMERATOR(kTfLiteRngAlgorithmPhilox);
    COMPARE_ENUMERATOR(kTfLiteRngAlgorithmThreefry);
}

// Numbers of the model file that the structs of options have, too.
TEST(DelegateInterface, EnumeratorsOfTheFile)
{
    EXPECT_EQ(theirs::kTfLiteActNone, 0);
    EXPECT_EQ(theirs::kTfLiteActRelu, 1);
    EXPECT_EQ(theirs::kTfLiteActReluN1To1, 2);
    EXPECT_EQ(theirs::kTfLiteActRelu6, 3);
    EXPECT_EQ(theirs::kTfLiteActTanh, 4);
    EXPECT_EQ(theirs::kTfLiteActSignBit, 5);
    EXPECT_EQ(theirs::kTfLiteFullyConnectedWeightsFormatShuffled4x16Int8, 1);
    EXPECT_EQ(theirs::kTfLiteLSTMBasicKernel, 1);
    EXPECT_EQ(theirs::kTfLiteCombinerTypeMean, 1);
    EXPECT_EQ(theirs::kTfLiteCombinerTypeSqrtn, 2);
    EXPECT_EQ(theirs::TfLiteReduceWindowFunctionAdd, 1);
    EXPECT_EQ(theirs::TfLiteReduceWindowFunctionAny, 6);
}

} // namespace tenon::test::interface_test
// NOLINTEND
