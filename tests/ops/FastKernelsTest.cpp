// SPDX-License-Identifier: Apache-2.0
// The layer types for which CpuAcc has kernels of its own: cases like those of the files beside this one do run there.
// A backend that refuses a case is passed over by the harness, and one that refused all of them would go unnoticed.
#include "harness/OpTest.hpp"

#include <tenon/Descriptors.hpp>

#include <gtest/gtest.h>

namespace tenon::test
{

TEST(FastKernels, RunOrdinaryCases)
{
    const TensorInfo image({1, 4, 4, 3}, DataType::Float32);
    Convolution2dDescriptor convolution;
    convolution.m_DataLayout = DataLayout::NHWC;
    const TensorInfo filters({2, 1, 1, 3}, DataType::Float32);
    const auto apply = [](const std::vector<RealTensor>& in)
    {
        std::vector<double> out;
        for (size_t pixel = 0; pixel < in[0].m_Values.size() / 3; ++pixel)
        {
            for (size_t o = 0; o < 2; ++o)
            {
                double sum = 0;
                for (size_t c = 0; c < 3; ++c)
                {
                    sum += in[0].m_Values[pixel * 3 + c] * in[1].m_Values[o * 3 + c];
                }
                out.push_back(sum);
            }
        }
        return out;
    };
    CheckOp({"1x1 convolution",
             LayerType::Convolution2d,
             MakeDescriptor(convolution),
             {Random(image, 1, -1, 1), Constant(Random(filters, 2, -1, 1))},
             TensorInfo({1, 4, 4, 2}, DataType::Float32),
             apply});
    FullyConnectedDescriptor connected;
    connected.m_TransposeWeightMatrix = true;
    CheckOp({"fully connected",
             LayerType::FullyConnected,
             MakeDescriptor(connected),
             {Random(TensorInfo({5, 3}, DataType::Float32), 1, -1, 1),
              Constant(Random(TensorInfo({2, 3}, DataType::Float32), 2, -1, 1))},
             TensorInfo({5, 2}, DataType::Float32),
             apply});
}

} // namespace tenon::test
