// SPDX-License-Identifier: Apache-2.0
// The options SaveCachedNetwork and CachedNetworkFilePath of CpuAcc: networks of all kinds of weights give the same
// outputs from a file of packed weights, and a file of another network is refused.
#include "backends/cpu/simd/IsaForTests.hpp"
#include "harness/MessageOf.hpp"
#include "harness/Networks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>

namespace tenon::test::cached_network_test
{

using testing::HasSubstr;

namespace
{

const TensorShape InputShape({1, 8, 8, 8});

/// The types of a network's tensors. Floats have no scales.
struct Kind
{
    const char* m_Name;
    DataType m_Data;
    DataType m_Weights;
    DataType m_Reduced = DataType::Float32; ///< what Float32 becomes in the optimizer
};

TensorInfo MakeInfo(const TensorShape& shape, DataType type, float scale, bool isConstant)
{
    const bool isFloat = type == DataType::Float32;
    const int32_t offset =
        isFloat || isConstant ? (type == DataType::QAsymmU8 ? 120 : 0) : (type == DataType::QAsymmU8 ? 128 : -3);
    return TensorInfo(shape, type, isFloat ? 0.0f : scale, isFloat ? 0 : offset, isConstant);
}

/// input -> two convolutions, the second large enough for Winograd's transforms of bytes -> depthwise convolution ->
/// fully connected -> output, with weights that depend on `seed`.
class Builder
{
public:
    Builder(const Kind& kind, unsigned int seed) : m_Kind(kind), m_Seed(seed) {}

    INetworkPtr Make()
    {
        IConnectableLayer* last = AddInput(*m_Network, 0, MakeInfo(InputShape, m_Kind.m_Data, 0.1f, false));
        Convolution2dDescriptor convolution;
        convolution.m_DataLayout = DataLayout::NHWC;
        convolution.m_StrideX = convolution.m_StrideY = 1;
        last = Weigh(last, m_Network->AddConvolution2dLayer(convolution, "convolution"), {24, 3, 3, 8}, {1, 6, 6, 24});
        last = Weigh(last, m_Network->AddConvolution2dLayer(convolution, "second"), {16, 3, 3, 24}, {1, 4, 4, 16});
        DepthwiseConvolution2dDescriptor depthwise;
        depthwise.m_DataLayout = DataLayout::NHWC;
        depthwise.m_StrideX = depthwise.m_StrideY = 1;
        last = Weigh(last, m_Network->AddDepthwiseConvolution2dLayer(depthwise, "depthwise"), {1, 3, 3, 16},
                     {1, 2, 2, 16});
        FullyConnectedDescriptor connected;
        connected.m_TransposeWeightMatrix = true;
        last = Weigh(last, m_Network->AddFullyConnectedLayer(connected, "connected"), {40, 64}, {1, 40});
        Connect(last, m_Network->AddOutputLayer(0, "output"));
        return std::move(m_Network);
    }

private:
    IConnectableLayer* Weigh(IConnectableLayer* data, IConnectableLayer* layer, const TensorShape& weights,
                             const TensorShape& output)
    {
        const TensorInfo info = MakeInfo(weights, m_Kind.m_Weights, 0.02f, true);
        auto values = std::make_shared<std::vector<uint8_t>>(info.GetNumBytes());
        for (size_t i = 0; i < info.GetNumElements(); ++i)
        {
            m_Seed = m_Seed * 1664525 + 1013904223;
            const auto byte = static_cast<uint8_t>(m_Seed >> 24);
            if (m_Kind.m_Weights == DataType::Float32)
            {
                const float value = static_cast<float>(byte) / 256.0f - 0.5f;
                std::memcpy(values->data() + i * sizeof(value), &value, sizeof(value));
            }
            else
            {
                (*values)[i] = byte;
            }
        }
        Connect(data, layer);
        Connect(m_Network->AddConstantLayer(ConstTensor(info, values->data()), values, "weights"), layer, 1);
        layer->GetOutputSlot(0).SetTensorInfo(MakeInfo(output, m_Kind.m_Data, 0.3f, false));
        return layer;
    }

    const Kind m_Kind;
    unsigned int m_Seed;
    INetworkPtr m_Network = INetwork::Create();
};

class CachedNetwork : public testing::TestWithParam<Kind>
{
protected:
    const cpu::ScopedBf16Dots m_Reduces;

    CachedNetwork()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "tenon-cached-XXXXXX").string();
        m_Folder = mkdtemp(pattern.data());
        m_Path = m_Folder / "packed";
    }
    ~CachedNetwork() override { std::filesystem::remove_all(m_Folder); }

    OptimizerOptionsOpaque Options(bool save) const
    {
        OptimizerOptionsOpaque options = NoOptions();
        options.AddModelOption(CacheOptions(save));
        return options;
    }

    static OptimizerOptionsOpaque NoOptions()
    {
        OptimizerOptionsOpaque options;
        options.SetReduceFp32ToBf16(GetParam().m_Reduced == DataType::BFloat16);
        options.SetReduceFp32ToFp16(GetParam().m_Reduced == DataType::Float16);
        return options;
    }

    BackendOptions CacheOptions(bool save) const
    {
        return BackendOptions("CpuAcc", {{"SaveCachedNetwork", save}, {"CachedNetworkFilePath", m_Path.string()}});
    }

