// SPDX-License-Identifier: Apache-2.0
// StridedSlice as kernels see it: one resolved begin, end and stride for each dimension of the input.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace tenon::test::strided_slice_test
{

namespace
{

using Sizes = std::vector<unsigned int>;
using Positions = std::vector<int>;

/// `selected` is how many indices of each input dimension are taken; `output` its shape, which may drop or add ones.
OpCase MakeCase(const Sizes& input, const StridedSliceDescriptor& descriptor, const Sizes& selected,
                const Sizes& output, DataType type)
{
    const TensorInfo info = MakeInfo(MakeShape(output), type);
    OpCase op{"strided slice of " + MakeShape(input).ToString() + " to " + info.ToString(),
              LayerType::StridedSlice,
              MakeDescriptor(descriptor),
              {Random(MakeInfo(MakeShape(input), type), 6)},
              info,
              [descriptor, selected](const auto& in)
              {
                  return Move(MakeShape(selected), in[0],
                              [&descriptor](Coordinates at)
                              {
                                  for (size_t i = 0; i < at.size(); ++i)
                                  {
                                      at[i] = descriptor.m_Begin[i] + at[i] * descriptor.m_Stride[i];
                                  }
                                  return at;
                              });
              }};
    op.m_Steps = 0;
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

OpCase MakeCase(const Sizes& input, const Positions& begin, const Positions& end, const Positions& stride,
                const Sizes& output, DataType type = DataType::Float32)
{
    return MakeCase(input, StridedSliceDescriptor(begin, end, stride), output, output, type);
}

} // namespace

ISA_TEST(StridedSlice, AnyTypeAndDirection)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({9}, {1}, {8}, {3}, {3}, type));
        CheckOp(MakeCase({9}, {8}, {-1}, {-1}, {9}, type));
        CheckOp(MakeCase({9}, {7}, {1}, {-3}, {2}, type));
        CheckOp(MakeCase({3, 4}, {2, 0}, {-1, 4}, {-2, 1}, {2, 4}, type));
        CheckOp(MakeCase({3, 4, 5}, {0, 3, 1}, {3, -1, 5}, {1, -1, 2}, {3, 4, 2}, type));
        CheckOp(MakeCase({3, 4}, {1, 3}, {1, 4}, {1, 1}, {0, 1}, type));
        CheckOp(MakeCase({3, 0}, {0, 0}, {3, 0}, {1, 1}, {3, 0}, type));
    }
}

ISA_TEST(StridedSlice, OutputsWithOtherRanks)
{
    StridedSliceDescriptor shrinking({1, 0}, {2, 4}, {1, 2});
    shrinking.m_ShrinkAxisMask = 1;
    CheckOp(MakeCase({3, 4}, shrinking, {1, 2}, {2}, DataType::Float32));

    StridedSliceDescriptor toScalar({1, 2}, {2, 3}, {1, 1});
    toScalar.m_ShrinkAxisMask = 3;
    CheckOp(MakeCase({3, 4}, toScalar, {1, 1}, {}, DataType::QAsymmU8));

    StridedSliceDescriptor growing({0, 1}, {3, 4}, {1, 1});
    growing.m_NewAxisMask = 1;
    CheckOp(MakeCase({3, 4}, growing, {3, 3}, {1, 3, 3}, DataType::Float32));
}

ISA_TEST(StridedSlice, RandomSlices)
{
    std::mt19937 random(7);
    const auto pick = [&random](int first, int last)
    { return std::uniform_int_distribution<int>(first, last)(random); };
    for (int i = 0; i < 100; ++i)
    {
        Sizes input;
        Sizes output;
        Positions begin;
        Positions end;
        Positions stride;
        for (int rank = pick(1, 5); rank != 0; --rank)
        {
            const int size = pick(1, 6);
            const int step = pick(1, 3);
            const int first = pick(0, size - 1);
            const bool forwards = pick(0, 1) == 0;
            const int count = pick(1, forwards ? (size - 1 - first) / step + 1 : first / step + 1);
            const int last = forwards ? first + (count - 1) * step : first - (count - 1) * step;
            input.push_back(static_cast<unsigned int>(size));
            output.push_back(static_cast<unsigned int>(count));
            begin.push_back(first);
            stride.push_back(forwards ? step : -step);
            end.push_back(forwards ? pick(last + 1, last + step) : pick(last - step, last - 1));
        }
        CheckOp(MakeCase(input, begin, end, stride, output, i % 2 == 0 ? DataType::Float32 : DataType::QAsymmS8));
    }
}

ISA_TEST(StridedSlice, WhatLiesOutsideIsZero)
{
    constexpr int Lowest = std::numeric_limits<int>::min();
    CheckOp(MakeCase({1}, {0}, {Lowest}, {-1000000000}, {3}));
    CheckOp(MakeCase({2, 3}, {0, 1}, {2, 6}, {1, 1}, {2, 5}));
    CheckOp(MakeCase({2, 3}, {-1, 2}, {3, -3}, {1, -1}, {4, 5}, DataType::Signed32));
}

ISA_TEST(StridedSlice, TakesHalfBytes)
{
    const OpCase op{"4 bits",
                    LayerType::StridedSlice,
                    MakeDescriptor(StridedSliceDescriptor({1, 2}, {-1, -1}, {-1, -2})),
                    {FromBytes(TensorInfo(TensorShape({2, 3}), DataType::QSymmS4, 0.5f), {0x21, 0x83, 0xFE})},
                    TensorInfo(TensorShape({2, 2}), DataType::QSymmS4, 0.5f),
                    nullptr};
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x8F, 0x13}));
}

ISA_TEST(StridedSlice, RefusesWhatDoesNotFit)
{
    OpCase noStride = MakeCase({4}, {0}, {4}, {1}, {4});
    noStride.m_Descriptor = MakeDescriptor(StridedSliceDescriptor({0}, {4}, {0}));
    CheckRejectsShapes(noStride, "stride of dimension 0 is 0");

    OpCase tooFew = MakeCase({4, 2}, {0, 0}, {4, 2}, {1, 1}, {4, 2});
    tooFew.m_Descriptor = MakeDescriptor(StridedSliceDescriptor({0}, {4}, {1}));
    CheckRejectsShapes(tooFew, "for each dimension");

    OpCase otherSize = MakeCase({4}, {0}, {4}, {1}, {4});
    otherSize.m_Descriptor = MakeDescriptor(StridedSliceDescriptor({0}, {4}, {2}));
    CheckRejectsShapes(otherSize, "as many elements");
}

} // namespace tenon::test::strided_slice_test
