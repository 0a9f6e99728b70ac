// SPDX-License-Identifier: Apache-2.0
// TransformLandmarks against its definition, and against results of MediaPipe's kernel (mediapipe 0.10.21).
#include "harness/OpTest.hpp"
#include "ops/InferCases.hpp"

#include <gtest/gtest.h>

namespace tenon::test::transform_landmarks_test
{

namespace
{

OpCase MakeCase(TestTensor landmarks, TestTensor matrix)
{
    OpCase op;
    op.m_Name = landmarks.m_Info.ToString();
    op.m_Type = LayerType::TransformLandmarks;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Output = landmarks.m_Info;
    op.m_Inputs = {std::move(landmarks), std::move(matrix)};
    op.m_Oracle = [](const std::vector<RealTensor>& in)
    {
        std::vector<double> values;
        for (unsigned int i = 0; i < in[0].Dim(1); ++i)
        {
            for (unsigned int k = 0; k < in[0].Dim(2); ++k)
            {
                values.push_back(k == 2 ? in[0].At(0, i, 2)
                                        : in[1].At(0, k, 0) * in[0].At(0, i, 0) +
                                              in[1].At(0, k, 1) * in[0].At(0, i, 1) + in[1].At(0, k, 3));
            }
        }
        return values;
    };
    return op;
}

TestTensor Floats(const TensorShape& shape, uint32_t seed)
{
    return Random(TensorInfo(shape, DataType::Float32), seed, -5, 5);
}

} // namespace

ISA_TEST(TransformLandmarks, PointsOfTwoOrThreeCoordinates)
{
    for (const unsigned int size : {2U, 3U})
    {
        for (const unsigned int count : {0U, 1U, 8U, 71U})
        {
            CheckOp(MakeCase(Floats(TensorShape({1, count, size}), 3), Floats(TensorShape({1, 4, 4}), 4)));
        }
    }
}

ISA_TEST(TransformLandmarks, ResultsOfMediaPipe)
{
    const TestTensor matrix =
        Values(TensorInfo(TensorShape({1, 4, 4}), DataType::Float32),
               {-4, -3.5, 2, 3.5, 1.5, 4.5, -1.25, -1.75, 3, -4.75, -3.25, -3.25, -1, -3.5, 3, 3.5});
    OpCase op = MakeCase(Values(TensorInfo(TensorShape({1, 3, 3}), DataType::Float32),
                                {-1.25, -4.75, 2.25, -4, 1.25, -3.25, 4.5, 1.75, 5}),
                         matrix);
    op.m_Relative = op.m_Absolute = 0;
    op.m_Oracle = Expect(op.m_Output, {25.125, -25, 2.25, 15.125, -2.125, -3.25, -20.625, 12.875, 5});
    CheckOp(op);
    OpCase flat =
        MakeCase(Values(TensorInfo(TensorShape({1, 2, 2}), DataType::Float32), {1.25, 2.25, -1.25, 3.25}), matrix);
    flat.m_Relative = flat.m_Absolute = 0;
    flat.m_Oracle = Expect(flat.m_Output, {-9.375, 10.25, -2.875, 11});
    CheckOp(flat);
}

ISA_TEST(TransformLandmarks, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase(Floats(TensorShape({1, 3, 2}), 3), Floats(TensorShape({1, 4, 3}), 4));
    CheckRejectsShapes(op, "16 elements are wanted");
    op = MakeCase(Floats(TensorShape({1, 3, 4}), 3), Floats(TensorShape({1, 4, 4}), 4));
    CheckRejectsShapes(op, "last size is 2 or 3");
    op = MakeCase(Random(TensorInfo(TensorShape({1, 3, 2}), DataType::Float16), 3), Floats(TensorShape({1, 4, 4}), 4));
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 0");
}

static InferCases MakeInferCases()
{
    using enum LayerType;
    const NullDescriptor none;
    return {
        Case(TransformLandmarks, "three coordinates", none, {T({1, 8, 3}), T({1, 4, 4})}).Gives({"[1,8,3]"}),
        Case(TransformLandmarks, "four coordinates", none, {T({1, 8, 4}), T({1, 4, 4})}).Rejects("[1, n, 2 or 3]"),
        Case(TransformLandmarks, "matrix", none, {T({1, 8, 3}), T({1, 16})}).Rejects("[1, 4, 4]"),
    };
}
static const InferTable inferCases(MakeInferCases);

} // namespace tenon::test::transform_landmarks_test
