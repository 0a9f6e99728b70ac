// SPDX-License-Identifier: Apache-2.0
// Operators that move stored values or compare them, where the quantization of their outputs is not that of their
// inputs: what TFLite's reference kernels refuse, copy and rescale, each with their results.
#include "parsers/ModelRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace tenon::test::stored_values_test
{

namespace
{

using testing::ElementsAreArray;
using testing::HasSubstr;

using Op = schema::BuiltinOperator;
using Type = schema::TensorType;
using Bytes = std::vector<uint8_t>;

struct Quantization
{
    float m_Scale;
    int64_t m_ZeroPoint;
};

constexpr Quantization Given = {1.0f, 1};
constexpr Quantization Other = {0.5f, 0};

/// A model of one operator under construction. Data is [4, 7, 10, 13] of shape [2, 2], or as asked for.
class Maker
{
public:
    explicit Maker(Type type) : m_Type(type) {}

    int32_t Data(std::vector<int32_t> shape = {2, 2}, Quantization quantization = Given)
    {
        uint32_t count = 1;
        std::vector<unsigned int> sizes;
        for (const int32_t size : shape)
        {
            count *= static_cast<uint32_t>(size);
            sizes.push_back(static_cast<unsigned int>(size));
        }
        Bytes bytes;
        for (uint32_t i = 0; i < count; ++i)
        {
            bytes.push_back(static_cast<uint8_t>(4 + 3 * i));
            if (m_Type == Type::INT16)
            {
                bytes.push_back(0);
            }
        }
        m_Inputs.push_back({sizes.empty() ? TensorShape(Dimensionality::Scalar)
                                          : TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data()),
                            bytes});
        const int32_t index = m_Model.AddInput("in" + std::to_string(m_Inputs.size()), shape, m_Type);
        Quantize(index, quantization);
        return index;
    }
    int32_t Out(std::vector<int32_t> shape = {2, 2})
    {
        const int32_t index = m_Model.AddOutput("out", std::move(shape), m_Type);
        Quantize(index, Other);
        return index;
    }
    /// A constant of another shape than a list.
    int32_t Integers(std::vector<int32_t> shape, const std::vector<int32_t>& values)
    {
        return m_Model.AddConstant("integers", std::move(shape), values, Type::INT32);
    }
    int32_t Integers(const std::vector<int32_t>& values) { return m_Model.AddIntegers("integers", values); }

    Type m_Type;
    ModelBuilder m_Model;
    std::vector<tenon::test::Data> m_Inputs;

private:
    void Quantize(int32_t index, Quantization quantization)
    {
        m_Model.Quantize(index, {quantization.m_Scale}, {m_Type == Type::INT16 ? 0 : quantization.m_ZeroPoint});
    }
};

/// First output, as numbers.
std::vector<int> RunOf(const Maker& maker)
{
    const tenon::test::Data result = ModelRun(maker.m_Model).Run(maker.m_Inputs).at(0);
    std::vector<int> numbers;
    switch (maker.m_Type)
    {
    case Type::INT8:
        for (const int8_t value : result.As<int8_t>())
        {
            numbers.push_back(value);
        }
        break;
    case Type::INT16:
        for (const int16_t value : result.As<int16_t>())
        {
            numbers.push_back(value);
        }
        break;
    default: numbers.assign(result.m_Bytes.begin(), result.m_Bytes.end()); break;
    }
    return numbers;
}

struct Case
{
    const char* m_Name;
    std::function<void(Maker&)> m_Make;
    std::vector<int> m_Expected; ///< empty: refused
    std::vector<Type> m_Types = {Type::INT8, Type::UINT8, Type::INT16};
};

std::vector<Case> Refused()
{
    return {
        {"PACK",
         [](Maker& m)
         {
             schema::PackOptionsT options;
             options.values_count = 2;
             m.m_Model.AddOperator(Op::PACK, {m.Data(), m.Data()}, {m.Out({2, 2, 2})}, options);
         },
         {}},
        {"UNPACK",
         [](Maker& m)
         {
             schema::UnpackOptionsT options;
             options.num = 2;
             m.m_Model.AddOperator(Op::UNPACK, {m.Data()}, {m.Out({2}), m.Out({2})}, options);
         },
         {}},
        {"EXPAND_DIMS",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::EXPAND_DIMS, {m.Data(), m.Integers({}, {0})}, {m.Out({1, 2, 2})});
         },
         {}},
        {"PADV2",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::PADV2, {m.Data(), m.Integers({2, 2}, {1, 0, 0, 0}), m.Data({1})},
                                   {m.Out({3, 2})});
         },
         {}},
        {"MIRROR_PAD",
         [](Maker& m)
         {
             m.m_Model.AddOperator(Op::MIRROR_PAD, {m.Data(), m.Integers({2, 2}, {1, 0, 0, 0})}, {m.Out({3, 2})},
                                   schema::MirrorPadOptionsT());
         },
         {}},
        {"SPACE_TO_BATCH_ND",
         [](Maker& m)
         {
             m.m_Model.AddOperator(Op::SPACE_TO_BATCH_ND,
                                   {m.Data({1, 2, 2, 1}), m.Integers({2, 2}), m.Integers({2, 2}, {0, 0, 0, 0})},
                                   {m.Out({4, 1, 1, 1})});
         },
         {}},
        {"BATCH_TO_SPACE_ND",
         [](Maker& m)
         {
             m.m_Model.AddOperator(Op::BATCH_TO_SPACE_ND,
                                   {m.Data({4, 1, 1, 1}), m.Integers({2, 2}), m.Integers({2, 2}, {0, 0, 0, 0})},
                                   {m.Out({1, 2, 2, 1})});
         },
         {}},
        {"FILL",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::FILL, {m.Integers({2, 2}), m.Data({})}, {m.Out()});
         },
         {}},
        {"REDUCE_MAX",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::REDUCE_MAX, {m.Data(), m.Integers({0})}, {m.Out({2})},
                                   schema::ReducerOptionsT());
         },
         {}},
        {"REDUCE_MIN",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::REDUCE_MIN, {m.Data(), m.Integers({0})}, {m.Out({2})},
                                   schema::ReducerOptionsT());
         },
         {}},
    };
}

