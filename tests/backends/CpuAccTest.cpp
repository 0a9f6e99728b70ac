// SPDX-License-Identifier: Apache-2.0
// CpuAcc judged by CpuRef: float convolutions and fully connected layers of many shapes, on one and on several threads,
// and what the backend refuses.
#include "backends/cpu/CpuAccBackend.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "common/AlignedMemory.hpp"
#include "harness/ForcedIsa.hpp"

#include <tenon/BackendHelper.hpp>
#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Products.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace tenon::test::cpu_acc_test
{

namespace
{

/// Real threads, one a piece, so that pieces do run at the same time. Remembers how many pieces a loop had, and how
/// many ran at the same time, whatever loop they are of.
class Threads final : public IParallelFor
{
public:
    explicit Threads(unsigned int threads) : m_Threads(threads) {}

    void Run(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) override
    {
        const size_t piece = std::max(grain, (count + m_Threads - 1) / m_Threads);
        std::vector<std::thread> workers;
        for (size_t begin = 0; begin < count; begin += piece)
        {
            workers.emplace_back(
                [this, &body, begin, end = std::min(count, begin + piece)]
                {
                    const unsigned int running = ++m_Running;
                    for (unsigned int max = m_MaxRunning; running > max;)
                    {
                        m_MaxRunning.compare_exchange_weak(max, running);
                    }
                    body(begin, end);
                    --m_Running;
                });
        }
        m_MaxTasks = std::max(m_MaxTasks, workers.size());
        for (std::thread& worker : workers)
        {
            worker.join();
        }
    }
    unsigned int GetNumThreads() const override { return m_Threads; }
    size_t GetMaxTasks() const { return m_MaxTasks; }
    unsigned int GetMaxRunning() const { return m_MaxRunning; }

private:
    unsigned int m_Threads;
    std::atomic<unsigned int> m_Running = 0;
    std::atomic<unsigned int> m_MaxRunning = 0;
    size_t m_MaxTasks = 0;
};

using Values = std::vector<float>;

TensorInfo Info(std::initializer_list<unsigned int> shape)
{
    return TensorInfo(TensorShape(shape), DataType::Float32);
}

/// A layer with weights and perhaps a bias, and the values to run it with.
struct TestLayer
{
    LayerType m_Type = LayerType::Convolution2d;
    std::shared_ptr<BaseDescriptor> m_Descriptor;
    std::vector<TensorInfo> m_Inputs; ///< data, weights, bias
    TensorInfo m_Output;
    std::vector<Values> m_Values;
    std::vector<bool> m_Constant = {false, true, true};
    std::string m_Name = "layer under test";

    void FillRandomly(std::mt19937& random)
    {
        std::uniform_real_distribution<float> value(-1.0f, 1.0f);
        m_Values.clear();
        for (const TensorInfo& info : m_Inputs)
        {
            Values values(info.GetNumElements());
            std::generate(values.begin(), values.end(), [&] { return value(random); });
            m_Values.push_back(values);
        }
    }

    /// The same layer with all values positive: its outputs are the sums of the magnitudes of what is added up.
    TestLayer GetMagnitudes() const
    {
        TestLayer magnitudes = *this;
        for (Values& values : magnitudes.m_Values)
        {
            std::transform(values.begin(), values.end(), values.begin(), [](float v) { return std::fabs(v); });
        }
        return magnitudes;
    }
};

/// The pointers that a LayerView and its kin refer to.
class Binding
{
public:
    explicit Binding(const TestLayer& layer) : m_Layer(layer)
    {
        for (size_t i = 0; i < layer.m_Inputs.size(); ++i)
        {
            m_Infos.push_back(&layer.m_Inputs[i]);
            m_Data.push_back(i < layer.m_Values.size() ? layer.m_Values[i].data() : nullptr);
            m_ConstantData.push_back(layer.m_Constant[i] ? m_Data.back() : nullptr);
        }
        m_Outputs.push_back(&layer.m_Output);
    }

    LayerView GetView() const
    {
        LayerView view;
        view.m_Type = m_Layer.m_Type;
        view.m_Name = &m_Layer.m_Name;
        view.m_Descriptor = m_Layer.m_Descriptor.get();
        view.m_Inputs = m_Infos;
        view.m_Outputs = m_Outputs;
        view.m_ConstantData = m_ConstantData;
        return view;
    }

    ReshapeArgs GetReshapeArgs() const
    {
        ReshapeArgs args;
        args.m_Descriptor = m_Layer.m_Descriptor.get();
        args.m_Inputs = m_Infos;
        args.m_Outputs = m_Outputs;
        args.m_ConstantData = m_ConstantData;
        args.m_Name = &m_Layer.m_Name;
        return args;
    }

    const std::vector<const void*>& GetData() const { return m_Data; }

private:
    const TestLayer& m_Layer;
    std::vector<const TensorInfo*> m_Infos;
    std::vector<const TensorInfo*> m_Outputs;
    std::vector<const void*> m_Data;
    std::vector<const void*> m_ConstantData;
};

/// Runs the workload once, in `scratch` as it asks for.
void ExecuteInto(float* output, const IShapedWorkload& shaped, const Binding& binding, void* scratch,
                 IParallelFor& parallel)
{
    const std::vector<void*> outputs = {output};
    ExecuteArgs args;
    args.m_Inputs = binding.GetData();
    args.m_Outputs = outputs;
    args.m_Scratch = scratch;
    args.m_Parallel = &parallel;
    shaped.Execute(args);
}

/// Runs the workload in memory with a margin at both ends, which must stay as it was.
Values RunWorkload(const IWorkload& workload, const TestLayer& layer, IParallelFor& parallel)
{
    constexpr size_t Margin = 16; // 64 bytes, as scratch memory is aligned
    constexpr float Untouched = 12345.0f;
    const Binding binding(layer);
    const auto shaped = workload.Reshape(binding.GetReshapeArgs());

    const size_t elements = layer.m_Output.GetNumElements();
    Values output(elements + 2 * Margin, Untouched);
    const size_t scratchElements = (shaped->GetScratchBytes() + sizeof(float) - 1) / sizeof(float);
    const AlignedMemory memory((scratchElements + 2 * Margin) * sizeof(float));
    auto* const scratch = reinterpret_cast<float*>(memory.Data());
    std::fill_n(scratch, scratchElements + 2 * Margin, Untouched);
    ExecuteInto(output.data() + Margin, *shaped, binding, scratch + Margin, parallel);

    for (size_t i = 0; i < Margin; ++i)
    {
        EXPECT_EQ(output[i], Untouched);
        EXPECT_EQ(output[Margin + elements + i], Untouched);
        EXPECT_EQ(scratch[i], Untouched);
        EXPECT_EQ(scratch[Margin + scratchElements + i], Untouched);
    }
    return Values(output.begin() + Margin, output.begin() + static_cast<std::ptrdiff_t>(Margin + elements));
}

/// Makes a workload of the layer, and runs it.
Values Execute(const IBackend& backend, const TestLayer& layer, IParallelFor& parallel,
               const ModelOptions& options = {})
{
    const Binding binding(layer);
    const SupportResult support = backend.GetLayerSupport(options)->IsLayerSupported(binding.GetView());
    EXPECT_TRUE(support) << support.m_Reason;
    const auto workload = backend.CreateWorkloadFactory(options)->CreateWorkload(binding.GetView());
    return RunWorkload(*workload, layer, parallel);
}

/// CpuAcc against CpuRef: both may be off by one rounding for each of `depth` additions.
void Compare(const TestLayer& layer, size_t depth, const std::string& what)
{
    SCOPED_TRACE(what);
    const auto reference = ref::MakeCpuRefBackend();
    const auto fast = cpu::MakeCpuAccBackend();
    Threads one(1);
    const Values expected = Execute(*reference, layer, one);
    const Values magnitudes = Execute(*reference, layer.GetMagnitudes(), one);
    for (const unsigned int threads : {1U, 2U, 5U})
    {
        Threads parallel(threads);
        const Values got = Execute(*fast, layer, parallel);
        ASSERT_EQ(got.size(), expected.size());
        for (size_t i = 0; i < got.size(); ++i)
        {
            const float bound =
                2.0f * static_cast<float>(depth + 2) * std::numeric_limits<float>::epsilon() * magnitudes[i];
            ASSERT_LE(std::fabs(got[i] - expected[i]), bound)
                << "element " << i << " with " << threads << " threads: " << got[i] << " in place of " << expected[i];
        }
    }
}

/// What a random convolution is made of.
struct ConvolutionShape
{
    unsigned int m_Batches = 1;
    unsigned int m_Height = 1;
    unsigned int m_Width = 1;
    unsigned int m_GroupChannels = 1;
    unsigned int m_Groups = 1;
    unsigned int m_GroupOutputs = 1;
    unsigned int m_KernelHeight = 1;
    unsigned int m_KernelWidth = 1;
    Convolution2dDescriptor m_Descriptor;
    bool m_Bias = true;

    size_t GetDepth() const { return size_t{m_KernelHeight} * m_KernelWidth * m_GroupChannels; }

    /// Without an output when the window does not fit into the padded image.
    bool MakeLayer(TestLayer& layer) const
    {
        const Convolution2dDescriptor& d = m_Descriptor;
        const unsigned int height = m_Height + d.m_PadTop + d.m_PadBottom;
        const unsigned int width = m_Width + d.m_PadLeft + d.m_PadRight;
        const unsigned int windowHeight = (m_KernelHeight - 1) * d.m_DilationY + 1;
        const unsigned int windowWidth = (m_KernelWidth - 1) * d.m_DilationX + 1;
        if (windowHeight > height || windowWidth > width)
        {
            return false;
        }
        const unsigned int outputs = m_GroupOutputs * m_Groups;
        layer.m_Type = LayerType::Convolution2d;
        auto descriptor = std::make_shared<Convolution2dDescriptor>(d);
        descriptor->m_DataLayout = DataLayout::NHWC;
        descriptor->m_BiasEnabled = m_Bias;
        layer.m_Descriptor = descriptor;
        layer.m_Inputs = {Info({m_Batches, m_Height, m_Width, m_GroupChannels * m_Groups}),
                          Info({outputs, m_KernelHeight, m_KernelWidth, m_GroupChannels})};
        if (m_Bias)
        {
            layer.m_Inputs.push_back(Info({outputs}));
        }
        layer.m_Output = Info(
            {m_Batches, (height - windowHeight) / d.m_StrideY + 1, (width - windowWidth) / d.m_StrideX + 1, outputs});
        return true;
    }

    std::string ToString() const
    {
        const auto pair = [](unsigned int a, unsigned int b) { return std::to_string(a) + "x" + std::to_string(b); };
        const Convolution2dDescriptor& d = m_Descriptor;
        return std::to_string(m_Batches) + " images " + pair(m_Height, m_Width) + ", " + std::to_string(m_Groups) +
               " groups of " + std::to_string(m_GroupChannels) + " to " + std::to_string(m_GroupOutputs) + ", kernel " +
               pair(m_KernelHeight, m_KernelWidth) + " stride " + pair(d.m_StrideY, d.m_StrideX) + " dilation " +
               pair(d.m_DilationY, d.m_DilationX) + " padding top " + std::to_string(d.m_PadTop) + " left " +
               std::to_string(d.m_PadLeft) + (m_Bias ? " with bias" : "");
    }
};

ConvolutionShape MakeRandomShape(std::mt19937& random)
{
    const auto pick = [&random](unsigned int first, unsigned int last)
    { return std::uniform_int_distribution<unsigned int>(first, last)(random); };
    ConvolutionShape shape;
    shape.m_Batches = pick(1, 3);
    shape.m_Height = pick(1, 20);
    shape.m_Width = pick(1, 20);
    shape.m_Groups = pick(0, 3) == 0 ? pick(2, 3) : 1;
    shape.m_GroupChannels = pick(1, 33);
    shape.m_GroupOutputs = pick(1, 50);
    shape.m_KernelHeight = pick(1, 4);
    shape.m_KernelWidth = pick(1, 4);
    shape.m_Descriptor.m_StrideY = pick(1, 3);
    shape.m_Descriptor.m_StrideX = pick(1, 3);
    shape.m_Descriptor.m_DilationY = pick(1, 2);
    shape.m_Descriptor.m_DilationX = pick(1, 3);
    shape.m_Descriptor.m_PadTop = pick(0, shape.m_KernelHeight);
    shape.m_Descriptor.m_PadBottom = pick(0, shape.m_KernelHeight);
    shape.m_Descriptor.m_PadLeft = pick(0, shape.m_KernelWidth);
    shape.m_Descriptor.m_PadRight = pick(0, shape.m_KernelWidth);
    shape.m_Bias = pick(0, 3) != 0;
    return shape;
}

/// Fully connected: `transposed` weights are [outputs, depth].
TestLayer MakeFullyConnected(unsigned int rows, unsigned int depth, unsigned int outputs, bool transposed, bool bias)
{
    TestLayer layer;
    layer.m_Type = LayerType::FullyConnected;
    auto descriptor = std::make_shared<FullyConnectedDescriptor>();
    descriptor->m_BiasEnabled = bias;
    descriptor->m_TransposeWeightMatrix = transposed;
    layer.m_Descriptor = descriptor;
    layer.m_Inputs = {Info({rows, depth}), transposed ? Info({outputs, depth}) : Info({depth, outputs})};
    if (bias)
    {
        layer.m_Inputs.push_back(Info({outputs}));
    }
    layer.m_Output = Info({rows, outputs});
    return layer;
}

TestLayer MakeSmallConvolution()
{
    TestLayer layer;
    ConvolutionShape shape;
    shape.m_Height = 5;
    shape.m_Width = 4;
    shape.m_GroupChannels = 3;
    shape.m_GroupOutputs = 6;
    shape.m_KernelHeight = shape.m_KernelWidth = 3;
    EXPECT_TRUE(shape.MakeLayer(layer));
    std::mt19937 random(11);
    layer.FillRandomly(random);
    return layer;
}

SupportResult Ask(const TestLayer& layer)
{
    return cpu::MakeCpuAccBackend()->GetLayerSupport({})->IsLayerSupported(Binding(layer).GetView());
}

} // namespace

TEST(CpuAcc, ConvolutionsOfRandomShapes)
{
    std::mt19937 random(20251);
    int compared = 0;
    while (compared < 150)
    {
        const ConvolutionShape shape = MakeRandomShape(random);
        TestLayer layer;
        if (shape.MakeLayer(layer))
        {
            layer.FillRandomly(random);
            Compare(layer, shape.GetDepth(), shape.ToString());
            ASSERT_FALSE(testing::Test::HasFatalFailure());
            ++compared;
        }
    }
}

TEST(CpuAcc, PointwiseConvolutionsOfRandomShapes)
{
    std::mt19937 random(20252);
    for (int i = 0; i < 60; ++i)
    {
        ConvolutionShape shape = MakeRandomShape(random);
        shape.m_KernelHeight = shape.m_KernelWidth = 1;
        if (i % 2 == 0)
        {
            shape.m_Descriptor = {};
        }
        if (i % 5 == 1) // few pixels, with strides and padding
        {
            shape.m_Batches = 1;
            shape.m_Height = 1 + static_cast<unsigned int>(i) % 2;
            shape.m_Width = 1;
            shape.m_Groups = 1;
        }
        TestLayer layer;
        ASSERT_TRUE(shape.MakeLayer(layer));
        layer.FillRandomly(random);
        Compare(layer, shape.GetDepth(), shape.ToString());
        ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
}

// Few pixels of equal shape before and after: what is a matrix here need not be one with strides, padding or other
// shapes.
TEST(CpuAcc, PointwiseConvolutionsOfFewPixels)
{
    std::mt19937 random(20254);
    for (const unsigned int pad : {0U, 1U})
    {
        for (const unsigned int stride : {1U, 2U})
        {
            ConvolutionShape shape;
            shape.m_GroupChannels = shape.m_GroupOutputs = 16;
            shape.m_Height = shape.m_Width = 1;
            shape.m_Descriptor.m_StrideX = shape.m_Descriptor.m_StrideY = stride;
            shape.m_Descriptor.m_PadTop = shape.m_Descriptor.m_PadLeft = pad;
            TestLayer layer;
            ASSERT_TRUE(shape.MakeLayer(layer));
            layer.FillRandomly(random);
            Compare(layer, shape.GetDepth(), shape.ToString());

            // The same weights for a larger image.
            const auto fast = cpu::MakeCpuAccBackend();
            const auto workload = fast->CreateWorkloadFactory({})->CreateWorkload(Binding(layer).GetView());
            TestLayer larger;
            shape.m_Height = shape.m_Width = 4;
            ASSERT_TRUE(shape.MakeLayer(larger));
            larger.FillRandomly(random);
            larger.m_Values[1] = layer.m_Values[1];
            Threads one(1);
            const Values expected = Execute(*ref::MakeCpuRefBackend(), larger, one);
            const Values got = RunWorkload(*workload, larger, one);
            for (size_t i = 0; i < expected.size(); ++i)
            {
                ASSERT_NEAR(got[i], expected[i], 1e-5f) << "element " << i << ", stride " << stride << ", pad " << pad;
            }
        }
    }
}

TEST(CpuAcc, ConvolutionThatFillsSeveralStrips)
{
    ConvolutionShape shape;
    shape.m_Batches = 2;
    shape.m_Height = 37;
    shape.m_Width = 35;
    shape.m_GroupChannels = 40;
    shape.m_GroupOutputs = 17;
    shape.m_KernelHeight = shape.m_KernelWidth = 3;
    shape.m_Descriptor.m_PadTop = shape.m_Descriptor.m_PadBottom = 1;
    shape.m_Descriptor.m_PadLeft = shape.m_Descriptor.m_PadRight = 1;
    TestLayer layer;
    ASSERT_TRUE(shape.MakeLayer(layer));
    std::mt19937 random(3);
    layer.FillRandomly(random);
    Compare(layer, shape.GetDepth(), shape.ToString());
}

TEST(CpuAcc, FullyConnectedOfRandomShapes)
{
    std::mt19937 random(20253);
    const auto pick = [&random](unsigned int last)
    { return std::uniform_int_distribution<unsigned int>(1, last)(random); };
    for (int i = 0; i < 60; ++i)
    {
        const unsigned int rows = i % 3 == 0 ? 1 : pick(40);
        const unsigned int depth = pick(300);
        const unsigned int outputs = i % 5 == 0 ? 2000 + pick(900) : pick(100);
        TestLayer layer = MakeFullyConnected(rows, depth, outputs, i % 2 == 0, i % 4 != 0);
        layer.FillRandomly(random);
        Compare(layer, depth,
                std::to_string(rows) + " rows of " + std::to_string(depth) + " to " + std::to_string(outputs));
        ASSERT_FALSE(testing::Test::HasFatalFailure());
    }
}

TEST(CpuAcc, FlattensTheDataOfFullyConnected)
{
    TestLayer layer = MakeFullyConnected(6, 8, 5, true, true);
    layer.m_Inputs[0] = Info({2, 3, 4, 2});
    std::mt19937 random(4);
    layer.FillRandomly(random);
    Compare(layer, 8, "four-dimensional data");
}

TEST(CpuAcc, TakesABiasThatIsKnownOnlyAtRunTime)
{
    TestLayer layer = MakeSmallConvolution();
    layer.m_Constant[2] = false;
    Compare(layer, 27, "bias from another layer");
}

TEST(CpuAcc, ZeroSizedTensorsDoNothing)
{
    const auto backend = cpu::MakeCpuAccBackend();
    Threads two(2);
    TestLayer noImages = MakeSmallConvolution();
    noImages.m_Inputs[0] = Info({0, 5, 4, 3});
    noImages.m_Output = Info({0, 3, 2, 6});
    EXPECT_TRUE(Execute(*backend, noImages, two).empty());

    TestLayer noRows = MakeFullyConnected(0, 4, 3, true, false);
    noRows.m_Values = {Values(), Values(12, 1.0f)};
    EXPECT_TRUE(Execute(*backend, noRows, two).empty());
}

TEST(CpuAcc, WithoutChannelsTheOutputIsTheBias)
{
    const auto backend = cpu::MakeCpuAccBackend();
    Threads two(2);
    TestLayer layer = MakeSmallConvolution();
    layer.m_Inputs[0] = Info({1, 5, 4, 0});
    layer.m_Inputs[1] = Info({6, 3, 3, 0});
    const Values output = Execute(*backend, layer, two);
    for (size_t i = 0; i < output.size(); ++i)
    {
        EXPECT_EQ(output[i], layer.m_Values[2][i % 6]);
    }

    TestLayer noDepth = MakeFullyConnected(2, 0, 3, true, true);
    noDepth.m_Values = {Values(), Values(1), {1.0f, 2.0f, 3.0f}};
    EXPECT_EQ(Execute(*backend, noDepth, two), Values(6, 0.0f)) << "as CpuRef and TFLite, which leave the bias out";
}

TEST(CpuAcc, SplitsLargeLayersOnly)
{
    const auto backend = cpu::MakeCpuAccBackend();
    std::mt19937 random(5);
    TestLayer small = MakeFullyConnected(4, 16, 16, true, true);
    small.FillRandomly(random);
    Threads forSmall(4);
    Execute(*backend, small, forSmall);
    EXPECT_EQ(forSmall.GetMaxTasks(), 0U);

    TestLayer large = MakeFullyConnected(128, 256, 256, true, true);
    large.FillRandomly(random);
    Threads forLarge(4);
    Execute(*backend, large, forLarge);
    EXPECT_EQ(forLarge.GetMaxTasks(), 4U);
}

// Without fast math, so that the kernel is the same one: then the values are, however they are split.
TEST(CpuAcc, NumberOfThreadsLimitsTheSplit)
{
    const auto backend = cpu::MakeCpuAccBackend();
    std::mt19937 random(6);
    TestLayer connected = MakeFullyConnected(128, 256, 256, true, true);
    TestLayer convolution;
    ConvolutionShape shape;
    shape.m_Height = shape.m_Width = 24;
    shape.m_GroupChannels = 16;
    shape.m_GroupOutputs = 32;
    shape.m_KernelHeight = shape.m_KernelWidth = 3;
    ASSERT_TRUE(shape.MakeLayer(convolution));
    for (TestLayer* const layer : {&connected, &convolution})
    {
        SCOPED_TRACE(GetLayerTypeAsCString(layer->m_Type));
        layer->FillRandomly(random);
        Threads all(4);
        const Values expected = Execute(*backend, *layer, all);
        ASSERT_EQ(all.GetMaxTasks(), 4U);
        for (const auto& [option, pieces] :
             {std::pair{0, 4U}, std::pair{1, 0U}, std::pair{2, 2U}, std::pair{3, 3U}, std::pair{9, 4U}})
        {
            Threads parallel(4);
            const ModelOptions options = {BackendOptions("CpuAcc", {{"NumberOfThreads", option}})};
            EXPECT_EQ(Execute(*backend, *layer, parallel, options), expected) << "NumberOfThreads " << option;
            EXPECT_EQ(parallel.GetMaxTasks(), pieces) << "NumberOfThreads " << option;
            EXPECT_LE(parallel.GetMaxRunning(), pieces) << "NumberOfThreads " << option;
        }
    }
}

TEST(CpuAcc, ManyCallersOfOneWorkload)
{
    const auto backend = cpu::MakeCpuAccBackend();
    TestLayer layer;
    ConvolutionShape shape; // large enough to be split
    shape.m_Height = shape.m_Width = 24;
    shape.m_GroupChannels = 16;
    shape.m_GroupOutputs = 32;
    shape.m_KernelHeight = shape.m_KernelWidth = 3;
    ASSERT_TRUE(shape.MakeLayer(layer));
    std::mt19937 random(12);
    layer.FillRandomly(random);
    Threads two(2);
    const Values expected = Execute(*backend, layer, two);
    const Binding binding(layer);
    const auto workload = backend->CreateWorkloadFactory({})->CreateWorkload(binding.GetView());
    const auto shaped = workload->Reshape(binding.GetReshapeArgs());
    std::vector<Values> results(4);
    std::vector<std::thread> callers;
    for (Values& result : results)
    {
        callers.emplace_back(
            [&]
            {
                Threads parallel(2);
                const AlignedMemory scratch(shaped->GetScratchBytes());
                for (int i = 0; i < 20; ++i)
                {
                    result.assign(expected.size(), 0.0f);
                    ExecuteInto(result.data(), *shaped, binding, scratch.Data(), parallel);
                }
                EXPECT_EQ(parallel.GetMaxTasks(), 2U);
            });
    }
    for (std::thread& caller : callers)
    {
        caller.join();
    }
    for (const Values& result : results)
    {
        EXPECT_EQ(result, expected);
    }
}

TEST(CpuAcc, TakesScratchMemoryForTheThreadsThatRunsWillUse)
{
    const auto backend = cpu::MakeCpuAccBackend();
    TestLayer layer;
    ConvolutionShape shape; // large enough to be split
    shape.m_Height = shape.m_Width = 24;
    shape.m_GroupChannels = 16;
    shape.m_GroupOutputs = 32;
    shape.m_KernelHeight = shape.m_KernelWidth = 3;
    ASSERT_TRUE(shape.MakeLayer(layer));
    std::mt19937 random(12);
    layer.FillRandomly(random);
    const Binding binding(layer);
    const auto workload = backend->CreateWorkloadFactory({})->CreateWorkload(binding.GetView());
    if (std::string(workload->GetName()) != "CpuConvolution2dF32")
    {
        GTEST_SKIP() << "without vectors the reference kernels run, on one thread";
    }
    Threads four(4);
    const Values expected = Execute(*backend, layer, four);
    EXPECT_EQ(four.GetMaxTasks(), 4U);
    size_t fewer = 0;
    for (const unsigned int threads : {1U, 2U, 3U})
    {
        ReshapeArgs args = binding.GetReshapeArgs();
        args.m_MaxThreads = threads;
        const auto shaped = workload->Reshape(args);
        EXPECT_GT(shaped->GetScratchBytes(), fewer) << threads;
        fewer = shaped->GetScratchBytes();
        const AlignedMemory scratch(fewer);
        Threads more(4);
        Values output(expected.size());
        ExecuteInto(output.data(), *shaped, binding, scratch.Data(), more);
        EXPECT_EQ(output, expected) << threads;
        EXPECT_LE(more.GetMaxTasks(), threads);
    }
}

TEST(CpuAcc, SaysWhatItIs)
{
    const auto backend = cpu::MakeCpuAccBackend();
    EXPECT_EQ(backend->GetId(), BackendId(Compute::CpuAcc));
    EXPECT_EQ(backend->CreateWorkloadFactory({})->GetBackendId(), BackendId("CpuAcc"));
    const BackendCapabilities capabilities = backend->GetCapabilities();
    EXPECT_TRUE(HasMatchingCapability({"NonConstWeights", true}, capabilities)) << "by reference kernels at least";
    const bool multipliesBf16 = cpu::GetCpuFeatures().m_UsesBf16Dots;
    EXPECT_TRUE(HasMatchingCapability({"FastBFloat16", multipliesBf16}, capabilities));
    EXPECT_TRUE(HasMatchingCapability({"ExternallyManagedMemory", true}, capabilities)) << "custom allocators";
    EXPECT_TRUE(HasMatchingCapability({"PreImportIOTensors", true}, capabilities));
    EXPECT_TRUE(HasMatchingCapability({"SingleAxisPacking", true}, capabilities)) << "memory strategies";
    EXPECT_TRUE(HasMatchingCapability({"MultiAxisPacking", false}, capabilities));
    const TestLayer layer = MakeSmallConvolution();
    const auto workload = backend->CreateWorkloadFactory({})->CreateWorkload(Binding(layer).GetView());
    EXPECT_STREQ(workload->GetName(), "CpuConvolution2dF32");
}

/// The kernel that runs the layer.
std::string KernelOf(const TestLayer& layer)
{
    EXPECT_TRUE(Ask(layer));
    return cpu::MakeCpuAccBackend()->CreateWorkloadFactory({})->CreateWorkload(Binding(layer).GetView())->GetName();
}

TEST(CpuAcc, RunsWhatItDoesNotSpeedUpWithReferenceKernels)
{
    std::mt19937 random(1);
    TestLayer connected = MakeFullyConnected(2, 4, 3, true, true);
    connected.FillRandomly(random);
    EXPECT_EQ(KernelOf(MakeSmallConvolution()), "CpuConvolution2dF32");
    EXPECT_EQ(KernelOf(connected), "CpuFullyConnectedF32");

    TestLayer dynamic = MakeSmallConvolution();
    dynamic.m_Constant[1] = false;
    EXPECT_EQ(KernelOf(dynamic), "RefConvolution2d");

    connected.m_Constant[1] = false;
    EXPECT_EQ(KernelOf(connected), "CpuFullyConnectedRunTimeF32");
}

// Nothing of a run's weights is left to the next one, nor of one shape to another.
TEST(CpuAcc, WeightsAndBiasOfEachRun)
{
    const auto backend = cpu::MakeCpuAccBackend();
    std::mt19937 random(5);
    Threads two(2);
    TestLayer layer = MakeFullyConnected(20, 70, 33, true, true);
    layer.m_Constant[1] = layer.m_Constant[2] = false;
    layer.FillRandomly(random);
    const auto workload = backend->CreateWorkloadFactory({})->CreateWorkload(Binding(layer).GetView());
    for (const unsigned int rows : {20U, 3U, 150U})
    {
        layer.m_Inputs[0] = Info({rows, 70});
        layer.m_Output = Info({rows, 33});
        layer.FillRandomly(random);
        const auto shaped = workload->Reshape(Binding(layer).GetReshapeArgs());
        const AlignedMemory scratch(shaped->GetScratchBytes());
        for (int run = 0; run < 3; ++run)
        {
            layer.FillRandomly(random);
            const Binding binding(layer);
            Values output(size_t{rows} * 33);
            ExecuteInto(output.data(), *shaped, binding, scratch.Data(), two);
            const Values expected = Execute(*ref::MakeCpuRefBackend(), layer, two);
            for (size_t i = 0; i < output.size(); ++i)
            {
                ASSERT_NEAR(output[i], expected[i], 1e-4f) << rows << " rows, run " << run << ", element " << i;
            }
        }
    }
}

TEST(CpuAcc, RefusesWhatCpuRefRefuses)
{
    EXPECT_TRUE(Ask(MakeSmallConvolution()));

    TestLayer mixed = MakeSmallConvolution();
    mixed.m_Inputs[0].SetDataType(DataType::QAsymmS8);
    EXPECT_EQ(Ask(mixed).m_Code, SupportCode::UnsupportedType);

    TestLayer channelsFirst = MakeSmallConvolution();
    static_cast<Convolution2dDescriptor&>(*channelsFirst.m_Descriptor).m_DataLayout = DataLayout::NCHW;
    EXPECT_EQ(Ask(channelsFirst).m_Code, SupportCode::UnsupportedParameters);

    TestLayer noStride = MakeSmallConvolution();
    static_cast<Convolution2dDescriptor&>(*noStride.m_Descriptor).m_StrideX = 0;
    EXPECT_EQ(Ask(noStride).m_Code, SupportCode::UnsupportedParameters);
}

TEST(CpuAcc, AnswersBeforeShapesAreKnown)
{
    TestLayer layer = MakeSmallConvolution();
    layer.m_Inputs[0].SetShape(TensorShape(Dimensionality::NotSpecified));
    layer.m_Output.SetShape(TensorShape(4U, false));
    EXPECT_TRUE(Ask(layer));
}

TEST(CpuAcc, ReshapeRefusesShapesThatDoNotFit)
{
    const auto expectRefusal = [](const TestLayer& layer)
    {
        const Binding binding(layer);
        const auto workload = cpu::MakeCpuAccBackend()->CreateWorkloadFactory({})->CreateWorkload(binding.GetView());
        EXPECT_THROW(workload->Reshape(binding.GetReshapeArgs()), LayerValidationException);
    };
    TestLayer channels = MakeSmallConvolution();
    channels.m_Inputs[0] = Info({1, 5, 4, 4});
    expectRefusal(channels);

    TestLayer batches = MakeSmallConvolution();
    batches.m_Output = Info({2, 3, 2, 6});
    expectRefusal(batches);

    TestLayer bias = MakeSmallConvolution();
    bias.m_Inputs[2] = Info({5});
    expectRefusal(bias);

    TestLayer rows = MakeFullyConnected(3, 4, 5, true, false);
    rows.m_Values = {Values(12), Values(20)};
    rows.m_Inputs[0] = Info({3, 5});
    expectRefusal(rows);
    rows.m_Output = Info({0, 5}); // without an element of the output too
    expectRefusal(rows);
}

TEST(CpuAcc, RefusesUnknownAndWrongOptions)
{
    const auto backend = cpu::MakeCpuAccBackend();
    const auto expectRefusal = [&backend](const BackendOptions::BackendOption& option, const char* text)
    {
        const ModelOptions options = {BackendOptions("CpuAcc", {option})};
        try
        {
            backend->GetLayerSupport(options);
            ADD_FAILURE() << option.GetName() << " was taken";
        }
        catch (const InvalidArgumentException& e)
        {
            EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
        }
        EXPECT_THROW(backend->CreateWorkloadFactory(options), InvalidArgumentException);
    };
    expectRefusal({"NumberOfThread", 2}, "NumberOfThreads, FastMathEnabled");
    expectRefusal({"NumberOfThreads", -1}, "-1");
    expectRefusal({"NumberOfThreads", "two"}, "two");
    expectRefusal({"FastMathEnabled", 1}, "bool");
    expectRefusal({"SaveCachedNetwork", "yes"}, "bool");
    expectRefusal({"SaveCachedNetwork", true}, "CachedNetworkFilePath");
    expectRefusal({"CachedNetworkFilePath", true}, "string");

    const ModelOptions ofAnother = {BackendOptions("GpuAcc", {{"Anything", 1}})};
    EXPECT_NO_THROW(backend->GetLayerSupport(ofAnother));
}

} // namespace tenon::test::cpu_acc_test
