// SPDX-License-Identifier: Apache-2.0
// Tensors of an interpreter as views: shapes, constants, quantization, and errors for what contradicts itself.
#include "delegate/BareTensors.hpp"

#include <tenon/Exceptions.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace tenon::test::tensor_scope_test
{

namespace
{

using namespace tenon::delegate;
using parsers::TensorView;
using testing::ElementsAre;
using testing::HasSubstr;

} // namespace

/// The sizes that vary are those of the signature, of computed tensors alone; the rows make one network for all.
TEST(DelegateTensorScope, Shapes)
{
    BareTensors tensors;
    tensors.Add(kTfLiteFloat32, {1, 3}).dims_signature = tensors.Keep({-1, 3});
    const TensorView input = tensors.Read(true);
    EXPECT_EQ(input.m_Info.GetShape(), TensorShape({1, 3}));
    EXPECT_EQ(input.m_DeclaredShape, TensorShape({1, 3}));
    EXPECT_EQ(input.m_WrittenShape, TensorShape({1, 3}));
    EXPECT_FALSE(input.m_IsConstant || input.m_IsVariable || input.m_IsResource);

    tensors.SetComputed(0);
    const TensorView computed = tensors.Read();
    EXPECT_FALSE(computed.m_Info.GetShape().GetDimensionSpecificity(0));
    EXPECT_EQ(computed.m_Info.GetShape()[1], 3U);
    EXPECT_EQ(computed.m_WrittenShape, TensorShape({1, 3}));
    const TensorView inferred = tensors.Read(true);
    EXPECT_EQ(inferred.m_Info.GetShape().GetDimensionality(), Dimensionality::NotSpecified);
    EXPECT_EQ(inferred.m_DeclaredShape, computed.m_DeclaredShape);
}

TEST(DelegateTensorScope, NoSizesAreAScalarOfConstantsAlone)
{
    std::vector<float> values = {1};
    BareTensors tensors;
    tensors.Add(kTfLiteFloat32, {});
    tensors.AddConstant(kTfLiteFloat32, {}, values);
    tensors.Add(kTfLiteFloat32, {}).dims = nullptr;
    EXPECT_EQ(tensors.Read().m_Info.GetShape().GetDimensionality(), Dimensionality::NotSpecified);
    const TensorView scalar = tensors.Read(false, {}, 1);
    EXPECT_EQ(scalar.m_Info.GetShape().GetDimensionality(), Dimensionality::Scalar);
    EXPECT_EQ(scalar.m_Data.data(), reinterpret_cast<const uint8_t*>(values.data())) << "used in place";
    EXPECT_EQ(scalar.m_Owner, nullptr);
    EXPECT_EQ(tensors.Read(false, {}, 2).m_Info.GetShape().GetDimensionality(), Dimensionality::NotSpecified);
}

TEST(DelegateTensorScope, MisalignedConstantsAreCopied)
{
    std::vector<uint8_t> block(sizeof(float) + 1);
    const float value = 2.5f;
    std::memcpy(block.data() + 1, &value, sizeof(value));
    BareTensors tensors;
    std::vector<float> placeholder = {0};
    tensors.AddConstant(kTfLiteFloat32, {1}, placeholder).data = block.data() + 1;
    const TensorView view = tensors.Read();
    EXPECT_NE(view.m_Owner, nullptr);
    ASSERT_EQ(view.m_Data.size(), sizeof(float));
    EXPECT_EQ(*reinterpret_cast<const float*>(view.m_Data.data()), value);
}

TEST(DelegateTensorScope, PlacesOfTensors)
{
    BareTensors tensors;
    tensors.Add(kTfLiteFloat32, {1}).name = "first";
    tensors.Add(kTfLiteFloat32, {2});
    tensors.Add(kTfLiteFloat32, {3});
    TensorScope scope(tensors.Context(), tensors.m_IsComputed, false, Limits());
    const TensorView& third = scope.Get(2);
    const TensorView& first = scope.Get(0);
    EXPECT_EQ(&scope.Get(2), &third);
    EXPECT_EQ(third.m_Index, 0U);
    EXPECT_EQ(first.m_Index, 1U);
    EXPECT_EQ(first.m_Name, "first");
    EXPECT_EQ(third.m_Name, "");
    EXPECT_EQ(scope.Size(), 2U);
    for (const int32_t number : {3, -1, -2, INT32_MAX, INT32_MIN})
    {
        EXPECT_THROW(scope.Get(number), ParseException) << number;
    }
    EXPECT_EQ(scope.Size(), 2U);
}

TEST(DelegateTensorScope, VariablesKeepTheirSizes)
{
    BareTensors tensors;
    TfLiteTensor& state = tensors.Add(kTfLiteFloat32, {1, 4});
    state.is_variable = true;
    state.allocation_type = kTfLiteArenaRwPersistent;
    const TensorView view = tensors.Read(true);
    EXPECT_TRUE(view.m_IsVariable);
    EXPECT_EQ(view.m_Info.GetShape(), TensorShape({1, 4}));

    std::vector<float> values(4);
    tensors.AddConstant(kTfLiteFloat32, {4}, values).is_variable = true;
    EXPECT_THAT(tensors.ErrorOf<ParseException>({}, 1), HasSubstr("both variable and constant"));
}

TEST(DelegateTensorScope, Quantization)
{
    BareTensors tensors;
    TfLiteTensor& perTensor = tensors.Add(kTfLiteUInt8, {2, 3});
    tensors.Quantize(perTensor, {0.5f}, {128});
    const TensorInfo one = tensors.Read().m_Info;
    EXPECT_EQ(one, TensorInfo({2, 3}, DataType::QAsymmU8, 0.5f, 128));

    TfLiteTensor& perChannel = tensors.Add(kTfLiteInt8, {2, 3});
    tensors.Quantize(perChannel, {0.5f, 0.25f, 0.125f}, {0}, 1); // one zero point stands for all
    const TensorInfo several = tensors.Read(false, {}, 1).m_Info;
    EXPECT_EQ(several.GetDataType(), DataType::QSymmS8);
    EXPECT_THAT(several.GetQuantizationScales(), ElementsAre(0.5f, 0.25f, 0.125f));

    TfLiteTensor& plain = tensors.Add(kTfLiteInt8, {2, 3});
    EXPECT_EQ(tensors.Read(false, {}, 2).m_Info.GetDataType(), DataType::Signed8);
    plain.params = {0.5f, 7}; // what a program sets by hand
    EXPECT_EQ(tensors.Read(false, {}, 2).m_Info, TensorInfo({2, 3}, DataType::QAsymmS8, 0.5f, 7));
    plain.quantization.type = kTfLiteAffineQuantization; // and no params
    EXPECT_EQ(tensors.Read(false, {}, 2).m_Info, TensorInfo({2, 3}, DataType::QAsymmS8, 0.5f, 7));
}

/// Runtimes to come have another layout of the array of scales.
TEST(DelegateTensorScope, ScalesInBothLayouts)
{
    for (const size_t count : {size_t{1}, size_t{4}, size_t{64}})
    {
        SCOPED_TRACE(count);
        std::vector<float> scales(count);
        for (size_t i = 0; i < count; ++i)
        {
            scales[i] = 0.5f + static_cast<float>(i);
        }
        BareTensors tensors;
        TfLiteTensor& tensor = tensors.Add(kTfLiteInt8, {2, static_cast<int32_t>(count)});
        tensors.Quantize(tensor, scales, {0}, 1);
        const TensorInfo now = tensors.Read().m_Info;
        TfLiteFloatArrayOf2026 array{scales.data(), static_cast<int32_t>(count), false};
        TfLiteAffineQuantization later = *static_cast<TfLiteAffineQuantization*>(tensor.quantization.params);
        later.scale = reinterpret_cast<TfLiteFloatArray*>(&array);
        tensor.quantization.params = &later;
        EXPECT_EQ(tensors.Read().m_Info, now);
        EXPECT_EQ(now.GetQuantizationScales(), scales);
    }
}

TEST(DelegateTensorScope, RefusesBadQuantization)
{
    const auto refuses = [](const std::vector<float>& scales, const std::vector<int32_t>& zeroPoints, int32_t dimension,
                            const char* text)
    {
        SCOPED_TRACE(text);
        BareTensors tensors;
        tensors.Quantize(tensors.Add(kTfLiteInt8, {2, 3}), scales, zeroPoints, dimension);
        EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr(text));
    };
    refuses({0.5f}, {128}, 0, "zero point 0 is 128, outside of INT8");
    refuses({0.5f}, {INT32_MIN}, 0, "outside of INT8");
    refuses({0.5f, 0.5f}, {0, 1000}, 0, "zero point 1 is 1000");
    refuses({0.5f, 0.5f}, {0, 0, 0}, 0, "3 zero points for 2 scales");
    refuses({1, 1, 1, 1}, {0}, 0, "4 scales along dimension 0"); // might be a pointer, too
    refuses({0.5f, 0.5f}, {0, 0}, 1, "2 scales along dimension 1");
    refuses({0.5f, 0.5f}, {0, 0}, -1, "2 scales along dimension -1");
    refuses({0.5f, 0.5f}, {0, 0}, INT32_MAX, "2 scales along dimension");
    refuses({-0.5f}, {0}, 0, "scale 0 of 1 is -0.5");
    refuses({std::numeric_limits<float>::quiet_NaN()}, {0}, 0, "scale 0 of 1 is nan");
    for (const auto kind :
         {kTfLiteBlockwiseQuantization, kTfLiteMultiAxisQuantization, static_cast<TfLiteQuantizationType>(4)})
    {
        BareTensors tensors;
        tensors.Add(kTfLiteInt8, {2, 3}).quantization.type = kind;
        EXPECT_THAT(tensors.ErrorOf<UnimplementedException>(), HasSubstr("uantization"));
    }
}

