// SPDX-License-Identifier: Apache-2.0
// Pooling2d against its definition; quantized averages exactly, rounded half away from zero.
#include "harness/OpTest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::test::pooling2d_test
{

namespace
{

struct Case
{
    const char* m_Name;
    TensorShape m_Input;
    TensorShape m_Output;
    uint32_t m_Height;
    uint32_t m_Width;
    uint32_t m_Stride;
    uint32_t m_Pad; ///< on all sides
};

const Case Cases[] = {
    {"2x2", {2, 4, 6, 9}, {2, 2, 3, 9}, 2, 2, 2, 0},
    {"3x3 same", {1, 5, 5, 17}, {1, 5, 5, 17}, 3, 3, 1, 1},
    {"global", {1, 7, 7, 20}, {1, 1, 1, 20}, 7, 7, 1, 0},
    {"overhanging", {1, 5, 4, 3}, {1, 3, 2, 3}, 2, 3, 2, 0},
    {"windows in the padding alone", {1, 2, 2, 3}, {1, 6, 6, 3}, 1, 1, 1, 2},
    {"no batches", {0, 4, 4, 2}, {0, 2, 2, 2}, 2, 2, 2, 0},
};

Pooling2dDescriptor MakePool(const Case& c, PoolingAlgorithm algorithm, PaddingMethod method)
{
    Pooling2dDescriptor d;
    d.m_PoolType = algorithm;
    d.m_PoolHeight = c.m_Height;
    d.m_PoolWidth = c.m_Width;
    d.m_StrideX = d.m_StrideY = c.m_Stride;
    d.m_PadLeft = d.m_PadRight = d.m_PadTop = d.m_PadBottom = c.m_Pad;
    d.m_PaddingMethod = method;
    d.m_DataLayout = DataLayout::NHWC;
    return d;
}

/// One output element.
double PoolWindow(const RealTensor& in, const Pooling2dDescriptor& d, int64_t n, int64_t y, int64_t x, int64_t c)
{
    const int64_t top = y * d.m_StrideY - d.m_PadTop;
    const int64_t left = x * d.m_StrideX - d.m_PadLeft;
    double result = d.m_PoolType == PoolingAlgorithm::Max ? -std::numeric_limits<double>::infinity() : 0.0;
    int inside = 0;
    int padded = 0;
    for (int64_t iy = top; iy < top + d.m_PoolHeight; ++iy)
    {
        for (int64_t ix = left; ix < left + d.m_PoolWidth; ++ix)
        {
            padded += iy < in.Dim(1) + d.m_PadBottom && ix < in.Dim(2) + d.m_PadRight;
            if (iy < 0 || iy >= in.Dim(1) || ix < 0 || ix >= in.Dim(2))
            {
                continue;
            }
            ++inside;
            const double value = in.At(n, iy, ix, c);
            result = d.m_PoolType == PoolingAlgorithm::Max
                         ? std::max(result, value)
                         : result + (d.m_PoolType == PoolingAlgorithm::L2 ? value * value : value);
        }
    }
    const double count = d.m_PaddingMethod == PaddingMethod::Exclude ? inside : padded;
    if (inside == 0)
    {
        return 0.0;
    }
    switch (d.m_PoolType)
    {
    case PoolingAlgorithm::Average: return result / count;
    case PoolingAlgorithm::L2: return std::sqrt(result / count);
    case PoolingAlgorithm::Max: break;
    }
    return result;
}

OpCase MakeOp(const Case& c, TensorInfo info, PoolingAlgorithm algorithm, PaddingMethod method)
{
    const Pooling2dDescriptor d = MakePool(c, algorithm, method);
    info.SetShape(c.m_Input);
    TensorInfo output = info;
    output.SetShape(c.m_Output);
    OpCase op{std::string(c.m_Name) + " of " + GetDataTypeName(info.GetDataType()),
              LayerType::Pooling2d,
              MakeDescriptor(d),
              {Random(info, 3)},
              output,
              nullptr};
    // Averages are taken of stored values, so that halves round away from a stored 0.
    const double scale = info.IsQuantized() ? info.GetQuantizationScale() : 1.0;
    const double zeroPoint = info.IsQuantized() ? info.GetQuantizationOffset() : 0.0;
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        std::vector<double> values;
        for (int64_t i = 0; i < static_cast<int64_t>(c.m_Output.GetNumElements()); ++i)
        {
            const int64_t channels = c.m_Output[3];
            const int64_t width = c.m_Output[2];
            const int64_t height = c.m_Output[1];
            const double real = PoolWindow(in[0], d, i / channels / width / height, i / channels / width % height,
                                           i / channels % width, i % channels);
            // Away from the halves' neighbourhood of double rounding errors.
            const double stored = real / scale + zeroPoint;
            const double exact = std::round(stored * 4096.0) / 4096.0;
            values.push_back(info.IsQuantized()
                                 ? (std::round(std::abs(exact - stored) < 1e-6 ? exact : stored) - zeroPoint) * scale
                                 : real);
        }
        return values;
    };
    op.m_Steps = 0;
    return op;
}

} // namespace

