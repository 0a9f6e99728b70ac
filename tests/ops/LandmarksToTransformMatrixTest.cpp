// SPDX-License-Identifier: Apache-2.0
// LandmarksToTransformMatrix against its definition, and against results of MediaPipe's kernel (mediapipe 0.10.21).
#include "harness/OpTest.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>

namespace tenon::test::landmarks_to_transform_matrix_test
{

namespace
{

using D = LandmarksToTransformMatrixDescriptor;

D MakeDescription(std::vector<uint32_t> subset, uint32_t left, uint32_t right, float target, uint32_t height,
                  uint32_t width, float scaleX, float scaleY)
{
    D descriptor;
    descriptor.m_Subset = std::move(subset);
    descriptor.m_LeftRotationIndex = left;
    descriptor.m_RightRotationIndex = right;
    descriptor.m_TargetRotation = target;
    descriptor.m_OutputHeight = height;
    descriptor.m_OutputWidth = width;
    descriptor.m_ScaleX = scaleX;
    descriptor.m_ScaleY = scaleY;
    return descriptor;
}

OpCase MakeCase(TestTensor landmarks, const D& descriptor)
{
    OpCase op;
    op.m_Name = landmarks.m_Info.ToString();
    op.m_Type = LayerType::LandmarksToTransformMatrix;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {std::move(landmarks)};
    op.m_Output = TensorInfo(TensorShape({1, 4, 4}), DataType::Float32);
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        // Points as complex numbers, which a rotation multiplies.
        using Point = std::complex<double>;
        const auto landmark = [&](uint32_t i) { return Point(in[0].At(0, i, 0), in[0].At(0, i, 1)); };
        const Point line = landmark(descriptor.m_RightRotationIndex) - landmark(descriptor.m_LeftRotationIndex);
        const Point turn = std::polar(1.0, descriptor.m_TargetRotation - std::arg(line));
        std::vector<double> xs;
        std::vector<double> ys;
        for (const uint32_t i : descriptor.m_Subset)
        {
            xs.push_back((landmark(i) * turn).real());
            ys.push_back((landmark(i) * turn).imag());
        }
        const auto [left, right] = std::minmax_element(xs.begin(), xs.end());
        const auto [top, bottom] = std::minmax_element(ys.begin(), ys.end());
        const Point center = Point(*left + *right, *top + *bottom) / 2.0 / turn;
        const Point ofX = (*right - *left) * descriptor.m_ScaleX / descriptor.m_OutputWidth / turn;
        const Point ofY = Point(0, (*bottom - *top) * descriptor.m_ScaleY / descriptor.m_OutputHeight) / turn;
        const Point offset = center - ofX * (descriptor.m_OutputWidth / 2.0) - ofY * (descriptor.m_OutputHeight / 2.0);
        return std::vector<double>{
            ofX.real(), ofY.real(), 0, offset.real(), ofX.imag(), ofY.imag(), 0, offset.imag(), 0, 0, 1, 0, 0, 0, 0, 1};
    };
    op.m_Absolute = 1e-4;
    return op;
}

TestTensor Landmarks(unsigned int count)
{
    return Random(TensorInfo(TensorShape({1, count, 3}), DataType::Float32), 5, 0, 100);
}

} // namespace

ISA_TEST(LandmarksToTransformMatrix, BoxesOfAnyLandmarks)
{
    CheckOp(MakeCase(Landmarks(10), MakeDescription({0, 1, 2, 3, 4, 5}, 0, 5, 0, 16, 16, 1.5f, 1.5f)));
    CheckOp(MakeCase(Landmarks(20), MakeDescription({3, 7, 19}, 3, 9, 1.5f, 40, 24, 1, 2)));
    CheckOp(MakeCase(Landmarks(5), MakeDescription({1, 2}, 4, 0, -0.5f, 7, 9, 0.5f, 0.25f)));
    CheckOp(MakeCase(Landmarks(3), MakeDescription({2}, 0, 1, 0, 7, 9, 1, 1)));
}

ISA_TEST(LandmarksToTransformMatrix, ResultsOfMediaPipe)
{
    OpCase op = MakeCase(Values(TensorInfo(TensorShape({1, 5, 3}), DataType::Float32),
                                {54, 18, 24, 60, 16, 54, 76, 56, 52, 38, 78, 18, 28, 52, 52}),
                         MakeDescription({1, 2, 4}, 3, 0, 0.5f, 7, 9, 1.5f, 0.75f));
    op.m_Relative = op.m_Absolute = 1e-7;
    op.m_Oracle = Expect(
        op.m_Output, {-1.6856328, 4.754978, 0, 39.69613, -6.9061155, -1.160587, 0, 75.837296, 0, 0, 1, 0, 0, 0, 0, 1});
    CheckOp(op);
}

ISA_TEST(LandmarksToTransformMatrix, RefusesWhatDoesNotFit)
{
    const D fits = MakeDescription({0, 4}, 0, 4, 0, 1, 1, 1, 1);
    CheckRejectsShapes(MakeCase(Landmarks(4), fits), "all landmarks");
    OpCase op = MakeCase(Landmarks(5), fits);
    op.m_Output.SetShape(TensorShape({1, 4, 3}));
    CheckRejectsShapes(op, "16 elements are wanted");
    op = MakeCase(Random(TensorInfo(TensorShape({1, 5, 3}), DataType::Float16), 3), fits);
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 0");
}

static InferCases MakeInferCases()
{
    using enum LayerType;
    const D fits = MakeDescription({0, 4}, 1, 2, 0, 5, 6, 1, 1);
    const auto with = [&](auto set) { return Made<D>(set, fits); };
    return {
        Case(LandmarksToTransformMatrix, "matrix", fits, {T({1, 5, 3})}).Gives({"[1,4,4]"}),
        Case(LandmarksToTransformMatrix, "two coordinates", fits, {T({1, 5, 2})}).Rejects("[1, n, 3]"),
        Case(LandmarksToTransformMatrix, "part of the box", fits, {T({1, 4, 3})}).Rejects("landmark 4"),
        Case(LandmarksToTransformMatrix, "left end", with([](D& d) { d.m_LeftRotationIndex = 5; }), {T({1, 5, 3})})
            .Rejects("left end"),
        Case(LandmarksToTransformMatrix, "right end", with([](D& d) { d.m_RightRotationIndex = 5; }), {T({1, 5, 3})})
            .Rejects("right end"),
        Case(LandmarksToTransformMatrix, "no box", with([](D& d) { d.m_Subset.clear(); }), {T({1, 5, 3})})
            .Rejects("no landmarks"),
        Case(LandmarksToTransformMatrix, "no pixels", with([](D& d) { d.m_OutputWidth = 0; }), {T({1, 5, 3})})
            .Rejects("no scale"),
    };
}
static const InferTable inferCases(MakeInferCases);

} // namespace tenon::test::landmarks_to_transform_matrix_test
