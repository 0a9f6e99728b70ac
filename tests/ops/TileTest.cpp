// SPDX-License-Identifier: Apache-2.0
// Tile: the input again and again along each dimension.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Expansion.hpp>

#include <gtest/gtest.h>

namespace tenon::test::tile_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& input, const Sizes& multiples, DataType type)
{
    Sizes sizes = input;
    for (size_t i = 0; i < sizes.size(); ++i)
    {
        sizes[i] *= multiples[i];
    }
    const TensorInfo output = MakeInfo(MakeShape(sizes), type);
    return Exactly({MakeShape(input).ToString() + " to " + output.ToString(),
                    LayerType::Tile,
                    MakeDescriptor(TileDescriptor(multiples)),
                    {Random(MakeInfo(MakeShape(input), type), 4)},
                    output,
                    [input, output](const auto& in)
                    {
                        return Move(output.GetShape(), in[0],
                                    [&input](Coordinates at)
                                    {
                                        for (size_t i = 0; i < at.size(); ++i)
                                        {
                                            at[i] %= input[i];
                                        }
                                        return at;
                                    });
                    }});
}

} // namespace

ISA_TEST(Tile, AnyTypeAndRank)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({}, {}, type));
        CheckOp(MakeCase({5}, {1}, type));
        CheckOp(MakeCase({5}, {4}, type));
        CheckOp(MakeCase({2, 3}, {3, 1}, type));
        CheckOp(MakeCase({2, 3}, {1, 2}, type));
        CheckOp(MakeCase({2, 1, 3, 2}, {2, 3, 1, 5}, type));
        CheckOp(MakeCase({1, 2, 1, 2, 1, 2, 1, 2}, {2, 1, 2, 1, 2, 1, 2, 2}, type));
        CheckOp(MakeCase({2, 3}, {0, 2}, type));
        CheckOp(MakeCase({2, 0}, {3, 2}, type));
    }
}

ISA_TEST(Tile, RepeatsHalfBytes)
{
    const auto info = [](const Sizes& sizes) { return TensorInfo(MakeShape(sizes), DataType::QSymmS4, 0.5f); };
    OpCase op = MakeCase({3}, {3}, DataType::Float32);
    op.m_Inputs = {FromBytes(info({3}), {0x21, 0x0F})};
    op.m_Output = info({9});
    EXPECT_EQ(ToNumbers(RunOnCpuRef(op)), (std::vector<unsigned int>{0x21, 0x1F, 0xF2, 0x21, 0x0F}));
}

ISA_TEST(Tile, RefusesWhatDoesNotFit)
{
    OpCase tooFew = MakeCase({2, 3}, {1, 2}, DataType::Float32);
    tooFew.m_Descriptor = MakeDescriptor(TileDescriptor({2}));
    CheckRejectsShapes(tooFew, "one multiple for each dimension");
    OpCase other = MakeCase({2, 3}, {1, 2}, DataType::Float32);
    other.m_Descriptor = MakeDescriptor(TileDescriptor({1, 3}));
    CheckRejectsShapes(other, "as long");
}

} // namespace tenon::test::tile_test
