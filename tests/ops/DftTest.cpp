// SPDX-License-Identifier: Apache-2.0
// Dft against the sum that defines it: any length and axis, real and complex numbers, half spectra, and back.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Signal.hpp>

#include <gtest/gtest.h>

#include <complex>
#include <numbers>
#include <string>

namespace tenon::test::dft_test
{

namespace
{

struct Settings
{
    unsigned int m_Axis = 1;
    unsigned int m_Length = 0;
    bool m_Inverse = false;
    bool m_Onesided = false;
};

/// sum over n of in[n] * exp(sign * 2 pi i k n / length)
std::complex<double> Sum(const std::vector<std::complex<double>>& in, size_t k, double sign)
{
    std::complex<double> sum = 0;
    for (size_t n = 0; n < in.size(); ++n)
    {
        const double turns = static_cast<double>(k * n % in.size()) / static_cast<double>(in.size());
        sum += in[n] * std::polar(1.0, sign * 2.0 * std::numbers::pi * turns);
    }
    return sum;
}

std::vector<double> Transform(const RealTensor& input, const TensorShape& output, const Settings& settings)
{
    const unsigned int rank = output.GetNumDimensions();
    const size_t partsIn = input.Dim(rank - 1);
    const size_t partsOut = output[rank - 1];
    const size_t sizeIn = input.Dim(settings.m_Axis);
    const size_t sizeOut = output[settings.m_Axis];
    size_t inner = 1;
    for (unsigned int i = settings.m_Axis + 1; i + 1 < rank; ++i)
    {
        inner *= output[i];
    }
    std::vector<double> values(output.GetNumElements());
    for (size_t line = 0; line < values.size() / (sizeOut * partsOut); ++line)
    {
        std::vector<std::complex<double>> numbers(settings.m_Length);
        for (size_t i = 0; i < std::min<size_t>(sizeIn, settings.m_Length); ++i)
        {
            const size_t at = ((line / inner * sizeIn + i) * inner + line % inner) * partsIn;
            numbers[i] = {input.m_Values[at], partsIn == 2 ? input.m_Values[at + 1] : 0.0};
        }
        if (settings.m_Inverse && settings.m_Onesided)
        {
            const size_t length = settings.m_Length;
            numbers[0] = numbers[0].real();
            for (size_t i = length / 2 + 1; i < length; ++i)
            {
                numbers[i] = std::conj(numbers[length - i]);
            }
            if (length % 2 == 0)
            {
                numbers[length / 2] = numbers[length / 2].real();
            }
        }
        for (size_t k = 0; k < sizeOut; ++k)
        {
            std::complex<double> result = Sum(numbers, k, settings.m_Inverse ? 1.0 : -1.0);
            result /= settings.m_Inverse ? static_cast<double>(settings.m_Length) : 1.0;
            const size_t to = ((line / inner * sizeOut + k) * inner + line % inner) * partsOut;
            values[to] = result.real();
            if (partsOut == 2)
            {
                values[to + 1] = result.imag();
            }
        }
    }
    return values;
}

OpCase MakeCase(const std::vector<unsigned int>& sizes, const Settings& settings, DataType type = DataType::Float32)
{
    DftDescriptor descriptor;
    descriptor.m_Axis = static_cast<int32_t>(settings.m_Axis);
    descriptor.m_Length = settings.m_Length;
    descriptor.m_Inverse = settings.m_Inverse;
    descriptor.m_Onesided = settings.m_Onesided;
    std::vector<unsigned int> out = sizes;
    out[settings.m_Axis] = settings.m_Onesided && !settings.m_Inverse ? settings.m_Length / 2 + 1 : settings.m_Length;
    out.back() = settings.m_Onesided && settings.m_Inverse ? 1 : 2;
    OpCase op;
    op.m_Name = MakeShape(sizes).ToString() + " along " + std::to_string(settings.m_Axis) + " length " +
                std::to_string(settings.m_Length) + (settings.m_Inverse ? " back" : "") +
                (settings.m_Onesided ? " half" : "");
    op.m_Type = LayerType::Dft;
    op.m_Descriptor = MakeDescriptor(descriptor);
    op.m_Inputs = {Random(TensorInfo(MakeShape(sizes), type), 5, -1, 1)};
    op.m_Output = TensorInfo(MakeShape(out), type);
    op.m_Oracle = [=](const std::vector<RealTensor>& in) { return Transform(in[0], MakeShape(out), settings); };
    op.m_Relative = type == DataType::Float64 ? 1e-12 : type == DataType::Float32 ? 1e-6 : 0.004;
    op.m_Absolute = type == DataType::Float64 ? 1e-12 : type == DataType::Float32 ? 1e-6 : 0.004;
    return op;
}

} // namespace

ISA_TEST(Dft, AnyLength)
{
    for (const unsigned int length : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 12u, 15u, 16u, 31u, 60u, 64u, 97u, 400u})
    {
        const unsigned int half = length / 2 + 1;
        for (const DataType type : {DataType::Float32, DataType::Float64})
        {
            CheckOp(MakeCase({2, length, 1}, {1, length}, type));
            CheckOp(MakeCase({2, length, 2}, {1, length}, type));
            CheckOp(MakeCase({2, length, 1}, {1, length, true}, type));
            CheckOp(MakeCase({2, length, 2}, {1, length, true}, type));
            CheckOp(MakeCase({2, length, 1}, {1, length, false, true}, type));
            CheckOp(MakeCase({2, half, 2}, {1, length, true, true}, type));
        }
    }
}

ISA_TEST(Dft, AnyAxisTypeAndSize)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16})
    {
        for (const unsigned int axis : {0u, 1u, 2u})
        {
            for (const unsigned int length : {4u, 6u, 9u}) // the axis has as many, fewer or more
            {
                CheckOp(MakeCase({6, 6, 6, 2}, {axis, length}, type));
                CheckOp(MakeCase({6, 6, 6, 1}, {axis, length, false, true}, type));
                CheckOp(MakeCase({6, 6, 6, 2}, {axis, length, true, true}, type));
            }
        }
    }
    CheckOp(MakeCase({5, 2}, {0, 5}));
    CheckOp(MakeCase({0, 5, 2}, {1, 5}));
    CheckOp(MakeCase({3, 0, 1}, {1, 4})); // zeros
}

ISA_TEST(Dft, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase({2, 5, 2}, {1, 5});
    op.m_Output.SetShape(TensorShape({2, 5, 1}));
    CheckRejectsShapes(op, "do not fit together");
    op = MakeCase({2, 5, 2}, {1, 5});
    op.m_Inputs[0] = Random(TensorInfo(TensorShape({2, 5, 3}), DataType::Float32), 1);
    CheckRejectsShapes(op, "do not fit together");
    op = MakeCase({2, 5, 2}, {1, 5});
    DftDescriptor descriptor;
    descriptor.m_Axis = 2;
    descriptor.m_Length = 5;
    op.m_Descriptor = MakeDescriptor(descriptor);
    CheckRejectsShapes(op, "axis 2");
    CheckUnsupported(MakeCase({2, 5, 2}, {1, 5}, DataType::Signed32), SupportCode::UnsupportedType, "input 0");
}

} // namespace tenon::test::dft_test
