// SPDX-License-Identifier: Apache-2.0
// TensorShape, TensorInfo, ConstTensor, PermutationVector and the tables of types.
#include <tenon/Tensor.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace tenon::tensor_test
{
namespace
{

constexpr unsigned int huge = std::numeric_limits<unsigned int>::max();

// The text of the InvalidArgumentException that `action` throws.
std::string MessageOf(const std::function<void()>& action)
{
    try
    {
        action();
    }
    catch (const InvalidArgumentException& error)
    {
        return error.what();
    }
    return "no InvalidArgumentException";
}

void ExpectRefused(const std::function<void()>& action, const std::string& part)
{
    EXPECT_NE(MessageOf(action).find(part), std::string::npos) << MessageOf(action);
}

TEST(TensorShape, KnownSizesAreChangedInPlace)
{
    TensorShape shape({1, 2, 3}, {true, false, true});
    shape[0] = 4;
    EXPECT_EQ(shape, TensorShape({4, 0, 3}, {true, false, true}));
    EXPECT_THROW(shape[1] = 5, InvalidArgumentException);
    EXPECT_THROW(shape[3] = 5, InvalidArgumentException);
}

TEST(TensorShape, IsMadeInEveryWay)
{
    const unsigned int sizes[] = {2, 3};
    const bool known[] = {true, false};
    EXPECT_EQ(TensorShape(2, sizes).ToString(), "[2,3]");
    EXPECT_EQ(TensorShape(2, sizes, known).ToString(), "[2,?]");
    EXPECT_EQ(TensorShape({2, 3}, {false, true}).ToString(), "[?,3]");
    EXPECT_EQ(TensorShape({7}).ToString(), "[7]");
    EXPECT_EQ(TensorShape(2).ToString(), "[0,0]");
    EXPECT_EQ(TensorShape(2, false).ToString(), "[?,?]");
    EXPECT_EQ(TensorShape().ToString(), "[unknown rank]");
    EXPECT_EQ(TensorShape(Dimensionality::NotSpecified).ToString(), "[unknown rank]");
    EXPECT_EQ(TensorShape(Dimensionality::Specified).ToString(), "[?]");
    EXPECT_EQ(TensorShape(Dimensionality::Scalar).ToString(), "[]");
    EXPECT_TRUE(TensorShape(0, sizes).IsScalar());
    EXPECT_EQ(TensorShape({1, 2, 3, 4, 5, 6, 7, 8}).GetNumElements(), 40320U);
    ExpectRefused([] { TensorShape(9); }, "9 dimensions");
    ExpectRefused([] { TensorShape({1, 1, 1, 1, 1, 1, 1, 1, 1}); }, "9 dimensions");
    ExpectRefused([] { TensorShape({1, 2}, {true}); }, "2 sizes");
    ExpectRefused([] { TensorShape(1000000000U, nullptr, nullptr); }, "1000000000 dimensions");
}

TEST(TensorShape, NamesBadIndexAndRank)
{
    const TensorShape shape({2, 3}, {true, false});
    EXPECT_EQ(shape[0], 2U);
    ExpectRefused([&] { static_cast<void>(shape[2]); }, "dimension 2 of shape [2,?], whose rank is 2");
    ExpectRefused([&] { static_cast<void>(shape[1]); }, "size of dimension 1 of shape [2,?] is not known");
    ExpectRefused([] { static_cast<void>(TensorShape()[0]); }, "dimension 0 of a shape of unknown rank");
    const TensorShape unknown(Dimensionality::NotSpecified);
    ExpectRefused([&] { static_cast<void>(unknown.GetNumDimensions()); }, "rank");
    ExpectRefused([&] { static_cast<void>(shape.GetDimensionSpecificity(5)); }, "dimension 5");
    ExpectRefused([&] { static_cast<void>(shape.GetNumElements()); }, "[2,?]");
    ExpectRefused([&] { static_cast<void>(unknown.GetNumElements64()); }, "[unknown rank]");
}

TEST(TensorShape, OfTheDefaultConstructorHasNoElements)
{
    TensorShape shape;
    EXPECT_EQ(shape.GetNumDimensions(), 0U);
    EXPECT_EQ(shape.GetNumElements(), 0U);
    EXPECT_FALSE(shape.AreAllDimensionsSpecified());
    EXPECT_EQ(shape, TensorShape(Dimensionality::NotSpecified));
    EXPECT_EQ(TensorInfo().GetNumElements(), 0U);
    EXPECT_EQ(TensorInfo().GetNumBytes(), 0U);
    EXPECT_EQ(ConstTensor().GetNumBytes(), 0U);
    EXPECT_EQ(Tensor().GetNumDimensions(), 0U);
    shape.SetNumDimensions(1, true);
    shape[0] = 3;
    EXPECT_EQ(shape.GetNumElements(), 3U);
    shape = TensorShape(Dimensionality::NotSpecified);
    EXPECT_THROW(static_cast<void>(shape.GetNumElements()), InvalidArgumentException);
}

TEST(TensorShape, ChangesSizes)
{
    TensorShape shape(2, false);
    EXPECT_FALSE(shape.IsAtLeastOneDimensionSpecified());
    shape.SetDimensionSize(1, 5);
    EXPECT_TRUE(shape.IsAtLeastOneDimensionSpecified());
    EXPECT_FALSE(shape.AreAllDimensionsSpecified());
    EXPECT_FALSE(shape.GetDimensionSpecificity(0));
    shape.SetDimensionSize(0, 4);
    EXPECT_EQ(shape, TensorShape({4, 5}));
    shape.SetDimensionUnknown(1);
    EXPECT_EQ(shape, TensorShape({4, 9}, {true, false}));
    ExpectRefused([&] { shape.SetDimensionSize(2, 1); }, "dimension 2");
    ExpectRefused([&] { shape.SetDimensionUnknown(2); }, "dimension 2");
    ExpectRefused([&] { shape.SetNumDimensions(3); }, "known already");

    TensorShape open;
    ExpectRefused([&] { open.SetDimensionSize(0, 1); }, "unknown rank");
    open.SetNumDimensions(2);
    EXPECT_EQ(open, TensorShape(2, false));
    TensorShape scalar(Dimensionality::Scalar);
    ExpectRefused([&] { scalar.SetNumDimensions(1); }, "known already");
}

TEST(TensorShape, ComparesRankSizesAndUnknownPlaces)
{
    EXPECT_EQ(TensorShape({1, 2}), TensorShape({1, 2}));
    EXPECT_NE(TensorShape({1, 2}), TensorShape({2, 1}));
    EXPECT_NE(TensorShape({1}), TensorShape({1, 1}));
    EXPECT_NE(TensorShape({0}), TensorShape(1, false));
    EXPECT_NE(TensorShape({1}), TensorShape(Dimensionality::Scalar));
    EXPECT_NE(TensorShape(), TensorShape(Dimensionality::Scalar));
    EXPECT_EQ(TensorShape({1, 7}, {true, false}), TensorShape({1, 8}, {true, false}));
}

TEST(TensorShape, CountsElements)
{
    EXPECT_EQ(TensorShape(Dimensionality::Scalar).GetNumElements(), 1U);
    EXPECT_EQ(TensorShape({2, 3, 4}).GetNumElements64(), 24U);
    EXPECT_EQ(TensorShape({huge, huge, huge, 0}).GetNumElements(), 0U);
    EXPECT_EQ(TensorShape({huge, 2}).GetNumElements64(), uint64_t{huge} * 2);
    ExpectRefused([] { static_cast<void>(TensorShape({huge, 2}).GetNumElements()); }, "32 bits");
    ExpectRefused([] { static_cast<void>(TensorShape({huge, huge, 2}).GetNumElements64()); }, "64 bits");
}

TEST(TensorInfo, CountsBytes)
{
    const auto bytes = [](const TensorShape& shape, DataType type) { return TensorInfo(shape, type).GetNumBytes(); };
    EXPECT_EQ(bytes({2, 3}, DataType::Float32), 24U);
    EXPECT_EQ(bytes({3}, DataType::QSymmS4), 2U);
    EXPECT_EQ(bytes({4}, DataType::QSymmS4), 2U);
    EXPECT_EQ(bytes({0}, DataType::QSymmS4), 0U);
    EXPECT_EQ(bytes({3}, DataType::Complex128), 48U);
    EXPECT_EQ(bytes({huge, huge, 0}, DataType::Complex128), 0U);
    if constexpr (sizeof(size_t) == 8)
    {
        EXPECT_EQ(bytes({huge, 2}, DataType::Signed64), size_t{huge} * 16);
    }
    else
    {
        ExpectRefused([&] { bytes({huge, 2}, DataType::Signed64); }, "address space");
    }
    EXPECT_EQ(bytes(TensorShape(Dimensionality::Scalar), DataType::Boolean), 1U);
    ExpectRefused([&] { bytes({huge, huge}, DataType::Float32); }, "address space");
    ExpectRefused([&] { bytes({huge, huge, huge}, DataType::QSymmS4); }, "64 bits");
    ExpectRefused([&] { bytes(TensorShape(1, false), DataType::Float32); }, "[?]");
    ExpectRefused([&] { bytes({1}, static_cast<DataType>(99)); }, "data type 99");
}

TEST(TensorInfo, HoldsOneScale)
{
    const unsigned int sizes[] = {2, 3};
    TensorInfo info(2, sizes, DataType::QAsymmU8, 0.5f, 128);
    EXPECT_TRUE(info.IsQuantized());
    EXPECT_TRUE(info.HasQuantization());
    EXPECT_FALSE(info.HasPerAxisQuantization());
    EXPECT_FALSE(info.HasMultipleQuantizationScales());
    EXPECT_EQ(info.GetQuantizationScale(), 0.5f);
    EXPECT_EQ(info.GetQuantizationOffset(), 128);
    EXPECT_EQ(info.GetQuantizationScales(), std::vector<float>{0.5f});
    EXPECT_EQ(info.GetQuantizationOffsets(), std::vector<int32_t>{128});
    EXPECT_FALSE(info.GetQuantizationDim().has_value());
    EXPECT_EQ(info.ToString(), "QAsymmU8 [2,3] scale 0.5 zero point 128");
    info.SetQuantizationScale(0.25f);
    info.SetQuantizationOffset(-1);
    EXPECT_EQ(info, TensorInfo({2, 3}, DataType::QAsymmU8, 0.25f, -1));
    info.SetQuantizationScales({0.5f});
    info.SetQuantizationOffsets({3});
    EXPECT_EQ(info, TensorInfo({2, 3}, DataType::QAsymmU8, 0.5f, 3));

    const TensorInfo plain({2}, DataType::Signed8);
    EXPECT_FALSE(plain.HasQuantization());
    EXPECT_FALSE(plain.IsQuantized());
    EXPECT_TRUE(plain.GetQuantizationScales().empty());
    EXPECT_TRUE(plain.GetQuantizationOffsets().empty());
    EXPECT_EQ(plain.GetQuantizationScale(), 0.0f);
    EXPECT_EQ(plain.ToString(), "Signed8 [2]");
}

TEST(TensorInfo, HoldsOneScalePerSlice)
{
    const unsigned int sizes[] = {3, 4};
    TensorInfo info(2, sizes, DataType::QSymmS8, {0.1f, 0.2f, 0.3f}, 0, true);
    EXPECT_TRUE(info.HasPerAxisQuantization());
    EXPECT_TRUE(info.HasMultipleQuantizationScales());
    EXPECT_TRUE(info.IsConstant());
    EXPECT_EQ(info.GetQuantizationDim().value(), 0U);
    EXPECT_EQ(info.GetQuantizationOffset(), 0);
    EXPECT_EQ(info.GetQuantizationOffsets(), std::vector<int32_t>({0, 0, 0}));
    EXPECT_EQ(info.ToString(), "QSymmS8 [3,4] 3 scales along dimension 0");
    ExpectRefused([&] { static_cast<void>(info.GetQuantizationScale()); }, "has 3");

    info.SetQuantizationOffsets({1, 2, 3});
    EXPECT_EQ(info.GetQuantizationOffsets(), std::vector<int32_t>({1, 2, 3}));
    ExpectRefused([&] { static_cast<void>(info.GetQuantizationOffset()); }, "3 different ones");
    ExpectRefused([&] { info.SetQuantizationOffsets({1, 2}); }, "2 zero points for a tensor of 3 scales");
    ExpectRefused([&] { info.SetQuantizationScales({0.1f, 0.2f}); }, "zero point");
    ExpectRefused([&] { info.SetQuantizationScale(0.1f); }, "zero point");

    info.SetQuantizationOffset(7);
    EXPECT_EQ(info.GetQuantizationOffset(), 7);
    EXPECT_EQ(info.GetQuantizationOffsets(), std::vector<int32_t>({7, 7, 7}));
    info.SetQuantizationScales({0.1f, 0.2f});
    EXPECT_EQ(info.GetQuantizationOffsets(), std::vector<int32_t>({7, 7}));
    info.SetQuantizationOffsets({0, 0});
    EXPECT_EQ(info, TensorInfo({3, 4}, DataType::QSymmS8, {0.1f, 0.2f}, 0, true));
    info.SetQuantizationScale(0.1f);
    EXPECT_EQ(info, TensorInfo({3, 4}, DataType::QSymmS8, 0.1f, 0, true));
}

TEST(TensorInfo, GetsAndLosesItsQuantizationDimension)
{
    TensorInfo info({3}, DataType::QAsymmS8, 0.5f, 4);
    info.SetQuantizationDim(1U);
    EXPECT_TRUE(info.HasPerAxisQuantization());
    EXPECT_FALSE(info.HasMultipleQuantizationScales());
    EXPECT_EQ(info.GetQuantizationScale(), 0.5f);
    EXPECT_EQ(info.GetQuantizationOffset(), 4);
    info.SetQuantizationScales({0.5f, 0.25f});
    EXPECT_EQ(info.GetQuantizationDim().value(), 1U);
    EXPECT_EQ(info.GetQuantizationOffsets(), std::vector<int32_t>({4, 4}));
    info.SetQuantizationDim(EmptyOptional());
    EXPECT_TRUE(info.HasMultipleQuantizationScales());
    EXPECT_FALSE(info.GetQuantizationDim().has_value());
    info.SetQuantizationScales({0.5f});
    EXPECT_EQ(info, TensorInfo({3}, DataType::QAsymmS8, 0.5f, 4));
    info.SetQuantizationScales({});
    EXPECT_FALSE(info.HasQuantization());
}

TEST(TensorInfo, HoldsOneScalePerBlock)
{
    TensorInfo info({2, 4}, DataType::QSymmS4, std::vector<float>{1, 2, 3, 4}, 1);
    EXPECT_FALSE(info.HasBlockwiseQuantization());
    const TensorInfo perSlice = info;
    info.SetQuantizationBlockSize(2);
    EXPECT_TRUE(info.HasBlockwiseQuantization());
    EXPECT_EQ(info.GetQuantizationBlockSize(), 2u);
    EXPECT_EQ(info.GetQuantizationScales(), (std::vector<float>{1, 2, 3, 4}));
    EXPECT_FALSE(info.IsTypeSpaceMatch(perSlice));
    EXPECT_EQ(info.ToString(), "QSymmS4 [2,4] 4 scales along dimension 1 for blocks of 2");
    const TensorInfo copy = info;
    EXPECT_EQ(copy, info);
    EXPECT_EQ(copy.ViewQuantizationScales().data(), info.ViewQuantizationScales().data());

    EXPECT_FALSE(info.HasQuantizationOffsets());
    info.SetQuantizationOffsets({0, 0, 5, 0});
    EXPECT_TRUE(info.HasQuantizationOffsets());
    EXPECT_EQ(info.GetQuantizationBlockSize(), 2u);
    info.SetQuantizationBlockSize(0);
    EXPECT_FALSE(info.HasBlockwiseQuantization());
    EXPECT_TRUE(info.HasPerAxisQuantization());

    // One block: there is a single scale, and blocks all the same.
    TensorInfo one({1, 4}, DataType::QSymmS8, std::vector<float>{0.5f}, 1);
    one.SetQuantizationBlockSize(4);
    EXPECT_TRUE(one.HasBlockwiseQuantization());
    EXPECT_FALSE(one.HasMultipleQuantizationScales());
    one.SetQuantizationDim(EmptyOptional());
    EXPECT_FALSE(one.HasBlockwiseQuantization());
    EXPECT_EQ(one.ViewQuantizationScales().size(), 1u);
    ExpectRefused([&] { one.SetQuantizationBlockSize(4); }, "set the dimension first");
    EXPECT_TRUE(TensorInfo({1}, DataType::QAsymmU8).ViewQuantizationScales().empty());
}

TEST(TensorInfo, ComparesAndSharesQuantization)
{
    const TensorInfo perAxis({2}, DataType::QSymmS8, {0.1f, 0.2f}, 0);
    const TensorInfo again({2}, DataType::QSymmS8, {0.1f, 0.2f}, 0);
    EXPECT_EQ(perAxis, again);
    EXPECT_NE(perAxis, TensorInfo({2}, DataType::QSymmS8, {0.1f, 0.2f}, 1));
    EXPECT_NE(perAxis, TensorInfo({2}, DataType::QSymmS8, {0.1f, 0.3f}, 0));
    EXPECT_NE(perAxis, TensorInfo({2}, DataType::QSymmS8, 0.1f));
    EXPECT_NE(perAxis, TensorInfo({2}, DataType::QSymmS8, {0.1f, 0.2f}, 0, true));
    EXPECT_NE(TensorInfo({2}, DataType::QAsymmU8, 0.1f, 1), TensorInfo({2}, DataType::QAsymmU8, 0.1f, 2));

    // A copy is changed without the original.
    TensorInfo copy = perAxis;
    copy.SetQuantizationOffsets({5, 6});
    EXPECT_EQ(perAxis, again);
    EXPECT_NE(perAxis, copy);
    TensorInfo other({9}, DataType::QAsymmS8);
    other.CopyQuantization(copy);
    EXPECT_EQ(other.GetQuantizationOffsets(), std::vector<int32_t>({5, 6}));

    EXPECT_TRUE(TensorInfo({1}, DataType::Signed32, 0.1f).IsTypeSpaceMatch(TensorInfo({2}, DataType::Signed32, 0.2f)));
    EXPECT_FALSE(TensorInfo({1}, DataType::QAsymmU8, 0.1f).IsTypeSpaceMatch(TensorInfo({1}, DataType::QAsymmU8, 0.2f)));
    EXPECT_FALSE(TensorInfo({1}, DataType::Float32).IsTypeSpaceMatch(TensorInfo({1}, DataType::Float16)));
    EXPECT_TRUE(perAxis.IsTypeSpaceMatch(again));
}

TEST(DataTypes, HaveNamesAndSizes)
{
    constexpr unsigned int bits[] = {16, 32, 8, 32, 8, 16, 8, 8, 16, 64, 64, 8, 16, 8, 16, 32, 64, 4, 64, 128};
    for (unsigned int i = 0; i < std::size(bits); ++i)
    {
        const auto type = static_cast<DataType>(i);
        EXPECT_EQ(GetDataTypeBits(type), bits[i]) << GetDataTypeName(type);
        EXPECT_STRNE(GetDataTypeName(type), "Unknown") << i;
    }
    EXPECT_STREQ(GetDataTypeName(DataType::QSymmS4), "QSymmS4");
    EXPECT_STREQ(GetDataTypeName(static_cast<DataType>(20)), "Unknown");
    EXPECT_EQ(GetDataTypeSize(DataType::Complex64), 8U);
    ExpectRefused([] { GetDataTypeSize(DataType::QSymmS4); }, "QSymmS4");
    EXPECT_TRUE(IsQuantizedType(DataType::QSymmS4));
    EXPECT_FALSE(IsQuantizedType(DataType::Unsigned8));
    EXPECT_STREQ(GetLayerTypeAsCString(LayerType::Activation), "Activation");
    EXPECT_STREQ(GetLayerTypeAsCString(LayerType::Unmap), "Unmap");
    EXPECT_STREQ(GetLayerTypeAsCString(LayerType::Subtraction), "Subtraction");
    EXPECT_STREQ(GetLayerTypeAsCString(static_cast<LayerType>(1000)), "Unknown");
}

TEST(ConstTensor, TakesConstantInfosAndWholeContainersOnly)
{
    const std::vector<float> data(6);
    TensorInfo info({2, 3}, DataType::Float32);
    ExpectRefused([&] { ConstTensor(info, data.data()); }, "SetConstant");
    info.SetConstant();
    EXPECT_EQ(ConstTensor(info, data).GetMemoryArea(), data.data());
    EXPECT_EQ(ConstTensor(info, data).GetNumBytes(), 24U);
    ExpectRefused([&] { ConstTensor(info, std::vector<float>(5)); }, "20 bytes for a tensor of 24 bytes");

    std::vector<float> writable(6);
    const ConstTensor fromTensor = Tensor(TensorInfo({2, 3}, DataType::Float32), writable.data());
    EXPECT_TRUE(fromTensor.GetInfo().IsConstant());
    EXPECT_EQ(fromTensor.GetMemoryArea(), writable.data());
}

TEST(PermutationVector, HoldsEachDimensionOnce)
{
    const PermutationVector vector({2, 0, 1});
    EXPECT_EQ(vector.GetSize(), 3U);
    EXPECT_EQ(vector[0], 2U);
    EXPECT_EQ(vector.Inverse(), PermutationVector({1, 2, 0}));
    EXPECT_TRUE(vector.IsInverse(PermutationVector({1, 2, 0})));
    EXPECT_FALSE(vector.IsInverse(vector));
    EXPECT_FALSE(vector.IsInverse(PermutationVector({1, 0})));
    EXPECT_NE(vector, PermutationVector({2, 0, 1, 3}));
    EXPECT_NE(vector, PermutationVector());
    EXPECT_EQ(PermutationVector().Inverse(), PermutationVector());
    ExpectRefused([] { PermutationVector({0, 0}); }, "[0,0]");
    ExpectRefused([] { PermutationVector({0, 2}); }, "[0,2]");
    ExpectRefused([] { PermutationVector({huge, 0}); }, "no permutation");
    ExpectRefused([] { PermutationVector({0, 1, 2, 3, 4, 5, 6, 7, 8}); }, "9 dimensions");
}

} // namespace
} // namespace tenon::tensor_test
