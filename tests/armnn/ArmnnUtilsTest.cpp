// SPDX-License-Identifier: Apache-2.0
// Names of armnnUtils for programs written for Arm NN.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/backends/TensorHandle.hpp>
#include <armnnUtils/CompatibleTypes.hpp>
#include <armnnUtils/DataLayoutIndexed.hpp>
#include <armnnUtils/FloatingPointComparison.hpp>
#include <armnnUtils/FloatingPointConverter.hpp>
#include <armnnUtils/Permute.hpp>
#include <armnnUtils/QuantizeHelper.hpp>
#include <armnnUtils/TContainer.hpp>
#include <armnnUtils/TensorUtils.hpp>
#include <armnnUtils/Transpose.hpp>
#include <cmath>
#include <limits>
#include <list>
#include <string>
#include <vector>

namespace
{

using namespace armnnUtils;
using armnn::DataLayout;
using armnn::DataType;
using armnn::InvalidArgumentException;
using armnn::TensorInfo;
using armnn::TensorShape;
using testing::ElementsAre;

TEST(ArmnnUtilsTypes, AreCompatible)
{
    EXPECT_TRUE(CompatibleTypes<float>(DataType::Float32));
    EXPECT_TRUE(CompatibleTypes<uint8_t>(DataType::Boolean) && CompatibleTypes<uint8_t>(DataType::QAsymmU8));
    EXPECT_TRUE(CompatibleTypes<int8_t>(DataType::QSymmS8) && CompatibleTypes<int8_t>(DataType::QAsymmS8));
    EXPECT_TRUE(CompatibleTypes<int16_t>(DataType::QSymmS16) && CompatibleTypes<int32_t>(DataType::Signed32));
    EXPECT_FALSE(CompatibleTypes<float>(DataType::Float16) || CompatibleTypes<double>(DataType::Float32));
}

TEST(ArmnnDataLayoutIndexed, FindsDimensionsAndElements)
{
    const DataLayoutIndexed nhwc(DataLayout::NHWC);
    EXPECT_EQ(nhwc.GetChannelsIndex(), 3U);
    EXPECT_EQ(nhwc.GetHeightIndex(), 1U);
    EXPECT_EQ(nhwc.GetWidthIndex(), 2U);
    const DataLayoutIndexed ncdhw = DataLayout::NCDHW;
    EXPECT_EQ(ncdhw.GetChannelsIndex(), 1U);
    EXPECT_EQ(ncdhw.GetDepthIndex(), 2U);
    EXPECT_EQ(ncdhw.GetHeightIndex(), 3U);
    EXPECT_EQ(ncdhw.GetWidthIndex(), 4U);
    EXPECT_EQ(DataLayoutIndexed(DataLayout::NDHWC).GetDepthIndex(), 1U);
    EXPECT_TRUE(DataLayout::NHWC == nhwc && nhwc == DataLayout::NHWC && !(nhwc == DataLayout::NCHW));

    // [N=2, H=3, W=4, C=5] and [N=2, C=5, H=3, W=4], element n=1, c=2, h=1, w=3
    EXPECT_EQ(nhwc.GetIndex(TensorShape({2, 3, 4, 5}), 1, 2, 1, 3), 60U + 20U + 15U + 2U);
    EXPECT_EQ(DataLayoutIndexed(DataLayout::NCHW).GetIndex(TensorShape({2, 5, 3, 4}), 1, 2, 1, 3), 60U + 24U + 4U + 3U);
    EXPECT_THROW(nhwc.GetIndex(TensorShape({2, 3, 4, 5}), 2, 0, 0, 0), InvalidArgumentException);
    EXPECT_THROW(nhwc.GetIndex(TensorShape({2, 3, 4, 5}), 0, 0, 0, 4), InvalidArgumentException);
    EXPECT_THROW(ncdhw.GetIndex(TensorShape({2, 3, 4, 5, 6}), 0, 0, 0, 0), InvalidArgumentException);
    EXPECT_THROW(DataLayoutIndexed(static_cast<DataLayout>(9)), InvalidArgumentException);
}

TEST(ArmnnFloatingPoint, IsComparedWithATolerance)
{
    EXPECT_TRUE(within_percentage_tolerance(100.0f, 101.0f));
    EXPECT_FALSE(within_percentage_tolerance(100.0f, 101.5f));
    EXPECT_TRUE(within_percentage_tolerance(-100.0f, -103.0f, 3.0f));
    EXPECT_FALSE(within_percentage_tolerance(0.0f, 1e-6f, 50.0f));
}

TEST(ArmnnFloatingPoint, IsConvertedToFloat16AndBack)
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> source = {0.0f,      -0.0f,     1.0f,          -2.0f,         65504.0f, 1e6f,
                                       -INFINITY, 0.333252f, 5.9604645e-8f, 2.9802322e-8f, 6.1e-5f,  2049.0f,
                                       2051.0f,   65519.0f,  65520.0f,      1e-30f,        nan};
    const std::vector<uint16_t> expected = {0x0000, 0x8000, 0x3C00, 0xC000, 0x7BFF, 0x7BFF, 0xFBFF, 0x3555, 0x0001,
                                            0x0000, 0x03FF, 0x6800, 0x6802, 0x7BFF, 0x7BFF, 0x0000, 0x7E00};
    std::vector<uint16_t> halves(source.size());
    FloatingPointConverter::ConvertFloat32To16(source.data(), source.size(), halves.data());
    EXPECT_EQ(halves, expected);