std::vector<Case> Copied()
{
    const std::vector<int> same = {4, 7, 10, 13};
    const std::vector<Type> bytes = {Type::INT8, Type::UINT8};
    return {
        {"SPLIT",
         [](Maker& m)
         {
             schema::SplitOptionsT options;
             options.num_splits = 2;
             m.m_Model.AddOperator(Op::SPLIT, {m.Integers({}, {0}), m.Data()}, {m.Out({1, 2}), m.Out({1, 2})}, options);
         },
         {4, 7}},
        {"SPLIT_V",
         [](Maker& m)
         {
             schema::SplitVOptionsT options;
             options.num_splits = 2;
             m.m_Model.AddOperator(Op::SPLIT_V, {m.Data(), m.Integers({1, 1}), m.Integers({}, {0})},
                                   {m.Out({1, 2}), m.Out({1, 2})}, options);
         },
         {4, 7}},
        {"RESHAPE",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::RESHAPE, {m.Data(), m.Integers({4})}, {m.Out({4})});
         },
         same},
        {"SQUEEZE",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::SQUEEZE, {m.Data({1, 4})}, {m.Out({4})}, schema::SqueezeOptionsT());
         },
         same},
        {"TRANSPOSE",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::TRANSPOSE, {m.Data(), m.Integers({1, 0})}, {m.Out()});
         },
         {4, 10, 7, 13}},
        {"SLICE",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::SLICE, {m.Data(), m.Integers({1, 0}), m.Integers({1, 2})}, {m.Out({1, 2})});
         },
         {10, 13}},
        {"STRIDED_SLICE",
         [](Maker& m)
         {
             m.m_Model.AddOperator(Op::STRIDED_SLICE,
                                   {m.Data(), m.Integers({0, 1}), m.Integers({2, 2}), m.Integers({1, 1})},
                                   {m.Out({2, 1})}, schema::StridedSliceOptionsT());
         },
         {7, 13}},
        {"GATHER",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::GATHER, {m.Data(), m.Integers({1, 0})}, {m.Out()}, schema::GatherOptionsT());
         },
         {10, 13, 4, 7}},
        {"GATHER_ND",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::GATHER_ND, {m.Data(), m.Integers({2, 1}, {1, 0})}, {m.Out()});
         },
         {10, 13, 4, 7}},
        {"BROADCAST_TO",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::BROADCAST_TO, {m.Data({1, 2}), m.Integers({2, 2})}, {m.Out()});
         },
         {4, 7, 4, 7}},
        {"TILE",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::TILE, {m.Data({1, 2}), m.Integers({2, 1})}, {m.Out()});
         },
         {4, 7, 4, 7}},
        {"REVERSE_V2",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::REVERSE_V2, {m.Data(), m.Integers({0})}, {m.Out()});
         },
         {10, 13, 4, 7}},
        {"SPACE_TO_DEPTH",
         [](Maker& m)
         {
             schema::SpaceToDepthOptionsT options;
             options.block_size = 2;
             m.m_Model.AddOperator(Op::SPACE_TO_DEPTH, {m.Data({1, 2, 2, 1})}, {m.Out({1, 1, 1, 4})}, options);
         },
         same, bytes},
        {"DEPTH_TO_SPACE",
         [](Maker& m)
         {
             schema::DepthToSpaceOptionsT options;
             options.block_size = 2;
             m.m_Model.AddOperator(Op::DEPTH_TO_SPACE, {m.Data({1, 1, 1, 4})}, {m.Out({1, 2, 2, 1})}, options);
         },
         same, bytes},
        {"DYNAMIC_UPDATE_SLICE",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::DYNAMIC_UPDATE_SLICE, {m.Data(), m.Data({1, 2}, Other), m.Integers({1, 0})},
                                   {m.Out()});
         },
         {4, 7, 4, 7}},
        {"REVERSE_SEQUENCE",
         [](Maker& m)
         {
             schema::ReverseSequenceOptionsT options;
             options.seq_dim = 1;
             m.m_Model.AddOperator(Op::REVERSE_SEQUENCE, {m.Data(), m.Integers({2, 1})}, {m.Out()}, options);
         },
         {7, 4, 10, 13}},
        {"SELECT",
         [](Maker& m)
         {
             const int32_t condition = m.m_Model.AddConstant<uint8_t>("condition", {2, 2}, {1, 0, 0, 1}, Type::BOOL);
             m.m_Model.AddOperator(Op::SELECT, {condition, m.Data(), m.Data({2, 2}, Other)}, {m.Out()});
         },
         same},
        {"SELECT_V2",
         [](Maker& m)
         {
             const int32_t condition = m.m_Model.AddConstant<uint8_t>("condition", {2, 1}, {1, 0}, Type::BOOL);
             m.m_Model.AddOperator(Op::SELECT_V2, {condition, m.Data(), m.Data({1, 2}, Other)}, {m.Out()});
         },
         {4, 7, 4, 7}},
        {"MATRIX_DIAG",
         [](Maker& m) { m.m_Model.AddOperator(Op::MATRIX_DIAG, {m.Data({2})}, {m.Out()}); },
         {4, 0, 0, 7}},
        {"MATRIX_SET_DIAG",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::MATRIX_SET_DIAG, {m.Data(), m.Data({2}, Other)}, {m.Out()});
         },
         {4, 7, 10, 7}},
        {"RESIZE_BILINEAR",
         [](Maker& m)
         {
             m.m_Model.AddOperator(Op::RESIZE_BILINEAR, {m.Data({1, 2, 2, 1}), m.Integers({1, 1})},
                                   {m.Out({1, 1, 1, 1})}, schema::ResizeBilinearOptionsT());
         },
         {4}},
        {"TOPK_V2",
         [](Maker& m)
         {
             m.m_Model.AddOperator(Op::TOPK_V2, {m.Data(), m.Integers({}, {1})},
                                   {m.Out({2, 1}), m.m_Model.AddOutput("places", {2, 1}, Type::INT32)});
         },
         {7, 13}},
        {"RESIZE_NEAREST_NEIGHBOR",
         [](Maker& m)
         {
             m.m_Model.AddOperator(Op::RESIZE_NEAREST_NEIGHBOR, {m.Data({1, 1, 2, 1}), m.Integers({2, 2})},
                                   {m.Out({1, 2, 2, 1})}, schema::ResizeNearestNeighborOptionsT());
         },
         {4, 7, 4, 7}},
        {"MAXIMUM",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::MAXIMUM, {m.Data(), m.Data({2, 1}, Other)}, {m.Out()});
         },
         {4, 7, 10, 13}},
        {"MINIMUM",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::MINIMUM, {m.Data(), m.Data({2, 1}, Other)}, {m.Out()});
         },
         {4, 4, 7, 7}},
        {"MAX_POOL_2D",
         [](Maker& m)
         {
             schema::Pool2DOptionsT options;
             options.filter_height = options.filter_width = 2;
             options.stride_h = options.stride_w = 1;
             options.padding = schema::Padding::VALID;
             m.m_Model.AddOperator(Op::MAX_POOL_2D, {m.Data({1, 2, 2, 1})}, {m.Out({1, 1, 1, 1})}, options);
         },
         {13}},
        {"AVERAGE_POOL_2D",
         [](Maker& m)
         {
             schema::Pool2DOptionsT options;
             options.filter_height = options.filter_width = 2;
             options.stride_h = options.stride_w = 1;
             options.padding = schema::Padding::VALID;
             m.m_Model.AddOperator(Op::AVERAGE_POOL_2D, {m.Data({1, 2, 2, 1})}, {m.Out({1, 1, 1, 1})}, options);
         },
         {9}},
        {"CONCATENATION",
         [](Maker& m)
         {
             m.m_Model.AddOperator(Op::CONCATENATION, {m.Data({2, 1}), m.Data({2, 1})}, {m.Out({4, 1})},
                                   schema::ConcatenationOptionsT());
         },
         {4, 7, 4, 7},
         {Type::INT16}},
    };
}

