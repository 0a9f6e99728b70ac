// SPDX-License-Identifier: Apache-2.0
// BuiltinData: the options of builtin operators in an interpreter: a struct per operator, declared here in TensorFlow
// Lite's names and layout. They are read into the attributes that the parser's rows use. Used by NodeReader.
#pragma once

#include "delegate/TfLiteInterface.hpp"
#include "parsers/common/Attribute.hpp"

#include <tenon/Span.hpp>

#include <cstdint>
#include <optional>

extern "C"
{
    // Enumerations whose numbers differ from the file's. All others have the file's numbers
    // (schema::ActivationFunctionType, schema::LSTMKernelType, ...) and are int32_t in the structs.

    enum TfLitePadding : int32_t
    {
        kTfLitePaddingUnknown = 0,
        kTfLitePaddingSame = 1,
        kTfLitePaddingValid = 2
    };

    enum TfLiteMirrorPaddingMode : int32_t
    {
        kTfLiteMirrorPaddingUnknown = 0,
        kTfLiteMirrorPaddingReflect = 1,
        kTfLiteMirrorPaddingSymmetric = 2
    };

    enum TfLiteRngAlgorithm : int32_t
    {
        kTfLiteRngAlgorithmUnknown = 0,
        kTfLiteRngAlgorithmDefault = 1,
        kTfLiteRngAlgorithmPhilox = 2,
        kTfLiteRngAlgorithmThreefry = 3
    };

    // Members that later releases appended are marked with the first version of the operator that has them.

    struct TfLiteConvParams
    {
        TfLitePadding padding;
        int32_t stride_width;
        int32_t stride_height;
        int32_t activation;
        int32_t dilation_width_factor;
        int32_t dilation_height_factor;
        TfLiteType quantized_bias_type; // version 8
    };

    struct TfLiteConv3DParams
    {
        TfLitePadding padding;
        int32_t stride_width;
        int32_t stride_height;
        int32_t stride_depth;
        int32_t dilation_width_factor;
        int32_t dilation_height_factor;
        int32_t dilation_depth_factor;
        int32_t activation;
    };

    struct TfLitePoolParams
    {
        TfLitePadding padding;
        int32_t stride_width;
        int32_t stride_height;
        int32_t filter_width;
        int32_t filter_height;
        int32_t activation;
        int32_t computed[4]; ///< written by TensorFlow Lite's own kernel
    };

    struct TfLiteDepthwiseConvParams
    {
        TfLitePadding padding;
        int32_t stride_width;
        int32_t stride_height;
        int32_t depth_multiplier;
        int32_t activation;
        int32_t dilation_width_factor;
        int32_t dilation_height_factor;
    };

    struct TfLiteTransposeConvParams
    {
        TfLitePadding padding;
        int32_t stride_width;
        int32_t stride_height;
        int32_t activation;             // version 4
        TfLiteType quantized_bias_type; // version 5
    };

    struct TfLiteFullyConnectedParams
    {
        int32_t activation;
        int32_t weights_format;
        bool keep_num_dims;
        bool asymmetric_quantize_inputs;
        TfLiteType quantized_bias_type; // version 11
    };

    struct TfLiteBatchMatMulParams
    {
        bool adj_x;
        bool adj_y;
        bool asymmetric_quantize_inputs;
    };

    struct TfLiteSVDFParams
    {
        int32_t rank;
        int32_t activation;
        bool asymmetric_quantize_inputs;
    };

    struct TfLiteRNNParams
    {
        int32_t activation;
        bool asymmetric_quantize_inputs;
    };

    struct TfLiteSequenceRNNParams
    {
        bool time_major;
        int32_t activation;
        bool asymmetric_quantize_inputs;
    };

    struct TfLiteBidirectionalSequenceRNNParams
    {
        bool time_major;
        int32_t activation;
        bool merge_outputs;
        bool asymmetric_quantize_inputs;
    };

    struct TfLiteLSTMParams
    {
        int32_t activation;
        float cell_clip;
        float proj_clip;
        int32_t kernel_type;
        bool asymmetric_quantize_inputs;
    };

    struct TfLiteUnidirectionalSequenceLSTMParams
    {
        int32_t activation;
        float cell_clip;
        float proj_clip;
        bool time_major;
        bool asymmetric_quantize_inputs;
        bool diagonal_recurrent_tensors; // version 4
    };

    struct TfLiteBidirectionalSequenceLSTMParams
    {
        int32_t activation;
        float cell_clip;
        float proj_clip;
        bool merge_outputs;
        bool time_major;
        bool asymmetric_quantize_inputs;
    };

    struct TfLiteSoftmaxParams
    {
        float beta;
    };

    struct TfLiteLeakyReluParams
    {
        float alpha;
    };

    struct TfLiteGeluParams
    {
        bool approximate;
    };

    struct TfLiteConcatenationParams
    {
        int32_t axis;
        int32_t activation;
    };

    /// SUB has the same members, in a struct of its own.
    struct TfLiteAddParams
    {
        int32_t activation;
        bool pot_scale_int16;
    };

    /// DIV and L2_NORMALIZATION have the same member, in structs of their own.
    struct TfLiteMulParams
    {
        int32_t activation;
    };

    struct TfLiteLocalResponseNormParams
    {
        int32_t radius;
        float bias;
        float alpha;
        float beta;
    };

    /// RESIZE_NEAREST_NEIGHBOR has the same members, in a struct of its own.
    struct TfLiteResizeBilinearParams
    {
        bool align_corners;
        bool half_pixel_centers;
    };

    struct TfLiteReshapeParams
    {
        int32_t shape[8];
        int32_t num_dimensions;
    };

    struct TfLiteSqueezeParams
    {
        int32_t squeeze_dims[8];
        int32_t num_squeeze_dims;
    };

    /// DEPTH_TO_SPACE has the same member, in a struct of its own.
    struct TfLiteSpaceToDepthParams
    {
        int32_t block_size;
    };

    struct TfLiteCastParams
    {
        TfLiteType in_data_type;
        TfLiteType out_data_type;
    };

    struct TfLiteEmbeddingLookupSparseParams
    {
        int32_t combiner;
    };

    struct TfLiteGatherParams
    {
        int32_t axis;
        int32_t batch_dims;
    };

    struct TfLiteReducerParams
    {
        bool keep_dims;
    };

    /// SPLIT_V has the same member, in a struct of its own.
    struct TfLiteSplitParams
    {
        int32_t num_splits;
    };

    struct TfLiteStridedSliceParams
    {
        int32_t begin_mask;
        int32_t end_mask;
        int32_t ellipsis_mask;
        int32_t new_axis_mask;
        int32_t shrink_axis_mask;
        bool offset; // version 8
    };

    /// ARG_MIN has the same member, in a struct of its own.
    struct TfLiteArgMaxParams
    {
        TfLiteType output_type;
    };

    struct TfLiteSparseToDenseParams
    {
        bool validate_indices;
    };

    struct TfLiteShapeParams
    {
        TfLiteType out_type;
    };

    struct TfLiteFakeQuantParams
    {
        float min;
        float max;
        int32_t num_bits;
        bool narrow_range;
    };

    struct TfLitePackParams
    {
        int32_t values_count;
        int32_t axis;
    };

    struct TfLiteOneHotParams
    {
        int32_t axis;
    };

    struct TfLiteUnpackParams
    {
        int32_t num;
        int32_t axis;
    };

    struct TfLiteUniqueParams
    {
        TfLiteType index_out_type;
    };

    struct TfLiteReverseSequenceParams
    {
        int32_t seq_dim;
        int32_t batch_dim;
    };

    struct TfLiteMirrorPaddingParams
    {
        TfLiteMirrorPaddingMode mode;
    };

    struct TfLiteCumsumParams
    {
        bool exclusive;
        bool reverse;
    };

    struct TfLiteBucketizeParams
    {
        int32_t num_boundaries;
        const float* boundaries;
    };

    struct TfLiteReduceWindowParams
    {
        int32_t reduce_function;
    };

    struct TfLiteStablehloGatherParams
    {
        int64_t offset_dims[8];
        int32_t num_offset_dims;
        int64_t collapsed_slice_dims[8];
        int32_t num_collapsed_slice_dims;
        int64_t start_index_map[8];
        int32_t num_start_index_map;
        int64_t index_vector_dim;
        int64_t slice_sizes[8];
        int32_t num_slice_sizes;
        bool indices_are_sorted;
    };

    struct TfLiteStablehloScatterParams
    {
        bool indices_are_sorted;
        int64_t update_window_dims[8];
        int32_t num_update_window_dims;
        int64_t inserted_window_dims[8];
        int32_t num_inserted_window_dims;
        int64_t scatter_dims_to_operand_dims[8];
        int32_t num_scatter_dims_to_operand_dims;
        int64_t index_vector_dim;
        bool unique_indices;
        int32_t update_computation_subgraph_index;
    };

    /// The lists have as many elements as input 0 has dimensions.
    struct TfLiteStablehloPadParams
    {
        int64_t edge_padding_low[8];
        int64_t edge_padding_high[8];
        int64_t interior_padding[8];
    };

    /// The lists have as many elements as input 0 has dimensions, `padding` twice as many.
    struct TfLiteStablehloReduceWindowParams
    {
        int64_t window_dimensions[8];
        int64_t window_strides[8];
        int64_t base_dilations[8];
        int64_t window_dilations[8];
        int64_t padding[16];
        int32_t body_subgraph_index;
    };

    struct TfLiteStablehloRngBitGeneratorParams
    {
        TfLiteRngAlgorithm algorithm;
    };

} // extern "C"

