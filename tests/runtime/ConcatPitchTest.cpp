// SPDX-License-Identifier: Apache-2.0
// Layers whose outputs a Concat joins along the channels: they write them into its output where they can, and give what
// they give into memory of their own, as they do where the network gives them too.
#include "backends/cpu/simd/IsaForTests.hpp"
#include "runtime/ConcatNetworks.hpp"
#include "runtime/PlannedNetwork.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace tenon::test::concat_pitch_test
{

namespace
{

constexpr unsigned int Images = 2;
constexpr unsigned int Height = 9;
constexpr unsigned int Width = 7;

/// What the network's tensors hold between its input and its output, which are floats.
struct Kind
{
    const char* m_Name;
    DataType m_Type;
    bool m_IsBf16 = false; ///< as the option makes them

    bool IsQuantized() const { return m_Type != DataType::Float32; }
    TensorInfo Info(const TensorShape& shape) const
    {
        return IsQuantized() ? TensorInfo(shape, m_Type, 0.05f, m_Type == DataType::QAsymmU8 ? 120 : -9)
                             : TensorInfo(shape, m_Type);
    }
    OptimizerOptionsOpaque Options() const
    {
        OptimizerOptionsOpaque options;
        options.SetReduceFp32ToBf16(m_IsBf16);
        return options;
    }
};

constexpr Kind Kinds[] = {{"Float32", DataType::Float32},
                          {"BFloat16", DataType::Float32, true},
                          {"QAsymmS8", DataType::QAsymmS8},
                          {"QAsymmU8", DataType::QAsymmU8}};

/// A network of images of one size.
class ImageNetwork
{
public:
    struct Image
    {
        IConnectableLayer* m_Layer = nullptr;
        unsigned int m_Channels = 0;
    };

    explicit ImageNetwork(const Kind& kind) : m_Kind(kind) {}

    INetwork& Get() { return *m_Network; }

    Image Input(unsigned int channels)
    {
        IConnectableLayer* layer = AddInput(*m_Network, m_Inputs++, FloatInfo({Images, Height, Width, channels}));
        return m_Kind.IsQuantized() ? Make(m_Network->AddQuantizeLayer("quantize"), {layer, channels}, channels)
                                    : Image{layer, channels};
    }
    void Output(const Image& image)
    {
        IConnectableLayer* last = image.m_Layer;
        if (m_Kind.IsQuantized())
        {
            last = m_Network->AddDequantizeLayer("dequantize");
            Connect(image.m_Layer, last);
        }
        Connect(last, m_Network->AddOutputLayer(m_Outputs++));
    }
    Image Convolution(const Image& from, unsigned int channels, unsigned int kernel)
    {
        Convolution2dDescriptor d;
        d.m_DataLayout = DataLayout::NHWC;
        d.m_StrideX = d.m_StrideY = 1;
        d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = kernel / 2;
        const Image made = Make(m_Network->AddConvolution2dLayer(d, "convolution"), from, channels);
        AddWeights(made.m_Layer, {channels, kernel, kernel, from.m_Channels});
        return made;
    }
    /// Of this stride, to the same size: half of the image is made twice as large.
    Image Transposed(const Image& from, unsigned int channels, unsigned int stride)
    {
        Image half = from;
        if (stride == 2)
        {
            half = Pool(from, PoolingAlgorithm::Max, 2);
        }
        TransposeConvolution2dDescriptor d;
        d.m_DataLayout = DataLayout::NHWC;
        d.m_StrideX = d.m_StrideY = stride;
        d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = 1;
        d.m_OutputShapeEnabled = true;
        d.m_OutputShape = {Images, Height, Width, channels};
        const Image made = Make(m_Network->AddTransposeConvolution2dLayer(d, "transposed"), half, channels);
        AddWeights(made.m_Layer, {channels, 3, 3, from.m_Channels});
        return made;
    }
    Image Pool(const Image& from, PoolingAlgorithm algorithm, unsigned int stride = 1)
    {
        Pooling2dDescriptor d;
        d.m_PoolType = algorithm;
        d.m_PoolHeight = d.m_PoolWidth = 3;
        d.m_StrideX = d.m_StrideY = stride;
        d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = 1;
        d.m_PaddingMethod = PaddingMethod::Exclude;
        d.m_DataLayout = DataLayout::NHWC;
        return Make(m_Network->AddPooling2dLayer(d, "pool"), from, from.m_Channels, stride);
    }
    Image Clamp(const Image& from)
    {
        ActivationDescriptor d;
        d.m_Function = ActivationFunction::ReLu;
        return Make(m_Network->AddActivationLayer(d, "relu"), from, from.m_Channels);
    }
    Image Concat(const std::vector<Image>& from)
    {
        OriginsDescriptor d(static_cast<uint32_t>(from.size()), 4);
        d.SetConcatAxis(3);
        Image made{m_Network->AddConcatLayer(d, "concat")};
        for (unsigned int i = 0; i < from.size(); ++i)
        {
            Connect(from[i].m_Layer, made.m_Layer, i);
            made.m_Channels += from[i].m_Channels;
        }
        made.m_Layer->GetOutputSlot(0).SetTensorInfo(m_Kind.Info({Images, Height, Width, made.m_Channels}));
        return made;
    }

    std::vector<Floats> Run(const BackendId& backend, unsigned int threads, bool together = true)
    {
        return RunNetwork(*m_Network, backend, threads, together, m_Kind.Options());
    }
    Planned MakePlan() { return Planned(*m_Network, "CpuAcc", m_Kind.Options()); }
    /// With CpuAcc's option NumberOfThreads.
    Planned MakeLimitedPlan(unsigned int threads)
    {
        OptimizerOptionsOpaque options = m_Kind.Options();
        options.AddModelOption(BackendOptions("CpuAcc", {{"NumberOfThreads", threads}}));
        return Planned(*m_Network, "CpuAcc", options);
    }

private:
    Image Make(IConnectableLayer* layer, const Image& from, unsigned int channels, unsigned int stride = 1)
    {
        Connect(from.m_Layer, layer);
        layer->GetOutputSlot(0).SetTensorInfo(
            m_Kind.Info({Images, (Height + stride - 1) / stride, (Width + stride - 1) / stride, channels}));
        return {layer, channels};
    }
    void AddWeights(IConnectableLayer* layer, const TensorShape& shape)
    {
        const bool isUnsigned = m_Kind.m_Type == DataType::QAsymmU8;
        const DataType type = m_Kind.IsQuantized() && !isUnsigned ? DataType::QSymmS8 : m_Kind.m_Type;
        const TensorInfo info(shape, type, 0.02f, isUnsigned ? 110 : 0, true);
        const auto bytes = std::make_shared<std::vector<int8_t>>(info.GetNumBytes());
        std::uniform_int_distribution<int> byte(-99, 99);
        std::uniform_real_distribution<float> number(-0.5f, 0.5f);
        for (size_t i = 0; i < info.GetNumElements(); ++i)
        {
            const float value = number(m_Random);
            m_Kind.IsQuantized() ? void((*bytes)[i] = static_cast<int8_t>(byte(m_Random)))
                                 : void(std::memcpy(bytes->data() + i * sizeof(float), &value, sizeof(float)));
        }
        Connect(m_Network->AddConstantLayer(ConstTensor(info, bytes->data()), bytes), layer, 1);
    }

    Kind m_Kind;
    INetworkPtr m_Network = INetwork::Create();
    LayerBindingId m_Inputs = 0;
    LayerBindingId m_Outputs = 0;
    std::mt19937 m_Random{11};
};

/// How many values lie in what joins them.
size_t CountPitched(const Planned& plan)
{
    size_t count = 0;
    for (ValueId v = 0; v < plan.Get().Infos().size(); ++v)
    {
        count += plan.Get().FindPitch(v) != nullptr ? 1 : 0;
    }
    return count;
}

/// Whether CpuAcc has vectors at all: else the reference kernels run, which write nothing elsewhere.
bool HasVectors()
{
    ImageNetwork network(Kinds[0]);
    network.Output(network.Convolution(network.Input(8), 8, 3));
    return std::string(network.MakePlan().Get().Steps()[0].m_KernelName) == "CpuConvolution2dF32";
}

/// Each network once with its last image as the only output, and once with all of them as outputs, which takes their
/// places elsewhere: `build(network, give)` gives what it makes.
template <typename Build>
size_t ExpectSame(const Kind& kind, const Build& build)
{
    ImageNetwork apart(kind);
    ImageNetwork joined(kind);
    apart.Output(build(apart, [&](const ImageNetwork::Image& image) { apart.Output(image); }));
    joined.Output(build(joined, [](const ImageNetwork::Image&) {}));
    EXPECT_EQ(CountPitched(apart.MakePlan()), 0U);
    const Floats expected = apart.Run("CpuAcc", 1).back();
    if (kind.IsQuantized())
    {
        EXPECT_EQ(apart.Run("CpuRef", 1).back(), expected);
    }
    for (const unsigned int threads : {1u, 3u})
    {
        EXPECT_EQ(joined.Run("CpuAcc", threads).back(), expected) << threads << " threads";
    }
    EXPECT_EQ(joined.Run("CpuAcc", 1, false).back(), expected) << "one by one";
    const size_t pitched = CountPitched(joined.MakePlan());
    EXPECT_EQ(CountPitched(joined.MakeLimitedPlan(Planned::Threads)), pitched) << "with a limit of threads";
    return pitched;
}

class Pitches : public testing::TestWithParam<Kind>
{
protected:
    const cpu::ScopedBf16Dots m_Reduces;

    /// At least so many where CpuAcc has vectors. Of smaller types, memory that layers use beside small tensors may be
    /// against it.
    static void ExpectPitched(size_t pitched, size_t min)
    {
        const bool isFloat = !GetParam().IsQuantized() && !GetParam().m_IsBf16;
        EXPECT_GE(pitched, isFloat && HasVectors() ? min : 0U);
    }
};

INSTANTIATE_TEST_SUITE_P(Kinds, Pitches, testing::ValuesIn(Kinds),
                         [](const auto& kind) { return std::string(kind.param.m_Name); });

} // namespace

// What was made larger beside an input of the network.
TEST_P(Pitches, OfTransposedConvolutions)
{
    for (const unsigned int channels : {1u, 8u, 20u, 64u})
    {
        const size_t pitched = ExpectSame(GetParam(),
                                          [&](ImageNetwork& network, const auto& give)
                                          {
                                              const auto image = network.Input(3);
                                              const auto wide = network.Transposed(image, channels, 2);
                                              const auto same = network.Transposed(image, 5, 1);
                                              give(wide);
                                              give(same);
                                              return network.Concat({wide, image, same});
                                          });
        ExpectPitched(pitched, channels == 64 ? 2 : 0);
    }
}

TEST_P(Pitches, OfBranchesOfAnInception)
{
    const size_t pitched = ExpectSame(GetParam(),
                                      [](ImageNetwork& network, const auto& give)
                                      {
                                          const auto stem = network.Convolution(network.Input(3), 24, 3);
                                          const auto a = network.Convolution(stem, 64, 1);
                                          const auto b = network.Convolution(network.Convolution(stem, 12, 1), 133, 3);
                                          const auto c = network.Pool(stem, PoolingAlgorithm::Max);
                                          const auto d =
                                              network.Pool(network.Convolution(stem, 5, 1), PoolingAlgorithm::Average);
                                          const auto e = network.Convolution(stem, 3, 3); // whose weights may stay
                                          for (const auto& branch : {a, b, c, d, e})
                                          {
                                              give(branch);
                                          }
                                          return network.Concat({a, b, c, d, e});
                                      });
    ExpectPitched(pitched, 5);
}

TEST_P(Pitches, AreNotForWhatOthersReadOrGive)
{
    const auto expectNone = [](const auto& build)
    { EXPECT_EQ(ExpectSame(GetParam(), [&](ImageNetwork& network, const auto&) { return build(network); }), 0U); };
    // What somebody else reads, and what an elementwise layer makes.
    expectNone(
        [](ImageNetwork& network)
        {
            const auto convolved = network.Convolution(network.Input(3), 8, 3);
            const auto pooled = network.Pool(convolved, PoolingAlgorithm::Max);
            return network.Concat({convolved, network.Clamp(network.Concat({pooled, pooled}))});
        });
    // What is joined twice, an input, and what would make too large a tensor.
    expectNone(
        [](ImageNetwork& network)
        {
            const auto convolved = network.Convolution(network.Input(8), 8, 3);
            return network.Concat({convolved, convolved, network.Input(4)});
        });
    expectNone(
        [](ImageNetwork& network)
        {
            const auto wide = network.Convolution(network.Input(1), 34000, 1);
            return network.Concat({network.Pool(wide, PoolingAlgorithm::Max), wide});
        });
}

TEST_P(Pitches, OfRandomNetworks)
{
    size_t pitched = 0;
    for (unsigned int seed = 0; seed < 60; ++seed)
    {
        SCOPED_TRACE("seed " + std::to_string(seed));
        pitched += ExpectSame(
            GetParam(),
            [&](ImageNetwork& network, const auto& give)
            {
                std::mt19937 random(seed);
                const auto pick = [&](unsigned int min, unsigned int max)
                { return std::uniform_int_distribution<unsigned int>(min, max)(random); };
                std::vector<ImageNetwork::Image> images{network.Input(pick(1, 9))};
                const auto any = [&] {
                    return images[pick(static_cast<unsigned int>(images.size()) / 2,
                                       static_cast<unsigned int>(images.size()) - 1)];
                };
                constexpr unsigned int Channels[] = {1, 3, 4, 8, 16, 31, 64, 100};
                for (unsigned int layers = pick(4, 12); layers != 0; --layers)
                {
                    const auto from = any();
                    switch (pick(0, 6))
                    {
                    case 0: images.push_back(network.Pool(from, PoolingAlgorithm::Max)); break;
                    case 1: images.push_back(network.Clamp(from)); break;
                    case 2: images.push_back(network.Transposed(from, Channels[pick(0, 5)], pick(1, 2))); break;
                    case 3:
                    case 4:
                        images.push_back(network.Convolution(from, Channels[pick(0, 7)], pick(0, 1) * 2 + 1));
                        break;
                    default:
                        images.push_back(network.Concat(pick(0, 1) == 0 ? std::vector{any(), any()}
                                                                        : std::vector{any(), any(), any()}));
                    }
                }
                for (size_t i = 1; i + 1 < images.size(); ++i)
                {
                    give(images[i]);
                }
                return images.back();
            });
    }
    EXPECT_GE(pitched, HasVectors() && !GetParam().m_IsBf16 ? 10U : 0U);
}

// A debug callback sees whole tensors.
TEST(ShownPitches, HaveNoGaps)
{
    ImageNetwork network(Kinds[0]);
    const auto image = network.Input(3);
    const auto first = network.Convolution(image, 5, 3);
    const auto second = network.Convolution(image, 6, 1);
    network.Output(network.Concat({first, second}));
    std::map<LayerGuid, Floats> shown;
    const IRuntimePtr runtime = IRuntime::Create({});
    OptimizerOptionsOpaque options;
    options.SetDebugEnabled(true);
    const NetworkId id = Load(*runtime, network.Get(), {"CpuAcc"}, options);
    std::vector<Floats> byChannels;
    runtime->RegisterDebugCallback(id,
                                   [&](LayerGuid, unsigned int, ITensorHandle* handle)
                                   {
                                       const auto* values = static_cast<const float*>(handle->Map(true));
                                       const size_t count = handle->GetShape().GetNumElements();
                                       byChannels.resize(std::max<size_t>(byChannels.size(), 12));
                                       byChannels[handle->GetShape()[3]].assign(values, values + count);
                                   });
    const Floats data = Ramp(size_t{Images} * Height * Width * 3, -1.0f, 0.01f);
    TensorInfo info = runtime->GetInputTensorInfo(id, 0);
    info.SetConstant();
    runtime->EnqueueWorkload(id, {{0, ConstTensor(info, data.data())}},
                             [&, result = Floats()](LayerBindingId, const TensorInfo& output) mutable
                             {
                                 result.resize(output.GetNumElements());
                                 return result.data();
                             });
    ASSERT_EQ(byChannels[11].size(), size_t{Images} * Height * Width * 11);
    for (size_t pixel = 0; pixel < size_t{Images} * Height * Width; ++pixel)
    {
        for (size_t c = 0; c < 11; ++c)
        {
            ASSERT_EQ(c < 5 ? byChannels[5][pixel * 5 + c] : byChannels[6][pixel * 6 + c - 5],
                      byChannels[11][pixel * 11 + c]);
        }
    }
}

} // namespace tenon::test::concat_pitch_test
