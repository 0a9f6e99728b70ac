// SPDX-License-Identifier: Apache-2.0
// Tests of how the .tflite parser reads tensors: types, quantization, constants and where their memory is.
#include "parsers/ModelBuilder.hpp"

#include <tenon/TensorHandle.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::tensors_test
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using Operator = ModelBuilder::Operator;
using Type = ModelBuilder::Type;

/// One input of the type, which is an output too.
ModelBuilder PassThrough(Type type, std::vector<int32_t> shape = {2, 3})
{
    ModelBuilder model;
    model.Graph().outputs = {model.AddInput("x", std::move(shape), type)};
    return model;
}

/// The binding's info, less that it is constant, as all of inputs are.
TensorInfo InfoOf(const ModelBuilder& model)
{
    TensorInfo info = Parsed(model).m_Parser->GetNetworkInputBindingInfo(0, "x").second;
    EXPECT_TRUE(info.IsConstant());
    info.SetConstant(false);
    return info;
}

/// A constant that is an output; tensor 0.
template <typename T>
ModelBuilder ConstantModel(std::vector<int32_t> shape, const std::vector<T>& values, Type type)
{
    ModelBuilder model;
    model.Graph().outputs = {model.AddConstant("c", std::move(shape), values, type)};
    return model;
}

ConstTensor ConstantOf(const IConnectableLayer& layer)
{
    const ConstTensorHandle& handle = *layer.GetConstantTensorsByRef().front().get();
    return ConstTensor(handle.GetTensorInfo(), handle.Map());
}

ConstTensor ConstantOf(const Parsed& parsed)
{
    return ConstantOf(parsed.The(LayerType::Constant));
}

/// A constant [2, 4] with blocks of 2 that is an output, tensor 0, and its scales, tensor 1.
ModelBuilder BlockModel(Type type)
{
    ModelBuilder model = type == Type::INT4 ? ConstantModel<uint8_t>({2, 4}, {0x21, 0x43, 0x65, 0x87}, type)
                                            : ConstantModel<int8_t>({2, 4}, {1, 2, 3, 4, 5, 6, 7, -8}, type);
    schema::BlockwiseQuantizationT blocks;
    blocks.scales = model.AddConstant<uint16_t>("s", {2, 2}, {0x3800, 0x3C00, 0x4000, 1}, Type::FLOAT16);
    blocks.block_size = 2;
    model.Quantize(0, {}, {});
    model.Tensor(0).quantization->details.Set(std::move(blocks));
    return model;
}

schema::BlockwiseQuantizationT& BlocksOf(ModelBuilder& model)
{
    return *model.Tensor(0).quantization->details.AsBlockwiseQuantization();
}

} // namespace

TEST(TfLiteTensors, EachTypeHasADataType)
{
    const std::pair<Type, DataType> types[] = {
        {Type::FLOAT32, DataType::Float32},       {Type::FLOAT16, DataType::Float16},
        {Type::INT32, DataType::Signed32},        {Type::UINT8, DataType::Unsigned8},
        {Type::INT64, DataType::Signed64},        {Type::BOOL, DataType::Boolean},
        {Type::INT16, DataType::Signed16},        {Type::COMPLEX64, DataType::Complex64},
        {Type::INT8, DataType::Signed8},          {Type::FLOAT64, DataType::Float64},
        {Type::COMPLEX128, DataType::Complex128}, {Type::UINT64, DataType::Unsigned64},
        {Type::UINT32, DataType::Unsigned32},     {Type::UINT16, DataType::Unsigned16},
        {Type::INT4, DataType::QSymmS4},          {Type::BFLOAT16, DataType::BFloat16},
    };
    for (const auto& [type, expected] : types)
    {
        EXPECT_EQ(InfoOf(PassThrough(type)), TensorInfo({2, 3}, expected)) << EnumNameTensorType(type);
    }
    for (const Type type :
         {Type::STRING, Type::RESOURCE, Type::VARIANT, Type::INT2, Type::UINT4, Type::FLOAT8_E4M3FN, Type::FLOAT8_E5M2})
    {
        const std::string text = ErrorOf<UnimplementedException>(PassThrough(type));
        EXPECT_THAT(text, HasSubstr("tensor 'x'"));
        EXPECT_THAT(text, HasSubstr(EnumNameTensorType(type)));
    }
    EXPECT_THAT(ErrorOf<ParseException>(PassThrough(static_cast<Type>(99))), HasSubstr("type 99"));
}

