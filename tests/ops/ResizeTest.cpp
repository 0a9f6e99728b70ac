// SPDX-License-Identifier: Apache-2.0
// Resize: bilinear and nearest neighbour, with both conventions of where pixels lie.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::test::resize_test
{

namespace
{

struct Convention
{
    bool m_AlignCorners = false;
    bool m_HalfPixelCenters = false;
};

const std::vector<Convention> Conventions = {{false, false}, {true, false}, {false, true}, {true, true}};

double GetScale(unsigned int input, unsigned int output, const Convention& convention)
{
    return convention.m_AlignCorners && output > 1 ? (input - 1.0) / (output - 1.0) : double{1} * input / output;
}

int64_t FindNearest(int64_t index, unsigned int input, unsigned int output, const Convention& convention)
{
    const double position = (static_cast<double>(index) + (convention.m_HalfPixelCenters ? 0.5 : 0.0)) *
                            GetScale(input, output, convention);
    const double rounded = convention.m_AlignCorners ? std::round(position) : std::floor(position);
    return std::clamp<int64_t>(static_cast<int64_t>(rounded), 0, input - 1);
}

double FindPosition(unsigned int index, unsigned int input, unsigned int output, const Convention& convention)
{
    const double scale = GetScale(input, output, convention);
    const double position = convention.m_HalfPixelCenters ? (index + 0.5) * scale - 0.5 : index * scale;
    return std::clamp(position, 0.0, input - 1.0);
}

std::vector<double> Interpolate(const RealTensor& in, const TensorShape& output, const Convention& convention)
{
    std::vector<double> values;
    for (unsigned int b = 0; b < output[0]; ++b)
    {
        for (unsigned int i = 0; i < output[1]; ++i)
        {
            const double y = FindPosition(i, in.Dim(1), output[1], convention);
            for (unsigned int j = 0; j < output[2]; ++j)
            {
                const double x = FindPosition(j, in.Dim(2), output[2], convention);
                for (unsigned int c = 0; c < output[3]; ++c)
                {
                    const auto row = [&](double at)
                    {
                        const double part = x - std::floor(x);
                        return (1 - part) * in.At(b, at, std::floor(x), c) + part * in.At(b, at, std::ceil(x), c);
                    };
                    const double part = y - std::floor(y);
                    values.push_back((1 - part) * row(std::floor(y)) + part * row(std::ceil(y)));
                }
            }
        }
    }
    return values;
}

OpCase MakeCase(const TensorShape& input, const TensorShape& output, ResizeMethod method, const Convention& convention,
                DataType type)
{
    ResizeDescriptor descriptor;
    descriptor.m_TargetHeight = output[1];
    descriptor.m_TargetWidth = output[2];
    descriptor.m_Method = method;
    descriptor.m_DataLayout = DataLayout::NHWC;
    descriptor.m_AlignCorners = convention.m_AlignCorners;
    descriptor.m_HalfPixelCenters = convention.m_HalfPixelCenters;
    OpCase op{input.ToString() + " to " + MakeInfo(output, type).ToString() +
                  (convention.m_AlignCorners ? " aligned corners" : "") +
                  (convention.m_HalfPixelCenters ? " half pixel centers" : ""),
              LayerType::Resize,
              MakeDescriptor(descriptor),
              {Random(MakeInfo(input, type), 8)},
              MakeInfo(output, type),
              [method, convention, output](const auto& in)
              {
                  if (method == ResizeMethod::Bilinear)
                  {
                      return Interpolate(in[0], output, convention);
                  }
                  return Move(output, in[0],
                              [&](Coordinates at)
                              {
                                  at[1] = FindNearest(at[1], in[0].Dim(1), output[1], convention);
                                  at[2] = FindNearest(at[2], in[0].Dim(2), output[2], convention);
                                  return at;
                              });
              }};
    op.m_Steps = 0;
    return op;
}

const std::vector<std::pair<TensorShape, TensorShape>>& GetSizes()
{
    static const std::vector<std::pair<TensorShape, TensorShape>> sizes = {
        {TensorShape({1, 2, 2, 1}), TensorShape({1, 4, 4, 1})},
        {TensorShape({2, 3, 5, 3}), TensorShape({2, 6, 10, 3})},
        {TensorShape({1, 8, 8, 2}), TensorShape({1, 4, 2, 2})},
        {TensorShape({1, 4, 6, 17}), TensorShape({1, 7, 3, 17})},
        {TensorShape({1, 1, 1, 4}), TensorShape({1, 3, 5, 4})},
        {TensorShape({1, 5, 4, 2}), TensorShape({1, 1, 1, 2})},
        {TensorShape({1, 3, 3, 1}), TensorShape({1, 3, 3, 1})},
        {TensorShape({0, 3, 3, 1}), TensorShape({0, 5, 2, 1})}};
    return sizes;
}

} // namespace

ISA_TEST(Resize, NearestNeighborOfAnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const auto& [input, output] : GetSizes())
        {
            for (const Convention& convention : Conventions)
            {
                CheckOp(MakeCase(input, output, ResizeMethod::NearestNeighbor, convention, type));
            }
        }
    }
}

