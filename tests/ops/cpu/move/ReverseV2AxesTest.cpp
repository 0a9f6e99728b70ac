// SPDX-License-Identifier: Apache-2.0
// CpuAcc's ReverseV2 beside CpuRef's: any axes, elements of all sizes, rows with something left over, on one and three
// threads.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Base.hpp>

namespace tenon::test::reverse_v2_axes_test
{

ISA_TEST(ReverseV2Axes, AsReference)
{
    const TensorInfo types[] = {TensorInfo({1}, DataType::QAsymmU8, 0.5f, 3), TensorInfo({1}, DataType::Signed16),
                                TensorInfo({1}, DataType::Float32), TensorInfo({1}, DataType::Signed64)};
    const TensorShape shapes[] = {{1, 1, 1, 1},    {2, 5, 7, 3},    {1, 30, 50, 65},
                                  {300, 1, 3, 67}, {3, 2, 1, 9001}, {7, 0, 2, 3}};
    for (const TensorInfo& type : types)
    {
        for (const TensorShape& shape : shapes)
        {
            for (unsigned int reversed = 0; reversed < 16; ++reversed)
            {
                std::vector<double> axes;
                for (int axis = 3; axis >= 0; --axis)
                {
                    if (((reversed >> axis) & 1U) != 0)
                    {
                        axes.push_back(axis % 2 == 0 ? axis : axis - 4);
                    }
                }
                const TensorInfo info = Shaped(type, shape);
                const TensorInfo axesInfo({static_cast<unsigned int>(axes.size())}, DataType::Signed32);
                ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                    ReferenceCase("axes " + std::to_string(reversed) + " of " + info.ToString(), LayerType::ReverseV2,
                                  NullDescriptor(), {Random(info, 1), Constant(Stored(axesInfo, axes))}, info),
                    info.GetNumElements() == 0 ? "RefReverseV2" : "CpuReverseV2"));
            }
        }
    }
}

} // namespace tenon::test::reverse_v2_axes_test
