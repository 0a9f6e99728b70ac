// SPDX-License-Identifier: Apache-2.0
// CpuAcc's OneHot beside CpuRef's, in every bit: along any axis, with indices outside of it, in parts on three threads
// that end within a row.
#include "ops/cpu/CompareWithReference.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <vector>

namespace tenon::test::one_hot_axes_test
{

ISA_TEST(OneHotAxes, AsReference)
{
    for (const DataType type : {DataType::Float32, DataType::Boolean, DataType::Float16, DataType::Signed64})
    {
        for (const DataType indexType : {DataType::Signed32, DataType::Signed64})
        {
            for (const unsigned int depth : {1U, 7U, 1000U, 30011U})
            {
                for (int32_t axis = 0; axis <= 2; ++axis)
                {
                    std::vector<unsigned int> sizes = {5, 3};
                    const TensorInfo indices({5, 3}, indexType);
                    sizes.insert(sizes.begin() + axis, depth);
                    const TensorInfo output(TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data()), type);
                    const TensorShape scalar(Dimensionality::Scalar);
                    OneHotDescriptor descriptor;
                    descriptor.m_Axis = axis;
                    const std::vector<TestTensor> inputs = {
                        Random(indices, depth, -2, depth + 2.0),
                        Stored(TensorInfo(scalar, DataType::Signed32), {depth * 1.0}),
                        Stored(TensorInfo(scalar, type), {1}), Stored(TensorInfo(scalar, type), {0})};
                    ASSERT_NO_FATAL_FAILURE(ExpectAsReference(
                        ReferenceCase(output.ToString(), LayerType::OneHot, descriptor, inputs, output), "CpuOneHot"));
                }
            }
        }
    }
}

} // namespace tenon::test::one_hot_axes_test
