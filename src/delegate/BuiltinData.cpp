// SPDX-License-Identifier: Apache-2.0
// BuiltinData: see BuiltinData.hpp. Each struct has a list of its members here: name of the option, kind, offset.
#include "delegate/BuiltinData.hpp"

#include "parsers/tflite/OptionsReader.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>
#include <tflite_generated.h>
#include <utility>

namespace tenon::delegate
{

namespace
{

using parsers::Attribute;
using tflite::schema::BuiltinOperator;
using tflite::schema::TensorType;

constexpr BuiltinField Conv2dFields[] = {
    {"padding", BuiltinKind::Padding, offsetof(TfLiteConvParams, padding)},
    {"stride_w", BuiltinKind::Int, offsetof(TfLiteConvParams, stride_width)},
    {"stride_h", BuiltinKind::Int, offsetof(TfLiteConvParams, stride_height)},
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteConvParams, activation)},
    {"dilation_w_factor", BuiltinKind::Int, offsetof(TfLiteConvParams, dilation_width_factor)},
    {"dilation_h_factor", BuiltinKind::Int, offsetof(TfLiteConvParams, dilation_height_factor)},
    {"quantized_bias_type", BuiltinKind::Type, offsetof(TfLiteConvParams, quantized_bias_type), 0, 8},
};

constexpr BuiltinField Conv3dFields[] = {
    {"padding", BuiltinKind::Padding, offsetof(TfLiteConv3DParams, padding)},
    {"stride_d", BuiltinKind::Int, offsetof(TfLiteConv3DParams, stride_depth)},
    {"stride_w", BuiltinKind::Int, offsetof(TfLiteConv3DParams, stride_width)},
    {"stride_h", BuiltinKind::Int, offsetof(TfLiteConv3DParams, stride_height)},
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteConv3DParams, activation)},
    {"dilation_d_factor", BuiltinKind::Int, offsetof(TfLiteConv3DParams, dilation_depth_factor)},
    {"dilation_w_factor", BuiltinKind::Int, offsetof(TfLiteConv3DParams, dilation_width_factor)},
    {"dilation_h_factor", BuiltinKind::Int, offsetof(TfLiteConv3DParams, dilation_height_factor)},
};

constexpr BuiltinField Pool2dFields[] = {
    {"padding", BuiltinKind::Padding, offsetof(TfLitePoolParams, padding)},
    {"stride_w", BuiltinKind::Int, offsetof(TfLitePoolParams, stride_width)},
    {"stride_h", BuiltinKind::Int, offsetof(TfLitePoolParams, stride_height)},
    {"filter_width", BuiltinKind::Int, offsetof(TfLitePoolParams, filter_width)},
    {"filter_height", BuiltinKind::Int, offsetof(TfLitePoolParams, filter_height)},
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLitePoolParams, activation)},
};

constexpr BuiltinField DepthwiseConv2dFields[] = {
    {"padding", BuiltinKind::Padding, offsetof(TfLiteDepthwiseConvParams, padding)},
    {"stride_w", BuiltinKind::Int, offsetof(TfLiteDepthwiseConvParams, stride_width)},
    {"stride_h", BuiltinKind::Int, offsetof(TfLiteDepthwiseConvParams, stride_height)},
    {"depth_multiplier", BuiltinKind::Int, offsetof(TfLiteDepthwiseConvParams, depth_multiplier)},
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteDepthwiseConvParams, activation)},
    {"dilation_w_factor", BuiltinKind::Int, offsetof(TfLiteDepthwiseConvParams, dilation_width_factor)},
    {"dilation_h_factor", BuiltinKind::Int, offsetof(TfLiteDepthwiseConvParams, dilation_height_factor)},
};

constexpr BuiltinField TransposeConvFields[] = {
    {"padding", BuiltinKind::Padding, offsetof(TfLiteTransposeConvParams, padding)},
    {"stride_w", BuiltinKind::Int, offsetof(TfLiteTransposeConvParams, stride_width)},
    {"stride_h", BuiltinKind::Int, offsetof(TfLiteTransposeConvParams, stride_height)},
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteTransposeConvParams, activation), 0, 4},
    {"quantized_bias_type", BuiltinKind::Type, offsetof(TfLiteTransposeConvParams, quantized_bias_type), 0, 5},
};