TEST(TfLiteTensors, AScaleMakesIntegersQuantized)
{
    const std::pair<Type, DataType> types[] = {{Type::UINT8, DataType::QAsymmU8},
                                               {Type::INT8, DataType::QAsymmS8},
                                               {Type::INT16, DataType::QSymmS16},
                                               {Type::INT4, DataType::QSymmS4},
                                               {Type::INT32, DataType::Signed32}};
    for (const auto& [type, expected] : types)
    {
        const TensorInfo info = InfoOf(PassThrough(type).Quantize(0, {0.5f}, {3}));
        EXPECT_EQ(info, TensorInfo({2, 3}, expected, 0.5f, 3)) << EnumNameTensorType(type);
    }
    // A scale of 0 is none, and a float tensor has none whatever is written at it.
    EXPECT_EQ(InfoOf(PassThrough(Type::INT8).Quantize(0, {0.0f}, {0})), TensorInfo({2, 3}, DataType::Signed8));
    EXPECT_EQ(InfoOf(PassThrough(Type::FLOAT32).Quantize(0, {0.5f}, {3})), TensorInfo({2, 3}, DataType::Float32));
}

TEST(TfLiteTensors, ScalesPerAxis)
{
    const TensorInfo symmetric = InfoOf(PassThrough(Type::INT8).Quantize(0, {1, 2, 3}, {0, 0, 0}, 1));
    EXPECT_EQ(symmetric.GetDataType(), DataType::QSymmS8);
    EXPECT_THAT(symmetric.GetQuantizationScales(), ElementsAre(1, 2, 3));
    EXPECT_EQ(symmetric.GetQuantizationDim().value(), 1u);

    const TensorInfo asymmetric = InfoOf(PassThrough(Type::INT8).Quantize(0, {1, 2}, {5, -5}, 0));
    EXPECT_EQ(asymmetric.GetDataType(), DataType::QAsymmS8);
    EXPECT_THAT(asymmetric.GetQuantizationOffsets(), ElementsAre(5, -5));

    // Missing zero points are 0; one stands for all.
    EXPECT_THAT(InfoOf(PassThrough(Type::UINT8).Quantize(0, {1, 2}, {}, 0)).GetQuantizationOffsets(),
                ElementsAre(0, 0));
    EXPECT_THAT(InfoOf(PassThrough(Type::UINT8).Quantize(0, {1, 2}, {9}, 0)).GetQuantizationOffsets(),
                ElementsAre(9, 9));
}

TEST(TfLiteTensors, BiasScalesThatDoNotFitAreDropped)
{
    // Some converters write the weights' dimension at the bias.
    EXPECT_EQ(InfoOf(PassThrough(Type::INT32, {3}).Quantize(0, {1, 2, 3}, {0, 0, 0}, 3)),
              TensorInfo({3}, DataType::Signed32));
    EXPECT_EQ(InfoOf(PassThrough(Type::INT64, {3}).Quantize(0, {1, 2}, {}, 0)), TensorInfo({3}, DataType::Signed64));
    EXPECT_THAT(InfoOf(PassThrough(Type::INT32, {3}).Quantize(0, {1, 2, 3}, {}, 0)).GetQuantizationScales(),
                ElementsAre(1, 2, 3));
}

