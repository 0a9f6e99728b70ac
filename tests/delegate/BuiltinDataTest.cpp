// SPDX-License-Identifier: Apache-2.0
// Options of builtin operators, from TensorFlow Lite's structs.
#include "delegate/BuiltinData.hpp"

#include "delegate/NodeReader.hpp"
#include "parsers/common/AttributeView.hpp"
#include "parsers/tflite/OptionsReader.hpp"

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <tflite_generated.h>

namespace tenon::test::builtin_data_test
{

namespace
{

using namespace tenon::delegate;
using parsers::Attribute;
using parsers::AttributeList;
using testing::HasSubstr;
using Operator = tflite::schema::BuiltinOperator;

constexpr int32_t Newest = 99;

int32_t Number(Operator code)
{
    return static_cast<int32_t>(code);
}

/// The first `size` bytes of a struct, in a block that ends there.
template <typename Params>
std::vector<uint8_t> Bytes(const Params& params, size_t size = sizeof(Params))
{
    std::vector<uint8_t> bytes(size);
    std::memcpy(bytes.data(), &params, size);
    return bytes;
}

AttributeList Read(Operator code, const std::vector<uint8_t>& bytes, int32_t version = Newest,
                   std::optional<uint32_t> rank = std::nullopt)
{
    return ReadBuiltinData(Number(code), version, bytes.data(), rank);
}

/// "padding=1 stride_w=2": what is set, in the order of tflite.fbs.
std::string Text(const AttributeList& list)
{
    struct Writer
    {
        std::string operator()(std::monostate) const { return "?"; }
        std::string operator()(bool value) const { return value ? "true" : "false"; }
        std::string operator()(const std::string& value) const { return "'" + value + "'"; }
        std::string operator()(int64_t value) const { return fmt::format("{}", value); }
        std::string operator()(double value) const { return fmt::format("{}", value); }
        std::string operator()(const std::vector<int64_t>& value) const { return fmt::format("{}", value); }
        std::string operator()(const std::vector<double>& value) const { return fmt::format("{}", value); }
        std::string operator()(const std::vector<std::string>& value) const { return fmt::format("{}", value); }
    };
    std::string text;
    for (const Attribute& option : list.m_Attributes)
    {
        if (option.m_IsSet)
        {
            text +=
                fmt::format("{}{}={}", text.empty() ? "" : " ", option.m_Name, std::visit(Writer(), option.m_Value));
        }
    }
    return text;
}

template <typename E>
std::string ErrorOf(Operator code, const std::vector<uint8_t>& bytes, std::optional<uint32_t> rank = std::nullopt)
{
    try
    {
        Read(code, bytes, Newest, rank);
        ADD_FAILURE() << "nothing was thrown";
    }
    catch (const E& error)
    {
        return error.what();
    }
    return {};
}

/// A struct with a different value in each member, and what a row sees of it.
struct Case
{
    std::vector<Operator> m_Codes;
    std::vector<uint8_t> m_Bytes;
    std::string m_Text;
    std::optional<uint32_t> m_Rank = std::nullopt;
};

const std::vector<Case>& GetCases()
{
    static const float boundaries[] = {0.5f, 2.0f};
    using enum Operator;
    static const std::vector<Case> cases = {
        {{CONV_2D},
         Bytes(TfLiteConvParams{kTfLitePaddingValid, 2, 3, 4, 5, 6, kTfLiteInt64}),
         "padding=1 stride_w=2 stride_h=3 fused_activation_function=4 dilation_w_factor=5 dilation_h_factor=6 "
         "quantized_bias_type=4"},
        {{CONV_3D, CONV_3D_TRANSPOSE},
         Bytes(TfLiteConv3DParams{kTfLitePaddingSame, 2, 3, 4, 5, 6, 7, 1}),
         "padding=0 stride_d=4 stride_w=2 stride_h=3 fused_activation_function=1 dilation_d_factor=7 "
         "dilation_w_factor=5 dilation_h_factor=6"},
        {{AVERAGE_POOL_2D, L2_POOL_2D, MAX_POOL_2D},
         Bytes(TfLitePoolParams{kTfLitePaddingValid, 2, 3, 4, 5, 1, {}}),
         "padding=1 stride_w=2 stride_h=3 filter_width=4 filter_height=5 fused_activation_function=1"},
        {{DEPTHWISE_CONV_2D},
         Bytes(TfLiteDepthwiseConvParams{kTfLitePaddingValid, 2, 3, 4, 5, 6, 7}),
         "padding=1 stride_w=2 stride_h=3 depth_multiplier=4 fused_activation_function=5 dilation_w_factor=6 "
         "dilation_h_factor=7"},
        {{TRANSPOSE_CONV},
         Bytes(TfLiteTransposeConvParams{kTfLitePaddingValid, 2, 3, 4, kTfLiteInt32}),
         "padding=1 stride_w=2 stride_h=3 fused_activation_function=4 quantized_bias_type=2"},
        {{FULLY_CONNECTED},
         Bytes(TfLiteFullyConnectedParams{3, 1, true, false, kTfLiteInt32}),
         "fused_activation_function=3 weights_format=1 keep_num_dims=true asymmetric_quantize_inputs=false "
         "quantized_bias_type=2"},
        {{BATCH_MATMUL},
         Bytes(TfLiteBatchMatMulParams{true, false, true}),
         "adj_x=true adj_y=false asymmetric_quantize_inputs=true"},
        {{SVDF},
         Bytes(TfLiteSVDFParams{2, 1, true}),
         "rank=2 fused_activation_function=1 asymmetric_quantize_inputs=true"},
        {{RNN}, Bytes(TfLiteRNNParams{4, true}), "fused_activation_function=4 asymmetric_quantize_inputs=true"},
        {{UNIDIRECTIONAL_SEQUENCE_RNN},
         Bytes(TfLiteSequenceRNNParams{true, 4, false}),
         "time_major=true fused_activation_function=4 asymmetric_quantize_inputs=false"},
        {{BIDIRECTIONAL_SEQUENCE_RNN},
         Bytes(TfLiteBidirectionalSequenceRNNParams{true, 4, false, true}),
         "time_major=true fused_activation_function=4 merge_outputs=false asymmetric_quantize_inputs=true"},
        {{LSTM},
         Bytes(TfLiteLSTMParams{4, 0.5f, 0.25f, 1, true}),
         "fused_activation_function=4 cell_clip=0.5 proj_clip=0.25 kernel_type=1 asymmetric_quantize_inputs=true"},
        {{UNIDIRECTIONAL_SEQUENCE_LSTM},
         Bytes(TfLiteUnidirectionalSequenceLSTMParams{4, 0.5f, 0.25f, true, false, true}),
         "fused_activation_function=4 cell_clip=0.5 proj_clip=0.25 time_major=true asymmetric_quantize_inputs=false "
         "diagonal_recurrent_tensors=true"},
        {{BIDIRECTIONAL_SEQUENCE_LSTM},
         Bytes(TfLiteBidirectionalSequenceLSTMParams{4, 0.5f, 0.25f, true, false, true}),
         "fused_activation_function=4 cell_clip=0.5 proj_clip=0.25 merge_outputs=true time_major=false "
         "asymmetric_quantize_inputs=true"},
        {{SOFTMAX}, Bytes(TfLiteSoftmaxParams{0.5f}), "beta=0.5"},
        {{LEAKY_RELU}, Bytes(TfLiteLeakyReluParams{0.5f}), "alpha=0.5"},
        {{GELU}, Bytes(TfLiteGeluParams{true}), "approximate=true"},
        {{CONCATENATION}, Bytes(TfLiteConcatenationParams{-1, 2}), "axis=-1 fused_activation_function=2"},
        {{ADD, SUB}, Bytes(TfLiteAddParams{3, false}), "fused_activation_function=3 pot_scale_int16=false"},
        {{DIV, L2_NORMALIZATION, MUL}, Bytes(TfLiteMulParams{3}), "fused_activation_function=3"},
        {{LOCAL_RESPONSE_NORMALIZATION},
         Bytes(TfLiteLocalResponseNormParams{5, 1.5f, 0.5f, 0.25f}),
         "radius=5 bias=1.5 alpha=0.5 beta=0.25"},
        {{RESIZE_BILINEAR, RESIZE_NEAREST_NEIGHBOR},
         Bytes(TfLiteResizeBilinearParams{false, true}),
         "align_corners=false half_pixel_centers=true"},
        {{RESHAPE}, Bytes(TfLiteReshapeParams{{2, -1, 7, 7}, 2}), "new_shape=[2, -1]"},
        {{SQUEEZE}, Bytes(TfLiteSqueezeParams{{1, -1, 7}, 2}), "squeeze_dims=[1, -1]"},
        {{DEPTH_TO_SPACE, SPACE_TO_DEPTH}, Bytes(TfLiteSpaceToDepthParams{2}), "block_size=2"},
        {{CAST}, Bytes(TfLiteCastParams{kTfLiteInt8, kTfLiteFloat16}), "in_data_type=9 out_data_type=1"},
        {{EMBEDDING_LOOKUP_SPARSE}, Bytes(TfLiteEmbeddingLookupSparseParams{2}), "combiner=2"},
        {{GATHER}, Bytes(TfLiteGatherParams{-1, 1}), "axis=-1 batch_dims=1"},
        {{MEAN, REDUCE_ALL, REDUCE_ANY, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD, SUM},
         Bytes(TfLiteReducerParams{true}),
         "keep_dims=true"},
        {{SPLIT, SPLIT_V}, Bytes(TfLiteSplitParams{3}), "num_splits=3"},
        {{STRIDED_SLICE},
         Bytes(TfLiteStridedSliceParams{1, 2, 3, 4, 5, true}),
         "begin_mask=1 end_mask=2 ellipsis_mask=3 new_axis_mask=4 shrink_axis_mask=5 offset=true"},
        {{ARG_MAX, ARG_MIN}, Bytes(TfLiteArgMaxParams{kTfLiteInt32}), "output_type=2"},
        {{SPARSE_TO_DENSE}, Bytes(TfLiteSparseToDenseParams{true}), "validate_indices=true"},
        {{SHAPE}, Bytes(TfLiteShapeParams{kTfLiteInt64}), "out_type=4"},
        {{FAKE_QUANT},
         Bytes(TfLiteFakeQuantParams{-0.5f, 0.5f, 8, true}),
         "min=-0.5 max=0.5 num_bits=8 narrow_range=true"},
        {{PACK}, Bytes(TfLitePackParams{3, 1}), "values_count=3 axis=1"},
        {{ONE_HOT}, Bytes(TfLiteOneHotParams{-1}), "axis=-1"},
        {{UNPACK}, Bytes(TfLiteUnpackParams{3, 1}), "num=3 axis=1"},
        {{UNIQUE}, Bytes(TfLiteUniqueParams{kTfLiteInt64}), "idx_out_type=4"},
        {{REVERSE_SEQUENCE}, Bytes(TfLiteReverseSequenceParams{2, 1}), "seq_dim=2 batch_dim=1"},
        {{MIRROR_PAD}, Bytes(TfLiteMirrorPaddingParams{kTfLiteMirrorPaddingSymmetric}), "mode=1"},
        {{CUMSUM}, Bytes(TfLiteCumsumParams{true, false}), "exclusive=true reverse=false"},
        {{BUCKETIZE}, Bytes(TfLiteBucketizeParams{2, boundaries}), "boundaries=[0.5, 2]"},
        {{REDUCE_WINDOW}, Bytes(TfLiteReduceWindowParams{4}), "reduce_function=4"},
        {{STABLEHLO_GATHER},
         Bytes(TfLiteStablehloGatherParams{{1, 9}, 1, {2, 3, 9}, 2, {4, 9}, 1, 5, {6, 7, 8, 9}, 3, true}),
         "offset_dims=[1] collapsed_slice_dims=[2, 3] start_index_map=[4] index_vector_dim=5 slice_sizes=[6, 7, 8] "
         "indices_are_sorted=true"},
        {{STABLEHLO_SCATTER},
         Bytes(TfLiteStablehloScatterParams{true, {1, 9}, 1, {2, 3, 9}, 2, {4, 9}, 1, 5, true, 6}),
         "indices_are_sorted=true update_window_dims=[1] inserted_window_dims=[2, 3] scatter_dims_to_operand_dims=[4] "
         "index_vector_dim=5 unique_indices=true update_computation_subgraph_index=6"},
        {{STABLEHLO_PAD},
         Bytes(TfLiteStablehloPadParams{{1, -2, 9}, {3, 4, 9}, {5, 6, 9}}),
         "edge_padding_low=[1, -2] edge_padding_high=[3, 4] interior_padding=[5, 6]",
         2},
        {{STABLEHLO_REDUCE_WINDOW},
         Bytes(TfLiteStablehloReduceWindowParams{{1, 2, 99}, {3, 4}, {5, 6}, {7, 8}, {9, 10, 11, 12, 99}, 13}),
         "window_dimensions=[1, 2] window_strides=[3, 4] base_dilations=[5, 6] window_dilations=[7, 8] "
         "padding=[9, 10, 11, 12] body_subgraph_index=13",
         2},
        {{STABLEHLO_RNG_BIT_GENERATOR},
         Bytes(TfLiteStablehloRngBitGeneratorParams{kTfLiteRngAlgorithmThreefry}),
         "algorithm=2"},
    };
    return cases;
}

TfLiteRegistration RegistrationOf(Operator code)
{
    TfLiteRegistration registration{};
    registration.builtin_code = Number(code);
    registration.version = 1;
    return registration;
}

} // namespace

TEST(DelegateBuiltinData, EachMemberReachesItsOption)
{
    for (const Case& c : GetCases())
    {
        for (const Operator code : c.m_Codes)
        {
            SCOPED_TRACE(EnumNameBuiltinOperator(code));
            const AttributeList list = Read(code, c.m_Bytes, Newest, c.m_Rank);
            EXPECT_EQ(Text(list), c.m_Text);
            EXPECT_TRUE(list.m_IsPresent && list.m_IsComplete);
            EXPECT_EQ(FieldsOf(Number(code)).size(),
                      std::count_if(list.m_Attributes.begin(), list.m_Attributes.end(),
                                    [](const Attribute& option) { return option.m_IsSet; }))
                << "each member has an option of its own";
        }
    }
}

/// Each row's operator is left to TensorFlow Lite, or each of its options comes from a member, of the kind that rows
/// ask for.
TEST(DelegateBuiltinData, TheWholeOperatorTableHasFillers)
{
    std::set<Operator> tested;
    for (const Case& c : GetCases())
    {
        tested.insert(c.m_Codes.begin(), c.m_Codes.end());
    }
    const std::set<std::string_view> inNoStruct = {"new_height", "new_width"}; // deprecated, and read by nobody
    size_t numLeft = 0;
    for (const tflite::OperatorRow& row : tflite::GetRows(false))
    {
        SCOPED_TRACE(row.m_Name);
        const auto& codes = tflite::schema::EnumValuesBuiltinOperator();
        const auto* code = std::find_if(std::begin(codes), std::end(codes),
                                        [&](Operator each) { return row.m_Name == EnumNameBuiltinOperator(each); });
        ASSERT_NE(code, std::end(codes));
        const Span<const BuiltinField> fields = FieldsOf(Number(*code));
        EXPECT_EQ(FindRow(RegistrationOf(*code)), &row);
        if (ReasonToLeave(RegistrationOf(*code)) != nullptr)
        {
            ++numLeft;
            EXPECT_TRUE(fields.empty());
            continue;
        }
        const AttributeList options = tflite::ListOptions(Number(*code));
        std::set<std::string_view> filled;
        for (const BuiltinField& field : fields)
        {
            filled.insert(field.m_Name);
        }
        EXPECT_EQ(filled.size(), fields.size()) << "an option comes from two members";
        for (const Attribute& option : options.m_Attributes)
        {
            EXPECT_TRUE(filled.erase(option.m_Name) == 1 || inNoStruct.count(option.m_Name) == 1)
                << option.m_Name << " comes from no member";
        }
        EXPECT_TRUE(filled.empty()) << *filled.begin() << " is no option";
        EXPECT_EQ(tested.count(*code) == 1, !fields.empty()) << "its struct belongs into GetCases()";

        const auto found =
            std::find_if(GetCases().begin(), GetCases().end(),
                         [&](const Case& c) { return std::count(c.m_Codes.begin(), c.m_Codes.end(), *code) != 0; });
        if (found != GetCases().end())
        {
            const AttributeList read = Read(*code, found->m_Bytes, Newest, found->m_Rank);
            for (size_t i = 0; i < options.m_Attributes.size(); ++i)
            {
                EXPECT_EQ(read.m_Attributes[i].m_Name, options.m_Attributes[i].m_Name);
                EXPECT_EQ(read.m_Attributes[i].m_Value.index(), options.m_Attributes[i].m_Value.index())
                    << options.m_Attributes[i].m_Name << " is of another kind than in a file";
            }
        }
    }
    EXPECT_EQ(numLeft, 11U) << "calls, resource variables and random numbers";
}

TEST(DelegateBuiltinData, MembersOfLaterReleasesAreReadFromTheirVersionOn)
{
    struct Late
    {
        Operator m_Code;
        std::vector<uint8_t> m_Short; ///< as long as the releases before had it
        int32_t m_Version;            ///< the last one without the option
        std::vector<uint8_t> m_Long;
        std::string m_Option;
    };
    const TfLiteTransposeConvParams transposed{kTfLitePaddingSame, 1, 1, 1, kTfLiteInt32};
    const TfLiteConvParams conv{kTfLitePaddingSame, 1, 1, 0, 1, 1, kTfLiteInt32};
    const TfLiteFullyConnectedParams fullyConnected{0, 0, true, false, kTfLiteInt32};
    const TfLiteStridedSliceParams slice{0, 0, 0, 0, 0, true};
    const TfLiteUnidirectionalSequenceLSTMParams lstm{4, 0, 0, false, false, true};
    const Late cases[] = {
        {Operator::TRANSPOSE_CONV, Bytes(transposed, offsetof(TfLiteTransposeConvParams, activation)), 3,
         Bytes(transposed, offsetof(TfLiteTransposeConvParams, quantized_bias_type)), "fused_activation_function"},
        {Operator::TRANSPOSE_CONV, Bytes(transposed, offsetof(TfLiteTransposeConvParams, quantized_bias_type)), 4,
         Bytes(transposed), "quantized_bias_type"},
        {Operator::CONV_2D, Bytes(conv, offsetof(TfLiteConvParams, quantized_bias_type)), 7, Bytes(conv),
         "quantized_bias_type"},
        {Operator::FULLY_CONNECTED, Bytes(fullyConnected, offsetof(TfLiteFullyConnectedParams, quantized_bias_type)),
         10, Bytes(fullyConnected), "quantized_bias_type"},
        {Operator::STRIDED_SLICE, Bytes(slice, offsetof(TfLiteStridedSliceParams, offset)), 7, Bytes(slice), "offset"},
        {Operator::UNIDIRECTIONAL_SEQUENCE_LSTM,
         Bytes(lstm, offsetof(TfLiteUnidirectionalSequenceLSTMParams, diagonal_recurrent_tensors)), 3, Bytes(lstm),
         "diagonal_recurrent_tensors"},
    };
    for (const Late& c : cases)
    {
        SCOPED_TRACE(c.m_Option);
        const parsers::AttributeView before("before", Read(c.m_Code, c.m_Short, c.m_Version));
        EXPECT_FALSE(before.Has(c.m_Option));
        EXPECT_TRUE(before.HasOptions());
        const parsers::AttributeView after("after", Read(c.m_Code, c.m_Long, c.m_Version + 1));
        EXPECT_TRUE(after.Has(c.m_Option));
    }
}

TEST(DelegateBuiltinData, WithoutAStructNothingIsSet)
{
    const AttributeList list = ReadBuiltinData(Number(Operator::CONV_2D), Newest, nullptr, std::nullopt);
    EXPECT_FALSE(list.m_IsPresent);
    EXPECT_TRUE(list.m_IsComplete);
    EXPECT_EQ(list.m_Attributes.size(), 7U);
    EXPECT_EQ(Text(list), "");
    // Options without fields may have a struct of one byte, which nobody reads.
    const uint8_t anything = 7;
    EXPECT_TRUE(ReadBuiltinData(Number(Operator::PAD), Newest, &anything, std::nullopt).m_Attributes.empty());
    EXPECT_TRUE(ReadBuiltinData(100000, Newest, &anything, std::nullopt).m_Attributes.empty());
    EXPECT_TRUE(ReadBuiltinData(-1, Newest, &anything, std::nullopt).m_Attributes.empty());
}

TEST(DelegateBuiltinData, TypesThatAreNotSaidAreNotSet)
{
    EXPECT_EQ(Text(Read(Operator::CAST, Bytes(TfLiteCastParams{kTfLiteNoType, kTfLiteNoType}))), "");
    EXPECT_THAT(ErrorOf<UnimplementedException>(
                    Operator::SHAPE, Bytes(TfLiteShapeParams{static_cast<TfLiteType>(kTfLiteFloat8E5M2 + 1)})),
                HasSubstr("type 24"));
}

TEST(DelegateBuiltinData, RefusesWhatTheFormatDoesNotHave)
{
    const auto padding = [](int32_t value) {
        return Bytes(TfLitePoolParams{static_cast<TfLitePadding>(value), 1, 1, 1, 1, 0, {}});
    };
    for (const int32_t value : {-1, 0, 3})
    {
        SCOPED_TRACE(value);
        EXPECT_THAT(ErrorOf<ParseException>(Operator::MAX_POOL_2D, padding(value)),
                    HasSubstr(fmt::format("option padding is {}", value)));
        EXPECT_THAT(ErrorOf<ParseException>(Operator::MIRROR_PAD, Bytes(TfLiteMirrorPaddingParams{
                                                                      static_cast<TfLiteMirrorPaddingMode>(value)})),
                    HasSubstr(fmt::format("option mode is {}", value)));
    }
    for (const int32_t value : {0, 4})
    {
        EXPECT_THAT(ErrorOf<ParseException>(
                        Operator::STABLEHLO_RNG_BIT_GENERATOR,
                        Bytes(TfLiteStablehloRngBitGeneratorParams{static_cast<TfLiteRngAlgorithm>(value)})),
                    HasSubstr(fmt::format("option algorithm is {}", value)));
    }
    for (const int32_t count : {-1, 9, INT32_MAX, INT32_MIN})
    {
        SCOPED_TRACE(count);
        const std::string text = fmt::format("{} elements", count);
        EXPECT_THAT(ErrorOf<ParseException>(Operator::RESHAPE, Bytes(TfLiteReshapeParams{{}, count})), HasSubstr(text));
        EXPECT_THAT(ErrorOf<ParseException>(Operator::SQUEEZE, Bytes(TfLiteSqueezeParams{{}, count})), HasSubstr(text));
        TfLiteStablehloGatherParams gather{};
        gather.num_slice_sizes = count;
        EXPECT_THAT(ErrorOf<ParseException>(Operator::STABLEHLO_GATHER, Bytes(gather)), HasSubstr(text));
    }
    EXPECT_THAT(ErrorOf<ParseException>(Operator::BUCKETIZE, Bytes(TfLiteBucketizeParams{3, nullptr})),
                HasSubstr("3 elements and no memory"));
    const float boundary = 1;
    EXPECT_THAT(ErrorOf<ParseException>(Operator::BUCKETIZE, Bytes(TfLiteBucketizeParams{-3, &boundary})),
                HasSubstr("-3 elements"));
    EXPECT_EQ(Text(Read(Operator::BUCKETIZE, Bytes(TfLiteBucketizeParams{0, nullptr}))), "boundaries=[]");
    EXPECT_EQ(Text(Read(Operator::RESHAPE, Bytes(TfLiteReshapeParams{{1, 2, 3, 4, 5, 6, 7, 8}, 8}))),
              "new_shape=[1, 2, 3, 4, 5, 6, 7, 8]");
}

TEST(DelegateBuiltinData, ListsByRankNeedTheRank)
{
    const std::vector<uint8_t> pad = Bytes(TfLiteStablehloPadParams{});
    EXPECT_THAT(ErrorOf<UnimplementedException>(Operator::STABLEHLO_PAD, pad), HasSubstr("edge_padding_low"));
    EXPECT_THAT(ErrorOf<ParseException>(Operator::STABLEHLO_PAD, pad, 9), HasSubstr("9 dimensions"));
    const std::vector<uint8_t> window = Bytes(TfLiteStablehloReduceWindowParams{});
    EXPECT_THAT(ErrorOf<ParseException>(Operator::STABLEHLO_REDUCE_WINDOW, window, 9), HasSubstr("9 dimensions"));
    EXPECT_THAT(Text(Read(Operator::STABLEHLO_REDUCE_WINDOW, window, Newest, 8)),
                HasSubstr("padding=[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]"));
    EXPECT_THAT(Text(Read(Operator::STABLEHLO_PAD, pad, Newest, 0)), HasSubstr("edge_padding_low=[]"));
}

TEST(DelegateBuiltinData, EveryTypeOfTheFormatHasANumber)
{
    std::set<int> seen;
    for (int32_t type = kTfLiteFloat32; type <= kTfLiteFloat8E5M2; ++type)
    {
        seen.insert(ToFileType(static_cast<TfLiteType>(type)));
    }
    EXPECT_EQ(seen.size(), std::size(tflite::schema::EnumValuesTensorType()));
    EXPECT_EQ(ToFileType(kTfLiteInt8), static_cast<int8_t>(tflite::schema::TensorType::INT8));
    EXPECT_THROW(ToFileType(kTfLiteNoType), UnimplementedException);
}

} // namespace tenon::test::builtin_data_test
