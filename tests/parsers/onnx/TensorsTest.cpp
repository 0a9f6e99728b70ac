// SPDX-License-Identifier: Apache-2.0
// Tests of tensors in .onnx files: data of each type in its field and as bytes, wrong lengths and sizes, sparse
// tensors.
#include "OnnxRun.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::test::onnx_tensors_test
{

using namespace model;
using testing::ElementsAre;
using testing::HasSubstr;

namespace
{

/// y is the tensor w.
Wire Stored(const Wire& tensor)
{
    return Model(Graph().Store(tensor).Add("Identity", {"w"}, {"y"}).Output("y"), 21);
}

Wire StoredSparse(const Wire& tensor)
{
    return Model(Graph().StoreSparse(tensor).Add("Identity", {"w"}, {"y"}).Output("y"), 21);
}

Data Read(const Wire& tensor)
{
    return RunModel(Stored(tensor)).at(0);
}

template <typename T>
void ExpectTyped(ElementType type, DataType layerType, const Wire& fields, const std::vector<T>& expected)
{
    SCOPED_TRACE(onnx::NameOf(type));
    const Sizes dims = {static_cast<int64_t>(expected.size())};
    const Data typed = Read(TensorOf("w", type, dims, fields));
    EXPECT_EQ(typed.m_Info.GetDataType(), layerType);
    EXPECT_EQ(typed.m_Bytes, BytesOf(Raw(expected)));
    EXPECT_EQ(Read(TensorOf("w", type, dims, Message(9, Raw(expected)))).m_Bytes, BytesOf(Raw(expected)));
}

} // namespace

TEST(OnnxTensors, DataOfEachType)
{
    ExpectTyped<float>(ElementType::Float, DataType::Float32, Message(4, Raw<float>({1.5f, -2.0f})), {1.5f, -2.0f});
    ExpectTyped<float>(ElementType::Float, DataType::Float32, Fixed32(4, 1.5f) + Fixed32(4, -2.0f), {1.5f, -2.0f});
    ExpectTyped<double>(ElementType::Double, DataType::Float64, Message(10, Raw<double>({1e300, -2.0})), {1e300, -2.0});
    ExpectTyped<int32_t>(ElementType::Int32, DataType::Signed32, Message(5, Varints({-7, 2147483647})),
                         {-7, 2147483647});
    ExpectTyped<int32_t>(ElementType::Int32, DataType::Signed32, Number(5, -7) + Number(5, 300), {-7, 300});
    ExpectTyped<int16_t>(ElementType::Int16, DataType::Signed16, Message(5, Varints({-7, 32767})), {-7, 32767});
    ExpectTyped<int8_t>(ElementType::Int8, DataType::Signed8, Message(5, Varints({-7, 127})), {-7, 127});
    ExpectTyped<uint16_t>(ElementType::UInt16, DataType::Unsigned16, Message(5, Varints({7, 65535})), {7, 65535});
    ExpectTyped<uint8_t>(ElementType::UInt8, DataType::Unsigned8, Message(5, Varints({7, 255})), {7, 255});
    ExpectTyped<bool>(ElementType::Bool, DataType::Boolean, Message(5, Varints({1, 0})), {true, false});
    ExpectTyped<uint16_t>(ElementType::Float16, DataType::Float16, Message(5, Varints({0x3c00, 0xc000})),
                          {0x3c00, 0xc000});
    ExpectTyped<uint16_t>(ElementType::BFloat16, DataType::BFloat16, Message(5, Varints({0x3f80, 0xc000})),
                          {0x3f80, 0xc000});
    ExpectTyped<int64_t>(ElementType::Int64, DataType::Signed64, Message(7, Varints({-7, INT64_MAX})), {-7, INT64_MAX});
    ExpectTyped<int64_t>(ElementType::Int64, DataType::Signed64, Number(7, INT64_MIN) + Number(7, 5), {INT64_MIN, 5});
    ExpectTyped<uint32_t>(ElementType::UInt32, DataType::Unsigned32, Message(11, Varints({7, 4294967295})),
                          {7, 4294967295u});
    ExpectTyped<uint64_t>(ElementType::UInt64, DataType::Unsigned64, Message(11, Varints({7, -1})), {7, UINT64_MAX});
    // Pairs.
    const Wire pair = Raw<float>({1.0f, 2.0f});
    EXPECT_EQ(Read(TensorOf("w", ElementType::Complex64, {1}, Message(4, pair))).m_Bytes, BytesOf(pair));
    EXPECT_EQ(Read(TensorOf("w", ElementType::Complex64, {}, Message(9, pair))).m_Info.GetDataType(),
              DataType::Complex64);
}

TEST(OnnxTensors, ShapesAndEmptyTensors)
{
    const Data scalar = Read(Floats("w", {}, {5.0f}));
    EXPECT_EQ(scalar.m_Info.GetNumDimensions(), 0u);
    EXPECT_THAT(scalar.Floats(), ElementsAre(5.0f));
    const Data empty = Read(TensorOf("w", ElementType::Float, {2, 0}, ""));
    EXPECT_EQ(empty.m_Info.GetShape(), TensorShape({2, 0}));
    EXPECT_TRUE(empty.m_Bytes.empty());
    EXPECT_EQ(Read(TensorOf("w", ElementType::Int64, {0}, Message(9, ""))).m_Info.GetShape(), TensorShape({0}));
}

TEST(OnnxTensors, LengthsThatDoNotFit)
{
    for (const Wire& fields :
         {Wire(), Message(9, ""), Message(9, "1234567"), Message(9, "123456789"), Message(4, Raw<float>({1.0f})),
          Message(4, Raw<float>({1.0f, 2.0f, 3.0f})), Message(4, "12345"), Message(5, Varints({1, 2}))})
    {
        const std::string error = ErrorOf(Stored(TensorOf("w", ElementType::Float, {2}, fields)));
        EXPECT_THAT(error, HasSubstr("tensor 'w': is"));
        EXPECT_THAT(error, HasSubstr("of 8 bytes, but has"));
    }
    EXPECT_THAT(ErrorOf(Stored(TensorOf("w", ElementType::Int64, {3}, Message(7, Varints({1, 2}))))),
                HasSubstr("of 24 bytes, but has 16"));
    EXPECT_THAT(ErrorOf(Stored(TensorOf("w", ElementType::Int64, {1}, Message(7, "\xff")))),
                HasSubstr("a list of numbers is damaged"));
    EXPECT_THAT(ErrorOf(Stored(TensorOf("w", ElementType::Int64, {1}, Message(7, Wire(11, '\xff'))))),
                HasSubstr("a list of numbers is damaged"));
}

TEST(OnnxTensors, SizesThatNoTensorHas)
{
    const auto error = [](const Sizes& dims) { return ErrorOf(Stored(TensorOf("w", ElementType::Float, dims, ""))); };
    EXPECT_THAT(error({2, -1}), HasSubstr("has size -1 in dimension 1"));
    EXPECT_THAT(error({INT64_MIN}), HasSubstr("has size -9223372036854775808"));
    EXPECT_THAT(error({INT64_MAX}), HasSubstr("too large"));
    EXPECT_THAT(error({int64_t{1} << 32}), HasSubstr("too large"));
    EXPECT_THAT(error(Sizes(8, 65536)), HasSubstr("tensor 'w'"));
    EXPECT_THAT(error({65536, 65536, 65536, 65536}), HasSubstr("tensor 'w'"));
    EXPECT_THAT(error({4294967295, 4294967295}), HasSubstr("tensor 'w'"));
    EXPECT_THAT(error(Sizes(9, 1)), HasSubstr("has rank 9, at most 8 is possible (Limits::m_MaxRank)"));
    EXPECT_THAT(error(Sizes(100000, 1)), HasSubstr("has rank 100000"));
    EXPECT_THAT(error({(1 << 30) + 1}), HasSubstr("the limit is 4294967296"));
    EXPECT_THAT(error({1 << 29}), HasSubstr("but has 0 bytes of data")) << "nothing is allocated for it";
    EXPECT_NO_THROW(Read(TensorOf("w", ElementType::Float, {0, 4294967295}, "")));
}

TEST(OnnxTensors, TypesThatNoLayerHas)
{
    for (const ElementType type :
         {ElementType::String, ElementType::Int2, ElementType::UInt2, ElementType::Float8E4M3FN,
          ElementType::Float4E2M1, ElementType::Undefined, static_cast<ElementType>(99), static_cast<ElementType>(-1)})
    {
        const std::string error = ErrorOf<UnimplementedException>(Stored(TensorOf("w", type, {1}, Message(9, "1"))));
        EXPECT_THAT(error, HasSubstr("element type " + onnx::NameOf(type) + " is not supported"));
        EXPECT_THAT(error, HasSubstr("tensor 'w'"));
        EXPECT_THAT(error, HasSubstr("Identity (ai.onnx version 21, 1 node)")) << "in the list of what cannot run";
    }
    EXPECT_THAT(ErrorOf<UnimplementedException>(
                    Stored(TensorOf("w", ElementType::Float, {1}, Message(3, "") + Fixed32(4, 1.0f)))),
                HasSubstr("is stored in segments"));
}

TEST(OnnxTensors, SparseTensors)
{
    const Wire values = Floats("w", {3}, {1.0f, 2.0f, 3.0f});
    const std::vector<float> expected = {0, 1, 0, 2, 0, 3};
    const Data flat = RunModel(StoredSparse(Sparse(values, Ints("", {3}, {1, 3, 5}), {2, 3}))).at(0);
    EXPECT_EQ(flat.Floats(), expected);
    EXPECT_EQ(flat.m_Info.GetShape(), TensorShape({2, 3}));
    EXPECT_EQ(RunModel(StoredSparse(Sparse(values, Ints("", {3, 2}, {0, 1, 1, 0, 1, 2}), {2, 3}))).at(0).Floats(),
              expected);
    EXPECT_EQ(RunModel(StoredSparse(Sparse(values, Ints("", {3}, {5, 3, 1}), {2, 3}))).at(0).Floats(),
              (std::vector<float>{0, 3, 0, 2, 0, 1}));
    const Data none = RunModel(StoredSparse(Sparse(Floats("w", {0}, {}), Ints("", {0}, {}), {2}))).at(0);
    EXPECT_THAT(none.Floats(), ElementsAre(0.0f, 0.0f));
    const Wire attribute = AttributeOf("sparse_value", AttributeType::SparseTensor,
                                       Message(22, Sparse(values, Ints("", {3}, {0, 1, 2}), {4})));
    EXPECT_THAT(RunModel(Model(Graph().Add("Constant", {}, {"y"}, {attribute}).Output("y"))).at(0).Floats(),
                ElementsAre(1.0f, 2.0f, 3.0f, 0.0f));
}

TEST(OnnxTensors, SparseTensorsThatContradictThemselves)
{
    const Wire values = Floats("w", {2}, {1.0f, 2.0f});
    const auto error = [&](const Wire& indices, const Sizes& dims = {2, 3})
    { return ErrorOf(StoredSparse(Sparse(values, indices, dims))); };
    EXPECT_THAT(error(Ints("", {2}, {0, 6})),
                HasSubstr("sparse tensor 'w': index 6 of value 1 is outside of 6 elements"));
    EXPECT_THAT(error(Ints("", {2}, {-1, 0})), HasSubstr("index -1 of value 0"));
    EXPECT_THAT(error(Ints("", {2}, {INT64_MIN, INT64_MAX})), HasSubstr("is outside of 6 elements"));
    EXPECT_THAT(error(Ints("", {2, 2}, {0, 0, 0, 3})), HasSubstr("index 3 of value 1 is outside of dimension 1"));
    EXPECT_THAT(error(Ints("", {2, 2}, {0, 0, 0, -1})), HasSubstr("index -1 of value 1 is outside of dimension 1"));
    for (const Wire& indices : {Ints("", {1}, {0}), Ints("", {2, 3}, {0, 0, 0, 0, 0, 0}), Ints("", {1, 2}, {0, 0}),
                                Ints("", {2, 1, 2}, {0, 0, 0, 0}), Ints("", {}, {0}), Tensor<int32_t>("", {2}, {0, 1})})
    {
        EXPECT_THAT(error(indices), HasSubstr("do not fit the shape [2,3]"));
    }
    EXPECT_THAT(error(Ints("", {2}, {0, 1}), {65536, 65536, 65536}), HasSubstr("the limit is"));
    EXPECT_THAT(error(Ints("", {2}, {0, 1}), {-2}), HasSubstr("has size -2"));
    EXPECT_NE(error(""), "no exception");
    Options options;
    options.m_Limits.m_MaxTotalBytes = 1000;
    EXPECT_THAT(ErrorOf(StoredSparse(Sparse(values, Ints("", {2}, {0, 1}), {300})), options),
                HasSubstr("sparse tensors have more than 1000 bytes together"));
}

} // namespace tenon::test::onnx_tensors_test