TEST(TfLiteTensors, RefusesBadQuantization)
{
    const auto refuses =
        [](Type type, std::vector<float> scales, std::vector<int64_t> zeroPoints, int32_t dimension, const char* text)
    {
        ModelBuilder model = PassThrough(type);
        model.Quantize(0, std::move(scales), std::move(zeroPoints), dimension);
        EXPECT_THAT(ErrorOf<ParseException>(model), HasSubstr(text));
    };
    refuses(Type::INT8, {NAN}, {0}, 0, "scale 0 of 1 is nan");
    refuses(Type::INT8, {1, INFINITY}, {0}, 0, "scale 1 of 2 is inf");
    refuses(Type::INT8, {-1}, {0}, 0, "is -1");
    refuses(Type::INT8, {1, 2, 3}, {}, 0, "3 scales along dimension 0 of shape [2,3]");
    refuses(Type::INT8, {1, 2}, {}, 2, "along dimension 2");
    refuses(Type::INT8, {1, 2}, {}, -1, "along dimension -1");
    refuses(Type::INT8, {1}, {0, 0}, 0, "2 zero points for 1 scales");
    refuses(Type::INT8, {1}, {128}, 0, "outside of INT8");
    refuses(Type::UINT8, {1}, {-1}, 0, "outside of UINT8");
    refuses(Type::INT32, {1}, {int64_t{1} << 40}, 0, "outside of INT32");

    ModelBuilder others = PassThrough(Type::INT8).Quantize(0, {1}, {0});
    others.Tensor(0).quantization->details.Set(schema::MultiAxisQuantizationT());
    EXPECT_THAT(ErrorOf<UnimplementedException>(others), HasSubstr("MultiAxisQuantization, which is not supported"));
    others.Tensor(0).quantization->details.Set(schema::BlockwiseQuantizationT());
    others.Tensor(0).type = Type::UINT8;
    EXPECT_THAT(ErrorOf<UnimplementedException>(others), HasSubstr("BlockwiseQuantization, which is not supported"));
}

TEST(TfLiteTensors, BlocksHaveTheirScalesInAnotherTensor)
{
    for (const bool isInt4 : {true, false})
    {
        ModelBuilder model = BlockModel(isInt4 ? Type::INT4 : Type::INT8);
        const TensorInfo info = ConstantOf(Parsed(model)).GetInfo();
        TensorInfo wanted({2, 4}, isInt4 ? DataType::QSymmS4 : DataType::QSymmS8,
                          std::vector<float>{0.5f, 1.0f, 2.0f, 0x1p-24f}, 1, true);
        wanted.SetQuantizationBlockSize(2);
        EXPECT_EQ(info, wanted);

        // What the quantizer writes, and what it may write: no zero points, or zeros.
        BlocksOf(model).zero_points = -1;
        EXPECT_EQ(ConstantOf(Parsed(model)).GetInfo(), wanted);
        BlocksOf(model).zero_points = model.AddConstant<int8_t>("z", {1}, {0}, Type::INT8);
        EXPECT_EQ(ConstantOf(Parsed(model)).GetInfo(), wanted);
        BlocksOf(model).zero_points = model.AddConstant<int64_t>("zz", {4}, {0, 0, 0, 0}, Type::INT64);
        BlocksOf(model).block_shape = {1, 2};
        EXPECT_EQ(ConstantOf(Parsed(model)).GetInfo(), wanted);
        BlocksOf(model).scales = model.AddConstant<float>("floats", {4}, {0.5f, 1.0f, 2.0f, 0x1p-24f}, Type::FLOAT32);
        EXPECT_EQ(ConstantOf(Parsed(model)).GetInfo(), wanted);
    }
    // A type that has no quantization has no blocks either.
    ModelBuilder floats = ConstantModel<float>({2}, {1, 2}, Type::FLOAT32);
    floats.Quantize(0, {}, {});
    floats.Tensor(0).quantization->details.Set(schema::BlockwiseQuantizationT());
    EXPECT_EQ(ConstantOf(Parsed(floats)).GetInfo(), TensorInfo({2}, DataType::Float32, 0.0f, 0, true));
}

