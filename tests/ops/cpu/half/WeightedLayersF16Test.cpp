// SPDX-License-Identifier: Apache-2.0
// Layers of Float16 and BFloat16 with weights against CpuRef: both sum in Float32 and round once, so results differ by
// one step of the type at most. Small layers, which are widened as a whole, and large ones, in row blocks.
#include "backends/cpu/gemm/kernels/bf16/MicrokernelsBf16.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Convolution.hpp>
#include <tenon/descriptors/Elementwise.hpp>
#include <tenon/descriptors/Products.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tenon::test::weighted_layers_f16_test
{

namespace
{

constexpr DataType F16Types[] = {DataType::BFloat16, DataType::Float16};

/// Steps of bfloat16 are 2^-8 of the number, those of float16 2^-11; sums that cancel differ by steps of the largest
/// term.
double GetTolerance(DataType type)
{
    return type == DataType::BFloat16 ? 1.0 / 128 : 1.0 / 1024;
}

TestTensor Numbers(DataType type, const std::vector<unsigned int>& sizes, uint32_t seed)
{
    return Random(TensorInfo(ShapeOf(sizes), type), seed, -1, 1);
}

/// The kernel's name: that of bfloat16 if the processor has bf16 dot products or `isNative`.
std::string GetKernel(const std::string& layer, DataType type, bool isNative = false)
{
    const bool hasDots = cpu::GetCpuFeatures().m_Simd && cpu::GetMicrokernelsBf16().m_HasDots;
    return "Cpu" + layer + (type == DataType::BFloat16 && (hasDots || isNative) ? "Bf16" : "F16");
}

enum class BiasKind
{
    None,
    Half,
    Float,
    AtRunTime
};

/// `weights` and a bias of `channels` elements.
template <typename D>
void Expect(LayerType layer, const D& descriptor, TestTensor data, TestTensor weights, unsigned int channels,
            BiasKind bias, const std::vector<unsigned int>& output, const std::string& kernel,
            const ActivationDescriptor* activation = nullptr)
{
    const DataType type = data.m_Info.GetDataType();
    std::vector<TestTensor> inputs = {std::move(data), Constant(std::move(weights))};
    if (bias != BiasKind::None)
    {
        TestTensor numbers = Numbers(bias == BiasKind::Float ? DataType::Float32 : type, {channels}, 3);
        inputs.push_back(bias == BiasKind::AtRunTime ? std::move(numbers) : Constant(std::move(numbers)));
    }
    const TensorInfo info(ShapeOf(output), type);
    OpCase op = ReferenceCase(kernel + " of " + info.ToString(), layer, descriptor, std::move(inputs), info);
    op.m_FusedActivation = activation;
    op.m_Relative = GetTolerance(type);
    ExpectAsReference(op, kernel, GetTolerance(type) / 4);
}

struct Window
{
    unsigned int m_Height = 3;
    unsigned int m_Width = 3;
    unsigned int m_Stride = 1;
    unsigned int m_Dilation = 1;
    unsigned int m_Top = 1;
    unsigned int m_Bottom = 1;
    unsigned int m_Left = 1;
    unsigned int m_Right = 1;
};

template <typename D>
D MakeDescriptorOf(const Window& window, bool hasBias)
{
    D descriptor;
    descriptor.m_StrideX = descriptor.m_StrideY = window.m_Stride;
    descriptor.m_DilationX = descriptor.m_DilationY = window.m_Dilation;
    descriptor.m_PadTop = window.m_Top;
    descriptor.m_PadBottom = window.m_Bottom;
    descriptor.m_PadLeft = window.m_Left;
    descriptor.m_PadRight = window.m_Right;
    descriptor.m_BiasEnabled = hasBias;
    descriptor.m_DataLayout = DataLayout::NHWC;
    return descriptor;
}

unsigned int CountWindows(unsigned int size, unsigned int padding, unsigned int kernel, const Window& window)
{
    return (size + padding - (kernel - 1) * window.m_Dilation - 1) / window.m_Stride + 1;
}

std::vector<unsigned int> OutputOf(const std::vector<unsigned int>& data, const Window& window, unsigned int channels)
{
    return {data[0], CountWindows(data[1], window.m_Top + window.m_Bottom, window.m_Height, window),
            CountWindows(data[2], window.m_Left + window.m_Right, window.m_Width, window), channels};
}

/// Images on both sides of the size from which layers are cut into row blocks; some windows lie in the padding alone.
const std::vector<std::pair<std::vector<unsigned int>, Window>>& GetImages()
{
    static const std::vector<std::pair<std::vector<unsigned int>, Window>> images = {
        {{1, 7, 9, 12}, {}},
        {{2, 5, 5, 16}, {1, 1, 1, 1, 0, 0, 0, 0}},
        {{1, 61, 67, 24}, {}},
        {{2, 61, 67, 20}, {3, 3, 2, 1, 0, 1, 0, 1}},
        {{1, 83, 41, 36}, {5, 3, 1, 2, 4, 3, 2, 2}},
        {{3, 47, 53, 20}, {1, 1, 1, 1, 0, 0, 0, 0}},
        {{1, 97, 67, 24}, {1, 1, 2, 1, 0, 0, 0, 0}},
        {{1, 53, 70, 40}, {3, 3, 1, 1, 30, 9, 1, 1}}};
    return images;
}

} // namespace

ISA_TEST(WeightedLayersF16, ConvolutionsAsReference)
{
    const ActivationDescriptor clamp(ActivationFunction::BoundedReLu, 0.5f, -0.25f);
    for (const DataType type : F16Types)
    {
        uint32_t turn = 0;
        for (const auto& [data, window] : GetImages())
        {
            const std::vector<unsigned int> output = OutputOf(data, window, 19);
            const BiasKind bias = std::vector{BiasKind::Half, BiasKind::Float, BiasKind::None}[turn % 3];
            Expect(LayerType::Convolution2d, MakeDescriptorOf<Convolution2dDescriptor>(window, bias != BiasKind::None),
                   Numbers(type, data, 1), Numbers(type, {19, window.m_Height, window.m_Width, data[3]}, 2), 19, bias,
                   output, GetKernel("Convolution2d", type), turn % 2 == 0 ? &clamp : nullptr);
            ++turn;
        }
    }
}

ISA_TEST(WeightedLayersF16, GroupsAsReference)
{
    for (const DataType type : F16Types)
    {
        for (const auto& [data, window] : GetImages())
        {
            // The kernels of bf16 dot products have no groups: the layer is accepted and runs on CpuRef.
            for (const unsigned int group : {2U, 4U})
            {
                const std::string kernel = type == DataType::Float16 ? "CpuConvolution2dGroupsF16" : "";
                Expect(LayerType::Convolution2d, MakeDescriptorOf<Convolution2dDescriptor>(window, true),
                       Numbers(type, data, 1), Numbers(type, {data[3], window.m_Height, window.m_Width, group}, 2),
                       data[3], BiasKind::Half, OutputOf(data, window, data[3]), kernel);
            }
            const std::string kernel = type == DataType::Float16 ? "CpuConvolution2dF16" : "";
            Expect(LayerType::Convolution2d, MakeDescriptorOf<Convolution2dDescriptor>(window, true),
                   Numbers(type, data, 1), Numbers(type, {6, window.m_Height, window.m_Width, data[3] / 2}, 2), 6,
                   BiasKind::Half, OutputOf(data, window, 6), kernel);
        }
    }
}

ISA_TEST(WeightedLayersF16, DepthwiseAsReference)
{
    const ActivationDescriptor clamp(ActivationFunction::ReLu);
    for (const DataType type : F16Types)
    {
        for (const auto& [data, window] : GetImages())
        {
            for (const unsigned int multiplier : {1U, 2U})
            {
                const unsigned int channels = data[3] * multiplier;
                Expect(LayerType::DepthwiseConvolution2d,
                       MakeDescriptorOf<DepthwiseConvolution2dDescriptor>(window, true), Numbers(type, data, 1),
                       Numbers(type, {1, window.m_Height, window.m_Width, channels}, 2), channels, BiasKind::Half,
                       OutputOf(data, window, channels), GetKernel("DepthwiseConvolution2d", type, true),
                       multiplier == 1 ? &clamp : nullptr);
            }
        }
    }
}

ISA_TEST(WeightedLayersF16, FullyConnectedAsReference)
{
    const ActivationDescriptor clamp(ActivationFunction::ReLu);
    for (const DataType type : F16Types)
    {
        for (const unsigned int rows : {1U, 2U, 3U, 4U, 17U, 1777U})
        {
            for (const bool isTransposed : {false, true})
            {
                for (const auto& [columns, depth] : {std::pair(1U, 70U), {5U, 7U}, {5U, 259U}, {67U, 70U}, {67U, 1U}})
                {
                    FullyConnectedDescriptor descriptor;
                    descriptor.m_TransposeWeightMatrix = isTransposed;
                    descriptor.m_BiasEnabled = columns != 5;
                    Expect(LayerType::FullyConnected, descriptor, Numbers(type, {rows, depth}, 1),
                           Numbers(type, isTransposed ? std::vector{columns, depth} : std::vector{depth, columns}, 2),
                           columns, columns == 5 ? BiasKind::None : BiasKind::Half, {rows, columns},
                           GetKernel("FullyConnected", type), isTransposed ? &clamp : nullptr);
                }
            }
        }
    }
}

ISA_TEST(WeightedLayersF16, BiasAtRunTimeAsReference)
{
    FullyConnectedDescriptor descriptor;
    descriptor.m_BiasEnabled = true;
    for (const unsigned int rows : {3U, 2111U})
    {
        Expect(LayerType::FullyConnected, descriptor, Numbers(DataType::Float16, {rows, 70}, 1),
               Numbers(DataType::Float16, {70, 37}, 2), 37, BiasKind::AtRunTime, {rows, 37}, "CpuFullyConnectedF16");
    }
}

ISA_TEST(WeightedLayersF16, MatrixProductsAsReference)
{
    for (const DataType type : F16Types)
    {
        for (const unsigned int rows : {3U, 700U})
        {
            for (const bool isTransposed : {false, true})
            {
                BatchMatMulDescriptor descriptor;
                descriptor.m_TransposeY = isTransposed;
                Expect(LayerType::BatchMatMul, descriptor, Numbers(type, {2, 3, rows, 70}, 1),
                       Numbers(type, isTransposed ? std::vector{1U, 33U, 70U} : std::vector{1U, 70U, 33U}, 2), 33,
                       BiasKind::None, {2, 3, rows, 33}, GetKernel("BatchMatMulConstant", type));
            }
        }
    }
}

ISA_TEST(WeightedLayersF16, TransposedAsReference)
{
    for (const DataType type : F16Types)
    {
        for (const unsigned int stride : {1U, 2U, 3U})
        {
            TransposeConvolution2dDescriptor descriptor;
            descriptor.m_StrideX = descriptor.m_StrideY = stride;
            descriptor.m_PadTop = descriptor.m_PadLeft = 1;
            descriptor.m_BiasEnabled = true;
            descriptor.m_DataLayout = DataLayout::NHWC;
            const unsigned int height = 8 * stride + 3 - 1;
            const unsigned int width = 10 * stride + 3 - 1;
            for (const unsigned int batch : {1U, 2U})
            {
                Expect(LayerType::TransposeConvolution2d, descriptor, Numbers(type, {batch, 9, 11, 13}, 1),
                       Numbers(type, {21, 3, 3, 13}, 2), 21, BiasKind::Half, {batch, height, width, 21},
                       GetKernel("TransposeConvolution2d", type));
            }
        }
    }
}

ISA_TEST(WeightedLayersF16, VolumesAsReference)
{
    for (const DataType type : F16Types)
    {
        for (const unsigned int stride : {1U, 2U})
        {
            Convolution3dDescriptor descriptor;
            descriptor.m_StrideX = descriptor.m_StrideY = descriptor.m_StrideZ = stride;
            descriptor.m_PadLeft = descriptor.m_PadRight = descriptor.m_PadTop = descriptor.m_PadBottom = 1;
            descriptor.m_PadFront = descriptor.m_PadBack = 1;
            descriptor.m_BiasEnabled = true;
            descriptor.m_DataLayout = DataLayout::NDHWC;
            const auto size = [&](unsigned int of) { return (of + 2 - 3) / stride + 1; };
            Expect(LayerType::Convolution3d, descriptor, Numbers(type, {2, 5, 9, 7, 6}, 1),
                   Numbers(type, {3, 3, 3, 6, 18}, 2), 18, BiasKind::Half, {2, size(5), size(9), size(7), 18},
                   "CpuConvolution3dF16");
        }
    }
}

} // namespace tenon::test::weighted_layers_f16_test