std::vector<Case> Rescaled()
{
    return {
        {"CONCATENATION",
         [](Maker& m)
         {
             m.m_Model.AddOperator(Op::CONCATENATION, {m.Data({2, 1}), m.Data({2, 1}, Other)}, {m.Out({4, 1})},
                                   schema::ConcatenationOptionsT());
         },
         {6, 12, 4, 7},
         {Type::INT8, Type::UINT8}},
        // The padding is a real 0.
        {"PAD",
         [](Maker& m) {
             m.m_Model.AddOperator(Op::PAD, {m.Data({1, 2}), m.Integers({2, 2}, {1, 0, 0, 0})}, {m.Out()});
         },
         {0, 0, 4, 7}},
    };
}

} // namespace

TEST(TfLiteStoredValues, OperatorsThatNeedOneQuantizationAreRefused)
{
    for (const Case& test : Refused())
    {
        for (const Type type : test.m_Types)
        {
            SCOPED_TRACE(std::string(test.m_Name) + " " + schema::EnumNameTensorType(type));
            Maker maker(type);
            test.m_Make(maker);
            const std::string error = ErrorOf<ParseException>(maker.m_Model);
            EXPECT_THAT(error, HasSubstr(test.m_Name));
            EXPECT_THAT(error, HasSubstr("'out' has scale 0.5 and zero point 0"));
            EXPECT_THAT(error, HasSubstr(type == Type::INT16 ? "has scale 1 and zero point 0"
                                                             : "has scale 1 and zero point 1"));
            EXPECT_THAT(error, HasSubstr("QUANTIZE"));
        }
    }
}

