// SPDX-License-Identifier: Apache-2.0
// CpuAcc's kernels over channels and rows beside CpuRef's: pooling, reductions, softmaxes, resizing, normalizations.
// Sizes around those of vectors, and some that are split over threads.
#include "ops/FastCompare.hpp"

#include <tenon/Descriptors.hpp>

#include <utility>

namespace tenon::test
{

namespace
{

const TensorInfo Float({1}, DataType::Float32);
const TensorInfo Unsigned({1}, DataType::QAsymmU8, 0.05f, 100);
const TensorInfo Signed({1}, DataType::QAsymmS8, 0.05f, -20);
const TensorInfo Types[] = {Float, Unsigned, Signed};

constexpr unsigned int Channels[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 40, 64, 67, 130, 257};

std::string Name(const char* what, const TensorInfo& input)
{
    return std::string(what) + " of " + GetDataTypeName(input.GetDataType()) + " " + input.GetShape().ToString();
}

/// Sums may come in another order, and divisions be multiplications.
double Tolerance(const TensorInfo& info)
{
    return info.IsQuantized() ? 0 : 1e-6;
}

} // namespace

TEST(FastPooling, AsReference)
{
    struct Case
    {
        unsigned int m_Size, m_Output, m_Kernel, m_Stride, m_Pad;
    };
    const Case cases[] = {{7, 7, 3, 1, 1}, {9, 4, 3, 2, 0}, {6, 3, 2, 2, 0},
                          {5, 1, 5, 1, 0}, {3, 8, 2, 1, 3}, {24, 12, 3, 2, 1}};
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : Channels)
        {
            for (const Case& c : cases)
            {
                for (const PoolingAlgorithm algorithm :
                     {PoolingAlgorithm::Max, PoolingAlgorithm::Average, PoolingAlgorithm::L2})
                {
                    if (algorithm == PoolingAlgorithm::L2 && type.IsQuantized())
                    {
                        continue;
                    }
                    Pooling2dDescriptor d;
                    d.m_PoolType = algorithm;
                    d.m_PoolHeight = d.m_PoolWidth = c.m_Kernel;
                    d.m_StrideX = d.m_StrideY = c.m_Stride;
                    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = c.m_Pad;
                    d.m_PaddingMethod = channels % 2 == 0 ? PaddingMethod::Exclude : PaddingMethod::IgnoreValue;
                    d.m_DataLayout = DataLayout::NHWC;
                    const TensorInfo input = Shaped(type, {2, c.m_Size, c.m_Size, channels});
                    ExpectAsReference(FastCase(Name("pool", input), LayerType::Pooling2d, d, {Random(input, channels)},
                                               Shaped(type, {2, c.m_Output, c.m_Output, channels})),
                                      "CpuPooling2d", Tolerance(type));
                }
            }
        }
    }
}

/// Averages of windows of all sizes up to the largest that are not the reference kernel's, and beyond: all halves.
TEST(FastPooling, AveragesOfBytesRoundAsReference)
{
    for (const TensorInfo& type : {Unsigned, Signed})
    {
        for (const std::pair<unsigned int, unsigned int>& size :
             {std::pair{1U, 2U}, {2U, 2U}, {1U, 6U}, {7U, 7U}, {16U, 16U}, {50U, 51U}, {80U, 100U}, {90U, 90U}})
        {
            Pooling2dDescriptor d;
            d.m_PoolType = PoolingAlgorithm::Average;
            d.m_PoolHeight = size.first;
            d.m_PoolWidth = size.second;
            d.m_StrideX = d.m_StrideY = 1;
            d.m_DataLayout = DataLayout::NHWC;
            const TensorInfo input = Shaped(type, {1, size.first, size.second, 33});
            ExpectAsReference(FastCase(Name("average", input), LayerType::Pooling2d, d, {Random(input, 5)},
                                       Shaped(type, {1, 1, 1, 33})),
                              size.first * size.second > 8000 ? "RefPooling2d" : "CpuPooling2d");
        }
    }
}

TEST(FastReduce, AsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : Channels)
        {
            struct Case
            {
                std::vector<unsigned int> m_Axes;
                bool m_IsTogether; // else the reference kernel runs it
            };
            for (const auto& [axes, isTogether] : {Case{{1, 2}, true},
                                                   {{3}, true},
                                                   {{0, 1, 2, 3}, true},
                                                   {{1}, true},
                                                   {{2, 3}, true},
                                                   {{0, 2}, false},
                                                   {{1, 3}, channels == 1}})
            {
                const std::string prefix = isTogether ? "Cpu" : "Ref";
                const TensorInfo input = Shaped(type, {2, 13, 50, channels});
                TensorShape shape = input.GetShape();
                for (const unsigned int axis : axes)
                {
                    shape.SetDimensionSize(axis, 1);
                }
                MeanDescriptor mean;
                mean.m_Axis = axes;
                mean.m_KeepDims = true;
                TensorInfo output = Shaped(type, shape);
                if (type.IsQuantized())
                {
                    output.SetQuantizationScale(0.04f);
                }
                // Sums of floats of one sign: in another order they differ by less than what is left where most cancel.
                const TestTensor data = type.IsQuantized() ? Random(input, channels) : Random(input, channels, 0.5, 2);
                const double tolerance = type.IsQuantized() ? 0 : 1e-5;
                ExpectAsReference(FastCase(Name("mean", input), LayerType::Mean, mean, {data}, output), prefix + "Mean",
                                  tolerance);
                for (const ReduceOperation operation :
                     {ReduceOperation::Max, ReduceOperation::Min, ReduceOperation::Sum})
                {
                    ReduceDescriptor reduce;
                    reduce.m_vAxis = axes;
                    reduce.m_KeepDims = true;
                    reduce.m_ReduceOperation = operation;
                    ExpectAsReference(
                        FastCase(Name("reduction", input), LayerType::Reduce, reduce, {data}, Shaped(type, shape)),
                        prefix + "Reduce", tolerance);
                }
            }
        }
    }
}

