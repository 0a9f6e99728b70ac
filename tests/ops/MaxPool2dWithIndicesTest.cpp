// SPDX-License-Identifier: Apache-2.0
// MaxPool2dWithIndices and MaxUnpool2d, against their definitions and against results of MediaPipe's kernels (mediapipe
// 0.10.21).
#include "harness/LayerRun.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/InferCases.hpp"
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::test::max_pool_2d_with_indices_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

template <typename Descriptor>
Descriptor MakeWindows(unsigned int height, unsigned int width, unsigned int strideY, unsigned int strideX)
{
    Descriptor descriptor;
    descriptor.m_PoolHeight = height;
    descriptor.m_PoolWidth = width;
    descriptor.m_StrideY = strideY;
    descriptor.m_StrideX = strideX;
    return descriptor;
}

MaxPool2dWithIndicesDescriptor MakePool(unsigned int height, unsigned int width, unsigned int strideY,
                                        unsigned int strideX, PaddingScheme scheme)
{
    auto descriptor = MakeWindows<MaxPool2dWithIndicesDescriptor>(height, width, strideY, strideX);
    descriptor.m_PaddingScheme = scheme;
    return descriptor;
}

MaxUnpool2dDescriptor MakeUnpool(unsigned int height, unsigned int width, unsigned int strideY, unsigned int strideX)
{
    return MakeWindows<MaxUnpool2dDescriptor>(height, width, strideY, strideX);
}

/// The padding in front of an image.
int PadBefore(unsigned int image, unsigned int pooled, unsigned int size, unsigned int stride)
{
    return std::max(0, static_cast<int>((pooled - 1) * stride + size) - static_cast<int>(image)) / 2;
}

/// Values, then indices.
std::vector<double> Pool(const RealTensor& image, const MaxPool2dWithIndicesDescriptor& pool, const TensorShape& out)
{
    const TensorShape& in = image.m_Shape;
    const int top = PadBefore(in[1], out[1], pool.m_PoolHeight, pool.m_StrideY);
    const int left = PadBefore(in[2], out[2], pool.m_PoolWidth, pool.m_StrideX);
    std::vector<double> values;
    std::vector<double> indices;
    for (unsigned int i = 0; i < out.GetNumElements(); ++i)
    {
        const unsigned int channel = i % out[3];
        const int column = static_cast<int>(i / out[3] % out[2] * pool.m_StrideX) - left;
        const int row = static_cast<int>(i / out[3] / out[2] % out[1] * pool.m_StrideY) - top;
        double best = std::numeric_limits<float>::lowest();
        double index = 0;
        for (unsigned int tap = 0; tap < pool.m_PoolHeight * pool.m_PoolWidth; ++tap)
        {
            const int y = row + static_cast<int>(tap / pool.m_PoolWidth);
            const int x = column + static_cast<int>(tap % pool.m_PoolWidth);
            if (y < 0 || x < 0 || y >= static_cast<int>(in[1]) || x >= static_cast<int>(in[2]))
            {
                continue;
            }
            const double value = image.At(i / out[3] / out[2] / out[1], static_cast<unsigned int>(y),
                                          static_cast<unsigned int>(x), channel);
            index = value > best ? tap : index;
            best = value > best ? value : best;
        }
        values.push_back(best);
        indices.push_back(static_cast<float>(index) + 0.1f);
    }
    values.insert(values.end(), indices.begin(), indices.end());
    return values;
}

