// SPDX-License-Identifier: Apache-2.0
// StablehloPad and Dilate: values around and between the elements.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Expansion.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tenon::test::stablehlo_pad_test
{

namespace
{

using Numbers = std::vector<int32_t>;
using Sizes = std::vector<unsigned int>;

/// Input element k of a dimension is output element low + k * step.
std::vector<double> Place(const TensorShape& output, const std::vector<RealTensor>& in, const Numbers& low,
                          const std::vector<int64_t>& steps)
{
    return Move(
        output, in[0],
        [&](Coordinates at)
        {
            for (size_t i = 0; i < at.size(); ++i)
            {
                const int64_t offset = at[i] - low[i];
                at[i] = offset % steps[i] == 0 ? offset / steps[i] : -1;
            }
            return at;
        },
        in[1].m_Values[0]);
}

OpCase MakePad(const Sizes& input, const Numbers& low, const Numbers& high, const Numbers& interior, DataType type)
{
    StablehloPadDescriptor descriptor;
    descriptor.m_EdgeLow = low;
    descriptor.m_EdgeHigh = high;
    descriptor.m_Interior = interior;
    Sizes sizes;
    std::vector<int64_t> steps;
    bool isEmpty = false;
    for (size_t i = 0; i < input.size(); ++i)
    {
        const int64_t gaps = input[i] == 0 ? 0 : int64_t{input[i]} - 1;
        const int64_t size = input[i] + gaps * interior[i] + low[i] + high[i];
        isEmpty = isEmpty || size <= 0;
        sizes.push_back(static_cast<unsigned int>(std::max<int64_t>(size, 0)));
        steps.push_back(int64_t{interior[i]} + 1);
    }
    const TensorInfo output = MakeInfo(isEmpty ? MakeShape(Sizes(sizes.size(), 0)) : MakeShape(sizes), type);
    OpCase op{"pad of " + MakeShape(input).ToString() + " to " + output.ToString(),
              LayerType::StablehloPad,
              MakeDescriptor(descriptor),
              {Random(MakeInfo(MakeShape(input), type), 7), Random(MakeInfo(MakeShape({}), type), 8)},
              output,
              [=](const auto& in) { return Place(output.GetShape(), in, low, steps); }};
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    return op;
}

OpCase MakeDilate(const Sizes& input, const Sizes& dilations, DataType type)
{
    DilateDescriptor descriptor;
    descriptor.m_Dilations = dilations;
    Sizes sizes;
    for (size_t i = 0; i < input.size(); ++i)
    {
        sizes.push_back(input[i] == 0 ? 0 : (input[i] - 1) * dilations[i] + 1);
    }
    const TensorInfo output = MakeInfo(MakeShape(sizes), type);
    OpCase op{"dilation of " + MakeShape(input).ToString() + " to " + output.ToString(),
              LayerType::Dilate,
              MakeDescriptor(descriptor),
              {Random(MakeInfo(MakeShape(input), type), 7), Random(MakeInfo(MakeShape({1}), type), 8)},
              output,
              [=](const auto& in)
              {
                  return Place(output.GetShape(), in, Numbers(input.size(), 0),
                               std::vector<int64_t>(dilations.begin(), dilations.end()));
              }};
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    return op;
}

} // namespace

ISA_TEST(StablehloPad, EdgesAndInteriorOfAnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakePad({3}, {2}, {1}, {0}, type));
        CheckOp(MakePad({2, 3}, {0, 0}, {0, 0}, {0, 0}, type));
        CheckOp(MakePad({2, 3}, {1, 0}, {0, 2}, {2, 1}, type));
        CheckOp(MakePad({2, 3, 2}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}, type));
        CheckOp(MakePad({4, 5}, {-1, -2}, {-1, 1}, {0, 0}, type));
        CheckOp(MakePad({3, 4}, {-1, -4}, {-2, -5}, {3, 2}, type)); // cuts within the interior
        CheckOp(MakePad({1, 2, 1, 2, 1, 2, 1, 2}, {1, 0, 0, 1, 0, 0, 0, -1}, {0, 1, 0, 0, 0, 0, 1, 0},
                        {5, 0, 0, 1, 0, 2, 0, 0}, type));
        CheckOp(MakePad({}, {}, {}, {}, type));
    }
}

