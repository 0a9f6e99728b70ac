// SPDX-License-Identifier: Apache-2.0
// BatchNormalization against its definition.
#include "ops/NormalizationCase.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test::batch_normalization_test
{

ISA_TEST(BatchNormalization, AgreesWithItsDefinition)
{
    for (const DataType type : NormalizedTypes)
    {
        BatchNormalizationDescriptor descriptor;
        descriptor.m_Eps = 0.01f;
        descriptor.m_DataLayout = DataLayout::NHWC;
        const auto oracle = [](const std::vector<RealTensor>& in)
        {
            std::vector<double> values = in[0].m_Values;
            for (size_t i = 0; i < values.size(); ++i)
            {
                const size_t c = i % 5;
                values[i] = (values[i] - in[1].m_Values[c]) / std::sqrt(in[2].m_Values[c] + 0.01f) * in[4].m_Values[c] +
                            in[3].m_Values[c];
            }
            return values;
        };
        const TensorInfo info({2, 3, 2, 5}, type);
        OpCase op = MakeNormalization(LayerType::BatchNormalization, descriptor, Random(info, 1, -2, 2), oracle);
        for (uint32_t i = 1; i < 5; ++i)
        {
            op.m_Inputs.push_back(Constant(Random(TensorInfo({5}, type), i, 0.5, 2)));
        }
        CheckOp(op);
        op.m_Inputs[3] = Random(TensorInfo({4}, type), 1);
        CheckRejectsShapes(op, "one element for each channel");
    }
}

} // namespace tenon::test::batch_normalization_test
