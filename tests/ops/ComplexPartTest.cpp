// SPDX-License-Identifier: Apache-2.0
// ComplexPart: real and imaginary parts and magnitudes, infinities and what is refused.
#include "ops/ComplexTensor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace tenon::test::complex_part_test
{

namespace
{

template <typename T>
OpCase MakeCase(ComplexComponent component, const TensorShape& shape, const std::vector<std::complex<T>>& values)
{
    OpCase op;
    op.m_Name = "component " + std::to_string(static_cast<int>(component));
    op.m_Type = LayerType::ComplexPart;
    op.m_Descriptor = MakeDescriptor(ComplexPartDescriptor(component));
    op.m_Inputs = {FromComplex(shape, values)};
    op.m_Output = TensorInfo(shape, sizeof(T) == sizeof(float) ? DataType::Float32 : DataType::Float64);
    return op;
}

template <typename T>
void CheckParts()
{
    const TensorShape shape({2, 2});
    const std::vector<std::complex<T>> values = {{3, 4}, {-5, 12}, {T(0.25), -2}, {0, 0}};
    const T largest = std::numeric_limits<T>::max();
    using enum ComplexComponent;
    EXPECT_EQ(RunAs<T>(MakeCase(Real, shape, values)), (std::vector<T>{3, -5, T(0.25), 0}));
    EXPECT_EQ(RunAs<T>(MakeCase(Imaginary, shape, values)), (std::vector<T>{4, 12, -2, 0}));
    EXPECT_EQ(RunAs<T>(MakeCase(Magnitude, shape, values)), (std::vector<T>{5, 13, std::hypot(T(0.25), T(-2)), 0}));

    const T infinity = std::numeric_limits<T>::infinity();
    const std::vector<std::complex<T>> extremes = {{largest / 2, largest / 2}, {-infinity, std::nan("")}};
    const std::vector<T> magnitudes = RunAs<T>(MakeCase(Magnitude, TensorShape({2}), extremes));
    EXPECT_NEAR(magnitudes[0] / largest, std::sqrt(0.5), 1e-6);
    EXPECT_EQ(magnitudes[1], infinity);

    EXPECT_EQ(RunAs<T>(MakeCase<T>(Magnitude, TensorShape(Dimensionality::Scalar), {{0, -7}})), std::vector<T>{7});
    EXPECT_TRUE(RunAs<T>(MakeCase<T>(Real, TensorShape({2, 0}), {})).empty());
}

} // namespace

ISA_TEST(ComplexPart, SinglePrecision)
{
    CheckParts<float>();
}

ISA_TEST(ComplexPart, DoublePrecision)
{
    CheckParts<double>();
}

ISA_TEST(ComplexPart, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase<float>(ComplexComponent::Real, TensorShape({2}), {{1, 2}, {3, 4}});
    op.m_Output.SetDataType(DataType::Float64);
    CheckUnsupported(op, SupportCode::UnsupportedType, "output 0");
    op.m_Output = TensorInfo(TensorShape({3}), DataType::Float32);
    CheckRejectsShapes(op, "same shape");
    op = MakeCase<float>(static_cast<ComplexComponent>(7), TensorShape({2}), {{1, 2}, {3, 4}});
    CheckRejectsShapes(op, "no such part");
    op.m_Inputs = {Random(TensorInfo(TensorShape({2}), DataType::Float32), 1)};
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 0");
}

} // namespace tenon::test::complex_part_test