OpCase MakePoolCase(const MaxPool2dWithIndicesDescriptor& pool, const TestTensor& image, const Sizes& output)
{
    const TensorInfo out(ShapeOf(output), DataType::Float32);
    OpCase op;
    op.m_Name = image.m_Info.GetShape().ToString() + " to " + out.ToString();
    op.m_Type = LayerType::MaxPool2dWithIndices;
    op.m_Descriptor = MakeDescriptor(pool);
    op.m_Inputs = {image};
    op.m_Output = out;
    op.m_MoreOutputs = {out};
    op.m_Oracle = [=](const std::vector<RealTensor>& in) { return Pool(in[0], pool, out.GetShape()); };
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

TestTensor Image(const Sizes& sizes)
{
    return Random(TensorInfo(ShapeOf(sizes), DataType::Float32), 12);
}

/// One channel.
OpCase MakeUnpoolCase(const MaxUnpool2dDescriptor& pool, const Sizes& input, const std::vector<double>& values,
                      const std::vector<double>& indices, const std::vector<double>& output)
{
    const TensorInfo in(TensorShape({1, input[0], input[1], 1}), DataType::Float32);
    const TensorInfo out(TensorShape({1, input[0] * pool.m_PoolHeight, input[1] * pool.m_PoolWidth, 1}),
                         DataType::Float32);
    OpCase op;
    op.m_Name = in.ToString() + " to " + out.ToString();
    op.m_Type = LayerType::MaxUnpool2d;
    op.m_Descriptor = MakeDescriptor(pool);
    op.m_Inputs = {Values(in, values), Values(in, indices)};
    op.m_Output = out;
    op.m_Oracle = Expect(out, output);
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

} // namespace

ISA_TEST(MaxPool2dWithIndices, Windows)
{
    constexpr PaddingScheme Same = PaddingScheme::Same;
    constexpr PaddingScheme Valid = PaddingScheme::Valid;
    CheckOp(MakePoolCase(MakePool(2, 2, 2, 2, Same), Image({2, 5, 7, 3}), {2, 3, 4, 3}));
    CheckOp(MakePoolCase(MakePool(2, 2, 2, 2, Valid), Image({2, 5, 7, 3}), {2, 2, 3, 3}));
    CheckOp(MakePoolCase(MakePool(3, 2, 1, 3, Valid), Image({1, 4, 8, 17}), {1, 2, 3, 17}));
    CheckOp(MakePoolCase(MakePool(3, 5, 1, 1, Same), Image({1, 4, 3, 2}), {1, 4, 3, 2}));
    CheckOp(MakePoolCase(MakePool(9, 9, 4, 4, Same), Image({1, 3, 3, 1}), {1, 1, 1, 1}));
    CheckOp(MakePoolCase(MakePool(1, 1, 3, 3, Same), Image({1, 4, 4, 2}), {1, 2, 2, 2}));
    CheckOp(MakePoolCase(MakePool(2, 2, 2, 2, Same), Image({1, 64, 60, 16}), {1, 32, 30, 16}));
    CheckOp(MakePoolCase(MakePool(2, 2, 2, 2, Same), Image({0, 4, 4, 2}), {0, 2, 2, 2}));
}

ISA_TEST(MaxPool2dWithIndices, ResultsOfMediaPipe)
{
    const TestTensor image = Values(TensorInfo(TensorShape({1, 3, 5, 1}), DataType::Float32),
                                    {1, 1, -2, 2, 0, 2, -1, -1, 2, -2, -2, -1, 1, -2, 2});
    OpCase op = MakePoolCase(MakePool(2, 3, 2, 2, PaddingScheme::Same), image, {1, 2, 3, 1});
    op.m_Oracle = [](const auto&) { return std::vector<double>{2, 2, 2, -1, 1, 2, 4.1, 2.1, 0.1, 2.1, 1.1, 1.1}; };
    op.m_Relative = 1e-7;
    CheckOp(op);
}

// NaN exceeds nothing, so that its index is not given.
ISA_TEST(MaxPool2dWithIndices, PassesOverNan)
{
    const double nan = std::nan("");
    const double infinity = std::numeric_limits<double>::infinity();
    const TestTensor image =
        Values(TensorInfo(TensorShape({1, 2, 4, 1}), DataType::Float32), {nan, -3, nan, nan, -5, nan, nan, -infinity});
    OpCase op = MakePoolCase(MakePool(2, 2, 2, 2, PaddingScheme::Valid), image, {1, 1, 2, 1});
    op.m_Oracle = [](const auto&) { return std::vector<double>{-3, std::numeric_limits<float>::lowest(), 1.1f, 0.1f}; };
    CheckOp(op);
}

ISA_TEST(MaxPool2dWithIndices, RefusesWhatDoesNotFit)
{
    OpCase op = MakePoolCase(MakePool(2, 2, 2, 2, PaddingScheme::Same), Image({1, 4, 4, 2}), {1, 2, 2, 2});
    OpCase channels = op;
    channels.m_Output.SetShape(TensorShape({1, 2, 2, 3}));
    CheckRejectsShapes(channels, "differ in height and width only");
    OpCase indices = op;
    indices.m_MoreOutputs[0].SetShape(TensorShape({1, 2, 3, 2}));
    CheckRejectsShapes(indices, "the indices must have this shape");
    op.m_Inputs[0] = Random(TensorInfo(TensorShape({1, 4, 4, 2}), DataType::QAsymmS8, 1.0f, 0), 3);
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 0");
}

ISA_TEST(MaxUnpool2d, ResultsOfMediaPipe)
{
    CheckOp(MakeUnpoolCase(MakeUnpool(2, 3, 2, 3), {2, 2}, {-4, -3.5, -2.25, 2}, {0.1, 4.1, 5.1, 2.1},
                           {-4, 0, 0, 0, 0, 0, 0, 0, 0, 0, -3.5, 0, 0, 0, 0, 0, 0, 2, 0, 0, -2.25, 0, 0, 0}));
    // The last one counts where elements meet.
    CheckOp(MakeUnpoolCase(MakeUnpool(2, 2, 1, 1), {2, 2}, {0.75, -0.5, -3.5, 3}, {3.1, 2.1, 1.1, 0.1},
                           {0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
    // Windows that hang over the edges.
    CheckOp(MakeUnpoolCase(MakeUnpool(2, 2, 3, 3), {2, 3}, {3, -2.75, -4.5, -1.75, -3.75, 3},
                           {3.1, 2.1, 0.1, 1.1, 0.1, 0.1},
                           {0, 0, 0, 0, 0, -4.5, 3, 0, -2.75, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1.75, 0, -3.75, 0, 0, 3}));
}

// By MediaPipe's source: its older kernels write outside.
ISA_TEST(MaxUnpool2d, IndicesOutsideOfTheOutputAreLeftOut)
{
    CheckOp(MakeUnpoolCase(MakeUnpool(2, 2, 2, 2), {2, 2}, {1, 2, 3, 4}, {-1, 5.1, 400, 3},
                           {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 4}));
    CheckOp(MakeUnpoolCase(MakeUnpool(2, 1, 2, 1), {1, 3}, {1, 2, 3}, {9e18, -9e18, std::nan("")}, {0, 0, 0, 0, 0, 0}));
    CheckOp(MakeUnpoolCase(MakeUnpool(1, 2, 1, 2), {1, 2}, {1, 2}, {-0.5, 1.9}, {1, 0, 0, 2}));
}

ISA_TEST(MaxUnpool2d, RefusesWhatDoesNotFit)
{
    OpCase op = MakeUnpoolCase(MakeUnpool(2, 2, 2, 2), {1, 2}, {1, 2}, {0, 0}, std::vector<double>(8));
    OpCase indices = op;
    indices.m_Inputs[1] = Random(TensorInfo(TensorShape({1, 1, 3, 1}), DataType::Float32), 3);
    CheckRejectsShapes(indices, "the indices must have this shape");
    OpCase channels = op;
    channels.m_Output.SetShape(TensorShape({1, 2, 4, 2}));
    CheckRejectsShapes(channels, "differ in height and width only");
    op.m_Inputs[1] = Random(TensorInfo(TensorShape({1, 1, 2, 1}), DataType::Signed32), 3);
    CheckUnsupported(op, SupportCode::UnsupportedType, "input 1");
}

TEST(MaxUnpool2d, IsTheInverseOfAPool)
{
    const TestTensor image = Numbers({1, 4, 4, 1}, DataType::Float32, {1, 2, 3, 4, 8, 7, 6, 5, 1, 3, 5, 7, 9, 8, 7, 6});
    const MaxPool2dWithIndicesDescriptor pool = MakePool(2, 2, 2, 2, PaddingScheme::Same);
    std::vector<TestTensor> pooled;
    ASSERT_NO_THROW(
        pooled = RunLayer([&](INetwork& network) { return network.AddMaxPool2dWithIndicesLayer(pool); }, {image}));
    const std::vector<TestTensor> expected = {
        Numbers({1, 4, 4, 1}, DataType::Float32, {0, 0, 0, 0, 8, 0, 6, 0, 0, 0, 0, 7, 9, 0, 0, 0})};
    ExpectLayer([&](INetwork& network) { return network.AddMaxUnpool2dLayer(MakeUnpool(2, 2, 2, 2)); }, pooled,
                expected);
}

static InferCases MakeInferCases()
{
    using enum LayerType;
    const auto pool = [](unsigned int size, unsigned int stride, PaddingScheme scheme)
    { return MakePool(size, size + 1, stride, stride + 1, scheme); };
    return {
        Case(MaxPool2dWithIndices, "same", pool(2, 2, PaddingScheme::Same), {T({2, 5, 7, 3})})
            .Gives({"[2,3,3,3]", "[2,3,3,3]"}),
        Case(MaxPool2dWithIndices, "valid", pool(2, 2, PaddingScheme::Valid), {T({2, 5, 7, 3})})
            .Gives({"[2,2,2,3]", "[2,2,2,3]"}),
        Case(MaxPool2dWithIndices, "large window", pool(6, 2, PaddingScheme::Valid), {T({2, 5, 7, 3})})
            .Rejects("covers 6 elements"),
        Case(MaxPool2dWithIndices, "no window", pool(0, 2, PaddingScheme::Valid), {T({2, 5, 7, 3})})
            .Rejects("must be at least 1"),
        Case(MaxPool2dWithIndices, "no stride", pool(2, 0, PaddingScheme::Same), {T({2, 5, 7, 3})})
            .Rejects("must be at least 1"),
        Case(MaxPool2dWithIndices, "explicit", pool(2, 2, PaddingScheme::Explicit), {T({2, 5, 7, 3})})
            .Rejects("Same or Valid"),
        Case(MaxPool2dWithIndices, "rank", pool(2, 2, PaddingScheme::Same), {T({5, 7, 3})}).Rejects("[5,7,3]"),
        Case(MaxUnpool2d, "sizes", MakeUnpool(2, 3, 2, 3), {T({2, 4, 5, 3}), T({2, 4, 5, 3})}).Gives({"[2,8,15,3]"}),
        Case(MaxUnpool2d, "hanging over", MakeUnpool(2, 2, 3, 3), {T({1, 2, 3, 1}), T({1, 2, 3, 1})})
            .Gives({"[1,4,6,1]"}),
        Case(MaxUnpool2d, "indices", MakeUnpool(2, 3, 2, 3), {T({2, 4, 5, 3}), T({2, 4, 5, 2})})
            .Rejects("that of input 0"),
        Case(MaxUnpool2d, "no size", MakeUnpool(0, 3, 2, 3), {T({2, 4, 5, 3}), T({2, 4, 5, 3})})
            .Rejects("must be at least 1"),
        Case(MaxUnpool2d, "size", MakeUnpool(0xffffffff, 3, 2, 3), {T({2, 4, 5, 3}), T({2, 4, 5, 3})})
            .Rejects("would become"),
        Case(MaxUnpool2d, "stride", MakeUnpool(1, 1, 0xffffffff, 1),
             {T({1, 0xffffffff, 1, 0}), T({1, 0xffffffff, 1, 0})})
            .Rejects("too large"),
        Case(MaxUnpool2d, "rank", MakeUnpool(2, 3, 2, 3), {T({4, 5, 3}), T({4, 5, 3})}).Rejects("[4,5,3]"),
    };
}
static const InferTable inferCases(MakeInferCases);

} // namespace tenon::test::max_pool_2d_with_indices_test