constexpr BuiltinField FullyConnectedFields[] = {
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteFullyConnectedParams, activation)},
    {"weights_format", BuiltinKind::Int, offsetof(TfLiteFullyConnectedParams, weights_format)},
    {"keep_num_dims", BuiltinKind::Flag, offsetof(TfLiteFullyConnectedParams, keep_num_dims)},
    {"asymmetric_quantize_inputs", BuiltinKind::Flag, offsetof(TfLiteFullyConnectedParams, asymmetric_quantize_inputs)},
    {"quantized_bias_type", BuiltinKind::Type, offsetof(TfLiteFullyConnectedParams, quantized_bias_type), 0, 11},
};

constexpr BuiltinField BatchMatMulFields[] = {
    {"adj_x", BuiltinKind::Flag, offsetof(TfLiteBatchMatMulParams, adj_x)},
    {"adj_y", BuiltinKind::Flag, offsetof(TfLiteBatchMatMulParams, adj_y)},
    {"asymmetric_quantize_inputs", BuiltinKind::Flag, offsetof(TfLiteBatchMatMulParams, asymmetric_quantize_inputs)},
};

constexpr BuiltinField SvdfFields[] = {
    {"rank", BuiltinKind::Int, offsetof(TfLiteSVDFParams, rank)},
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteSVDFParams, activation)},
    {"asymmetric_quantize_inputs", BuiltinKind::Flag, offsetof(TfLiteSVDFParams, asymmetric_quantize_inputs)},
};

constexpr BuiltinField RnnFields[] = {
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteRNNParams, activation)},
    {"asymmetric_quantize_inputs", BuiltinKind::Flag, offsetof(TfLiteRNNParams, asymmetric_quantize_inputs)},
};

constexpr BuiltinField SequenceRnnFields[] = {
    {"time_major", BuiltinKind::Flag, offsetof(TfLiteSequenceRNNParams, time_major)},
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteSequenceRNNParams, activation)},
    {"asymmetric_quantize_inputs", BuiltinKind::Flag, offsetof(TfLiteSequenceRNNParams, asymmetric_quantize_inputs)},
};

constexpr BuiltinField BidirectionalRnnFields[] = {
    {"time_major", BuiltinKind::Flag, offsetof(TfLiteBidirectionalSequenceRNNParams, time_major)},
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteBidirectionalSequenceRNNParams, activation)},
    {"merge_outputs", BuiltinKind::Flag, offsetof(TfLiteBidirectionalSequenceRNNParams, merge_outputs)},
    {"asymmetric_quantize_inputs", BuiltinKind::Flag,
     offsetof(TfLiteBidirectionalSequenceRNNParams, asymmetric_quantize_inputs)},
};

constexpr BuiltinField LstmFields[] = {
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteLSTMParams, activation)},
    {"cell_clip", BuiltinKind::Real, offsetof(TfLiteLSTMParams, cell_clip)},
    {"proj_clip", BuiltinKind::Real, offsetof(TfLiteLSTMParams, proj_clip)},
    {"kernel_type", BuiltinKind::Int, offsetof(TfLiteLSTMParams, kernel_type)},
    {"asymmetric_quantize_inputs", BuiltinKind::Flag, offsetof(TfLiteLSTMParams, asymmetric_quantize_inputs)},
};

constexpr BuiltinField SequenceLstmFields[] = {
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteUnidirectionalSequenceLSTMParams, activation)},
    {"cell_clip", BuiltinKind::Real, offsetof(TfLiteUnidirectionalSequenceLSTMParams, cell_clip)},
    {"proj_clip", BuiltinKind::Real, offsetof(TfLiteUnidirectionalSequenceLSTMParams, proj_clip)},
    {"time_major", BuiltinKind::Flag, offsetof(TfLiteUnidirectionalSequenceLSTMParams, time_major)},
    {"asymmetric_quantize_inputs", BuiltinKind::Flag,
     offsetof(TfLiteUnidirectionalSequenceLSTMParams, asymmetric_quantize_inputs)},
    {"diagonal_recurrent_tensors", BuiltinKind::Flag,
     offsetof(TfLiteUnidirectionalSequenceLSTMParams, diagonal_recurrent_tensors), 0, 4},
};