    const std::vector<uint16_t> given = {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x83FF, 0x7C00, 0xFC00, 0x0400, 0x7E00};
    std::vector<float> floats(given.size());
    FloatingPointConverter::ConvertFloat16To32(given.data(), given.size(), floats.data());
    EXPECT_THAT(std::vector<float>(floats.begin(), floats.end() - 1),
                ElementsAre(1.0f, -2.0f, 65504.0f, 5.9604645e-8f, -6.0975552e-5f, INFINITY, -INFINITY, 6.1035156e-5f));
    EXPECT_TRUE(std::isnan(floats.back()));
}

TEST(ArmnnFloatingPoint, EachFloat16SurvivesTheWayThroughFloat32)
{
    for (unsigned int bits = 0; bits < 0x10000; ++bits)
    {
        if ((bits & 0x7C00) == 0x7C00)
        {
            continue; // infinities become the largest value, and NaNs one NaN
        }
        const uint16_t half = static_cast<uint16_t>(bits);
        float value = 0.0f;
        uint16_t back = 0;
        FloatingPointConverter::ConvertFloat16To32(&half, 1, &value);
        FloatingPointConverter::ConvertFloat32To16(&value, 1, &back);
        ASSERT_EQ(back, half);
    }
}

TEST(ArmnnFloatingPoint, IsConvertedToBFloat16AndBack)
{
    const std::vector<float> source = {
        1.0f, -2.5f, 1.00390625f, 1.01171875f, INFINITY, 3.4e38f, -std::numeric_limits<float>::quiet_NaN()};
    std::vector<uint16_t> converted(source.size());
    FloatingPointConverter::ConvertFloat32ToBFloat16(source.data(), source.size(), converted.data());
    EXPECT_EQ(converted, (std::vector<uint16_t>{0x3F80, 0xC020, 0x3F80, 0x3F82, 0x7F80, 0x7F80, 0x7FC0}));
    std::vector<float> floats(2);
    FloatingPointConverter::ConvertBFloat16ToFloat32(converted.data(), 2, floats.data());
    EXPECT_THAT(floats, ElementsAre(1.0f, -2.5f));
}

