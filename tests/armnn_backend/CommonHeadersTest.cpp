// SPDX-License-Identifier: Apache-2.0
// Internal headers of Arm NN that backends written for it include: bases, rules and helpers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <InternalTypes.hpp>
#include <LayerSupportCommon.hpp>
#include <armnn/ArmNN.hpp>
#include <array>
#include <backendsCommon/LayerSupportBase.hpp>
#include <backendsCommon/LayerSupportRules.hpp>
#include <backendsCommon/MakeWorkloadHelper.hpp>
#include <backendsCommon/TensorHandleFactoryRegistry.hpp>
#include <backendsCommon/WorkloadFactory.hpp>
#include <common/include/ProfilingGuid.hpp>
#include <type_traits>

namespace
{

using Reason = armnn::Optional<std::string&>;
using T = armnn::DataType;

armnn::TensorInfo Info(const armnn::TensorShape& shape, T type = T::Float32)
{
    return armnn::TensorInfo(shape, type, 0.5f, 0);
}

struct Numbered
{
    virtual ~Numbered() = default;
    int m_Number = 0;
};

template <int Number>
struct Workload : armnn::BaseWorkload<armnn::FloorQueueDescriptor>, Numbered
{
    Workload(const armnn::FloorQueueDescriptor& descriptor, const armnn::WorkloadInfo& info, int added)
        : BaseWorkload(descriptor, info)
    {
        m_Number = Number + added;
    }
    void Execute() const override {}
};

/// The number of the workload that is made for a type, or -1 for none.
int MakeFor(T type)
{
    std::array<float, 1> memory{};
    armnn::PassthroughTensorHandle handle(Info({1}, type), memory.data());
    armnn::FloorQueueDescriptor queue;
    queue.m_Inputs = queue.m_Outputs = {&handle};
    armnn::WorkloadInfo info;
    info.m_InputTensorInfos = info.m_OutputTensorInfos = {Info({1}, type)};
    const std::unique_ptr<armnn::IWorkload> made =
        armnn::MakeWorkloadHelper<Workload<0>, Workload<1>, Workload<2>, Workload<3>, armnn::NullWorkload, Workload<5>>(
            queue, info, 10);
    return made != nullptr ? dynamic_cast<const Numbered&>(*made).m_Number : -1;
}

} // namespace

TEST(CommonHeaders, TheBaseOfSupportsSaysNo)
{
    const armnn::LayerSupportBase base;
    std::string reason;
    EXPECT_FALSE(base.IsLayerSupported(armnn::LayerType::Floor, {Info({1}), Info({1})}, armnn::BaseDescriptor(),
                                       armnn::EmptyOptional(), armnn::EmptyOptional(), Reason(reason)));
    EXPECT_EQ(reason, "the backend has no layer Floor");
    EXPECT_FALSE(base.IsLayerSupported(armnn::LayerType::Floor, {Info({1}), Info({1})}, armnn::BaseDescriptor()));
    EXPECT_TRUE(base.IsLayerSupported(armnn::LayerType::MemCopy, {Info({1}), Info({1})}, armnn::BaseDescriptor()));
    EXPECT_TRUE(base.IsMemImportSupported(Info({1}), Info({1})));
    EXPECT_FALSE(base.IsMergeSupported(Info({1}), Info({1}), Info({1}), Reason(reason)));
    EXPECT_EQ(reason, "the backend has no layer Merge");
    EXPECT_FALSE(base.IsShapeSupported(Info({1}), Info({1}), Reason(reason)));
    EXPECT_EQ(reason, "the backend has no layer Shape");
    const armnn::StandInDescriptor standIn(1, 2);
    EXPECT_FALSE(base.IsLayerSupported(armnn::LayerType::StandIn, {Info({1}), Info({1}), Info({1})}, standIn,
                                       armnn::EmptyOptional(), armnn::EmptyOptional(), Reason(reason)));
    EXPECT_THAT(reason, testing::HasSubstr("StandIn"));
    EXPECT_THROW(base.IsLayerSupported(armnn::LayerType::StandIn, {Info({1})}, standIn),
                 armnn::InvalidArgumentException);
    EXPECT_THROW(base.IsLayerSupported(armnn::LayerType::StandIn, {Info({1})}, armnn::BaseDescriptor()),
                 armnn::InvalidArgumentException);
}