constexpr BuiltinField BidirectionalLstmFields[] = {
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteBidirectionalSequenceLSTMParams, activation)},
    {"cell_clip", BuiltinKind::Real, offsetof(TfLiteBidirectionalSequenceLSTMParams, cell_clip)},
    {"proj_clip", BuiltinKind::Real, offsetof(TfLiteBidirectionalSequenceLSTMParams, proj_clip)},
    {"merge_outputs", BuiltinKind::Flag, offsetof(TfLiteBidirectionalSequenceLSTMParams, merge_outputs)},
    {"time_major", BuiltinKind::Flag, offsetof(TfLiteBidirectionalSequenceLSTMParams, time_major)},
    {"asymmetric_quantize_inputs", BuiltinKind::Flag,
     offsetof(TfLiteBidirectionalSequenceLSTMParams, asymmetric_quantize_inputs)},
};

constexpr BuiltinField SoftmaxFields[] = {
    {"beta", BuiltinKind::Real, offsetof(TfLiteSoftmaxParams, beta)},
};

constexpr BuiltinField LeakyReluFields[] = {
    {"alpha", BuiltinKind::Real, offsetof(TfLiteLeakyReluParams, alpha)},
};

constexpr BuiltinField GeluFields[] = {
    {"approximate", BuiltinKind::Flag, offsetof(TfLiteGeluParams, approximate)},
};

constexpr BuiltinField ConcatenationFields[] = {
    {"axis", BuiltinKind::Int, offsetof(TfLiteConcatenationParams, axis)},
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteConcatenationParams, activation)},
};

constexpr BuiltinField SumFields[] = {
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteAddParams, activation)},
    {"pot_scale_int16", BuiltinKind::Flag, offsetof(TfLiteAddParams, pot_scale_int16)},
};

constexpr BuiltinField ActivationAloneFields[] = {
    {"fused_activation_function", BuiltinKind::Int, offsetof(TfLiteMulParams, activation)},
};

constexpr BuiltinField LocalResponseFields[] = {
    {"radius", BuiltinKind::Int, offsetof(TfLiteLocalResponseNormParams, radius)},
    {"bias", BuiltinKind::Real, offsetof(TfLiteLocalResponseNormParams, bias)},
    {"alpha", BuiltinKind::Real, offsetof(TfLiteLocalResponseNormParams, alpha)},
    {"beta", BuiltinKind::Real, offsetof(TfLiteLocalResponseNormParams, beta)},
};

constexpr BuiltinField ResizeFields[] = {
    {"align_corners", BuiltinKind::Flag, offsetof(TfLiteResizeBilinearParams, align_corners)},
    {"half_pixel_centers", BuiltinKind::Flag, offsetof(TfLiteResizeBilinearParams, half_pixel_centers)},
};

constexpr BuiltinField ReshapeFields[] = {
    {"new_shape", BuiltinKind::Ints, offsetof(TfLiteReshapeParams, shape),
     offsetof(TfLiteReshapeParams, num_dimensions)},
};

constexpr BuiltinField SqueezeFields[] = {
    {"squeeze_dims", BuiltinKind::Ints, offsetof(TfLiteSqueezeParams, squeeze_dims),
     offsetof(TfLiteSqueezeParams, num_squeeze_dims)},
};

constexpr BuiltinField BlockSizeFields[] = {
    {"block_size", BuiltinKind::Int, offsetof(TfLiteSpaceToDepthParams, block_size)},
};

constexpr BuiltinField CastFields[] = {
    {"in_data_type", BuiltinKind::Type, offsetof(TfLiteCastParams, in_data_type)},
    {"out_data_type", BuiltinKind::Type, offsetof(TfLiteCastParams, out_data_type)},
};

constexpr BuiltinField EmbeddingLookupSparseFields[] = {
    {"combiner", BuiltinKind::Int, offsetof(TfLiteEmbeddingLookupSparseParams, combiner)},
};

constexpr BuiltinField GatherFields[] = {
    {"axis", BuiltinKind::Int, offsetof(TfLiteGatherParams, axis)},
    {"batch_dims", BuiltinKind::Int, offsetof(TfLiteGatherParams, batch_dims)},
};

constexpr BuiltinField ReducerFields[] = {
    {"keep_dims", BuiltinKind::Flag, offsetof(TfLiteReducerParams, keep_dims)},
};

constexpr BuiltinField SplitFields[] = {
    {"num_splits", BuiltinKind::Int, offsetof(TfLiteSplitParams, num_splits)},
};

