// SPDX-License-Identifier: Apache-2.0
// Prelu: every type, broadcasting, and what is refused.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::test::prelu_test
{

namespace
{

OpCase MakePrelu(const TensorInfo& x, const TensorInfo& alpha, const TensorInfo& output)
{
    OpCase op{x.ToString(),
              LayerType::Prelu,
              MakeDescriptor(NullDescriptor()),
              {Random(x, 1), Constant(Random(alpha, 2))},
              output,
              Broadcast(output.GetShape(), [](double a, double b) { return a >= 0 ? a : a * b; })};
    op.m_Relative = op.m_Absolute = GetRounding(x.GetDataType());
    return op;
}

} // namespace

ISA_TEST(Prelu, AnyTypeAndBroadcasting)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64})
    {
        for (const TensorShape& alpha : {TensorShape({2, 3, 4}), TensorShape({1, 1, 4}), TensorShape({4}),
                                         TensorShape({3, 1}), TensorShape(Dimensionality::Scalar)})
        {
            const TensorInfo x({2, 3, 4}, type);
            CheckOp(MakePrelu(x, TensorInfo(alpha, type), x));
        }
        CheckOp(MakePrelu(TensorInfo({3, 1}, type), TensorInfo({4}, type), TensorInfo({3, 4}, type)));
    }
    CheckOp(MakePrelu(TensorInfo({60, 5}, DataType::QAsymmU8, 0.02f, 120),
                      TensorInfo({5}, DataType::QAsymmU8, 0.01f, 90),
                      TensorInfo({60, 5}, DataType::QAsymmU8, 0.03f, 100)));
    CheckOp(MakePrelu(TensorInfo({60, 5}, DataType::QAsymmS8, 0.02f, -3), TensorInfo({5}, DataType::QAsymmS8, 0.01f, 9),
                      TensorInfo({60, 5}, DataType::QAsymmS8, 0.03f, 10)));
    CheckOp(MakePrelu(TensorInfo({60, 5}, DataType::QSymmS16, 1e-4f), TensorInfo({5}, DataType::QSymmS16, 1e-4f),
                      TensorInfo({60, 5}, DataType::QSymmS16, 4e-4f)));
}

/// TFLite's results.
ISA_TEST(Prelu, ShortsBesideByteSlopes)
{
    for (const DataType slopes : {DataType::QAsymmS8, DataType::QSymmS8})
    {
        const TensorInfo info({1, 1, 2, 3}, DataType::QSymmS16, 0.01f);
        const TensorInfo output({1, 1, 2, 3}, DataType::QSymmS16, 0.02f);
        OpCase op{"shorts",
                  LayerType::Prelu,
                  MakeDescriptor(NullDescriptor()),
                  {Stored(info, {-30000, 30000, -10000, 5, -7, -30000}),
                   Constant(Stored(TensorInfo({1, 1, 3}, slopes, 0.02f), {-100, 50, 127}))},
                  output,
                  Expect(output, {30000, 15000, -12700, 3, -4, -32768})};
        op.m_Steps = 0;
        CheckOp(op);
    }
    CheckOp(MakePrelu(TensorInfo({60, 5}, DataType::QSymmS16, 1e-4f), TensorInfo({5}, DataType::QAsymmS8, 0.01f, 9),
                      TensorInfo({60, 5}, DataType::QSymmS16, 4e-4f)));
    CheckOp(MakePrelu(TensorInfo({3, 1}, DataType::QSymmS16, 1e-4f), TensorInfo({4}, DataType::QAsymmS8, 0.01f, 9),
                      TensorInfo({3, 4}, DataType::QSymmS16, 4e-4f)));
}

ISA_TEST(Prelu, RefusesWhatDoesNotFit)
{
    const TensorInfo x({2, 3}, DataType::Float32);
    CheckUnsupported(MakePrelu(x, TensorInfo({3}, DataType::Float16), x), SupportCode::UnsupportedType, "input 1");
    const TensorInfo bytes({2, 3}, DataType::QAsymmS8, 0.1f, 0);
    CheckUnsupported(MakePrelu(bytes, TensorInfo({3}, DataType::QSymmS16, 0.1f), bytes), SupportCode::UnsupportedType,
                     "input 1");
    CheckRejectsShapes(MakePrelu(x, TensorInfo({2}, DataType::Float32), x), "do not broadcast");
}

} // namespace tenon::test::prelu_test
