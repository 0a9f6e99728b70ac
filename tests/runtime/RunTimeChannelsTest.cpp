// SPDX-License-Identifier: Apache-2.0
// Convolutions that are run with other channels than they were loaded for: weights of a channel count take data of any
// multiple of it, in as many groups. What was packed for one number of groups is not for another.
#include "harness/Networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tenon::test::other_channels_test
{

namespace
{

struct Kind
{
    const char* m_Name;
    DataType m_Data;
    DataType m_Weights;
    DataType m_Bias;
};

constexpr Kind Kinds[] = {
    {"floats", DataType::Float32, DataType::Float32, DataType::Float32},
    {"bfloat16", DataType::BFloat16, DataType::BFloat16, DataType::Float32},
    {"int8", DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed32},
    {"uint8", DataType::QAsymmU8, DataType::QAsymmU8, DataType::Signed32},
    {"floats by int8", DataType::Float32, DataType::QSymmS8, DataType::Float32},
    {"int16 by int8", DataType::QSymmS16, DataType::QSymmS8, DataType::Signed64},
};

struct Case
{
    unsigned int m_Loaded = 0; ///< channels of the data
    unsigned int m_Run = 0;
    unsigned int m_Group = 0; ///< channels of the weights
    unsigned int m_Outputs = 0;
    unsigned int m_Kernel = 3;
    unsigned int m_Dilation = 1;
};

constexpr unsigned int Size = 12;

TensorInfo Info(const TensorShape& shape, DataType type, float scale)
{
    const bool isReal = type == DataType::Float32 || type == DataType::BFloat16;
    const int32_t point = type == DataType::QAsymmS8 ? 3 : type == DataType::QAsymmU8 ? 120 : 0;
    return isReal ? TensorInfo(shape, type) : TensorInfo(shape, type, scale, point);
}

/// Numbers near 1, or bytes, as they are stored.
std::vector<std::byte> MakeNumbers(const TensorInfo& info, uint32_t seed)
{
    std::mt19937 random(seed);
    std::vector<std::byte> bytes(info.GetNumBytes());
    for (size_t i = 0; i < bytes.size(); ++i)
    {
        bytes[i] = static_cast<std::byte>(random());
    }
    if (info.GetDataType() == DataType::Float32)
    {
        auto* const values = reinterpret_cast<float*>(bytes.data());
        std::generate_n(values, info.GetNumElements(), [&] { return static_cast<float>(random() % 2001) / 1000 - 1; });
    }
    if (info.GetDataType() == DataType::BFloat16 || info.GetDataType() == DataType::Signed64 ||
        info.GetDataType() == DataType::Signed32)
    {
        const size_t size = info.GetNumBytes() / info.GetNumElements();
        for (size_t i = 0; i < bytes.size(); ++i)
        {
            // 1 + n / 128, or integers below 256.
            bytes[i] = info.GetDataType() == DataType::BFloat16
                           ? (i % 2 == 0 ? bytes[i] | std::byte{0x80} : std::byte{0x3F})
                       : i % size == 0 ? bytes[i]
                                       : std::byte{0};
        }
    }
    return bytes;
}

/// What a network with one convolution gives for so many channels; none where it refuses them.
std::optional<std::vector<std::byte>> Convolve(const BackendId& backend, const Kind& kind, const Case& c)
{
    Convolution2dDescriptor d;
    d.m_DataLayout = DataLayout::NHWC;
    d.m_BiasEnabled = true;
    d.m_StrideX = d.m_StrideY = 1;
    d.m_DilationX = d.m_DilationY = c.m_Dilation;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = c.m_Kernel / 2 * c.m_Dilation;
    INetworkPtr network = INetwork::Create();
    IConnectableLayer* layer = network->AddConvolution2dLayer(d, "convolution");
    Connect(AddInput(*network, 0, Info({1, Size, Size, c.m_Loaded}, kind.m_Data, 0.05f)), layer);
    TensorInfo weights = Info({c.m_Outputs, c.m_Kernel, c.m_Kernel, c.m_Group}, kind.m_Weights, 0.02f);
    TensorInfo bias(TensorShape({c.m_Outputs}), kind.m_Bias, kind.m_Bias == DataType::Float32 ? 0.0f : 0.001f, 0);
    for (TensorInfo* const info : {&weights, &bias})
    {
        info->SetConstant();
        const auto values = std::make_shared<std::vector<std::byte>>(MakeNumbers(*info, 2));
        Connect(network->AddConstantLayer(ConstTensor(*info, values->data()), values), layer, info == &weights ? 1 : 2);
    }
    const TensorInfo output = Info({1, Size, Size, c.m_Outputs}, kind.m_Data, 0.3f);
    layer->GetOutputSlot(0).SetTensorInfo(output);
    Connect(layer, network->AddOutputLayer(0));
    const IRuntimePtr runtime = IRuntime::Create({});
    const NetworkId id = Load(*runtime, *network, {backend});
    TensorInfo given = Info({1, Size, Size, c.m_Run}, kind.m_Data, 0.05f);
    given.SetConstant();
    const std::vector<std::byte> data = MakeNumbers(given, 1);
    std::vector<std::byte> result(output.GetNumBytes());
    try
    {
        runtime->EnqueueWorkload(id, {{0, ConstTensor(given, data.data())}}, {{0, Tensor(output, result.data())}});
    }
    catch (const Exception&)
    {
        return std::nullopt;
    }
    return result;
}

void Compare(const Kind& kind, const std::vector<std::byte>& got, const std::vector<std::byte>& want)
{
    if (kind.m_Data == DataType::Float32)
    {
        for (size_t i = 0; i < got.size() / sizeof(float); ++i)
        {
            const float a = reinterpret_cast<const float*>(got.data())[i];
            const float b = reinterpret_cast<const float*>(want.data())[i];
            ASSERT_LE(std::abs(a - b), 1e-3f + 1e-5f * std::abs(b)) << "element " << i;
        }
    }
    else if (kind.m_Data == DataType::BFloat16)
    {
        for (size_t i = 0; i < got.size() / sizeof(uint16_t); ++i) // sums of numbers above zero
        {
            const int a = reinterpret_cast<const uint16_t*>(got.data())[i];
            const int b = reinterpret_cast<const uint16_t*>(want.data())[i];
            ASSERT_LE(std::abs(a - b), 1) << "element " << i;
        }
    }
    else
    {
        ASSERT_EQ(got, want);
    }
}

} // namespace

TEST(OtherChannels, OfConvolutionsAsReference)
{
    constexpr Case Cases[] = {
        {4, 8, 4, 32},
        {8, 4, 4, 96},
        {8, 12, 4, 96},
        {16, 32, 16, 32},
        {8, 16, 2, 8},
        {16, 8, 4, 16},
        {8, 4, 4, 8},
        {4, 512, 4, 512},
        {16, 512, 16, 512},
        {4, 2, 2, 30, 1},
        {2, 4, 2, 30, 1},
        {64, 128, 64, 64, 1},
        {6, 4, 2, 12},
        {5, 3, 5, 10},
        // Points of windows whose weights may be padded, so that other numbers of channels take as many.
        {2, 4, 2, 8, 3, 2},
        {1, 2, 1, 8, 3, 2},
        {1, 3, 1, 6, 3, 2},
        {4, 8, 2, 8, 3, 2},
        {8, 4, 2, 8, 3, 2},
        {1, 2, 1, 8},
        {3, 6, 3, 12},
        {2, 1, 2, 8, 3, 2},
    };
    for (const Kind& kind : Kinds)
    {
        for (const Case& c : Cases)
        {
            SCOPED_TRACE(std::string(kind.m_Name) + ": " + std::to_string(c.m_Loaded) + " channels, then " +
                         std::to_string(c.m_Run) + ", in groups of " + std::to_string(c.m_Group) + ", dilation " +
                         std::to_string(c.m_Dilation));
            const auto want = Convolve("CpuRef", kind, c);
            const auto got = Convolve("CpuAcc", kind, c);
            ASSERT_EQ(got.has_value(), want.has_value());
            if (want)
            {
                ASSERT_NO_FATAL_FAILURE(Compare(kind, *got, *want));
            }
        }
    }
}

} // namespace tenon::test::other_channels_test
