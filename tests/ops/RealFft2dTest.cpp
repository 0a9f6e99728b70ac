// SPDX-License-Identifier: Apache-2.0
// RealFft2d against the sum that defines it, forwards and back; input that is too small or too large; spectra that no
// real numbers have.
#include "ops/ComplexTensor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

namespace tenon::test::real_fft2d_test
{

namespace
{

using Complexes = std::vector<std::complex<double>>;

struct Size
{
    unsigned int m_Height;
    unsigned int m_Width;
};

const Size Sizes[] = {{1, 1}, {1, 2}, {2, 1}, {1, 16}, {8, 1}, {2, 2}, {4, 4}, {4, 8}, {16, 4}, {32, 64}};

/// sum over y, x of in[y][x] * exp(sign * 2 pi i (u y / height + v x / width))
std::complex<double> Sum(const Complexes& in, const Size& size, unsigned int u, unsigned int v, double sign)
{
    std::complex<double> sum = 0;
    for (unsigned int y = 0; y < size.m_Height; ++y)
    {
        for (unsigned int x = 0; x < size.m_Width; ++x)
        {
            // Whole turns are left out while they are whole numbers.
            const double turns = static_cast<double>(u * y % size.m_Height) / size.m_Height +
                                 static_cast<double>(v * x % size.m_Width) / size.m_Width;
            sum += in[y * size.m_Width + x] * std::polar(1.0, sign * 2.0 * std::numbers::pi * turns);
        }
    }
    return sum;
}

OpCase MakeCase(const Size& size, bool inverse, TestTensor input)
{
    RealFft2dDescriptor descriptor;
    descriptor.m_Height = size.m_Height;
    descriptor.m_Width = size.m_Width;
    descriptor.m_Inverse = inverse;
    OpCase op;
    op.m_Name = std::to_string(size.m_Height) + " x " + std::to_string(size.m_Width) + (inverse ? " back" : "");
    op.m_Type = LayerType::RealFft2d;
    op.m_Descriptor = MakeDescriptor(descriptor);
    TensorShape shape = input.m_Info.GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    shape.SetDimensionSize(rank - 2, size.m_Height);
    shape.SetDimensionSize(rank - 1, inverse ? size.m_Width : size.m_Width / 2 + 1);
    op.m_Output = TensorInfo(shape, inverse ? DataType::Float32 : DataType::Complex64);
    op.m_Inputs = {std::move(input)};
    return op;
}

/// Slice `slice` of `in`, whose slices have size `from`, cut or filled up with zeros to size `to`.
template <typename T>
Complexes Fit(const std::vector<T>& in, size_t slice, const Size& from, const Size& to)
{
    Complexes out(size_t{to.m_Height} * to.m_Width);
    for (unsigned int y = 0; y < std::min(from.m_Height, to.m_Height); ++y)
    {
        for (unsigned int x = 0; x < std::min(from.m_Width, to.m_Width); ++x)
        {
            out[y * to.m_Width + x] = in[(slice * from.m_Height + y) * from.m_Width + x];
        }
    }
    return out;
}

void CheckForward(const Size& size, const Size& input)
{
    const TestTensor tensor =
        Random(TensorInfo(TensorShape({2, input.m_Height, input.m_Width}), DataType::Float32), 4, -1, 1);
    const std::vector<double> real = GetStored(tensor.m_Info, tensor.m_Bytes.data());
    const auto got = RunAs<std::complex<float>>(MakeCase(size, false, tensor));
    size_t i = 0;
    for (size_t slice = 0; slice < 2; ++slice)
    {
        const Complexes in = Fit(real, slice, input, size);
        for (unsigned int u = 0; u < size.m_Height; ++u)
        {
            for (unsigned int v = 0; v <= size.m_Width / 2; ++v, ++i)
            {
                const std::complex<double> want = Sum(in, size, u, v, -1.0);
                ASSERT_LE(std::abs(std::complex<double>(got[i]) - want), 1e-5 + 1e-6 * std::abs(want))
                    << size.m_Height << " x " << size.m_Width << ", frequency " << u << ", " << v;
            }
        }
    }
}

/// All frequencies that the kept ones stand for; in the first column the lower half counts, in the last the upper one.
Complexes Complete(const Complexes& kept, const Size& size)
{
    const unsigned int frequencies = size.m_Width / 2 + 1;
    Complexes all(size_t{size.m_Height} * size.m_Width);
    const auto at = [&](unsigned int u, unsigned int v) { return kept[u % size.m_Height * frequencies + v]; };
    for (unsigned int u = 0; u < size.m_Height; ++u)
    {
        for (unsigned int v = 0; v < size.m_Width; ++v)
        {
            const unsigned int mirrored = (size.m_Height - u) % size.m_Height;
            std::complex<double>& value = all[u * size.m_Width + v];
            const bool isOuter = v == 0 || 2 * v == size.m_Width;
            if (isOuter && u == mirrored)
            {
                value = at(u, v).real();
            }
            else if (isOuter)
            {
                value = (u < mirrored) == (v == 0) ? at(u, v) : std::conj(at(mirrored, v));
            }
            else
            {
                value = v < frequencies ? at(u, v) : std::conj(at(mirrored, size.m_Width - v));
            }
        }
    }
    return all;
}

void CheckBackward(const Size& size, const Size& input)
{
    const TestTensor numbers =
        Random(TensorInfo(TensorShape({2, input.m_Height, input.m_Width, 2}), DataType::Float32), 5, -1, 1);
    const std::vector<double> parts = GetStored(numbers.m_Info, numbers.m_Bytes.data());
    std::vector<std::complex<float>> spectrum;
    for (size_t i = 0; i < parts.size(); i += 2)
    {
        spectrum.emplace_back(static_cast<float>(parts[i]), static_cast<float>(parts[i + 1]));
    }
    const TestTensor tensor = FromComplex(TensorShape({2, input.m_Height, input.m_Width}), spectrum);
    const auto got = RunAs<float>(MakeCase(size, true, tensor));
    size_t i = 0;
    for (size_t slice = 0; slice < 2; ++slice)
    {
        const Complexes all = Complete(Fit(spectrum, slice, input, {size.m_Height, size.m_Width / 2 + 1}), size);
        for (unsigned int y = 0; y < size.m_Height; ++y)
        {
            for (unsigned int x = 0; x < size.m_Width; ++x, ++i)
            {
                const std::complex<double> want = Sum(all, size, y, x, 1.0) / (1.0 * size.m_Height * size.m_Width);
                ASSERT_NEAR(want.imag(), 0.0, 1e-9);
                ASSERT_NEAR(static_cast<double>(got[i]), want.real(), 1e-6)
                    << size.m_Height << " x " << size.m_Width << ", element " << y << ", " << x;
            }
        }
    }
}

} // namespace

ISA_TEST(RealFft2d, Forward)
{
    for (const Size& size : Sizes)
    {
        CheckForward(size, size);
    }
    CheckForward({8, 4}, {3, 9});
    CheckForward({4, 16}, {7, 5});
}

ISA_TEST(RealFft2d, BackwardFromAnySpectrum)
{
    for (const Size& size : Sizes)
    {
        CheckBackward(size, {size.m_Height, size.m_Width / 2 + 1});
    }
    CheckBackward({8, 4}, {3, 9});
    CheckBackward({4, 16}, {7, 5});
}

ISA_TEST(RealFft2d, ThereAndBack)
{
    const TestTensor tensor = Random(TensorInfo(TensorShape({256, 128}), DataType::Float32), 6, -1, 1);
    const auto spectrum = RunAs<std::complex<float>>(MakeCase({256, 128}, false, tensor));
    const auto back = RunAs<float>(MakeCase({256, 128}, true, FromComplex(TensorShape({256, 65}), spectrum)));
    const std::vector<double> numbers = GetStored(tensor.m_Info, tensor.m_Bytes.data());
    for (size_t i = 0; i < numbers.size(); ++i)
    {
        ASSERT_NEAR(static_cast<double>(back[i]), numbers[i], 1e-6);
    }
}

ISA_TEST(RealFft2d, EmptyTensors)
{
    // No slices: no memory for the transform either, however long it is.
    constexpr unsigned int Huge = 1U << 31;
    const TestTensor none = Random(TensorInfo(TensorShape({0, 3, 3}), DataType::Float32), 1);
    EXPECT_TRUE(RunAs<std::complex<float>>(MakeCase({Huge, Huge}, false, none)).empty());
    // Slices without elements are zeros.
    const TestTensor empty = Random(TensorInfo(TensorShape({1, 0, 3}), DataType::Float32), 1);
    EXPECT_EQ(RunAs<std::complex<float>>(MakeCase({2, 2}, false, empty)), std::vector<std::complex<float>>(4));
}

ISA_TEST(RealFft2d, RefusesWhatDoesNotFit)
{
    const TestTensor input = Random(TensorInfo(TensorShape({4, 4}), DataType::Float32), 1);
    CheckRejectsShapes(MakeCase({4, 6}, false, input), "powers of two");
    CheckRejectsShapes(MakeCase({0, 4}, false, input), "powers of two");
    OpCase op = MakeCase({4, 4}, false, input);
    op.m_Output.SetShape(TensorShape({4, 4}));
    CheckRejectsShapes(op, "do not fit together");
    op = MakeCase({4, 4}, false, input);
    op.m_Inputs[0].m_Info.SetShape(TensorShape({16}));
    CheckRejectsShapes(op, "do not fit together");
    op = MakeCase({4, 4}, true, input);
    op.m_Output.SetDataType(DataType::Complex64);
    CheckUnsupported(op, SupportCode::UnsupportedType, "takes Complex64");
    op = MakeCase({4, 4}, false, input);
    op.m_Output.SetDataType(DataType::Float32);
    CheckUnsupported(op, SupportCode::UnsupportedType, "output 0");
}

} // namespace tenon::test::real_fft2d_test
