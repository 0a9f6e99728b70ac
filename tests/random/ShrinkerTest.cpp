// SPDX-License-Identifier: Apache-2.0
// The shrinker, with a backend that is wrong, crashes or never ends for layers of some kind: what is left of a network
// is little more than such a layer.
#include "backends/reference/CpuRefBackend.hpp"
#include "harness/NetworkPrinter.hpp"
#include "harness/NetworkShrinker.hpp"
#include "random/FusableNetwork.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>

namespace tenon::test::shrinker_test
{

namespace
{

using testing::HasSubstr;
using testing::Not;

constexpr size_t MinElements = 64;

/// What a layer of the kind does to its output, in place of what CpuRef leaves there.
using Mischief = void (*)(void* output);

/// CpuRef under another name, but for cosines of MinElements or more.
class WrongBackend final : public IBackend
{
public:
    explicit WrongBackend(Mischief mischief) : m_Mischief(mischief) {}

    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return m_Reference->GetLayerSupport(options);
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        return std::make_unique<Factory>(m_Id, m_Mischief, m_Reference->CreateWorkloadFactory(options));
    }

private:
    class Shaped final : public IShapedWorkload
    {
    public:
        Shaped(Mischief mischief, std::unique_ptr<IShapedWorkload> inner)
            : m_Mischief(mischief), m_Inner(std::move(inner))
        {
        }
        size_t GetScratchBytes() const override { return m_Inner->GetScratchBytes(); }
        void Execute(const ExecuteArgs& args) const override
        {
            m_Inner->Execute(args);
            m_Mischief(args.GetOutput<std::byte>(0));
        }

    private:
        Mischief m_Mischief;
        std::unique_ptr<IShapedWorkload> m_Inner;
    };

    class Workload final : public IWorkload
    {
    public:
        Workload(Mischief mischief, std::unique_ptr<IWorkload> inner) : m_Mischief(mischief), m_Inner(std::move(inner))
        {
        }
        std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
        {
            std::unique_ptr<IShapedWorkload> shaped = m_Inner->Reshape(args);
            return args.GetOutput(0).GetNumElements() < MinElements
                       ? std::move(shaped)
                       : std::make_unique<Shaped>(m_Mischief, std::move(shaped));
        }
        const char* GetName() const override { return "Wrong"; }

    private:
        Mischief m_Mischief;
        std::unique_ptr<IWorkload> m_Inner;
    };

    class Factory final : public IWorkloadFactory
    {
    public:
        Factory(BackendId id, Mischief mischief, std::unique_ptr<IWorkloadFactory> inner)
            : m_Id(std::move(id)), m_Mischief(mischief), m_Inner(std::move(inner))
        {
        }
        const BackendId& GetBackendId() const override { return m_Id; }
        std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
        {
            std::unique_ptr<IWorkload> workload = m_Inner->CreateWorkload(layer);
            const bool isCosine =
                layer.m_Type == LayerType::ElementwiseUnary &&
                static_cast<const ElementwiseUnaryDescriptor*>(layer.m_Descriptor)->m_Operation == UnaryOperation::Cos;
            return isCosine ? std::make_unique<Workload>(m_Mischief, std::move(workload)) : std::move(workload);
        }

    private:
        BackendId m_Id;
        Mischief m_Mischief;
        std::unique_ptr<IWorkloadFactory> m_Inner;
    };

