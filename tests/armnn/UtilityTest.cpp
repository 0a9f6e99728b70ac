// SPDX-License-Identifier: Apache-2.0
// Names of armnn/utility, Conversion.hpp, Deprecated.hpp, Utils.hpp and StrategyBase.hpp for programs written for Arm
// NN.
#define ARMNN_POLYMORPHIC_CAST_TESTABLE
#define ARMNN_NUMERIC_CAST_TESTABLE

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/Conversion.hpp>
#include <armnn/Deprecated.hpp>
#include <armnn/INetwork.hpp>
#include <armnn/StrategyBase.hpp>
#include <armnn/Utils.hpp>
#include <armnn/utility/NumericCast.hpp>
#include <armnn/utility/PolymorphicDowncast.hpp>
#include <armnn/utility/StringUtils.hpp>
#include <armnn/utility/Timer.hpp>
#include <armnn/utility/TransformIterator.hpp>
#include <cctype>
#include <chrono>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace
{

using namespace armnn;
using testing::ElementsAre;

struct Base
{
    virtual ~Base() = default;
};
struct Child : Base
{
    int m_Value = 3;
};
struct OtherChild : Base
{
};

TEST(ArmnnPolymorphicDowncast, ChecksTheTypeOfPointers)
{
    Child child;
    Base* const base = &child;
    EXPECT_EQ(PolymorphicDowncast<Child*>(base)->m_Value, 3);
    EXPECT_EQ(PolymorphicPointerDowncast<Child>(base)->m_Value, 3);
    EXPECT_THROW(PolymorphicDowncast<OtherChild*>(base), std::bad_cast);

    const std::shared_ptr<Base> shared = std::make_shared<Child>();
    const std::shared_ptr<Child> cast = PolymorphicPointerDowncast<Child>(shared);
    EXPECT_EQ(cast, shared);
    EXPECT_THROW(PolymorphicPointerDowncast<OtherChild>(shared), std::bad_cast);
    EXPECT_EQ(utility::DynamicPointerCast<OtherChild>(shared), nullptr);
    EXPECT_EQ(utility::StaticPointerCast<Child>(base), &child);
}

TEST(ArmnnNumericCast, ChecksValues)
{
    EXPECT_EQ(numeric_cast<uint8_t>(255), 255);
    EXPECT_THROW(numeric_cast<uint8_t>(256), InvalidArgumentException);
    EXPECT_THROW(numeric_cast<unsigned int>(-1), InvalidArgumentException);
    EXPECT_THROW(ARMNN_NUMERIC_CAST_CHECK(1 > 2, "one is not above two"), std::bad_cast);
    ARMNN_NUMERIC_CAST_CHECK(2 > 1, "");
}

TEST(ArmnnStringUtils, TokenizesLines)
{
    using namespace armnn::stringUtils;
    EXPECT_THAT(StringTokenizer("a,b;;c\nd,", ",;"), ElementsAre("a", "b", "c", "d"));
    EXPECT_THAT(StringTokenizer("a,b;;c\n,d,", ",;", false), ElementsAre("a", "b", "", "c", "", "d"));
    EXPECT_TRUE(StringTokenizer("", ",").empty());
}

TEST(ArmnnStringUtils, TrimsJoinsAndReplaces)
{
    using namespace armnn::stringUtils;
    std::string text = "\t a b \n";
    EXPECT_EQ(StringTrimCopy(text), "a b");
    EXPECT_EQ(StringStartTrim(text), "a b \n");
    EXPECT_EQ(StringEndTrim(text), "a b");
    std::string dots = "..";
    EXPECT_EQ(StringTrim(dots, "."), "");
    EXPECT_EQ(StringConcat({"a", "b"}, ","), "a,b,");
    EXPECT_EQ(StringConcat({"a", "b"}), "ab");
    std::string replaced = "aXaX";
    StringReplaceAll(replaced, "X", "XX");
    EXPECT_EQ(replaced, "aXXaXX");
    StringReplaceAll(replaced, "", "Y");
    EXPECT_EQ(replaced, "aXXaXX");
}

TEST(ArmnnStringUtils, ConvertsToBool)
{
    using namespace armnn::stringUtils;
    EXPECT_TRUE(StringToBool("TRUE"));
    EXPECT_TRUE(StringToBool("1"));
    EXPECT_FALSE(StringToBool("False"));
    EXPECT_FALSE(StringToBool("0"));
    EXPECT_FALSE(StringToBool("yes", false));
    EXPECT_THROW(StringToBool("yes"), InvalidArgumentException);
    EXPECT_THROW(StringToBool("2"), InvalidArgumentException);
    EXPECT_THROW(StringToBool(""), InvalidArgumentException);
}

TEST(ArmnnTransformIterator, GivesAFunctionOfElements)
{
    const std::vector<int> numbers = {1, 2, 3};
    const auto square = [](int i) { return i * i; };
    auto begin = MakeTransformIterator(numbers.begin(), square);
    const auto end = MakeTransformIterator(numbers.end(), square);
    EXPECT_EQ(std::vector<int>(begin, end), (std::vector<int>{1, 4, 9}));
    EXPECT_EQ(end - begin, 3);
    EXPECT_EQ(*(begin + 2), 9);
    EXPECT_EQ(*(end - 1), 9);
    EXPECT_EQ(begin[1], 4);
    EXPECT_TRUE(begin < end && begin <= end && end > begin && end >= begin && begin != end);
    EXPECT_EQ(*begin++, 1);
    EXPECT_EQ(*++begin, 9);
    EXPECT_EQ(*begin--, 9);
    EXPECT_EQ(*--begin, 1);
    auto other = end;
    other = begin;
    EXPECT_TRUE(other == begin);
}

TEST(ArmnnTimer, MeasuresMilliseconds)
{
    static_assert(std::is_same<decltype(GetTimeNow()), std::chrono::high_resolution_clock::time_point>::value, "");
    static_assert(
        std::is_same<decltype(GetTimeDuration(GetTimeNow())), std::chrono::duration<double, std::milli>>::value, "");
    // Ten years against the days by which the clock may be set, or this process may be halted, between two readings.
    const std::chrono::hours years(10 * 365 * 24);
    const double milliseconds = 10.0 * 365 * 24 * 3600 * 1000;
    EXPECT_NEAR(GetTimeDuration(GetTimeNow() - years).count(), milliseconds, milliseconds / 100);
    EXPECT_NEAR(GetTimeDuration(GetTimeNow() + years).count(), -milliseconds, milliseconds / 100);
}

ARMNN_DEPRECATED_MSG_REMOVAL_DATE("Use Newer.", "99.02")
int Older()
{
    return 4;
}
ARMNN_DEPRECATED_MSG_CHANGE_DATE("It gets a parameter.", "99.02")
int Changing()
{
    return 5;
}
enum class Names
{
    Current,
    Old ARMNN_DEPRECATED_ENUM_MSG("Use Current.") = 1,
    Ancient ARMNN_DEPRECATED_ENUM = 2
};

TEST(ArmnnMacros, SilenceWarnings)
{
    int older = 0;
    ARMNN_SUPPRESS_DEPRECATE_WARNING(older = Older() + Changing())
    EXPECT_EQ(older, 9);
    ARMNN_NO_DEPRECATE_WARN_BEGIN
    EXPECT_EQ(static_cast<int>(Names::Old) + static_cast<int>(Names::Ancient), 3);
    ARMNN_NO_DEPRECATE_WARN_END
    const int wide = 300;
    signed char narrow = 0;
    ARMNN_SUPRESS_CONVERSION_WARNING(narrow = wide - 299)
    ARMNN_NO_CONVERSION_WARN_BEGIN
    narrow += wide - 299;
    ARMNN_NO_CONVERSION_WARN_END
    EXPECT_EQ(narrow, 2);
}

int CountDown(int from)
{
    int count = 0;
    switch (from)
    {
    case 2: ++count; ARMNN_FALLTHROUGH;
    case 1: ++count; break;
    default: break;
    }
    return count;
}

TEST(ArmnnMacros, FallThrough)
{
    EXPECT_EQ(CountDown(2), 2);
}

/// Knows inputs, and does with other layers as its base says.
template <typename DefaultStrategy>
class CountInputs : public StrategyBase<DefaultStrategy>
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor& descriptor,
                         const std::vector<ConstTensor>& constants, const char* name,
                         const LayerBindingId id = 0) override
    {
        if (layer->GetType() == LayerType::Input)
        {
            m_Ids.push_back(id);
            return;
        }
        StrategyBase<DefaultStrategy>::ExecuteStrategy(layer, descriptor, constants, name, id);
    }

    std::vector<LayerBindingId> m_Ids;
};

TEST(ArmnnStrategyBase, KnowsSomeLayers)
{
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* const input = network->AddInputLayer(5);
    IConnectableLayer* const output = network->AddOutputLayer(6);
    input->GetOutputSlot(0).SetTensorInfo(TensorInfo({1}, DataType::Float32));
    input->GetOutputSlot(0).Connect(output->GetInputSlot(0));

    CountInputs<NoThrowStrategy> tolerant;
    network->ExecuteStrategy(tolerant);
    EXPECT_THAT(tolerant.m_Ids, ElementsAre(5));

    CountInputs<ThrowingStrategy> strict;
    try
    {
        network->ExecuteStrategy(strict);
        FAIL();
    }
    catch (const UnimplementedException& error)
    {
        EXPECT_STREQ(error.what(), "Output");
    }
}

} // namespace