constexpr BuiltinField StridedSliceFields[] = {
    {"begin_mask", BuiltinKind::Int, offsetof(TfLiteStridedSliceParams, begin_mask)},
    {"end_mask", BuiltinKind::Int, offsetof(TfLiteStridedSliceParams, end_mask)},
    {"ellipsis_mask", BuiltinKind::Int, offsetof(TfLiteStridedSliceParams, ellipsis_mask)},
    {"new_axis_mask", BuiltinKind::Int, offsetof(TfLiteStridedSliceParams, new_axis_mask)},
    {"shrink_axis_mask", BuiltinKind::Int, offsetof(TfLiteStridedSliceParams, shrink_axis_mask)},
    {"offset", BuiltinKind::Flag, offsetof(TfLiteStridedSliceParams, offset), 0, 8},
};

constexpr BuiltinField ArgMaxFields[] = {
    {"output_type", BuiltinKind::Type, offsetof(TfLiteArgMaxParams, output_type)},
};

constexpr BuiltinField SparseToDenseFields[] = {
    {"validate_indices", BuiltinKind::Flag, offsetof(TfLiteSparseToDenseParams, validate_indices)},
};

constexpr BuiltinField ShapeFields[] = {
    {"out_type", BuiltinKind::Type, offsetof(TfLiteShapeParams, out_type)},
};

constexpr BuiltinField FakeQuantFields[] = {
    {"min", BuiltinKind::Real, offsetof(TfLiteFakeQuantParams, min)},
    {"max", BuiltinKind::Real, offsetof(TfLiteFakeQuantParams, max)},
    {"num_bits", BuiltinKind::Int, offsetof(TfLiteFakeQuantParams, num_bits)},
    {"narrow_range", BuiltinKind::Flag, offsetof(TfLiteFakeQuantParams, narrow_range)},
};

constexpr BuiltinField PackFields[] = {
    {"values_count", BuiltinKind::Int, offsetof(TfLitePackParams, values_count)},
    {"axis", BuiltinKind::Int, offsetof(TfLitePackParams, axis)},
};

constexpr BuiltinField OneHotFields[] = {
    {"axis", BuiltinKind::Int, offsetof(TfLiteOneHotParams, axis)},
};

constexpr BuiltinField UnpackFields[] = {
    {"num", BuiltinKind::Int, offsetof(TfLiteUnpackParams, num)},
    {"axis", BuiltinKind::Int, offsetof(TfLiteUnpackParams, axis)},
};

constexpr BuiltinField UniqueFields[] = {
    {"idx_out_type", BuiltinKind::Type, offsetof(TfLiteUniqueParams, index_out_type)},
};

constexpr BuiltinField ReverseSequenceFields[] = {
    {"seq_dim", BuiltinKind::Int, offsetof(TfLiteReverseSequenceParams, seq_dim)},
    {"batch_dim", BuiltinKind::Int, offsetof(TfLiteReverseSequenceParams, batch_dim)},
};

constexpr BuiltinField MirrorPadFields[] = {
    {"mode", BuiltinKind::MirrorMode, offsetof(TfLiteMirrorPaddingParams, mode)},
};

constexpr BuiltinField CumsumFields[] = {
    {"exclusive", BuiltinKind::Flag, offsetof(TfLiteCumsumParams, exclusive)},
    {"reverse", BuiltinKind::Flag, offsetof(TfLiteCumsumParams, reverse)},
};

constexpr BuiltinField BucketizeFields[] = {
    {"boundaries", BuiltinKind::Reals, offsetof(TfLiteBucketizeParams, boundaries),
     offsetof(TfLiteBucketizeParams, num_boundaries)},
};

constexpr BuiltinField ReduceWindowFields[] = {
    {"reduce_function", BuiltinKind::Int, offsetof(TfLiteReduceWindowParams, reduce_function)},
};

constexpr BuiltinField StablehloGatherFields[] = {
    {"offset_dims", BuiltinKind::Int64s, offsetof(TfLiteStablehloGatherParams, offset_dims),
     offsetof(TfLiteStablehloGatherParams, num_offset_dims)},
    {"collapsed_slice_dims", BuiltinKind::Int64s, offsetof(TfLiteStablehloGatherParams, collapsed_slice_dims),
     offsetof(TfLiteStablehloGatherParams, num_collapsed_slice_dims)},
    {"start_index_map", BuiltinKind::Int64s, offsetof(TfLiteStablehloGatherParams, start_index_map),
     offsetof(TfLiteStablehloGatherParams, num_start_index_map)},
    {"index_vector_dim", BuiltinKind::Int64, offsetof(TfLiteStablehloGatherParams, index_vector_dim)},
    {"slice_sizes", BuiltinKind::Int64s, offsetof(TfLiteStablehloGatherParams, slice_sizes),
     offsetof(TfLiteStablehloGatherParams, num_slice_sizes)},
    {"indices_are_sorted", BuiltinKind::Flag, offsetof(TfLiteStablehloGatherParams, indices_are_sorted)},
};