ISA_TEST(Pooling2d, AgreesWithItsDefinition)
{
    const TensorInfo infos[] = {{TensorShape({1}), DataType::Float32},
                                {TensorShape({1}), DataType::QAsymmU8, 0.25f, 130},
                                {TensorShape({1}), DataType::QAsymmS8, 0.5f, -11},
                                {TensorShape({1}), DataType::QSymmS16, 0.001f, 0}};
    for (const Case& c : Cases)
    {
        for (const TensorInfo& info : infos)
        {
            for (const PaddingMethod method : {PaddingMethod::Exclude, PaddingMethod::IgnoreValue})
            {
                CheckOp(MakeOp(c, info, PoolingAlgorithm::Average, method));
                CheckOp(MakeOp(c, info, PoolingAlgorithm::Max, method));
                if (info.GetDataType() == DataType::Float32)
                {
                    CheckOp(MakeOp(c, info, PoolingAlgorithm::L2, method));
                }
            }
        }
    }
}

ISA_TEST(Pooling2d, AveragesRoundHalfAwayFromZero)
{
    const TensorInfo input({1, 1, 2, 4}, DataType::QAsymmS8, 1.0f, 0);
    const TensorInfo output({1, 1, 1, 4}, DataType::QAsymmS8, 1.0f, 0);
    const Case c{"halves", input.GetShape(), output.GetShape(), 1, 2, 1, 0};
    OpCase op = MakeOp(c, input, PoolingAlgorithm::Average, PaddingMethod::Exclude);
    op.m_Inputs[0] = Stored(input, {1, -1, 3, -128, 2, -2, 4, -127});
    op.m_Oracle = Expect(output, {2, -2, 4, -128});
    CheckOp(op);
}

ISA_TEST(Pooling2d, IsRefused)
{
    const TensorInfo quantized(TensorShape({1}), DataType::QAsymmU8, 0.25f, 130);
    OpCase op = MakeOp(Cases[0], quantized, PoolingAlgorithm::Max, PaddingMethod::Exclude);
    Pooling2dDescriptor descriptor = MakePool(Cases[0], PoolingAlgorithm::Max, PaddingMethod::Exclude);
    descriptor.m_DataLayout = DataLayout::NCHW;
    op.m_Descriptor = MakeDescriptor(descriptor);
    CheckUnsupported(op, SupportCode::UnsupportedParameters, "NHWC");
}

ISA_TEST(Pooling2d, RejectsShapesThatDoNotFit)
{
    const TensorInfo info(TensorShape({1}), DataType::Float32);
    const Case channels{"", {1, 4, 4, 2}, {1, 2, 2, 3}, 2, 2, 2, 0};
    CheckRejectsShapes(MakeOp(channels, info, PoolingAlgorithm::Max, PaddingMethod::Exclude), "channels");
    const Case rank{"", {4, 4, 2}, {1, 2, 2, 2}, 2, 2, 2, 0};
    CheckRejectsShapes(MakeOp(rank, info, PoolingAlgorithm::Max, PaddingMethod::Exclude), "4 dimensions");
}

} // namespace tenon::test::pooling2d_test
