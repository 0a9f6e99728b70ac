// SPDX-License-Identifier: Apache-2.0
// CpuAcc's normalizations beside CpuRef's, of channels around those of vectors.
#include "ops/cpu/ChannelCases.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Normalization.hpp>

#include <algorithm>
#include <utility>

namespace tenon::test::normalizations_parity_test
{

namespace
{

OpCase L2OfBytes(const TensorInfo& input, TestTensor data)
{
    L2NormalizationDescriptor l2;
    l2.m_DataLayout = DataLayout::NHWC;
    const TensorInfo output(input.GetShape(), input.GetDataType(), 1.0f / 128.0f,
                            input.GetDataType() == DataType::QAsymmU8 ? 128 : 0);
    return ReferenceCase(Name("L2 of bytes", input), LayerType::L2Normalization, l2, {std::move(data)}, output);
}

} // namespace

ISA_TEST(NormalizationsParity, AsReference)
{
    for (const unsigned int channels : Channels)
    {
        const TensorInfo input = Shaped(TensorInfo({1}, DataType::Float32), {2, 11, 17, channels});
        const TestTensor data = Random(input, channels, -2, 3);
        const auto parameter = [channels](uint32_t seed)
        { return Random(Shaped(TensorInfo({1}, DataType::Float32), {channels}), seed, 0.5, 1.5); };
        LayerNormalizationDescriptor layer;
        layer.m_Axis = 3;
        layer.m_Epsilon = 1e-3f;
        ExpectAsReference(ReferenceCase(Name("layer", input), LayerType::LayerNormalization, layer,
                                        {data, parameter(1), parameter(2)}, input),
                          "CpuLayerNormalization", 1e-5);
        L2NormalizationDescriptor l2;
        l2.m_DataLayout = DataLayout::NHWC;
        ExpectAsReference(ReferenceCase(Name("L2", input), LayerType::L2Normalization, l2, {data}, input),
                          "CpuL2Normalization", 1e-6);
        InstanceNormalizationDescriptor instance;
        instance.m_Gamma = 1.5f;
        instance.m_Beta = 0.5f;
        instance.m_Eps = 1e-4f;
        instance.m_DataLayout = DataLayout::NHWC;
        ExpectAsReference(
            ReferenceCase(Name("instance", input), LayerType::InstanceNormalization, instance, {data}, input),
            "CpuInstanceNormalization", 1e-5);
        BatchNormalizationDescriptor batch;
        batch.m_Eps = 1e-3f;
        batch.m_DataLayout = DataLayout::NHWC;
        ExpectAsReference(ReferenceCase(Name("batch", input), LayerType::BatchNormalization, batch,
                                        {data, parameter(1), parameter(2), parameter(3), parameter(4)}, input),
                          "CpuBatchNormalization", 1e-6);
    }
}

ISA_TEST(NormalizationsParity, L2OfBytesAsReference)
{
    for (const DataType type : {DataType::QAsymmU8, DataType::QAsymmS8})
    {
        const int middle = type == DataType::QAsymmU8 ? 128 : 0;
        for (const int zero : {middle - 128, middle - 1, middle + 127})
        {
            for (const unsigned int channels : {1U, 2U, 3U, 15U, 16U, 31U, 33U, 64U, 67U, 130U, 300U, 40000U})
            {
                const TensorInfo input({9, channels}, type, 0.1f, zero);
                TestTensor data = Random(input, channels);
                // Rows of zero points, of one other value, and of small ones.
                std::fill_n(data.m_Bytes.begin(), 3 * channels, static_cast<std::byte>(zero));
                data.m_Bytes[2 * channels - 1] = static_cast<std::byte>(zero ^ 1);
                for (size_t i = 2 * channels; i < size_t{3} * channels; i += 2)
                {
                    data.m_Bytes[i] = static_cast<std::byte>(zero ^ 2);
                }
                ExpectAsReference(L2OfBytes(input, data), "CpuL2Normalization");
            }
        }
        // Sums of squares that int32 does not hold, and whose lanes are added up several times.
        const unsigned int depth = 300000;
        const TensorInfo input({2, depth}, type, 0.1f, middle - 128);
        TestTensor data = Random(input, 5);
        std::fill_n(data.m_Bytes.begin(), depth, static_cast<std::byte>(middle + 127));
        ExpectAsReference(L2OfBytes(input, data), "CpuL2Normalization");
    }
}

} // namespace tenon::test::normalizations_parity_test