namespace tenon::delegate
{

/// The way in which a member of a struct is read.
enum class BuiltinKind : uint8_t
{
    Flag,
    Int,
    Int64,
    Real,
    Type, ///< TfLiteType, which is converted to the file's number
    Padding,
    MirrorMode,
    RngAlgorithm,
    Ints,        ///< int32_t[8], with a counter
    Int64s,      ///< int64_t[8], with a counter
    RankInt64s,  ///< int64_t[8]; the number of elements is the rank of input 0
    PairsInt64s, ///< int64_t[16]; the number of elements is twice that rank
    Reals        ///< a pointer, with a counter
};

struct BuiltinField
{
    const char* m_Name; ///< name in tflite.fbs
    BuiltinKind m_Kind;
    uint16_t m_Offset;
    uint16_t m_CounterOffset = 0; ///< offset of the counter of a list
    int32_t m_MinVersion = 1;     ///< version of the operator
};

/// The members from which options are read; none for an operator whose options have no fields, and for operators that
/// ReasonToLeave names.
Span<const BuiltinField> FieldsOf(int32_t builtin);

/// All options of the operator, with the values of its struct. `data` is null if there is no struct. `rank`: the rank
/// of input 0, if known. Throws ParseException for values that the format does not have, and UnimplementedException if
/// the rank is needed but not known.
parsers::AttributeList ReadBuiltinData(int32_t builtin, int32_t version, const void* data,
                                       std::optional<uint32_t> rank);

/// The file's number of an element type. Throws UnimplementedException for a type that no model file has.
int8_t ToFileType(TfLiteType type);

} // namespace tenon::delegate
