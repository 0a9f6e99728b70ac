// SPDX-License-Identifier: Apache-2.0
// Roll: rotation along axes.
#include "ops/MovementOracle.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace tenon::test::roll_test
{

namespace
{

OpCase MakeCase(const std::vector<unsigned int>& sizes, DataType type, const std::vector<double>& shifts,
                const std::vector<double>& axes, DataType indexType = DataType::Signed32)
{
    const TensorInfo info = MakeInfo(MakeShape(sizes), type);
    const TensorInfo index(TensorShape({static_cast<unsigned int>(shifts.size())}), indexType);
    OpCase op{"roll of " + info.ToString(),
              LayerType::Roll,
              MakeDescriptor(NullDescriptor()),
              {Random(info, 7), Constant(Values(index, shifts)), Constant(Values(index, axes))},
              info,
              [=](const auto& in)
              {
                  return Move(info.GetShape(), in[0],
                              [&](Coordinates at)
                              {
                                  for (size_t i = 0; i < shifts.size(); ++i)
                                  {
                                      const auto axis = static_cast<size_t>(
                                          axes[i] < 0 ? axes[i] + static_cast<double>(sizes.size()) : axes[i]);
                                      const auto size = static_cast<int64_t>(sizes[axis]);
                                      at[axis] = ((at[axis] - static_cast<int64_t>(shifts[i])) % size + size) % size;
                                  }
                                  return at;
                              });
              }};
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    return op;
}

} // namespace

ISA_TEST(Roll, AnyTypeAndAxis)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({10}, type, {3}, {0}));
        CheckOp(MakeCase({10}, type, {-13}, {-1}, DataType::Signed64));
        CheckOp(MakeCase({2, 4, 4}, type, {2, 6}, {1, 2}));
        CheckOp(MakeCase({2, 4, 3}, type, {1, -5}, {0, 1}));
        CheckOp(MakeCase({2, 4, 3}, type, {2, 1}, {2, 2})); // they add up
        CheckOp(MakeCase({2, 4, 3}, type, {4, 3}, {1, 2})); // all the way round
        CheckOp(MakeCase({2, 2, 1, 2, 1, 3, 1, 2}, type, {1, 1, 1}, {0, -3, 7}));
        CheckOp(MakeCase({2, 0, 3}, type, {1}, {1}));
        CheckOp(MakeCase({3, 2}, type, {}, {}));
        CheckOp(MakeCase({}, type, {}, {}));
    }
}

ISA_TEST(Roll, RefusesAxesOutsideOfTheRank)
{
    for (const double axis : {2.0, -3.0, double{std::numeric_limits<int32_t>::min()}})
    {
        const OpCase op = MakeCase({3, 2}, DataType::Float32, {1}, {axis});
        EXPECT_THROW(RunOp(*GetTestBackends().front(), op, RunVariant()), InvalidArgumentException);
    }
    EXPECT_THROW(RunOp(*GetTestBackends().front(), MakeCase({}, DataType::Float32, {1}, {0}), RunVariant()),
                 InvalidArgumentException);
}

ISA_TEST(Roll, RefusesWhatDoesNotFit)
{
    OpCase counts = MakeCase({3, 2}, DataType::Float32, {1, 1}, {0, 1});
    counts.m_Inputs[2] = Constant(Values(TensorInfo(TensorShape({1}), DataType::Signed32), {0}));
    CheckRejectsShapes(counts, "a shift for each axis");
    OpCase shapes = MakeCase({3, 2}, DataType::Float32, {1}, {0});
    shapes.m_Output.SetShape(TensorShape({2, 3}));
    CheckRejectsShapes(shapes, "the shapes must be the same");
    OpCase types = MakeCase({3, 2}, DataType::Float32, {1}, {0});
    types.m_Output.SetDataType(DataType::Signed32);
    CheckUnsupported(types, SupportCode::UnsupportedType, "one type");
}

} // namespace tenon::test::roll_test
