// SPDX-License-Identifier: Apache-2.0
// Normalization against its definition, across channels and within them.
#include "ops/NormalizationCase.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::normalization_test
{

namespace
{

OpCase MakeLrn(TestTensor input, NormalizationAlgorithmChannel channel, uint32_t size)
{
    NormalizationDescriptor descriptor;
    descriptor.m_NormChannelType = channel;
    descriptor.m_NormSize = size;
    descriptor.m_Alpha = 0.3f;
    descriptor.m_Beta = 0.75f;
    descriptor.m_K = 1.5f;
    descriptor.m_DataLayout = DataLayout::NHWC;
    const auto oracle = [=](const std::vector<RealTensor>& in)
    {
        const RealTensor& x = in[0];
        const auto radius = static_cast<int64_t>(size / 2);
        std::vector<double> values = x.m_Values;
        for (int64_t i = 0; i < static_cast<int64_t>(values.size()); ++i)
        {
            const int64_t c = i % x.Dim(3);
            const int64_t w = i / x.Dim(3) % x.Dim(2);
            const int64_t h = i / x.Dim(3) / x.Dim(2) % x.Dim(1);
            const int64_t n = i / x.Dim(3) / x.Dim(2) / x.Dim(1);
            double squares = 0;
            const auto add = [&](int64_t y, int64_t z, int64_t k)
            {
                if (y >= 0 && z >= 0 && k >= 0 && y < x.Dim(1) && z < x.Dim(2) && k < x.Dim(3))
                {
                    squares += x.At(n, y, z, k) * x.At(n, y, z, k);
                }
            };
            for (int64_t a = -radius; a <= radius; ++a)
            {
                if (channel == NormalizationAlgorithmChannel::Across)
                {
                    add(h, w, c + a);
                    continue;
                }
                for (int64_t b = -radius; b <= radius; ++b)
                {
                    add(h + a, w + b, c);
                }
            }
            values[static_cast<size_t>(i)] *= std::pow(1.5 + 0.3f * squares, -0.75);
        }
        return values;
    };
    return MakeNormalization(LayerType::Normalization, descriptor, std::move(input), oracle);
}

} // namespace

ISA_TEST(Normalization, AgreesWithItsDefinition)
{
    for (const DataType type : NormalizedTypes)
    {
        for (const uint32_t size : {1U, 3U, 5U, 99U})
        {
            const TensorInfo info({2, 4, 3, 6}, type);
            CheckOp(MakeLrn(Random(info, 1, -2, 2), NormalizationAlgorithmChannel::Across, size));
            CheckOp(MakeLrn(Random(info, 1, -2, 2), NormalizationAlgorithmChannel::Within, size));
        }
    }
    OpCase op =
        MakeLrn(Random(TensorInfo({1, 1, 1, 1}, DataType::Float32), 1), NormalizationAlgorithmChannel::Across, 1);
    NormalizationDescriptor contrast;
    contrast.m_DataLayout = DataLayout::NHWC;
    contrast.m_NormMethodType = NormalizationAlgorithmMethod::LocalContrast;
    op.m_Descriptor = MakeDescriptor(contrast);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "LocalBrightness");
}

} // namespace tenon::test::normalization_test