constexpr BuiltinField StablehloScatterFields[] = {
    {"indices_are_sorted", BuiltinKind::Flag, offsetof(TfLiteStablehloScatterParams, indices_are_sorted)},
    {"update_window_dims", BuiltinKind::Int64s, offsetof(TfLiteStablehloScatterParams, update_window_dims),
     offsetof(TfLiteStablehloScatterParams, num_update_window_dims)},
    {"inserted_window_dims", BuiltinKind::Int64s, offsetof(TfLiteStablehloScatterParams, inserted_window_dims),
     offsetof(TfLiteStablehloScatterParams, num_inserted_window_dims)},
    {"scatter_dims_to_operand_dims", BuiltinKind::Int64s,
     offsetof(TfLiteStablehloScatterParams, scatter_dims_to_operand_dims),
     offsetof(TfLiteStablehloScatterParams, num_scatter_dims_to_operand_dims)},
    {"index_vector_dim", BuiltinKind::Int64, offsetof(TfLiteStablehloScatterParams, index_vector_dim)},
    {"unique_indices", BuiltinKind::Flag, offsetof(TfLiteStablehloScatterParams, unique_indices)},
    {"update_computation_subgraph_index", BuiltinKind::Int,
     offsetof(TfLiteStablehloScatterParams, update_computation_subgraph_index)},
};

constexpr BuiltinField StablehloPadFields[] = {
    {"edge_padding_low", BuiltinKind::RankInt64s, offsetof(TfLiteStablehloPadParams, edge_padding_low)},
    {"edge_padding_high", BuiltinKind::RankInt64s, offsetof(TfLiteStablehloPadParams, edge_padding_high)},
    {"interior_padding", BuiltinKind::RankInt64s, offsetof(TfLiteStablehloPadParams, interior_padding)},
};

constexpr BuiltinField StablehloReduceWindowFields[] = {
    {"window_dimensions", BuiltinKind::RankInt64s, offsetof(TfLiteStablehloReduceWindowParams, window_dimensions)},
    {"window_strides", BuiltinKind::RankInt64s, offsetof(TfLiteStablehloReduceWindowParams, window_strides)},
    {"base_dilations", BuiltinKind::RankInt64s, offsetof(TfLiteStablehloReduceWindowParams, base_dilations)},
    {"window_dilations", BuiltinKind::RankInt64s, offsetof(TfLiteStablehloReduceWindowParams, window_dilations)},
    {"padding", BuiltinKind::PairsInt64s, offsetof(TfLiteStablehloReduceWindowParams, padding)},
    {"body_subgraph_index", BuiltinKind::Int, offsetof(TfLiteStablehloReduceWindowParams, body_subgraph_index)},
};

constexpr BuiltinField RngBitGeneratorFields[] = {
    {"algorithm", BuiltinKind::RngAlgorithm, offsetof(TfLiteStablehloRngBitGeneratorParams, algorithm)},
};

/// Lists inside of structs have room for these many elements.
constexpr int64_t MaxElements = 8;

/// The members of one struct.
class StructReader
{
public:
    StructReader(const void* data, std::optional<uint32_t> rank)
        : m_Data(static_cast<const uint8_t*>(data)), m_Rank(rank)
    {
    }