ISA_TEST(Resize, BilinearFloat)
{
    for (const auto& [input, output] : GetSizes())
    {
        for (const Convention& convention : Conventions)
        {
            CheckOp(MakeCase(input, output, ResizeMethod::Bilinear, convention, DataType::Float32));
            OpCase half = MakeCase(input, output, ResizeMethod::Bilinear, convention, DataType::Float16);
            half.m_Relative = half.m_Absolute = 1e-3;
            CheckOp(half);
        }
    }
}

// More columns than are located at once. A factor of 1024 keeps positions exact in float.
ISA_TEST(Resize, WideImages)
{
    const TensorShape input({2, 2, 3, 2});
    const TensorShape output({2, 2, 3072, 2});
    for (const Convention& convention : {Convention{false, false}, Convention{false, true}})
    {
        CheckOp(MakeCase(input, output, ResizeMethod::NearestNeighbor, convention, DataType::Signed16));
        CheckOp(MakeCase(input, output, ResizeMethod::Bilinear, convention, DataType::Float32));
    }
}

ISA_TEST(Resize, BilinearQuantized)
{
    for (const auto& [input, output] : GetSizes())
    {
        for (const Convention& convention : Conventions)
        {
            OpCase bytes = MakeCase(input, output, ResizeMethod::Bilinear, convention, DataType::QAsymmU8);
            bytes.m_Steps = 1;
            CheckOp(bytes);
            // Positions in 1/1024 are off by up to output size / 2048 pixels, a pixel of noise by up to 255 steps.
            OpCase signedBytes = MakeCase(input, output, ResizeMethod::Bilinear, convention, DataType::QAsymmS8);
            signedBytes.m_Steps = 2;
            CheckOp(signedBytes);
            OpCase words = MakeCase(input, output, ResizeMethod::Bilinear, convention, DataType::QSymmS16);
            words.m_Steps = 400;
            CheckOp(words);
        }
    }
}

ISA_TEST(Resize, BilinearIntegersInFixedPoint)
{
    // 2 to 3 pixels: positions 0, 683 and 1366 of 1024 to a pixel. 683 / 1024 of the way from 100 to 101, from -100 to
    // -101, and the halves: away from zero.
    const auto check = [](DataType type, const std::vector<double>& in, const std::vector<double>& out)
    {
        const TensorShape output({1, 1, 3, 1});
        OpCase op = MakeCase(TensorShape({1, 1, 2, 1}), output, ResizeMethod::Bilinear, {}, type);
        op.m_Inputs = {Stored(MakeInfo(TensorShape({1, 1, 2, 1}), type), in)};
        op.m_Oracle = Expect(MakeInfo(output, type), out);
        CheckOp(op);
    };
    check(DataType::QAsymmS8, {100, 101}, {100, 101, 101});
    check(DataType::QAsymmS8, {-100, -101}, {-100, -101, -101});
    check(DataType::QSymmS16, {0, 1024}, {0, 683, 1024});
    check(DataType::QSymmS16, {0, -1024}, {0, -683, -1024});
    check(DataType::QSymmS16, {32767, -32768}, {32767, -10944, -32768});
}

ISA_TEST(Resize, RefusesShapesThatDoNotFit)
{
    const TensorShape image({1, 4, 4, 2});
    const TensorShape larger({1, 8, 8, 2});
    OpCase channels = MakeCase(image, larger, ResizeMethod::Bilinear, {}, DataType::Float32);
    channels.m_Output.SetShape(TensorShape({1, 8, 8, 3}));
    CheckRejectsShapes(channels, "height and width only");

    OpCase batches = MakeCase(image, larger, ResizeMethod::NearestNeighbor, {}, DataType::Float32);
    batches.m_Output.SetShape(TensorShape({2, 8, 8, 2}));
    CheckRejectsShapes(batches, "height and width only");

    OpCase flat = MakeCase(image, larger, ResizeMethod::Bilinear, {}, DataType::Float32);
    flat.m_Inputs[0] = Random(TensorInfo(TensorShape({4, 8}), DataType::Float32), 1);
    CheckRejectsShapes(flat, "[batches, height, width, channels]");

    OpCase nothing = MakeCase(image, larger, ResizeMethod::Bilinear, {}, DataType::Float32);
    nothing.m_Inputs[0] = Random(TensorInfo(TensorShape({1, 0, 4, 2}), DataType::Float32), 1);
    CheckRejectsShapes(nothing, "nothing to take");
}

ISA_TEST(Resize, RefusesLayoutsAndTypes)
{
    const TensorShape image({1, 4, 4, 2});
    OpCase channelsFirst = MakeCase(image, image, ResizeMethod::Bilinear, {}, DataType::Float32);
    auto descriptor = static_cast<const ResizeDescriptor&>(*channelsFirst.m_Descriptor);
    descriptor.m_DataLayout = DataLayout::NCHW;
    channelsFirst.m_Descriptor = MakeDescriptor(descriptor);
    CheckUnsupported(channelsFirst, SupportCode::UnsupportedParameters, "NHWC");

    CheckUnsupported(MakeCase(image, image, ResizeMethod::Bilinear, {}, DataType::Signed64),
                     SupportCode::UnsupportedType, "Bilinear");
}

} // namespace tenon::test::resize_test