TEST(TfLiteTensors, RefusesBadBlocks)
{
    const auto refuses = [](const auto& change, const char* text)
    {
        SCOPED_TRACE(text);
        ModelBuilder model = BlockModel(Type::INT4);
        change(model, BlocksOf(model));
        try
        {
            Parsed parsed(model);
            ADD_FAILURE() << "nothing was thrown";
        }
        catch (const Exception& error)
        {
            EXPECT_THAT(error.what(), HasSubstr(text));
            EXPECT_THAT(error.what(), HasSubstr("tensor 'c'"));
        }
    };
    using Blocks = schema::BlockwiseQuantizationT;
    for (const int32_t index : {-1, 0, 3, INT32_MAX, INT32_MIN})
    {
        refuses([index](ModelBuilder&, Blocks& blocks) { blocks.scales = index; }, "that must be another one of the 2");
    }
    refuses([](ModelBuilder&, Blocks& blocks) { blocks.zero_points = 9; }, "its zero points are tensor 9");
    for (const int32_t size : {0, -2, 3, 8, INT32_MAX})
    {
        refuses([size](ModelBuilder&, Blocks& blocks) { blocks.block_size = size; }, "which do not divide");
    }
    refuses([](ModelBuilder&, Blocks& blocks) { blocks.block_shape = {2, 1}; }, "blocks of shape [2,1]");
    refuses([](ModelBuilder&, Blocks& blocks) { blocks.block_shape = {1, 1, 2}; }, "along the last dimension");
    refuses([](ModelBuilder&, Blocks& blocks) { blocks.block_size = 1; }, "tensor 's', have 8 bytes of FLOAT16 for 8");
    refuses([](ModelBuilder&, Blocks& blocks) { blocks.block_size = 4; }, "tensor 's', have 8 bytes of FLOAT16 for 2");
    refuses([](ModelBuilder& model, Blocks&) { model.Tensor(1).buffer = 0; }, "tensor 's', have no values");
    refuses([](ModelBuilder& model, Blocks&) { model.Tensor(1).type = Type::INT16; }, "tensor 's', are of type INT16");
    refuses([](ModelBuilder& model, Blocks&) { model.Tensor(1).buffer = 77; }, "buffer 77 does not exist");
    refuses([](ModelBuilder& model, Blocks&) { model.Tensor(0).shape = {8, 1}; }, "which do not divide");
    refuses([](ModelBuilder& model, Blocks&) { model.Tensor(0).shape = {-1, 4}; }, "not known");
    refuses([](ModelBuilder& model, Blocks&) { model.Tensor(0).shape = {1 << 30, 1 << 30, 4}; }, "for 2");
    refuses([](ModelBuilder& model, Blocks&) { model.Tensor(0).shape = {}; }, "which do not divide");
    refuses([](ModelBuilder& model, Blocks&) { model.Tensor(0).buffer = 0; }, "for constants alone");
    for (const auto& [bits, name] : {std::pair(0x7E00, "nan"), std::pair(0x7C00, "inf"), std::pair(0xB800, "-0.5")})
    {
        refuses(
            [bits = bits](ModelBuilder& model, Blocks& blocks)
            {
                blocks.scales =
                    model.AddConstant<uint16_t>("bad", {4}, {0x3800, 0, static_cast<uint16_t>(bits), 0}, Type::FLOAT16);
            },
            (std::string("scale 2 of 4 is ") + name).c_str());
    }
    const auto withZeroPoints = [](std::vector<int8_t> values, Type type)
    {
        return [values = std::move(values), type](ModelBuilder& model, Blocks& blocks)
        { blocks.zero_points = model.AddConstant("z", {static_cast<int32_t>(values.size())}, values, type); };
    };
    refuses(withZeroPoints({0, 0, 3, 0}, Type::INT8), "tensor 'z', are not all 0");
    refuses(withZeroPoints({3}, Type::UINT8), "tensor 'z', are not all 0");
    refuses(withZeroPoints({0, 0, 0}, Type::INT8), "tensor 'z', have 3 bytes of INT8 for 4 blocks");
    refuses(withZeroPoints({0, 0, 0}, Type::INT32), "tensor 'z', have 3 bytes of INT32 for 4 blocks");
    refuses(withZeroPoints({0, 0, 0, 0}, Type::FLOAT32), "tensor 'z', are of type FLOAT32");
}

TEST(TfLiteTensors, RefusesBadShapes)
{
    EXPECT_THAT(ErrorOf<ParseException>(PassThrough(Type::FLOAT32, {2, -2})), HasSubstr("size -2 in dimension 1"));
    EXPECT_THAT(ErrorOf<ParseException>(PassThrough(Type::FLOAT32, {1, 1, 1, 1, 1, 1, 1, 1, 1})), HasSubstr("rank 9"));
    EXPECT_THAT(ErrorOf<ParseException>(PassThrough(Type::FLOAT32, {1 << 30, 1 << 30, 1 << 30})),
                HasSubstr("more elements"));
    EXPECT_THAT(ErrorOf<ParseException>(PassThrough(Type::FLOAT32, {1 << 30, 2})),
                HasSubstr(sizeof(size_t) == 4 ? "address space" : "m_MaxTensorBytes"));
    EXPECT_EQ(InfoOf(PassThrough(Type::FLOAT32, {1 << 30, 0, 1 << 30})).GetNumBytes(), 0u);
    EXPECT_EQ(InfoOf(PassThrough(Type::FLOAT32, {-1, 3})).GetShape(), TensorShape({0, 3}, {false, true}));
}