TEST(TfLiteStoredValues, OthersCopyWhateverTheQuantization)
{
    for (const Case& test : Copied())
    {
        for (const Type type : test.m_Types)
        {
            SCOPED_TRACE(std::string(test.m_Name) + " " + schema::EnumNameTensorType(type));
            Maker maker(type);
            test.m_Make(maker);
            EXPECT_THAT(RunOf(maker), ElementsAreArray(test.m_Expected));
        }
    }
}

TEST(TfLiteStoredValues, SomeRescale)
{
    for (const Case& test : Rescaled())
    {
        for (const Type type : test.m_Types)
        {
            SCOPED_TRACE(std::string(test.m_Name) + " " + schema::EnumNameTensorType(type));
            Maker maker(type);
            test.m_Make(maker);
            EXPECT_THAT(RunOf(maker), ElementsAreArray(test.m_Expected));
        }
    }
}

/// Scales that are powers of two: TFLite shifts one input where the option says so, and takes the way of all other
/// scales where it does not or where there are no options.
TEST(TfLiteStoredValues, SumsOf16BitsShiftOnlyWhereTheOptionSaysSo)
{
    const std::vector<int16_t> a = {0, 0, 1, 1, -1, -1, 5, 100, 32767};
    const std::vector<int16_t> b = {1, -1, 1, -1, 1, -1, 3, -7, 32767};
    const auto run = [&](Op code, auto options, bool hasOptions)
    {
        ModelBuilder model;
        const int32_t x = model.AddInput("x", {9}, Type::INT16);
        const int32_t y = model.AddInput("y", {9}, Type::INT16);
        const int32_t out = model.AddOutput("out", {9}, Type::INT16);
        model.Quantize(x, {1.0f / 2048}, {0}).Quantize(y, {1.0f / 4096}, {0}).Quantize(out, {1.0f / 2048}, {0});
        if (hasOptions)
        {
            model.AddOperator(code, {x, y}, {out}, options);
        }
        else
        {
            model.AddOperator(code, {x, y}, {out});
        }
        return ModelRun(model).Run({Data::Of<int16_t>({9}, a), Data::Of<int16_t>({9}, b)}).at(0).As<int16_t>();
    };
    schema::AddOptionsT add;
    schema::SubOptionsT sub;
    EXPECT_THAT(run(Op::ADD, add, true), ElementsAreArray({1, -1, 2, 0, 0, -2, 7, 96, 32767}));
    EXPECT_THAT(run(Op::SUB, sub, true), ElementsAreArray({-1, 1, 0, 2, -2, 0, 3, 104, 16383}));
    EXPECT_THAT(run(Op::ADD, add, false), ElementsAreArray({1, -1, 2, 1, -1, -2, 7, 97, 32767}));
    EXPECT_THAT(run(Op::SUB, sub, false), ElementsAreArray({-1, 1, 1, 2, -2, -1, 4, 104, 16384}));
    add.pot_scale_int16 = sub.pot_scale_int16 = false;
    EXPECT_THAT(run(Op::ADD, add, true), ElementsAreArray({1, -1, 2, 1, -1, -2, 7, 97, 32767}));
    EXPECT_THAT(run(Op::SUB, sub, true), ElementsAreArray({-1, 1, 1, 2, -2, -1, 4, 104, 16384}));
    // A fused activation bounds the sum as the output's own scale says.
    add.fused_activation_function = schema::ActivationFunctionType::RELU_N1_TO_1;
    EXPECT_THAT(run(Op::ADD, add, true), ElementsAreArray({1, -1, 2, 1, -1, -2, 7, 97, 2048}));
}