    static std::vector<char> Run(const INetwork& network, const OptimizerOptionsOpaque& options,
                                 const ModelOptions& loadOptions = {})
    {
        const IRuntimePtr runtime = IRuntime::Create({});
        INetworkProperties properties;
        properties.m_ModelOptions = loadOptions;
        NetworkId id = 0;
        runtime->LoadNetwork(id, Optimize(network, {"CpuAcc"}, runtime->GetDeviceSpec(), options), properties);
        TensorInfo info = runtime->GetInputTensorInfo(id, 0);
        info.SetConstant();
        std::vector<float> input = Ramp(info.GetNumElements(), -1.0f, 0.01f); // of bytes, the first quarter
        std::vector<char> output;
        runtime->EnqueueWorkload(id, {{0, ConstTensor(info, input.data())}},
                                 [&](LayerBindingId, const TensorInfo& result)
                                 {
                                     output.resize(result.GetNumBytes());
                                     return output.data();
                                 });
        return output;
    }

    std::filesystem::path m_Folder;
    std::filesystem::path m_Path;
};

TEST_P(CachedNetwork, GivesTheSameOutputs)
{
    const std::vector<char> expected = Run(*Builder(GetParam(), 1).Make(), NoOptions());
    EXPECT_EQ(Run(*Builder(GetParam(), 1).Make(), Options(true)), expected);
    ASSERT_TRUE(std::filesystem::exists(m_Path));
    EXPECT_EQ(Run(*Builder(GetParam(), 1).Make(), Options(false)), expected);
}

TEST_P(CachedNetwork, OptionsOfTheLoad)
{
    const auto run = [](const OptimizerOptionsOpaque& options, const ModelOptions& loadOptions)
    { return Run(*Builder(GetParam(), 1).Make(), options, loadOptions); };
    const std::vector<char> expected = run(NoOptions(), {});
    EXPECT_EQ(run(NoOptions(), {CacheOptions(true)}), expected);
    ASSERT_TRUE(std::filesystem::exists(m_Path));
    EXPECT_EQ(run(NoOptions(), {CacheOptions(false)}), expected);
    // They count more than those of the network, which names a file that is there.
    const BackendOptions other("CpuAcc", {{"CachedNetworkFilePath", (m_Folder / "other").string()}});
    EXPECT_THAT(MessageOf<FileNotFoundException>([&] { run(Options(false), {other}); }), HasSubstr("other"));
    const BackendOptions unknown("CpuAcc", {{"Speed", 3}});
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { run(NoOptions(), {unknown}); }),
                HasSubstr("no option 'Speed'"));
}

TEST_P(CachedNetwork, OfOtherWeightsIsRefused)
{
    Run(*Builder(GetParam(), 1).Make(), Options(true));
    if (std::filesystem::file_size(m_Path) < 1000)
    {
        GTEST_SKIP() << "without vectors nothing is packed";
    }
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { Run(*Builder(GetParam(), 2).Make(), Options(false)); }),
                HasSubstr("of another network"));
    OptimizerOptionsOpaque fast = Options(false);
    fast.AddModelOption(BackendOptions("CpuAcc", {{"FastMathEnabled", true}}));
    EXPECT_THAT(MessageOf<InvalidArgumentException>([&] { Run(*Builder(GetParam(), 1).Make(), fast); }),
                HasSubstr("'FastMathEnabled'"));
}

TEST_P(CachedNetwork, IsOneFileForNestedNetworksToo)
{
    const auto make = [&]
    {
        const INetworkPtr thenNetwork = Builder(GetParam(), 3).Make();
        const INetworkPtr elseNetwork = Builder(GetParam(), 4).Make();
        INetworkPtr network = INetwork::Create();
        IConnectableLayer* branch = network->AddIfLayer(*thenNetwork, *elseNetwork, "choice");
        Connect(AddInput(*network, 1, TensorInfo({1}, DataType::Boolean), "condition"), branch, 0);
        Connect(AddInput(*network, 0, MakeInfo(InputShape, GetParam().m_Data, 0.1f, false)), branch, 1);
        Connect(branch, network->AddOutputLayer(0, "output"));
        return network;
    };
    const IRuntimePtr runtime = IRuntime::Create({});
    Load(*runtime, *make(), {"CpuAcc"}, Options(true));
    const uintmax_t both = std::filesystem::file_size(m_Path);
    EXPECT_NO_THROW(Load(*runtime, *make(), {"CpuAcc"}, Options(false)));
    Load(*runtime, *Builder(GetParam(), 3).Make(), {"CpuAcc"}, Options(true));
    EXPECT_GE(both, std::filesystem::file_size(m_Path));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(m_Folder), {}), 1);
}

TEST_P(CachedNetwork, FileThatIsNotThereOrCannotBeWritten)
{
    EXPECT_THAT(MessageOf<FileNotFoundException>([&] { Run(*Builder(GetParam(), 1).Make(), Options(false)); }),
                HasSubstr("CachedNetworkFilePath"));
    m_Path = m_Folder / "no" / "packed";
    EXPECT_THAT(MessageOf<RuntimeException>([&] { Run(*Builder(GetParam(), 1).Make(), Options(true)); }),
                HasSubstr("cannot write"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, CachedNetwork,
                         testing::Values(Kind{"Float32", DataType::Float32, DataType::Float32},
                                         Kind{"Int8", DataType::QAsymmS8, DataType::QSymmS8},
                                         Kind{"UInt8", DataType::QAsymmU8, DataType::QAsymmU8},
                                         Kind{"Hybrid", DataType::Float32, DataType::QSymmS8},
                                         Kind{"BFloat16", DataType::Float32, DataType::Float32, DataType::BFloat16},
                                         Kind{"Float16", DataType::Float32, DataType::Float32, DataType::Float16}),
                         [](const auto& kind) { return std::string(kind.param.m_Name); });

} // namespace

} // namespace tenon::test::cached_network_test
