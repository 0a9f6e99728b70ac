// SPDX-License-Identifier: Apache-2.0
// ChannelShuffle: any axis and type.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::test::channel_shuffle_test
{

namespace
{

OpCase MakeShuffle(const TensorShape& shape, uint32_t groups, uint32_t axis, DataType type)
{
    const TensorInfo info(shape, type);
    OpCase op{"shuffle",
              LayerType::ChannelShuffle,
              MakeDescriptor(ChannelShuffleDescriptor(groups, axis)),
              {Random(info, 1)},
              info,
              nullptr};
    op.m_Oracle = [=](const std::vector<RealTensor>& in)
    {
        size_t inner = 1;
        for (unsigned int i = axis + 1; i < shape.GetNumDimensions(); ++i)
        {
            inner *= shape[i];
        }
        const size_t size = shape[axis];
        std::vector<double> values(in[0].m_Values.size());
        for (size_t i = 0; i < values.size(); ++i)
        {
            const size_t slice = i / inner % size;
            const size_t to = slice % (size / groups) * groups + slice / (size / groups);
            values[i - slice * inner + to * inner] = in[0].m_Values[i];
        }
        return values;
    };
    return op;
}

} // namespace

ISA_TEST(ChannelShuffle, AnyAxisAndType)
{
    for (const DataType type : {DataType::Float32, DataType::Signed8, DataType::Signed64, DataType::Float16})
    {
        CheckOp(MakeShuffle({2, 6, 3}, 2, 1, type));
        CheckOp(MakeShuffle({12}, 4, 0, type));
        CheckOp(MakeShuffle({2, 3, 9}, 3, 2, type));
        CheckOp(MakeShuffle({0, 4}, 2, 1, type));
    }
    CheckRejectsShapes(MakeShuffle({2, 6}, 4, 1, DataType::Float32), "4 groups");
}

} // namespace tenon::test::channel_shuffle_test