TEST(TfLiteTensors, BufferAndShapeMustAgree)
{
    EXPECT_NO_THROW(Parsed(ConstantModel<float>({2, 2}, {1, 2, 3, 4}, Type::FLOAT32)));
    EXPECT_THAT(ErrorOf<ParseException>(ConstantModel<float>({2, 2}, {1, 2, 3}, Type::FLOAT32)),
                HasSubstr("16 bytes, but its buffer 1 has 12"));
    EXPECT_THROW(Parsed(ConstantModel<float>({-1, 2}, {1, 2}, Type::FLOAT32)), ParseException);
    // Two 4-bit elements a byte, the last one alone.
    EXPECT_NO_THROW(Parsed(ConstantModel<uint8_t>({3}, {0x21, 0x03}, Type::INT4)));
    EXPECT_THROW(Parsed(ConstantModel<uint8_t>({3}, {1, 2, 3}, Type::INT4)), ParseException);

    ModelBuilder missing = ConstantModel<float>({1}, {1}, Type::FLOAT32);
    missing.Tensor(0).buffer = 7;
    EXPECT_THAT(ErrorOf<ParseException>(missing), HasSubstr("buffer 7 does not exist"));
    ModelBuilder variable = ConstantModel<float>({1}, {1}, Type::FLOAT32);
    variable.Tensor(0).is_variable = true;
    EXPECT_THAT(ErrorOf<ParseException>(variable), HasSubstr("both variable and constant"));
}

TEST(TfLiteTensors, ConstantsWithoutElementsOrRank)
{
    ModelBuilder scalar = ConstantModel<float>({}, {5}, Type::FLOAT32);
    scalar.Tensor(0).has_rank = false; // its one element says so
    EXPECT_TRUE(ConstantOf(Parsed(scalar)).GetShape().IsScalar());

    // Nothing feeds or computes it, and it needs nobody to.
    ModelBuilder empty;
    empty.Graph().outputs = {empty.AddTensor("c", {0, 7})};
    EXPECT_EQ(ConstantOf(Parsed(empty)).GetNumBytes(), 0u);
}

TEST(TfLiteTensors, DataBehindTheFlatbuffer)
{
    ModelBuilder model = ConstantModel<float>({2}, {1, 2}, Type::FLOAT32);
    auto& buffer = *model.Model().buffers[1];
    buffer.data.clear();
    buffer.offset = 4096;
    buffer.size = 8;
    std::vector<uint8_t> bytes = model.Build();
    ASSERT_LT(bytes.size(), 4096u);
    bytes.resize(4096);
    const float values[] = {3, 4};
    const auto* data = reinterpret_cast<const uint8_t*>(values);
    bytes.insert(bytes.end(), data, data + sizeof(values));
    const Parsed parsed(bytes);
    EXPECT_EQ(static_cast<const float*>(ConstantOf(parsed).GetMemoryArea())[1], 4.0f);

    bytes.pop_back();
    EXPECT_THROW(Parsed{bytes}, ParseException);
    buffer.offset = ~uint64_t{0} - 3;
    EXPECT_THAT(ErrorOf<ParseException>(model), HasSubstr("outside of the file"));
    buffer.offset = 16;
    buffer.size = ~uint64_t{0};
    EXPECT_THAT(ErrorOf<ParseException>(model), HasSubstr("outside of the file"));

    ModelBuilder other = ConstantModel<float>({1}, {1}, Type::FLOAT32);
    other.Tensor(0).external_buffer = 1;
    EXPECT_THAT(ErrorOf<ParseException>(other), HasSubstr("external buffer 1 does not exist"));
}

