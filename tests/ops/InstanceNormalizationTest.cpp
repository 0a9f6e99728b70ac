// SPDX-License-Identifier: Apache-2.0
// InstanceNormalization against its definition.
#include "ops/NormalizationCase.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::instance_normalization_test
{

ISA_TEST(InstanceNormalization, AgreesWithItsDefinition)
{
    for (const DataType type : NormalizedTypes)
    {
        InstanceNormalizationDescriptor descriptor;
        descriptor.m_Gamma = 1.5f;
        descriptor.m_Beta = -0.5f;
        descriptor.m_Eps = 0.01f;
        descriptor.m_DataLayout = DataLayout::NHWC;
        const auto oracle = [](const std::vector<RealTensor>& in)
        {
            std::vector<double> values = in[0].m_Values;
            constexpr size_t Pixels = 6;
            constexpr size_t Channels = 5;
            for (size_t i = 0; i < values.size(); ++i)
            {
                const size_t first = i / (Pixels * Channels) * Pixels * Channels + i % Channels;
                double mean = 0;
                double variance = 0;
                for (size_t k = 0; k < Pixels; ++k)
                {
                    mean += in[0].m_Values[first + k * Channels] / Pixels;
                }
                for (size_t k = 0; k < Pixels; ++k)
                {
                    variance += std::pow(in[0].m_Values[first + k * Channels] - mean, 2) / Pixels;
                }
                values[i] = (values[i] - mean) / std::sqrt(variance + 0.01f) * 1.5 - 0.5;
            }
            return values;
        };
        CheckOp(MakeNormalization(LayerType::InstanceNormalization, descriptor,
                                  Random(TensorInfo({2, 3, 2, 5}, type), 1, -2, 2), oracle));
        CheckOp(MakeNormalization(LayerType::InstanceNormalization, descriptor,
                                  Random(TensorInfo({2, 0, 2, 5}, type), 1), oracle));
        CheckRejectsShapes(MakeNormalization(LayerType::InstanceNormalization, descriptor,
                                             Random(TensorInfo({2, 5}, type), 1), oracle),
                           "4 dimensions");
    }
}

} // namespace tenon::test::instance_normalization_test