TEST(ArmnnPermute, MovesSourceDimensions)
{
    const armnn::PermutationVector toNchw{0, 2, 3, 1}; // of NHWC
    EXPECT_EQ(Permuted(TensorShape({1, 2, 3, 4}), toNchw), TensorShape({1, 4, 2, 3}));
    const TensorInfo info({2, 3, 4}, DataType::QSymmS8, std::vector<float>{1.0f, 2.0f, 3.0f}, 1);
    const TensorInfo permuted = Permuted(info, {2, 0, 1});
    EXPECT_EQ(permuted.GetShape(), TensorShape({3, 4, 2}));
    EXPECT_EQ(permuted.GetQuantizationDim().value(), 0U);
    EXPECT_THROW(Permuted(TensorShape({1, 2}), toNchw), InvalidArgumentException);

    const std::vector<int16_t> source = {1, 2, 3, 4, 5, 6}; // [2, 3] and, permuted, [3, 2]
    std::vector<int16_t> result(6);
    Permute(TensorShape({3, 2}), {1, 0}, source.data(), result.data(), sizeof(int16_t));
    EXPECT_THAT(result, ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(ArmnnTranspose, TakesSourceDimensions)
{
    const armnn::PermutationVector mappings{2, 0, 1};
    EXPECT_EQ(TransposeTensorShape(TensorShape({2, 3, 4}), mappings), TensorShape({4, 2, 3}));
    const TensorInfo info({2, 3, 4}, DataType::QSymmS8, std::vector<float>{1.0f, 2.0f, 3.0f}, 1);
    EXPECT_EQ(TransposeTensorShape(info, mappings).GetQuantizationDim().value(), 2U);

    std::vector<float> source(24);
    for (size_t i = 0; i < source.size(); ++i)
    {
        source[i] = static_cast<float>(i);
    }
    std::vector<float> transposed(24);
    std::vector<float> permuted(24);
    Transpose(TensorShape({2, 3, 4}), mappings, source.data(), transposed.data(), sizeof(float));
    for (size_t i = 0; i < 24; ++i) // [4, 2, 3]: element (a, b, c) is (b, c, a) of the source
    {
        ASSERT_EQ(transposed[i], static_cast<float>(i / 3 % 2 * 12 + i % 3 * 4 + i / 6));
    }
    Permute(TensorShape({2, 3, 4}), mappings, transposed.data(), permuted.data(), sizeof(float));
    EXPECT_EQ(permuted, source); // each is the other's inverse
    EXPECT_THROW(Transpose(TensorShape({2, 3}), mappings, source.data(), permuted.data(), 4), InvalidArgumentException);
    Transpose(TensorShape({0, 3, 4}), mappings, nullptr, nullptr, 4); // nothing to copy
}

TEST(ArmnnQuantizeHelper, LeavesFloatsAlone)
{
    EXPECT_EQ(SelectiveQuantize<uint8_t>(1.0f, 0.5f, 3), 5);
    EXPECT_EQ(SelectiveQuantize<float>(1.5f, 0.5f, 3), 1.5f);
    EXPECT_EQ(SelectiveDequantize<int8_t>(5, 0.5f, 3), 1.0f);
    EXPECT_EQ(SelectiveDequantize<float>(5.0f, 0.5f, 3), 5.0f);
    EXPECT_EQ((SelectiveQuantizer<int, false>::Quantize(2.7f, 0.5f, 3)), 2);
    EXPECT_THAT(QuantizedVector<int8_t>({-100.0f, 0.0f, 1.0f}, 0.5f, -2), ElementsAre(-128, -2, 0));
    EXPECT_THAT(QuantizedVector<int16_t>(std::vector<float>{2.5f, -2.5f}), ElementsAre(3, -3));
    const std::list<float> list = {0.25f, 0.75f};
    EXPECT_THAT(QuantizedVector<float>(list.begin(), list.end(), 2.0f, 1), ElementsAre(0.25f, 0.75f));
    static_assert(!IsFloatingPointIterator<int*>::value && IsFloatingPointIterator<const float*>::value, "");
}

struct Size
{
    template <typename T>
    size_t operator()(const std::vector<T>& values) const
    {
        return values.size() * sizeof(T);
    }
};

TEST(ArmnnTContainer, HoldsValuesOfOneOfItsTypes)
{
    std::vector<TContainer> inputs;
    inputs.push_back(std::vector<int>{1, 2, 3});
    inputs.emplace_back(std::vector<int8_t>{4});
    inputs.push_back(TContainer());
    EXPECT_EQ(inputs[0].which(), 1);
    EXPECT_EQ(inputs[1].which(), 3);
    EXPECT_EQ(inputs[2].which(), 0);
    EXPECT_THAT(mapbox::util::get<std::vector<int>>(inputs[0]), ElementsAre(1, 2, 3));
    EXPECT_TRUE(inputs[1].is<std::vector<int8_t>>() && !inputs[1].is<std::vector<unsigned char>>());
    EXPECT_THROW(inputs[1].get<std::vector<float>>(), mapbox::util::bad_variant_access);
    size_t bytes = 0;
    for (const TContainer& input : inputs)
    {
        bytes += mapbox::util::apply_visitor(Size(), input);
    }
    EXPECT_EQ(bytes, 13U);
    mapbox::util::apply_visitor([](auto& values) { values.resize(5); }, inputs[0]);
    EXPECT_EQ(inputs[0].get<std::vector<int>>().size(), 5U);

    TContainer copy = inputs[0];
    EXPECT_TRUE(copy == inputs[0] && copy != inputs[1]);
    copy = inputs[1];
    EXPECT_EQ(copy.get<std::vector<int8_t>>().front(), 4);
    inputs[2] = std::move(copy);
    inputs[0] = std::vector<unsigned char>{9};
    EXPECT_EQ(inputs[2], inputs[1]);
    EXPECT_EQ(inputs[0].get<std::vector<unsigned char>>().front(), 9);
}

TEST(ArmnnTensorUtils, MakesInfosOfALayout)
{
    EXPECT_EQ(GetTensorShape(1, 2, 3, 4, DataLayout::NCHW), TensorShape({1, 2, 3, 4}));
    EXPECT_EQ(GetTensorShape(1, 2, 3, 4, DataLayout::NHWC), TensorShape({1, 3, 4, 2}));
    EXPECT_EQ(GetTensorInfo(1, 2, 3, 4, DataLayout::NHWC, DataType::Float16),
              TensorInfo({1, 3, 4, 2}, DataType::Float16));
    EXPECT_EQ(GetTensorInfo(1, 2, 3, 4, 5, DataLayout::NDHWC, DataType::Float32),
              TensorInfo({1, 3, 4, 5, 2}, DataType::Float32));
    EXPECT_EQ(GetTensorInfo(1, 2, 3, 4, 5, DataLayout::NCDHW, DataType::Float32).GetShape(),
              TensorShape({1, 2, 3, 4, 5}));
    EXPECT_THROW(GetTensorShape(1, 2, 3, 4, DataLayout::NDHWC), InvalidArgumentException);
    EXPECT_THROW(GetTensorInfo(1, 2, 3, 4, 5, DataLayout::NHWC, DataType::Float32), InvalidArgumentException);
}

TEST(ArmnnTensorUtils, ChangesRanks)
{
    EXPECT_EQ(ReduceDims(TensorShape({1, 1, 2, 1}), 2), TensorShape({2, 1}));
    EXPECT_EQ(ReduceDims(TensorShape({1, 2, 3}), 1), TensorShape({2, 3}));
    EXPECT_EQ(ReduceDims(TensorInfo({1, 5}, DataType::Signed32), 1), TensorInfo({5}, DataType::Signed32));
    EXPECT_EQ(ExpandDims(TensorShape({2, 3}), 0), TensorShape({1, 2, 3}));
    EXPECT_EQ(ExpandDims(TensorShape({2, 3}), -1), TensorShape({2, 3, 1}));
    EXPECT_EQ(ExpandDims(TensorShape({2, 3}), -3), TensorShape({1, 2, 3}));
    EXPECT_THROW(ExpandDims(TensorShape({2, 3}), 3), InvalidArgumentException);
    EXPECT_THROW(ExpandDims(TensorShape({2, 3}), -4), InvalidArgumentException);
    EXPECT_EQ(ExpandDimsToRank(TensorShape({2, 3}), 4), TensorShape({1, 1, 2, 3}));
    EXPECT_EQ(ExpandDimsToRank(TensorShape({2, 3}), 1), TensorShape({2, 3}));
    EXPECT_THAT(SqueezeDims(TensorShape({1, 2, 1, 3})), ElementsAre(2, 3));
}

TEST(ArmnnTensorUtils, CountsElements)
{
    const TensorShape shape({2, 3, 4, 5});
    EXPECT_EQ(GetNumElementsBetween(shape, 1, 3), 12U);
    EXPECT_EQ(GetNumElementsBetween(shape, 2, 2), 1U);
    EXPECT_THROW(GetNumElementsBetween(shape, 3, 5), InvalidArgumentException);
    EXPECT_THROW(GetNumElementsBetween(shape, 3, 2), InvalidArgumentException);
    EXPECT_EQ(GetNumElementsAfter(shape, 1), 20U);
    EXPECT_EQ(GetNumElementsAfter(shape, 3), 1U);
    EXPECT_THROW(GetNumElementsAfter(shape, 4), InvalidArgumentException);
    EXPECT_EQ(GetUnsignedAxis(4, -1), 3U);
    EXPECT_EQ(GetUnsignedAxis(4, 3), 3U);
    EXPECT_THROW(GetUnsignedAxis(4, 4), InvalidArgumentException);
    EXPECT_THROW(GetUnsignedAxis(4, -5), InvalidArgumentException);
}

TEST(ArmnnTensorUtils, GivesRealValues)
{
    const TensorInfo perAxis({2, 3}, DataType::QSymmS8, std::vector<float>{0.5f, 1.0f, 2.0f}, 1);
    const auto parameters = GetPerAxisParams(perAxis);
    EXPECT_EQ(parameters.first, 1U);
    EXPECT_THAT(parameters.second, ElementsAre(0.5f, 1.0f, 2.0f));
    EXPECT_THROW(GetPerAxisParams(TensorInfo({2}, DataType::QAsymmU8, 0.5f, 1)), InvalidArgumentException);

    const auto byAxis = ToFloatArray(std::vector<int8_t>{1, 2, 3, 4, 5, -6}, perAxis);
    EXPECT_THAT(std::vector<float>(byAxis.get(), byAxis.get() + 6), ElementsAre(0.5f, 2, 6, 2, 5, -12));
    const TensorInfo outer({2, 3}, DataType::QSymmS8, std::vector<float>{0.5f, 2.0f}, 0);
    const auto byRow = ToFloatArray(std::vector<uint8_t>{1, 2, 3, 255, 254, 253}, outer);
    EXPECT_THAT(std::vector<float>(byRow.get(), byRow.get() + 6), ElementsAre(0.5f, 1, 1.5f, -2, -4, -6));
    const auto byOne = ToFloatArray(std::vector<uint8_t>{0, 130}, TensorInfo({2}, DataType::QAsymmU8, 0.5f, 128));
    EXPECT_THAT(std::vector<float>(byOne.get(), byOne.get() + 2), ElementsAre(-64, 1));
    const auto integers =
        ToFloatArray(std::vector<uint8_t>{1, 0, 0, 0, 254, 255, 255, 255}, TensorInfo({2}, DataType::Signed32));
    EXPECT_THAT(std::vector<float>(integers.get(), integers.get() + 2), ElementsAre(1, -2));
    EXPECT_THROW(ToFloatArray(std::vector<uint8_t>{1}, TensorInfo({2}, DataType::QAsymmU8, 1.0f)),
                 InvalidArgumentException);
    EXPECT_THROW(ToFloatArray(std::vector<uint8_t>{1, 2}, TensorInfo({1}, DataType::Float16)),
                 InvalidArgumentException);
    const TensorInfo tooFewScales({2, 3}, DataType::QSymmS8, std::vector<float>{0.5f, 2.0f}, 1);
    EXPECT_THROW(ToFloatArray(std::vector<int8_t>(6), tooFewScales), InvalidArgumentException);
}

TEST(ArmnnTensorUtils, FindsMinAndMax)
{
    std::vector<float> numbers = {3.0f, -7.0f, 9.0f, 1.0f};
    armnn::PassthroughTensorHandle values(TensorInfo({4}, DataType::Float32), numbers.data());
    EXPECT_EQ(FindMinMax(&values), std::make_pair(-7.0f, 9.0f));
    armnn::PassthroughTensorHandle none(TensorInfo({0}, DataType::Float32), numbers.data());
    EXPECT_THROW(FindMinMax(&none), InvalidArgumentException);
}

} // namespace
