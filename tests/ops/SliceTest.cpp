// SPDX-License-Identifier: Apache-2.0
// Slice: a box of the input.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Slicing.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tenon::test::slice_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& input, const Sizes& begin, const Sizes& size, DataType type)
{
    const TensorInfo output = MakeInfo(MakeShape(size), type);
    OpCase op{"slice of " + MakeShape(input).ToString() + " to " + output.ToString(),
              LayerType::Slice,
              MakeDescriptor(SliceDescriptor(begin, size)),
              {Random(MakeInfo(MakeShape(input), type), 4)},
              output,
              [begin, output](const auto& in)
              {
                  return Move(output.GetShape(), in[0],
                              [&begin](Coordinates at)
                              {
                                  for (size_t i = 0; i < at.size(); ++i)
                                  {
                                      at[i] += begin[i];
                                  }
                                  return at;
                              });
              }};
    op.m_Steps = 0;
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

} // namespace

ISA_TEST(Slice, AnyTypeAndRank)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({9}, {2}, {5}, type));
        CheckOp(MakeCase({4, 5}, {0, 0}, {4, 5}, type));
        CheckOp(MakeCase({4, 5}, {1, 0}, {2, 5}, type));
        CheckOp(MakeCase({3, 4, 5}, {1, 1, 2}, {2, 3, 3}, type));
        CheckOp(MakeCase({2, 3, 2, 3, 2, 2, 3, 2}, {1, 0, 0, 1, 0, 1, 1, 0}, {1, 3, 2, 2, 2, 1, 2, 2}, type));
        CheckOp(MakeCase({}, {}, {}, type));
        CheckOp(MakeCase({4, 5}, {4, 1}, {0, 3}, type));
        CheckOp(MakeCase({0, 5}, {0, 1}, {0, 3}, type));
    }
}

ISA_TEST(Slice, RandomBoxes)
{
    std::mt19937 random(5);
    const auto pick = [&random](unsigned int first, unsigned int last)
    { return std::uniform_int_distribution<unsigned int>(first, last)(random); };
    for (int i = 0; i < 60; ++i)
    {
        Sizes input;
        Sizes begin;
        Sizes size;
        for (unsigned int rank = pick(1, 5); rank != 0; --rank)
        {
            input.push_back(pick(1, 5));
            begin.push_back(pick(0, input.back() - 1));
            size.push_back(pick(1, input.back() - begin.back()));
        }
        CheckOp(MakeCase(input, begin, size, i % 2 == 0 ? DataType::Float32 : DataType::QAsymmU8));
    }
}

ISA_TEST(Slice, TakesHalfBytes)
{
    const OpCase op{"4 bits",
                    LayerType::Slice,
                    MakeDescriptor(SliceDescriptor({0, 1}, {2, 2})),
                    {FromBytes(TensorInfo(TensorShape({2, 3}), DataType::QSymmS4, 0.5f), {0x21, 0x83, 0xFE})},
                    TensorInfo(TensorShape({2, 2}), DataType::QSymmS4, 0.5f),
                    nullptr};
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x32, 0xFE}));
}

ISA_TEST(Slice, RefusesBoxesThatDoNotFit)
{
    OpCase outside = MakeCase({4, 5}, {1, 2}, {3, 3}, DataType::Float32);
    outside.m_Descriptor = MakeDescriptor(SliceDescriptor({2, 2}, {3, 3}));
    CheckRejectsShapes(outside, "inside");

    OpCase wrapping = MakeCase({4}, {1}, {3}, DataType::Float32);
    wrapping.m_Descriptor = MakeDescriptor(SliceDescriptor({0xFFFFFFFFU}, {3}));
    CheckRejectsShapes(wrapping, "inside");

    OpCase otherSize = MakeCase({4}, {1}, {3}, DataType::Float32);
    otherSize.m_Descriptor = MakeDescriptor(SliceDescriptor({1}, {2}));
    CheckRejectsShapes(otherSize, "as long as the output");

    OpCase tooFew = MakeCase({4, 5}, {1, 2}, {3, 3}, DataType::Float32);
    tooFew.m_Descriptor = MakeDescriptor(SliceDescriptor({1}, {3}));
    CheckRejectsShapes(tooFew, "one of each");
}

} // namespace tenon::test::slice_test