    /// No value where the struct says that there is none.
    std::optional<Attribute::Value> Read(const BuiltinField& field) const
    {
        switch (field.m_Kind)
        {
        case BuiltinKind::Flag: return Load<uint8_t>(field.m_Offset) != 0;
        case BuiltinKind::Int: return int64_t{Load<int32_t>(field.m_Offset)};
        case BuiltinKind::Int64: return Load<int64_t>(field.m_Offset);
        case BuiltinKind::Real: return double{Load<float>(field.m_Offset)};
        case BuiltinKind::Type:
        {
            const auto type = static_cast<TfLiteType>(Load<int32_t>(field.m_Offset));
            return type == kTfLiteNoType ? std::nullopt : std::optional<Attribute::Value>(int64_t{ToFileType(type)});
        }
        // Of these the struct's number 0 says that the model's is unknown, and the others are one more than the file's.
        case BuiltinKind::Padding: return Shifted(field, kTfLitePaddingValid);
        case BuiltinKind::MirrorMode: return Shifted(field, kTfLiteMirrorPaddingSymmetric);
        case BuiltinKind::RngAlgorithm: return Shifted(field, kTfLiteRngAlgorithmThreefry);
        case BuiltinKind::Ints: return List<int32_t>(field.m_Offset, Count(field));
        case BuiltinKind::Int64s: return List<int64_t>(field.m_Offset, Count(field));
        case BuiltinKind::RankInt64s: return List<int64_t>(field.m_Offset, Rank(field));
        case BuiltinKind::PairsInt64s: return List<int64_t>(field.m_Offset, 2 * Rank(field));
        case BuiltinKind::Reals: return Reals(field);
        }
        return std::nullopt;
    }

private:
    template <typename T>
    T Load(size_t offset) const
    {
        T value;
        std::memcpy(&value, m_Data + offset, sizeof(T));
        return value;
    }

    int64_t Shifted(const BuiltinField& field, int32_t greatest) const
    {
        const auto value = Load<int32_t>(field.m_Offset);
        if (value < 1 || value > greatest)
        {
            throw ParseException(fmt::format("option {} is {} in the node, which does not exist", field.m_Name, value));
        }
        return int64_t{value} - 1;
    }

    size_t Count(const BuiltinField& field) const
    {
        const auto count = Load<int32_t>(field.m_CounterOffset);
        if (count < 0 || count > MaxElements)
        {
            throw ParseException(fmt::format("option {} has {} elements, at most {} are possible in a node",
                                             field.m_Name, count, MaxElements));
        }
        return static_cast<size_t>(count);
    }

    size_t Rank(const BuiltinField& field) const
    {
        if (!m_Rank.has_value())
        {
            throw UnimplementedException(fmt::format(
                "option {} has as many elements as input 0 has dimensions, which are not known", field.m_Name));
        }
        if (*m_Rank > MaxElements)
        {
            throw ParseException(fmt::format("option {} has room for {} elements, but input 0 has {} dimensions",
                                             field.m_Name, MaxElements, *m_Rank));
        }
        return *m_Rank;
    }

    template <typename T>
    std::vector<int64_t> List(size_t offset, size_t count) const
    {
        std::vector<int64_t> values;
        for (size_t i = 0; i < count; ++i)
        {
            values.push_back(Load<T>(offset + i * sizeof(T)));
        }
        return values;
    }

    std::vector<double> Reals(const BuiltinField& field) const
    {
        const auto count = Load<int32_t>(field.m_CounterOffset);
        const auto* values = Load<const float*>(field.m_Offset);
        if (count < 0 || (count > 0 && values == nullptr))
        {
            throw ParseException(fmt::format("option {} has {} elements{}", field.m_Name, count,
                                             values == nullptr ? " and no memory" : ""));
        }
        return {values, values + count};
    }

    const uint8_t* m_Data;
    std::optional<uint32_t> m_Rank;
};

} // namespace