TEST(DelegateTensorScope, BlocksHaveTheirScalesInAnotherTensor)
{
    std::vector<int8_t> values = {1, 2, 3, 4, 5, 6, 7, -8};
    std::vector<uint16_t> scales = {0x3800, 0x3C00, 0x4000, 1};
    std::vector<int8_t> zeroPoints = {0, 3, 0, 0};
    TfLiteBlockwiseQuantization blocks{1, -1, 2, 0};
    BareTensors tensors;
    tensors.AddConstant(kTfLiteInt8, {2, 4}, values).quantization = {kTfLiteBlockwiseQuantization, &blocks};
    tensors.AddConstant(kTfLiteFloat16, {2, 2}, scales).name = "s";
    tensors.AddConstant(kTfLiteInt8, {2, 2}, zeroPoints).name = "z";
    TensorInfo wanted({2, 4}, DataType::QSymmS8, std::vector<float>{0.5f, 1.0f, 2.0f, 0x1p-24f}, 1, true);
    wanted.SetQuantizationBlockSize(2);
    EXPECT_EQ(tensors.Read().m_Info, wanted);
    blocks.zero_point = 0; // what a file without the field becomes
    EXPECT_EQ(tensors.Read().m_Info, wanted);

    blocks.zero_point = 2;
    EXPECT_THAT(tensors.ErrorOf<UnimplementedException>(), HasSubstr("its zero points, tensor 'z', are not all 0"));
    for (const int32_t size : {0, -2, 3, 8, INT32_MAX})
    {
        blocks = {1, -1, size, 0};
        EXPECT_THAT(tensors.ErrorOf<ParseException>(),
                    HasSubstr("blocks of " + std::to_string(size) + " elements, which do not divide"));
    }
    for (const auto& [size, text] : {std::pair(1, "for 8 blocks"), std::pair(4, "for 2 blocks")})
    {
        blocks = {1, -1, size, 0};
        EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr(text));
    }
    blocks = {1, -1, 2, 0};
    for (const auto& [bits, name] : {std::pair(0x7E00, "nan"), std::pair(0x7C00, "inf"), std::pair(0xB800, "-0.5")})
    {
        scales[2] = static_cast<uint16_t>(bits);
        EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr(std::string("scale 2 of 4 is ") + name));
    }
    scales[2] = 0x4000;
    for (const int32_t number : {-1, 0, 3, INT32_MAX})
    {
        blocks = {number, -1, 2, 0};
        EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr("that must be another one of the 3 tensors"));
    }
    blocks = {2, -1, 2, 0};
    EXPECT_THAT(tensors.ErrorOf<UnimplementedException>(), HasSubstr("its scales, tensor 'z', are of type INT8"));
    blocks = {3, -1, 2, 0};
    tensors.Add(kTfLiteFloat16, {2, 2}).name = "computed";
    EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr("its scales, tensor 'computed', have no values"));
}

