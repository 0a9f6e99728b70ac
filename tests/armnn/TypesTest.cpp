// SPDX-License-Identifier: Apache-2.0
// Names that armnn/Types.hpp, TypesUtils.hpp, BackendId.hpp, BackendOptions.hpp, MemorySources.hpp and Version.hpp have
// for programs written for Arm NN.
#include <gtest/gtest.h>

#include <armnn/BackendId.hpp>
#include <armnn/BackendOptions.hpp>
#include <armnn/MemorySources.hpp>
#include <armnn/Types.hpp>
#include <armnn/TypesUtils.hpp>
#include <armnn/Version.hpp>
#include <armnn/utility/TransformIterator.hpp>
#include <armnnTfLiteParser/Version.hpp>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace
{

using namespace armnn;

template <typename T>
std::string Printed(const T& value)
{
    std::ostringstream text;
    text << value;
    return text.str();
}

TEST(ArmnnTypesUtils, NamesOfEnumeratorsAreThoseOfArmNN)
{
    EXPECT_STREQ(GetStatusAsCString(Status::Failure), "Status::Failure");
    EXPECT_STREQ(GetActivationFunctionAsCString(ActivationFunction::BoundedReLu), "BoundedReLu");
    EXPECT_STREQ(GetActivationFunctionAsCString(ActivationFunction::Gelu), "Gelu");
    EXPECT_STREQ(GetArgMinMaxFunctionAsCString(ArgMinMaxFunction::Max), "Max");
    EXPECT_STREQ(GetBinaryOperationAsCString(BinaryOperation::SqDiff), "SqDiff");
    EXPECT_STREQ(GetComparisonOperationAsCString(ComparisonOperation::GreaterOrEqual), "GreaterOrEqual");
    EXPECT_STREQ(GetLogicalBinaryOperationAsCString(LogicalBinaryOperation::LogicalOr), "LogicalOr");
    EXPECT_STREQ(GetMemBlockStrategyTypeName(MemBlockStrategyType::MultiAxisPacking), "MultiAxisPacking");
    EXPECT_STREQ(GetNormalizationAlgorithmChannelAsCString(NormalizationAlgorithmChannel::Within), "Within");
    EXPECT_STREQ(GetNormalizationAlgorithmMethodAsCString(NormalizationAlgorithmMethod::LocalContrast),
                 "LocalContrast");
    EXPECT_STREQ(GetOutputShapeRoundingAsCString(OutputShapeRounding::Ceiling), "Ceiling");
    EXPECT_STREQ(GetPaddingMethodAsCString(PaddingMethod::IgnoreValue), "IgnoreValue");
    EXPECT_STREQ(GetPaddingModeAsCString(PaddingMode::Constant), "Exclude");
    EXPECT_STREQ(GetPaddingModeAsCString(PaddingMode::Symmetric), "Symmetric");
    EXPECT_STREQ(GetPoolingAlgorithmAsCString(PoolingAlgorithm::L2), "L2");
    EXPECT_STREQ(GetReduceOperationAsCString(ReduceOperation::Prod), "Prod");
    EXPECT_STREQ(GetResizeMethodAsCString(ResizeMethod::NearestNeighbor), "NearestNeighbour");
    EXPECT_STREQ(GetUnaryOperationAsCString(UnaryOperation::Rsqrt), "Rsqrt");
    EXPECT_STREQ(GetDataLayoutName(DataLayout::NCDHW), "NCDHW");
    EXPECT_STREQ(GetUnaryOperationAsCString(static_cast<UnaryOperation>(99)), "Unknown");
}

TEST(ArmnnTypesUtils, ComputeDevicesAreParsedAtCompileTime)
{
    static_assert(ParseComputeDevice("CpuAcc") == Compute::CpuAcc, "");
    static_assert(StrEqual("GpuAcc", "GpuAcc") && !StrEqual("Gpu", "GpuAcc") && !StrEqual("GpuAcc2", "GpuAcc"), "");
    EXPECT_EQ(ParseComputeDevice("CpuRef"), Compute::CpuRef);
    EXPECT_EQ(ParseComputeDevice("GpuAcc"), Compute::GpuAcc);
    EXPECT_EQ(ParseComputeDevice("cpuacc"), Compute::Undefined);
    EXPECT_EQ(ParseComputeDevice(""), Compute::Undefined);
    static_assert(IsQuantizedType<int8_t>() && !IsQuantizedType<float>() && !IsHalfType<float>::value, "");
}

TEST(ArmnnTypesUtils, ShapesArePrintedAsArmNNPrintsThem)
{
    EXPECT_EQ(Printed(TensorShape({1, 224, 3})), "[1,224,3]");
    EXPECT_EQ(Printed(TensorShape({1, 0, 3}, {true, false, true})), "[1,?,3]");
    EXPECT_EQ(Printed(TensorShape(Dimensionality::NotSpecified)), "[Dimensionality Not Specified]");
    EXPECT_EQ(Printed(Status::Success), "Status::Success");
}

TEST(ArmnnBackendId, IsPrintedAndCompared)
{
    const std::vector<BackendId> ids = {"CpuAcc", Compute::CpuRef};
    EXPECT_EQ(Printed(ids), "[CpuAcc CpuRef ]");
    EXPECT_EQ(Printed(BackendIdSet{"CpuAcc"}), "[CpuAcc ]");
    EXPECT_EQ(Printed(Compute::GpuAcc), "GpuAcc");
    EXPECT_EQ(Printed(std::vector<Compute>{Compute::CpuAcc, Compute::Undefined}), "CpuAcc Unknown ");
    EXPECT_EQ(Printed(std::set<Compute>{Compute::CpuRef}), "CpuRef ");
    EXPECT_TRUE(ids[0] == "CpuAcc" && ids[1] != std::string("CpuAcc") && ids[1] == Compute::CpuRef);
    EXPECT_EQ(profiling::BACKEND_ID.Get(), "ARMNN");
}

TEST(ArmnnBackendOptions, AreParsedWithDefaults)
{
    EXPECT_TRUE(ParseBooleanBackendOption(BackendOptions::Var(true), false));
    EXPECT_TRUE(ParseBooleanBackendOption(BackendOptions::Var(0), true));
    EXPECT_EQ(ParseIntBackendOption(BackendOptions::Var(7), 1), 7);
    EXPECT_EQ(ParseIntBackendOption(BackendOptions::Var("7"), 1), 1);
    EXPECT_EQ(ParseStringBackendOption(BackendOptions::Var("a"), "b"), "a");
    EXPECT_EQ(ParseStringBackendOption(BackendOptions::Var(1.5f), "b"), "b");
}

TEST(ArmnnBackendOptions, ThatWereGivenAsTextsAreWhatIsAskedFor)
{
    const BackendOptions::Var whole(12, "012");
    EXPECT_TRUE(whole.IsInt() && whole.IsUnsignedInt() && whole.IsFloat() && whole.IsString() && !whole.IsBool());
    EXPECT_EQ(whole.AsInt(), 12);
    EXPECT_EQ(whole.AsUnsignedInt(), 12U);
    EXPECT_EQ(whole.AsFloat(), 12.0f);
    EXPECT_EQ(whole.AsString(), "012");
    EXPECT_EQ(whole.ToString(), "012");
    EXPECT_EQ(ParseIntBackendOption(whole, 1), 12);
    EXPECT_EQ(ParseStringBackendOption(whole, "b"), "012");
    const BackendOptions::Var negative(-1, "-1");
    EXPECT_TRUE(negative.IsInt() && !negative.IsUnsignedInt());
    EXPECT_EQ(negative.AsFloat(), -1.0f);
    EXPECT_THROW(negative.AsUnsignedInt(), InvalidArgumentException);
    const BackendOptions::Var large(4294967295U, "4294967295");
    EXPECT_TRUE(!large.IsInt() && large.IsUnsignedInt());
    EXPECT_EQ(large.AsFloat(), 4294967296.0f);
    const BackendOptions::Var real(1.5f, "1.50");
    EXPECT_TRUE(!real.IsInt() && real.IsFloat());
    EXPECT_EQ(real.AsString(), "1.50");
    const BackendOptions::Var truth(true, "true");
    EXPECT_TRUE(truth.IsBool() && truth.IsString() && !truth.IsInt() && !truth.IsFloat());
    EXPECT_EQ(truth.AsString(), "true");
    // Others are of one type.
    const BackendOptions::Var number(12);
    EXPECT_TRUE(!number.IsString() && !number.IsFloat() && !number.IsUnsignedInt());
    EXPECT_THROW(number.AsString(), InvalidArgumentException);
    EXPECT_TRUE(BackendOptions::Var(12, "12") == number && BackendOptions::Var(12, "12") == BackendOptions::Var("12"));
    EXPECT_TRUE(whole != number);
}

TEST(ArmnnMemorySources, AreSets)
{
    static_assert(IsMemorySource<MemorySource>::value && !IsMemorySource<unsigned int>::value, "");
    const MemorySourceFlags flags = Combine(MemorySource::Malloc, MemorySource::DmaBuf, MemorySource::Gralloc);
    EXPECT_EQ(flags, 11U);
    EXPECT_TRUE(CheckFlag(flags, MemorySource::DmaBuf));
    EXPECT_FALSE(CheckFlag(flags, MemorySource::DmaBufProtected));
}

TEST(ArmnnTypes, ListOfLayerTypesHasThoseOfArmNN)
{
#define X(name) GetLayerTypeAsCString(LayerType::name),
    const std::vector<std::string> names = {LIST_OF_LAYER_TYPE};
#undef X
    EXPECT_EQ(names.size(), 78U); // 75 of release 23.08, and BroadcastTo, Fused, ScatterNd
    EXPECT_EQ(names.front(), "Activation");
    EXPECT_EQ(names[74], "Tile");
    EXPECT_EQ(names.back(), "ScatterNd");
}

TEST(ArmnnTypes, FirstAndLastLayerBoundAllTypes)
{
    int count = 0;
#define TENON_OP(name, ...)                                                                                            \
    EXPECT_TRUE(LayerType::FirstLayer <= LayerType::name && LayerType::name <= LayerType::LastLayer) << #name;         \
    ++count;
#define TENON_DEPRECATED_OP(name) TENON_OP(name, )
#define TENON_RESERVED_OP(name) TENON_OP(name, )
#include <tenon/ops.def>
    EXPECT_EQ(static_cast<int>(LayerType::LastLayer) - static_cast<int>(LayerType::FirstLayer) + 1, count);
}

TEST(ArmnnTypes, NamesOutsideOfTheNamespaceAreTheSameTypes)
{
    static_assert(std::is_same<::LayerGuid, armnn::LayerGuid>::value, "");
    static_assert(std::is_same<arm::pipe::ProfilingGuid, armnn::LayerGuid>::value, "");
    const LayerGuid guid(7); // by the using-directive both are seen
    EXPECT_EQ(static_cast<uint64_t>(guid), 7U);
    const HighResolutionClock begin = std::chrono::high_resolution_clock::now();
    const InferenceTimingPair timing(begin, begin + std::chrono::milliseconds(3));
    EXPECT_EQ((timing.second - timing.first).count(), std::chrono::nanoseconds(3000000).count());
    EXPECT_EQ(LOWEST_CAPTURE_PERIOD, 10000U);
    const PermutationVector order{1, 0};
    const PermutationVector::ConstIterator first = order.begin();
    EXPECT_EQ(*first, 1U);
    static_assert(std::is_same<PermutationVector::ArrayType::value_type, unsigned int>::value, "");
}

TEST(ArmnnTypes, OptionalBackendsAreNoListsOfThem)
{
    const Optional<BackendId> backend(BackendId("CpuRef"));
    EXPECT_EQ(backend, backend); // which prints both where they differ
}

TEST(ArmnnTypes, AssignedTransformIteratorsHaveTheOthersFunction)
{
    const std::vector<int> numbers = {1, 2};
    const auto make = [&](int factor)
    { return MakeTransformIterator(numbers.begin(), [factor](int number) { return factor * number; }); };
    auto a = make(1);
    const auto b = make(10);
    a = b;
    EXPECT_EQ(*a, 10);
    EXPECT_EQ(*++a, 20);
}

TEST(ArmnnVersion, HasNumbersAndTexts)
{
    EXPECT_EQ(std::string(ARMNN_VERSION), STRINGIFY_VALUE(ARMNN_MAJOR_VERSION) ".0.0");
    EXPECT_EQ(std::string(TFLITE_PARSER_VERSION),
              STRINGIFY_VALUE(TFLITE_PARSER_MAJOR_VERSION) "." STRINGIFY_VALUE(
                  TFLITE_PARSER_MINOR_VERSION) "." STRINGIFY_VALUE(TFLITE_PARSER_PATCH_VERSION));
}

} // namespace