ISA_TEST(StablehloPad, NothingLeftOrNothingThere)
{
    CheckOp(MakePad({3, 3}, {-2, 0}, {-2, 0}, {0, 0}, DataType::Float32)); // all sizes become 0
    CheckOp(MakePad({0}, {2}, {2}, {3}, DataType::Signed32));              // edges alone
    CheckOp(MakePad({0, 2}, {0, 1}, {0, 1}, {0, 0}, DataType::Float32));
    CheckOp(MakePad({2}, {5}, {-4}, {0}, DataType::Float32)); // only the edge
    CheckOp(MakePad({2}, {-4}, {5}, {0}, DataType::Float32));
    CheckOp(MakePad({2}, {-1}, {-1}, {5}, DataType::Float32)); // only the interior
    // Steps that nobody makes may be as large as they like.
    CheckOp(MakePad({1, 2}, {1, 0}, {0, 0}, {2147483647, 0}, DataType::Float32));
}

ISA_TEST(StablehloPad, RandomPaddings)
{
    std::mt19937 random(5);
    const auto pick = [&random](int32_t first, int32_t last)
    { return std::uniform_int_distribution<int32_t>(first, last)(random); };
    for (int i = 0; i < 200; ++i)
    {
        Sizes input;
        Numbers low;
        Numbers high;
        Numbers interior;
        for (int rank = pick(1, 4); rank > 0; --rank)
        {
            input.push_back(static_cast<unsigned int>(pick(0, 4)));
            low.push_back(pick(-4, 3));
            high.push_back(pick(-4, 3));
            interior.push_back(pick(0, 2));
        }
        CheckOp(MakePad(input, low, high, interior, i % 2 == 0 ? DataType::QAsymmS8 : DataType::Float32));
    }
}

ISA_TEST(StablehloPad, RefusesWhatDoesNotFit)
{
    OpCase tooFew = MakePad({2, 3}, {1, 1}, {1, 1}, {0, 0}, DataType::Float32);
    StablehloPadDescriptor descriptor;
    descriptor.m_EdgeLow = descriptor.m_EdgeHigh = descriptor.m_Interior = {1};
    tooFew.m_Descriptor = MakeDescriptor(descriptor);
    CheckRejectsShapes(tooFew, "do not fit");

    OpCase otherSize = MakePad({2, 3}, {1, 1}, {1, 1}, {0, 0}, DataType::Float32);
    otherSize.m_Output.SetShape(TensorShape({4, 4}));
    CheckRejectsShapes(otherSize, "do not fit");

    OpCase values = MakePad({2}, {1}, {1}, {0}, DataType::Float32);
    values.m_Inputs[1] = Random(TensorInfo(TensorShape({2}), DataType::Float32), 1);
    CheckRejectsShapes(values, "one element");
    values.m_Inputs[1] = Random(TensorInfo(TensorShape({1}), DataType::Signed32), 1);
    CheckUnsupported(values, SupportCode::UnsupportedType, "");
}

ISA_TEST(Dilate, AnyTypeAndRank)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeDilate({2, 2}, {2, 3}, type));
        CheckOp(MakeDilate({4, 2, 3}, {2, 3, 4}, type));
        CheckOp(MakeDilate({2, 2, 2, 2}, {2, 1, 1, 1}, type));
        CheckOp(MakeDilate({2, 3}, {1, 1}, type));
        CheckOp(MakeDilate({2, 1, 2, 1, 2, 1, 2, 2}, {2, 9, 2, 3, 1, 1, 2, 1}, type));
        CheckOp(MakeDilate({3, 0}, {2, 3}, type));
        CheckOp(MakeDilate({}, {}, type));
    }
    CheckOp(MakeDilate({1}, {4294967295U}, DataType::Float32));
}

ISA_TEST(Dilate, RefusesWhatDoesNotFit)
{
    OpCase op = MakeDilate({2, 2}, {2, 3}, DataType::Float32);
    op.m_Output.SetShape(TensorShape({3, 5}));
    CheckRejectsShapes(op, "do not fit");
    DilateDescriptor descriptor;
    descriptor.m_Dilations = {2, 0};
    op = MakeDilate({2, 1}, {2, 1}, DataType::Float32);
    op.m_Descriptor = MakeDescriptor(descriptor);
    CheckRejectsShapes(op, "do not fit");
}

} // namespace tenon::test::stablehlo_pad_test