TEST(FastSoftmax, AsReference)
{
    for (const TensorInfo& type : Types)
    {
        // Sums of a thousand exponentials, in another order.
        const double tolerance = 5 * Tolerance(type);
        for (const unsigned int depth : {1U, 2U, 5U, 16U, 24U, 25U, 31U, 32U, 33U, 64U, 100U, 300U, 1001U})
        {
            for (const float beta : {1.0f, 0.1f, 7.0f})
            {
                const TensorInfo input = Shaped(type, {3, 37, depth});
                TensorInfo output = input;
                if (type.IsQuantized())
                {
                    output.SetQuantizationScale(1.0f / 256.0f);
                    output.SetQuantizationOffset(type.GetDataType() == DataType::QAsymmU8 ? 0 : -128);
                }
                SoftmaxDescriptor d;
                d.m_Beta = beta;
                d.m_Axis = -1;
                ExpectAsReference(
                    FastCase(Name("softmax", input), LayerType::Softmax, d, {Random(input, depth)}, output),
                    "CpuSoftmax", tolerance);
                if (!type.IsQuantized())
                {
                    ExpectAsReference(
                        FastCase(Name("log softmax", input), LayerType::LogSoftmax, d, {Random(input, depth)}, output),
                        "CpuLogSoftmax", tolerance);
                }
            }
        }
    }
}

TEST(FastResize, AsReference)
{
    for (const TensorInfo& type : Types)
    {
        for (const unsigned int channels : Channels)
        {
            for (const ResizeMethod method : {ResizeMethod::Bilinear, ResizeMethod::NearestNeighbor})
            {
                for (const std::pair<unsigned int, unsigned int>& sizes :
                     {std::pair{7U, 14U}, {9U, 23U}, {20U, 6U}, {1U, 5U}, {6U, 6U}})
                {
                    ResizeDescriptor d;
                    d.m_Method = method;
                    d.m_TargetHeight = sizes.second;
                    d.m_TargetWidth = sizes.second + 1;
                    d.m_AlignCorners = channels % 3 == 1;
                    d.m_HalfPixelCenters = channels % 3 == 2;
                    d.m_DataLayout = DataLayout::NHWC;
                    const TensorInfo input = Shaped(type, {2, sizes.first, sizes.first, channels});
                    ExpectAsReference(FastCase(Name("resize", input), LayerType::Resize, d, {Random(input, channels)},
                                               Shaped(type, {2, sizes.second, sizes.second + 1, channels})),
                                      "CpuResize");
                }
            }
        }
    }
}

TEST(FastNormalizations, AsReference)
{
    for (const unsigned int channels : Channels)
    {
        const TensorInfo input = Shaped(Float, {2, 11, 17, channels});
        const TestTensor data = Random(input, channels, -2, 3);
        const auto parameter = [channels](uint32_t seed) { return Random(Shaped(Float, {channels}), seed, 0.5, 1.5); };
        LayerNormalizationDescriptor layer;
        layer.m_Axis = 3;
        layer.m_Epsilon = 1e-3f;
        ExpectAsReference(FastCase(Name("layer", input), LayerType::LayerNormalization, layer,
                                   {data, parameter(1), parameter(2)}, input),
                          "CpuLayerNormalization", 1e-5);
        L2NormalizationDescriptor l2;
        l2.m_DataLayout = DataLayout::NHWC;
        ExpectAsReference(FastCase(Name("L2", input), LayerType::L2Normalization, l2, {data}, input),
                          "CpuL2Normalization", 1e-6);
        InstanceNormalizationDescriptor instance;
        instance.m_Gamma = 1.5f;
        instance.m_Beta = 0.5f;
        instance.m_Eps = 1e-4f;
        instance.m_DataLayout = DataLayout::NHWC;
        ExpectAsReference(FastCase(Name("instance", input), LayerType::InstanceNormalization, instance, {data}, input),
                          "CpuInstanceNormalization", 1e-5);
        BatchNormalizationDescriptor batch;
        batch.m_Eps = 1e-3f;
        batch.m_DataLayout = DataLayout::NHWC;
        ExpectAsReference(FastCase(Name("batch", input), LayerType::BatchNormalization, batch,
                                   {data, parameter(1), parameter(2), parameter(3), parameter(4)}, input),
                          "CpuBatchNormalization", 1e-6);
    }
}

} // namespace tenon::test