TEST(DelegateTensorScope, RefusesBadTensors)
{
    const auto refuses = [](const std::vector<int32_t>& dims, const char* text)
    {
        SCOPED_TRACE(text);
        BareTensors tensors;
        tensors.Add(kTfLiteFloat32, dims).name = "bad";
        EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr(text));
        EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr("tensor 'bad': "));
    };
    refuses({2, -1}, "size -1 in dimension 1");
    refuses({-7}, "size -7 in dimension 0");
    refuses({1, 1, 1, 1, 1, 1, 1, 1, 1}, "rank 9");
    refuses({1 << 30, 1 << 30}, "Limits::m_MaxTensorBytes");

    Limits small;
    small.m_MaxTensorBytes = 8;
    small.m_MaxRank = 2;
    BareTensors limited;
    limited.Add(kTfLiteFloat32, {3});
    limited.Add(kTfLiteFloat32, {1, 1, 1});
    EXPECT_THAT(limited.ErrorOf<ParseException>(small), HasSubstr("Limits::m_MaxTensorBytes"));
    EXPECT_THAT(limited.ErrorOf<ParseException>(small, 1), HasSubstr("Limits::m_MaxRank"));
}

TEST(DelegateTensorScope, ConstantsHaveAsManyBytesAsTheirShape)
{
    std::vector<float> values = {1, 2};
    for (const int32_t size : {1, 3})
    {
        BareTensors tensors;
        tensors.AddConstant(kTfLiteFloat32, {size}, values);
        EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr("but its data has 8"));
    }
    BareTensors tensors;
    TfLiteTensor& noMemory = tensors.AddConstant(kTfLiteFloat32, {2}, values);
    noMemory.data = nullptr;
    EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr("constant of 8 bytes, but has no memory"));
    noMemory.bytes = 0;
    EXPECT_THAT(tensors.ErrorOf<ParseException>(), HasSubstr("has no data"));
    BareTensors empty;
    TfLiteTensor& none = empty.AddConstant(kTfLiteFloat32, {0, 2}, values);
    none.data = nullptr;
    none.bytes = 0;
    EXPECT_EQ(empty.Read().m_Info.GetShape(), TensorShape({0, 2}));
    // Memory that is no constant's is not looked at.
    BareTensors arena;
    TfLiteTensor& computed = arena.AddConstant(kTfLiteFloat32, {5}, values);
    computed.allocation_type = kTfLiteArenaRw;
    EXPECT_FALSE(arena.Read().m_IsConstant);
}

TEST(DelegateTensorScope, Types)
{
    const auto read = [](TfLiteType type)
    {
        BareTensors tensors;
        tensors.Add(type, {2});
        return tensors.Read();
    };
    EXPECT_EQ(read(kTfLiteFloat16).m_Info.GetDataType(), DataType::Float16);
    EXPECT_EQ(read(kTfLiteBFloat16).m_Info.GetDataType(), DataType::BFloat16);
    EXPECT_EQ(read(kTfLiteUInt32).m_Info.GetDataType(), DataType::Unsigned32);
    EXPECT_EQ(read(kTfLiteInt4).m_Info.GetDataType(), DataType::QSymmS4);
    EXPECT_TRUE(read(kTfLiteResource).m_IsResource);
    for (const TfLiteType type : {kTfLiteNoType, kTfLiteString, kTfLiteVariant, kTfLiteInt2, kTfLiteUInt4,
                                  kTfLiteFloat8E4M3FN, kTfLiteFloat8E5M2, static_cast<TfLiteType>(24)})
    {
        EXPECT_THROW(read(type), UnimplementedException) << type;
    }
}

} // namespace tenon::test::tensor_scope_test
