// SPDX-License-Identifier: Apache-2.0
// CpuAcc's Softmax and LogSoftmax beside CpuRef's. Sizes around those of vectors, and some that are
// split over threads.
#include "ops/ElementwiseOracle.hpp"
#include "ops/cpu/ChannelCases.hpp"
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Normalization.hpp>

#include <limits>
#include <vector>

namespace tenon::test::softmax_parity_test
{

using namespace channel_types;

ISA_TEST(SoftmaxParity, AsReference)
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
                    const bool isShort = type.GetDataType() == DataType::QSymmS16;
                    output.SetQuantizationScale(isShort ? 1.0f / 32768.0f : 1.0f / 256.0f);
                    output.SetQuantizationOffset(type.GetDataType() == DataType::QAsymmS8 ? -128 : 0);
                }
                SoftmaxDescriptor d;
                d.m_Beta = beta;
                d.m_Axis = -1;
                ExpectAsReference(
                    ReferenceCase(Name("softmax", input), LayerType::Softmax, d, {Random(input, depth)}, output),
                    "CpuSoftmax", tolerance);
                if (!type.IsQuantized())
                {
                    ExpectAsReference(ReferenceCase(Name("log softmax", input), LayerType::LogSoftmax, d,
                                                    {Random(input, depth)}, output),
                                      "CpuLogSoftmax", tolerance);
                }
            }
        }
    }
}

// In each row one element that is no number, at places of whole vectors and of the rest.
ISA_TEST(SoftmaxParity, NaNAndInfinitiesAsReference)
{
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    constexpr double NaN = std::numeric_limits<double>::quiet_NaN();
    for (const unsigned int depth : {1U, 3U, 16U, 24U, 25U, 40U, 64U, 67U, 130U})
    {
        std::vector<double> values;
        for (unsigned int at = 0; at < depth; ++at)
        {
            for (const double special : {NaN, Infinity, -Infinity})
            {
                std::vector<double> row(depth, 0.25);
                row[depth / 2] = -1.5;
                row[at] = special;
                values.insert(values.end(), row.begin(), row.end());
            }
        }
        values.insert(values.end(), depth, -Infinity);
        values.insert(values.end(), depth, 1.0); // beside them a row of numbers stays one
        const TensorInfo input = Shaped(Float, {3 * depth + 2, depth});
        const TestTensor data = Stored(input, values);
        for (const float beta : {1.0f, -0.5f})
        {
            SoftmaxDescriptor d;
            d.m_Beta = beta;
            d.m_Axis = -1;
            ExpectAsReference(ReferenceCase(Name("softmax", input), LayerType::Softmax, d, {data}, input),
                              beta > 0 ? "CpuSoftmax" : "RefSoftmax", Tolerance(input));
            ExpectAsReference(ReferenceCase(Name("log softmax", input), LayerType::LogSoftmax, d, {data}, input),
                              beta > 0 ? "CpuLogSoftmax" : "RefLogSoftmax", Tolerance(input));
        }
    }
}

} // namespace tenon::test::softmax_parity_test