TEST(TfLiteTensors, AlignedConstantsAreUsedInPlace)
{
    ModelBuilder model = ConstantModel<double>({2}, {1, 2}, Type::FLOAT64);
    model.Graph().outputs.push_back(model.AddConstant("bytes", {3}, std::vector<int8_t>{7, 8, 9}, Type::INT8));
    const std::vector<uint8_t> bytes = model.Build();
    const auto isInside = [](const void* memory, const std::vector<uint8_t>& range)
    { return memory >= range.data() && memory < range.data() + range.size(); };

    // Once as it is, once eight bytes further on average: a shift of 4 aligns the floats of one of both differently.
    for (const size_t shift : {size_t{0}, size_t{8}, size_t{4}, size_t{1}})
    {
        SCOPED_TRACE(shift);
        std::vector<uint8_t> memory(bytes.size() + 16);
        std::copy(bytes.begin(), bytes.end(), memory.begin() + static_cast<std::ptrdiff_t>(shift));
        const ITfLiteParserPtr parser = ITfLiteParser::Create();
        const INetworkPtr network = parser->CreateNetworkFromMemory(memory.data() + shift, bytes.size());
        Parsed::Collector layers;
        network->ExecuteStrategy(layers);
        for (const IConnectableLayer* layer : layers.m_All)
        {
            if (layer->GetType() == LayerType::Constant)
            {
                const ConstTensor tensor = ConstantOf(*layer);
                const auto address = reinterpret_cast<uintptr_t>(tensor.GetMemoryArea());
                const bool isFloat = tensor.GetDataType() == DataType::Float64;
                EXPECT_EQ(address % (isFloat ? 8 : 1), 0u);
                EXPECT_EQ(isInside(tensor.GetMemoryArea(), memory), shift % 8 == 0);
                if (isFloat)
                {
                    EXPECT_EQ(static_cast<const double*>(tensor.GetMemoryArea())[1], 2.0);
                }
            }
        }
    }
}

TEST(TfLiteTensors, MisalignedConstantsAreCopied)
{
    ModelBuilder model = ConstantModel<int64_t>({1}, {77}, Type::INT64);
    auto& buffer = *model.Model().buffers[1];
    const std::vector<uint8_t> value = buffer.data;
    buffer.data.clear();
    buffer.offset = 2044; // four bytes off
    buffer.size = 8;
    std::vector<uint8_t> bytes = model.Build();
    bytes.resize(2044);
    bytes.insert(bytes.end(), value.begin(), value.end());
    const Parsed parsed(bytes);
    const void* memory = ConstantOf(parsed).GetMemoryArea();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 8, 0u);
    EXPECT_EQ(*static_cast<const int64_t*>(memory), 77);
}

namespace
{

/// [[1, 0, 2, 3], [0, 4, 0, 0]] with rows dense and columns sparse.
ModelBuilder SparseModel()
{
    ModelBuilder model = ConstantModel<float>({2, 4}, {1, 2, 3, 4}, Type::FLOAT32);
    auto sparsity = std::make_unique<schema::SparsityParametersT>();
    sparsity->traversal_order = {0, 1};
    auto rows = std::make_unique<schema::DimensionMetadataT>();
    rows->dense_size = 2;
    sparsity->dim_metadata.push_back(std::move(rows));
    auto columns = std::make_unique<schema::DimensionMetadataT>();
    columns->format = schema::DimensionType::SPARSE_CSR;
    schema::Int32VectorT segments;
    segments.values = {0, 3, 4};
    columns->array_segments.Set(std::move(segments));
    schema::Uint8VectorT indices;
    indices.values = {0, 2, 3, 1};
    columns->array_indices.Set(std::move(indices));
    sparsity->dim_metadata.push_back(std::move(columns));
    model.Tensor(0).sparsity = std::move(sparsity);
    return model;
}

std::vector<float> Floats(const ConstTensor& tensor)
{
    const auto* values = static_cast<const float*>(tensor.GetMemoryArea());
    return {values, values + tensor.GetNumElements()};
}

} // namespace

TEST(TfLiteTensors, SparseConstantsAreWrittenOutInFull)
{
    EXPECT_THAT(Floats(ConstantOf(Parsed(SparseModel()))), ElementsAre(1, 0, 2, 3, 0, 4, 0, 0));

    // Columns before rows.
    ModelBuilder transposed = ConstantModel<float>({4, 2}, {1, 2, 3, 4}, Type::FLOAT32);
    transposed.Tensor(0).sparsity = std::move(SparseModel().Tensor(0).sparsity);
    transposed.Tensor(0).sparsity->traversal_order = {1, 0};
    EXPECT_THAT(Floats(ConstantOf(Parsed(transposed))), ElementsAre(1, 0, 0, 4, 2, 0, 3, 0));

    // DENSIFY is then nothing to do.
    ModelBuilder densify = SparseModel();
    densify.Graph().outputs = {densify.AddTensor("dense", {2, 4})};
    densify.AddOperator(Operator::DENSIFY, {0}, {1});
    EXPECT_THAT(Floats(ConstantOf(Parsed(densify))), ElementsAre(1, 0, 2, 3, 0, 4, 0, 0));
}