    BackendId m_Id{"Wrong"};
    Mischief m_Mischief;
    std::shared_ptr<const IBackend> m_Reference = ref::MakeCpuRefBackend();
};

/// A random network of 20 layers or more in which a cosine stands between others.
NetworkCase MakeLongCase()
{
    for (uint32_t seed = 0;; ++seed)
    {
        const FusableNetwork network(seed);
        const NetworkCase& tested = network.Case();
        size_t cosines = 0;
        for (const Layer* layer : tested.GetGraph().LayersOf(LayerType::ElementwiseUnary))
        {
            const TensorShape& shape = layer->Output(0).GetTensorInfo().GetShape();
            const bool isIt = layer->Descriptor<ElementwiseUnaryDescriptor>().m_Operation == UnaryOperation::Cos &&
                              layer->Output(0).GetConnections().size() != 0 && shape.AreAllDimensionsSpecified() &&
                              shape.GetNumElements() >= MinElements &&
                              layer->Output(0).GetTensorInfo().GetDataType() == DataType::Float32;
            cosines += isIt ? 1 : 0;
        }
        if (cosines != 0 && tested.GetGraph().Size() >= 20)
        {
            return CopyCase(tested);
        }
    }
}

Shrunk ShrinkWith(Mischief mischief, const ShrinkLimits& limits = {})
{
    RunConfigs ways;
    ways.m_Configs = {{"Wrong", {"Wrong"}, 1, 0, "", {}}};
    ways.m_OwnBackends = {std::make_shared<WrongBackend>(mischief)};
    const CaseCheck check = [ways](const NetworkCase& tested, const Say& say)
    { return FindDisagreement(tested, ways, say); };
    const NetworkCase tested = MakeLongCase();
    EXPECT_GE(tested.GetGraph().Size(), 20u);
    const Failure failure = CheckInChild(check, tested, limits.m_SecondsOfCheck);
    EXPECT_TRUE(failure);
    Shrunk shrunk = Shrink(tested, check, failure, limits);
    EXPECT_EQ(shrunk.m_Failure.m_Kind, failure.m_Kind);
    return shrunk;
}

/// An input, the cosine and an output, of hardly more elements than it takes.
void ExpectLittle(const NetworkCase& tested)
{
    const std::string source = PrintAsTest(tested, "Suite", "Name");
    EXPECT_EQ(tested.GetGraph().Size(), 3u) << source;
    EXPECT_EQ(tested.GetGraph().Count(LayerType::ElementwiseUnary), 1u) << source;
    EXPECT_THAT(source, HasSubstr("UnaryOperation::Cos"));
    ASSERT_EQ(tested.m_Runs.size(), 1u) << source;
    const unsigned int elements = tested.m_Runs[0].begin()->second.GetNumElements();
    EXPECT_GE(elements, MinElements);
    EXPECT_LE(elements, 3 * MinElements) << source;
}

} // namespace

TEST(NetworkShrinker, LeavesTheLayerThatComputesWrongly)
{
    const Shrunk shrunk = ShrinkWith(
        [](void* output)
        {
            const float wrong = 7.0f;
            std::memcpy(static_cast<std::byte*>(output) + 5 * sizeof wrong, &wrong, sizeof wrong);
        });
    EXPECT_EQ(shrunk.m_Failure.m_Kind, "Wrong: values");
    EXPECT_THAT(shrunk.m_Failure.m_Text, HasSubstr("7"));
    ExpectLittle(shrunk.m_Case);
}

TEST(NetworkShrinker, LeavesTheLayerThatThrows)
{
    const Shrunk shrunk = ShrinkWith([](void*) { throw RuntimeException("a cosine is not to be had"); });
    EXPECT_EQ(shrunk.m_Failure.m_Kind, "Wrong: exception");
    EXPECT_THAT(shrunk.m_Failure.m_Text, HasSubstr("a cosine is not to be had"));
    ExpectLittle(shrunk.m_Case);
}

TEST(NetworkShrinker, LeavesTheLayerThatCrashes)
{
    const Shrunk shrunk = ShrinkWith([](void*) { std::raise(SIGSEGV); });
    EXPECT_THAT(shrunk.m_Failure.m_Kind, HasSubstr("Wrong: "));
    EXPECT_THAT(shrunk.m_Failure.m_Kind, Not(HasSubstr("values")));
    ExpectLittle(shrunk.m_Case);
}

TEST(NetworkShrinker, EndsRunsThatDoNotEnd)
{
    ShrinkLimits limits;
    limits.m_Seconds = 8.0;
    limits.m_SecondsOfCheck = 2.0;
    const auto start = std::chrono::steady_clock::now();
    const Shrunk shrunk = ShrinkWith([](void*) { std::this_thread::sleep_for(std::chrono::hours(1)); }, limits);
    EXPECT_THAT(shrunk.m_Failure.m_Kind, HasSubstr("no end"));
    EXPECT_LT(shrunk.m_Case.GetGraph().Size(), 20u);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

} // namespace tenon::test::shrinker_test