/// Sizes are [batch, time, data], of which time_major would make [time, batch, data]. TFLite has no time_major where
/// there are no options, though its default is true.
TEST(TfLiteStoredValues, BidirectionalLstmWithoutOptionsIsBatchMajor)
{
    const auto run = [](bool hasOptions)
    {
        ModelBuilder model;
        std::vector<int32_t> operands = {model.AddInput("x", {2, 3, 1})};
        for (int direction = 0; direction < 2; ++direction)
        {
            for (const std::vector<int32_t>& shape : {std::vector<int32_t>{1, 1}, {1, 1}, {}, {1}})
            {
                for (int gate = 0; gate < (shape.empty() ? 3 : 4); ++gate) // of peephole weights there are none
                {
                    operands.push_back(shape.empty() ? -1 : model.AddFloats("w", shape));
                }
            }
            operands.insert(operands.end(), {-1, -1}); // projection
        }
        for (int state = 0; state < 4; ++state)
        {
            operands.push_back(model.AddTensor("state", {2, 1}));
            model.Tensor(operands.back()).is_variable = true;
        }
        operands.insert(operands.end(), 9, -1); // auxiliary input
        const std::vector<int32_t> results = {model.AddOutput("fw", {2, 3, 1}), model.AddOutput("bw", {2, 3, 1})};
        schema::BidirectionalSequenceLSTMOptionsT options;
        options.time_major = false;
        if (hasOptions)
        {
            model.AddOperator(Op::BIDIRECTIONAL_SEQUENCE_LSTM, operands, results, options);
        }
        else
        {
            model.AddOperator(Op::BIDIRECTIONAL_SEQUENCE_LSTM, operands, results);
        }
        const Data x = Data::Of<float>({2, 3, 1}, {0.5f, -1.0f, 2.0f, 0.25f, 1.0f, -0.5f});
        return ModelRun(model).Run({x}).at(0).As<float>();
    };
    EXPECT_EQ(run(false), run(true));
}

} // namespace tenon::test::stored_values_test