TEST(TfLiteTensors, SparseBlocks)
{
    // [4, 4] in blocks of 2 x 2, of which those at (0, 1) and (1, 0) are there.
    ModelBuilder model = ConstantModel<float>({4, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, Type::FLOAT32);
    auto sparsity = std::make_unique<schema::SparsityParametersT>();
    sparsity->traversal_order = {0, 1, 2, 3};
    sparsity->block_map = {0, 1};
    for (int level = 0; level < 4; ++level)
    {
        sparsity->dim_metadata.push_back(std::make_unique<schema::DimensionMetadataT>());
        sparsity->dim_metadata.back()->dense_size = 2;
    }
    auto& columns = *sparsity->dim_metadata[1];
    columns.format = schema::DimensionType::SPARSE_CSR;
    schema::Uint16VectorT segments;
    segments.values = {0, 1, 2};
    columns.array_segments.Set(std::move(segments));
    schema::Uint16VectorT indices;
    indices.values = {1, 0};
    columns.array_indices.Set(std::move(indices));
    model.Tensor(0).sparsity = std::move(sparsity);
    EXPECT_THAT(Floats(ConstantOf(Parsed(model))), ElementsAre(0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0));
}

TEST(TfLiteTensors, RefusesBadSparsity)
{
    using Sparsity = schema::SparsityParametersT;
    const auto refuses = [](void (*bend)(Sparsity&), const char* text)
    {
        ModelBuilder model = SparseModel();
        bend(*model.Tensor(0).sparsity);
        EXPECT_THAT(ErrorOf<ParseException>(model), HasSubstr(text));
    };
    refuses([](Sparsity& s) { s.traversal_order = {0}; }, "traversal_order has not");
    refuses([](Sparsity& s) { s.traversal_order = {0, 0}; }, "no permutation");
    refuses([](Sparsity& s) { s.traversal_order = {0, 9}; }, "no permutation");
    refuses([](Sparsity& s) { s.block_map = {0, 0, 0}; }, "more blocked dimensions");
    refuses([](Sparsity& s) { s.dim_metadata.pop_back(); }, "dim_metadata has not");
    refuses([](Sparsity& s) { s.dim_metadata[0]->dense_size = 3; }, "dense_size");
    refuses([](Sparsity& s) { s.dim_metadata[1]->array_segments.Reset(); }, "index list of kind 0");
    refuses([](Sparsity& s) { s.dim_metadata[1]->array_segments.AsInt32Vector()->values = {0, 3}; }, "too short");
    refuses([](Sparsity& s) { s.dim_metadata[1]->array_segments.AsInt32Vector()->values = {0, 3, 9}; }, "outside");
    refuses([](Sparsity& s) { s.dim_metadata[1]->array_segments.AsInt32Vector()->values = {-1, 3, 4}; }, "outside");
    refuses([](Sparsity& s) { s.dim_metadata[1]->array_segments.AsInt32Vector()->values = {0, 1, 2}; }, "more values");
    refuses([](Sparsity& s) { s.dim_metadata[1]->array_indices.AsUint8Vector()->values = {0, 2, 4, 1}; }, "rise");
    refuses([](Sparsity& s) { s.dim_metadata[1]->array_indices.AsUint8Vector()->values = {2, 0, 3, 1}; }, "rise");
    refuses(
        [](Sparsity& s)
        {
            s.dim_metadata[1]->array_indices.AsUint8Vector()->values = {0, 1, 2, 3, 0, 1, 2, 3};
            s.dim_metadata[1]->array_segments.AsInt32Vector()->values = {0, 4, 8};
        },
        "fewer values");

    // Little data that stands for much memory.
    ModelBuilder bomb = SparseModel();
    bomb.Tensor(0).shape = {2, 100000000};
    EXPECT_THAT(ErrorOf<ParseException>(bomb), HasSubstr("out of proportion"));
    // Nothing at all behind very many branches.
    ModelBuilder empty = SparseModel();
    empty.Tensor(0).shape = {2000000000, 0};
    empty.Tensor(0).sparsity->dim_metadata[0]->dense_size = 2000000000;
    EXPECT_NO_THROW(Parsed{empty}) << "an empty tensor needs no walk";
}

} // namespace tenon::test::tensors_test