Span<const BuiltinField> FieldsOf(int32_t builtin)
{
    switch (static_cast<BuiltinOperator>(builtin))
    {
    case BuiltinOperator::CONV_2D: return {Conv2dFields, std::size(Conv2dFields)};
    case BuiltinOperator::CONV_3D:
    case BuiltinOperator::CONV_3D_TRANSPOSE: return {Conv3dFields, std::size(Conv3dFields)};
    case BuiltinOperator::AVERAGE_POOL_2D:
    case BuiltinOperator::L2_POOL_2D:
    case BuiltinOperator::MAX_POOL_2D: return {Pool2dFields, std::size(Pool2dFields)};
    case BuiltinOperator::DEPTHWISE_CONV_2D: return {DepthwiseConv2dFields, std::size(DepthwiseConv2dFields)};
    case BuiltinOperator::TRANSPOSE_CONV: return {TransposeConvFields, std::size(TransposeConvFields)};
    case BuiltinOperator::FULLY_CONNECTED: return {FullyConnectedFields, std::size(FullyConnectedFields)};
    case BuiltinOperator::BATCH_MATMUL: return {BatchMatMulFields, std::size(BatchMatMulFields)};
    case BuiltinOperator::SVDF: return {SvdfFields, std::size(SvdfFields)};
    case BuiltinOperator::RNN: return {RnnFields, std::size(RnnFields)};
    case BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_RNN: return {SequenceRnnFields, std::size(SequenceRnnFields)};
    case BuiltinOperator::BIDIRECTIONAL_SEQUENCE_RNN:
        return {BidirectionalRnnFields, std::size(BidirectionalRnnFields)};
    case BuiltinOperator::LSTM: return {LstmFields, std::size(LstmFields)};
    case BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM: return {SequenceLstmFields, std::size(SequenceLstmFields)};
    case BuiltinOperator::BIDIRECTIONAL_SEQUENCE_LSTM:
        return {BidirectionalLstmFields, std::size(BidirectionalLstmFields)};
    case BuiltinOperator::SOFTMAX: return {SoftmaxFields, std::size(SoftmaxFields)};
    case BuiltinOperator::LEAKY_RELU: return {LeakyReluFields, std::size(LeakyReluFields)};
    case BuiltinOperator::GELU: return {GeluFields, std::size(GeluFields)};
    case BuiltinOperator::CONCATENATION: return {ConcatenationFields, std::size(ConcatenationFields)};
    case BuiltinOperator::ADD:
    case BuiltinOperator::SUB: return {SumFields, std::size(SumFields)};
    case BuiltinOperator::DIV:
    case BuiltinOperator::L2_NORMALIZATION:
    case BuiltinOperator::MUL: return {ActivationAloneFields, std::size(ActivationAloneFields)};
    case BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION: return {LocalResponseFields, std::size(LocalResponseFields)};
    case BuiltinOperator::RESIZE_BILINEAR:
    case BuiltinOperator::RESIZE_NEAREST_NEIGHBOR: return {ResizeFields, std::size(ResizeFields)};
    case BuiltinOperator::RESHAPE: return {ReshapeFields, std::size(ReshapeFields)};
    case BuiltinOperator::SQUEEZE: return {SqueezeFields, std::size(SqueezeFields)};
    case BuiltinOperator::DEPTH_TO_SPACE:
    case BuiltinOperator::SPACE_TO_DEPTH: return {BlockSizeFields, std::size(BlockSizeFields)};
    case BuiltinOperator::CAST: return {CastFields, std::size(CastFields)};
    case BuiltinOperator::EMBEDDING_LOOKUP_SPARSE:
        return {EmbeddingLookupSparseFields, std::size(EmbeddingLookupSparseFields)};
    case BuiltinOperator::GATHER: return {GatherFields, std::size(GatherFields)};
    case BuiltinOperator::MEAN:
    case BuiltinOperator::REDUCE_ALL:
    case BuiltinOperator::REDUCE_ANY:
    case BuiltinOperator::REDUCE_MAX:
    case BuiltinOperator::REDUCE_MIN:
    case BuiltinOperator::REDUCE_PROD:
    case BuiltinOperator::SUM: return {ReducerFields, std::size(ReducerFields)};
    case BuiltinOperator::SPLIT:
    case BuiltinOperator::SPLIT_V: return {SplitFields, std::size(SplitFields)};
    case BuiltinOperator::STRIDED_SLICE: return {StridedSliceFields, std::size(StridedSliceFields)};
    case BuiltinOperator::ARG_MAX:
    case BuiltinOperator::ARG_MIN: return {ArgMaxFields, std::size(ArgMaxFields)};
    case BuiltinOperator::SPARSE_TO_DENSE: return {SparseToDenseFields, std::size(SparseToDenseFields)};
    case BuiltinOperator::SHAPE: return {ShapeFields, std::size(ShapeFields)};
    case BuiltinOperator::FAKE_QUANT: return {FakeQuantFields, std::size(FakeQuantFields)};
    case BuiltinOperator::PACK: return {PackFields, std::size(PackFields)};
    case BuiltinOperator::ONE_HOT: return {OneHotFields, std::size(OneHotFields)};
    case BuiltinOperator::UNPACK: return {UnpackFields, std::size(UnpackFields)};
    case BuiltinOperator::UNIQUE: return {UniqueFields, std::size(UniqueFields)};
    case BuiltinOperator::REVERSE_SEQUENCE: return {ReverseSequenceFields, std::size(ReverseSequenceFields)};
    case BuiltinOperator::MIRROR_PAD: return {MirrorPadFields, std::size(MirrorPadFields)};
    case BuiltinOperator::CUMSUM: return {CumsumFields, std::size(CumsumFields)};
    case BuiltinOperator::BUCKETIZE: return {BucketizeFields, std::size(BucketizeFields)};
    case BuiltinOperator::REDUCE_WINDOW: return {ReduceWindowFields, std::size(ReduceWindowFields)};
    case BuiltinOperator::STABLEHLO_GATHER: return {StablehloGatherFields, std::size(StablehloGatherFields)};
    case BuiltinOperator::STABLEHLO_SCATTER: return {StablehloScatterFields, std::size(StablehloScatterFields)};
    case BuiltinOperator::STABLEHLO_PAD: return {StablehloPadFields, std::size(StablehloPadFields)};
    case BuiltinOperator::STABLEHLO_REDUCE_WINDOW:
        return {StablehloReduceWindowFields, std::size(StablehloReduceWindowFields)};
    case BuiltinOperator::STABLEHLO_RNG_BIT_GENERATOR: return {RngBitGeneratorFields, std::size(RngBitGeneratorFields)};
    default: return {};
    }
}