TEST(CommonHeaders, RulesHoldOrNot)
{
    const std::vector<T> floats{T::Float32, T::Float16};
    EXPECT_TRUE(armnn::TypeAnyOf(Info({1}), floats)());
    EXPECT_FALSE(armnn::TypeAnyOf(Info({1}, T::Boolean), floats)());
    EXPECT_TRUE(armnn::TypeIs(Info({1}, T::Boolean), T::Boolean)());
    EXPECT_FALSE(armnn::TypeIs(Info({1}, T::Boolean), T::Float32)());
    EXPECT_TRUE(armnn::TypesAreEqual(Info({1}), Info({2}), Info({3}))());
    EXPECT_FALSE(armnn::TypesAreEqual(Info({1}), Info({2}), Info({3}, T::Signed32))());
    EXPECT_TRUE(armnn::QuantizationParametersAreEqual(Info({1}, T::QAsymmS8), Info({1}, T::QAsymmS8))());
    EXPECT_FALSE(
        armnn::QuantizationParametersAreEqual(Info({1}, T::QAsymmS8), armnn::TensorInfo({1}, T::QAsymmS8, 0.5f, 1))());
    EXPECT_TRUE(armnn::TypeNotPerAxisQuantized(Info({2}, T::QSymmS8))());
    EXPECT_FALSE(armnn::TypeNotPerAxisQuantized(armnn::TensorInfo({2}, T::QSymmS8, {0.5f, 1.0f}, 0))());
    EXPECT_TRUE(armnn::BiasAndWeightsTypesMatch(Info({1}, T::Signed32), Info({1}, T::QSymmS8))());
    EXPECT_FALSE(armnn::BiasAndWeightsTypesMatch(Info({1}), Info({1}, T::QSymmS8))());
    EXPECT_TRUE(armnn::BiasAndWeightsTypesCompatible(Info({1}), floats)());
    EXPECT_FALSE(armnn::BiasAndWeightsTypesCompatible(Info({1}, T::QAsymmU8), floats)());
    EXPECT_THROW(armnn::BiasAndWeightsTypesMatch(Info({1}), Info({1}, T::Boolean)), armnn::InvalidArgumentException);
    EXPECT_FALSE(armnn::GetBiasTypeFromWeightsType(armnn::EmptyOptional()).has_value());
    EXPECT_TRUE(armnn::ShapesAreSameRank(Info({1, 2}), Info({3, 4}))());
    EXPECT_FALSE(armnn::ShapesAreSameRank(Info({1, 2}), Info({2}))());
    EXPECT_TRUE(armnn::ShapesAreSameTotalSize(Info({2, 3}), Info({6}))());
    EXPECT_FALSE(armnn::ShapesAreSameTotalSize(Info({2, 3}), Info({5}))());
    EXPECT_TRUE(armnn::ShapesAreBroadcastCompatible(Info({2, 3}), Info({3}), Info({2, 3}))());
    EXPECT_FALSE(armnn::ShapesAreBroadcastCompatible(Info({2, 3}), Info({2}), Info({2, 3}))());
    EXPECT_FALSE(armnn::ShapesAreBroadcastCompatible(Info({1, 2, 3}), Info({3}), Info({2, 3}))());
    EXPECT_TRUE(armnn::TensorNumDimensionsAreCorrect(Info({2, 3}), 2)());
    EXPECT_FALSE(armnn::TensorNumDimensionsAreCorrect(Info({2, 3}), 3)());
    EXPECT_TRUE(armnn::TensorNumDimensionsAreGreaterOrEqualTo(Info({2, 3}), 1)());
    EXPECT_FALSE(armnn::TensorNumDimensionsAreGreaterOrEqualTo(Info({2, 3}), 3)());

    std::string reasons;
    EXPECT_TRUE(armnn::CheckSupportRule(armnn::TypeIs(Info({1}), T::Float32), Reason(reasons), "first"));
    EXPECT_FALSE(armnn::CheckSupportRule(armnn::TypeIs(Info({1}), T::Boolean), Reason(reasons), "second"));
    EXPECT_FALSE(armnn::CheckSupportRule(armnn::TypeIs(Info({1}), T::Boolean), Reason(reasons), "third"));
    EXPECT_EQ(reasons, "second\nthird\n");
    EXPECT_FALSE(armnn::CheckSupportRule(armnn::TypeIs(Info({1}), T::Boolean), armnn::EmptyOptional(), "nobody asks"));
}

TEST(CommonHeaders, AnswersGoByTheType)
{
    const auto ask = [](T type, std::string& reason)
    {
        return armnn::IsSupportedForDataTypeGeneric(Reason(reason), type, &armnn::FalseFuncF16<int>,
                                                    &armnn::TrueFunc<int>, &armnn::FalseFuncU8<int>,
                                                    &armnn::FalseFunc<int>, &armnn::TrueFunc<int>, 7);
    };
    std::string reason;
    EXPECT_TRUE(ask(T::Float32, reason));
    EXPECT_TRUE(ask(T::Boolean, reason));
    EXPECT_FALSE(ask(T::Signed32, reason));
    EXPECT_FALSE(ask(T::QSymmS16, reason));
    EXPECT_EQ(reason, "");
    EXPECT_FALSE(ask(T::Float16, reason));
    EXPECT_THAT(reason, testing::HasSubstr("Float16"));
    EXPECT_FALSE(ask(T::QAsymmU8, reason));
    EXPECT_THAT(reason, testing::HasSubstr("8 bits"));
    EXPECT_FALSE(armnn::FalseOutputFuncF32(armnn::EmptyOptional()));
    EXPECT_EQ(std::tuple_size<armnn::Coordinates>::value, armnn::MaxNumOfTensorDimensions);
    EXPECT_TRUE((std::is_same<arm::pipe::ProfilingGuid, LayerGuid>::value));
}

TEST(CommonHeaders, WorkloadsAreMadeByTheType)
{
    EXPECT_EQ(MakeFor(T::Float16), 10);
    EXPECT_EQ(MakeFor(T::Float32), 11);
    EXPECT_EQ(MakeFor(T::QAsymmU8), 12);
    EXPECT_EQ(MakeFor(T::Signed32), 13);
    EXPECT_EQ(MakeFor(T::Boolean), -1) << "NullWorkload";
    EXPECT_EQ(MakeFor(T::QAsymmS8), 15);
    EXPECT_EQ(MakeFor(T::QSymmS8), 15);
    EXPECT_EQ(MakeFor(T::QSymmS16), -1);
    EXPECT_THROW(
        (armnn::MakeWorkloadHelper<Workload<0>, Workload<1>>(armnn::FloorQueueDescriptor(), armnn::WorkloadInfo(), 0)),
        armnn::InvalidArgumentException);
}
