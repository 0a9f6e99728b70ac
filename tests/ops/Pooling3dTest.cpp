// SPDX-License-Identifier: Apache-2.0
// Pooling3d against its definition in double precision.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::test::pooling3d_test
{

namespace
{

OpCase MakePool(PoolingAlgorithm algorithm, PaddingMethod method, const TensorInfo& like)
{
    Pooling3dDescriptor d;
    d.m_PoolType = algorithm;
    d.m_PoolDepth = 2;
    d.m_PoolHeight = 3;
    d.m_PoolWidth = 2;
    d.m_StrideZ = d.m_StrideX = 1;
    d.m_StrideY = 2;
    d.m_PadFront = d.m_PadTop = 1;
    d.m_PaddingMethod = method;
    d.m_DataLayout = DataLayout::NDHWC;
    TensorInfo info = like;
    info.SetShape({2, 3, 5, 4, 3});
    TensorInfo output = like;
    output.SetShape({2, 3, 2, 3, 3});
    OpCase op{info.ToString(), LayerType::Pooling3d, MakeDescriptor(d), {Random(info, 4)}, output, nullptr};
    op.m_Relative = op.m_Absolute = std::max(GetRounding(like.GetDataType()), 1e-5);
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        std::vector<double> values;
        for (int64_t i = 0; i < 2 * 3 * 2 * 3 * 3; ++i)
        {
            double sum = 0;
            double most = -1e30;
            double inside = 0;
            for (int64_t tap = 0; tap < 12; ++tap)
            {
                const int64_t z = i / 18 % 3 - 1 + tap / 6;
                const int64_t y = i / 9 % 2 * 2 - 1 + tap / 2 % 3;
                const int64_t x = i / 3 % 3 + tap % 2;
                if (z >= 0 && y >= 0 && z < 3 && y < 5)
                {
                    const double value = in[0].At(i / 54, z, y, x, i % 3);
                    sum += algorithm == PoolingAlgorithm::L2 ? value * value : value;
                    most = std::max(most, value);
                    ++inside;
                }
            }
            const double mean = sum / (method == PaddingMethod::Exclude ? inside : 12);
            values.push_back(algorithm == PoolingAlgorithm::Max  ? most
                             : algorithm == PoolingAlgorithm::L2 ? std::sqrt(mean)
                                                                 : mean);
        }
        return values;
    };
    return op;
}

} // namespace

ISA_TEST(Pooling3d, AgreesWithItsDefinition)
{
    for (const PaddingMethod method : {PaddingMethod::Exclude, PaddingMethod::IgnoreValue})
    {
        for (const PoolingAlgorithm algorithm :
             {PoolingAlgorithm::Max, PoolingAlgorithm::Average, PoolingAlgorithm::L2})
        {
            for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16})
            {
                CheckOp(MakePool(algorithm, method, TensorInfo({1}, type)));
            }
            CheckOp(MakePool(algorithm, method, TensorInfo({1}, DataType::QAsymmS8, 0.5f, -11)));
            CheckOp(MakePool(algorithm, method, TensorInfo({1}, DataType::QAsymmU8, 0.5f, 130)));
            CheckOp(MakePool(algorithm, method, TensorInfo({1}, DataType::QSymmS16, 0.001f, 0)));
        }
    }
}

} // namespace tenon::test::pooling3d_test