parsers::AttributeList ReadBuiltinData(int32_t builtin, int32_t version, const void* data, std::optional<uint32_t> rank)
{
    parsers::AttributeList list = tflite::ListOptions(builtin);
    const Span<const BuiltinField> fields = FieldsOf(builtin);
    list.m_IsPresent = data != nullptr && !fields.empty();
    if (!list.m_IsPresent)
    {
        return list;
    }
    const StructReader reader(data, rank);
    for (const BuiltinField& field : fields)
    {
        if (version < field.m_MinVersion)
        {
            continue; // older runtimes have shorter structs
        }
        std::optional<Attribute::Value> value = reader.Read(field);
        const auto attribute =
            std::find_if(list.m_Attributes.begin(), list.m_Attributes.end(),
                         [&](const Attribute& each) { return each.m_Name == std::string_view(field.m_Name); });
        if (value.has_value() && attribute != list.m_Attributes.end())
        {
            attribute->m_Value = *std::move(value);
            attribute->m_IsSet = true;
        }
    }
    return list;
}

int8_t ToFileType(TfLiteType type)
{
    static constexpr std::pair<TfLiteType, TensorType> types[] = {
        {kTfLiteFloat32, TensorType::FLOAT32},
        {kTfLiteInt32, TensorType::INT32},
        {kTfLiteUInt8, TensorType::UINT8},
        {kTfLiteInt64, TensorType::INT64},
        {kTfLiteString, TensorType::STRING},
        {kTfLiteBool, TensorType::BOOL},
        {kTfLiteInt16, TensorType::INT16},
        {kTfLiteComplex64, TensorType::COMPLEX64},
        {kTfLiteInt8, TensorType::INT8},
        {kTfLiteFloat16, TensorType::FLOAT16},
        {kTfLiteFloat64, TensorType::FLOAT64},
        {kTfLiteComplex128, TensorType::COMPLEX128},
        {kTfLiteUInt64, TensorType::UINT64},
        {kTfLiteResource, TensorType::RESOURCE},
        {kTfLiteVariant, TensorType::VARIANT},
        {kTfLiteUInt32, TensorType::UINT32},
        {kTfLiteUInt16, TensorType::UINT16},
        {kTfLiteInt4, TensorType::INT4},
        {kTfLiteBFloat16, TensorType::BFLOAT16},
        {kTfLiteInt2, TensorType::INT2},
        {kTfLiteUInt4, TensorType::UINT4},
        {kTfLiteFloat8E4M3FN, TensorType::FLOAT8_E4M3FN},
        {kTfLiteFloat8E5M2, TensorType::FLOAT8_E5M2},
    };
    const auto* found =
        std::find_if(std::begin(types), std::end(types), [&](const auto& each) { return each.first == type; });
    if (found == std::end(types))
    {
        throw UnimplementedException(
            fmt::format("is of the runtime's type {}, which is not supported", static_cast<int32_t>(type)));
    }
    return static_cast<int8_t>(found->second);
}

} // namespace tenon::delegate
