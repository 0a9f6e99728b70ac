// SPDX-License-Identifier: Apache-2.0
// Transpose: dimension i of the output is dimension m[i] of the input.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::test::transpose_test
{

namespace
{

OpCase MakeCase(const std::vector<unsigned int>& sizes, const std::vector<unsigned int>& mappings, DataType type)
{
    std::vector<unsigned int> outputSizes;
    std::string name = "mappings";
    for (const unsigned int mapping : mappings)
    {
        outputSizes.push_back(sizes[mapping]);
        name.append(" ").append(std::to_string(mapping));
    }
    const PermutationVector vector(mappings.data(), static_cast<unsigned int>(mappings.size()));
    const TensorInfo output = MakeInfo(MakeShape(outputSizes), type);
    OpCase op{name,
              LayerType::Transpose,
              MakeDescriptor(TransposeDescriptor(vector)),
              {Random(MakeInfo(MakeShape(sizes), type), 3)},
              output,
              [mappings, output](const auto& in)
              {
                  return Move(output.GetShape(), in[0],
                              [&mappings](const Coordinates& at)
                              {
                                  Coordinates from(at.size());
                                  for (size_t i = 0; i < at.size(); ++i)
                                  {
                                      from[mappings[i]] = at[i];
                                  }
                                  return from;
                              });
              }};
    op.m_Steps = 0;
    op.m_Relative = op.m_Absolute = 0;
    return op;
}

} // namespace

ISA_TEST(Transpose, AllOrdersOfFourDimensions)
{
    std::vector<unsigned int> mappings = {0, 1, 2, 3};
    do
    {
        CheckOp(MakeCase({2, 3, 4, 5}, mappings, DataType::Float32));
        CheckOp(MakeCase({3, 1, 2, 4}, mappings, DataType::QAsymmS8));
    } while (std::next_permutation(mappings.begin(), mappings.end()));
}

ISA_TEST(Transpose, AnyTypeAndRank)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({7, 5}, {1, 0}, type));
        CheckOp(MakeCase({2, 1, 3, 2, 1, 2, 3, 2}, {7, 3, 0, 5, 1, 6, 2, 4}, type));
        CheckOp(MakeCase({}, {}, type));
        CheckOp(MakeCase({2, 0, 3}, {2, 1, 0}, type));
    }
}

ISA_TEST(Transpose, MovesHalfBytesAndComplexNumbers)
{
    const PermutationVector swap({1, 0});
    const OpCase packed{"4 bits",
                        LayerType::Transpose,
                        MakeDescriptor(TransposeDescriptor(swap)),
                        {FromBytes(TensorInfo(TensorShape({2, 3}), DataType::QSymmS4, 0.5f), {0x21, 0x83, 0xFE})},
                        TensorInfo(TensorShape({3, 2}), DataType::QSymmS4, 0.5f),
                        nullptr};
    // 1 2 3 / 8 E F, low half first, becomes 1 8 2 E 3 F.
    EXPECT_EQ(ToNumbers(RunOnCpuRef(packed)), (std::vector<unsigned int>{0x81, 0xE2, 0xF3}));

    TestTensor complex;
    complex.m_Info = TensorInfo(TensorShape({1, 2, 2}), DataType::Complex128);
    for (unsigned int i = 0; i < 64; ++i)
    {
        complex.m_Bytes.push_back(static_cast<std::byte>(i));
    }
    const OpCase wide{"16 bytes",
                      LayerType::Transpose,
                      MakeDescriptor(TransposeDescriptor(PermutationVector({2, 1, 0}))),
                      {complex},
                      TensorInfo(TensorShape({2, 2, 1}), DataType::Complex128),
                      nullptr};
    const std::vector<unsigned int> moved = ToNumbers(RunOnCpuRef(wide));
    for (unsigned int i = 0; i < 64; ++i)
    {
        const unsigned int element = std::vector<unsigned int>{0, 2, 1, 3}[i / 16];
        EXPECT_EQ(moved[i], element * 16 + i % 16) << "byte " << i;
    }
}

ISA_TEST(Transpose, RefusesMappingsThatDoNotFit)
{
    OpCase tooFew = MakeCase({2, 3}, {1, 0}, DataType::Float32);
    tooFew.m_Descriptor = MakeDescriptor(TransposeDescriptor(PermutationVector({0})));
    CheckRejectsShapes(tooFew, "each dimension");

    OpCase otherOutput = MakeCase({2, 3}, {1, 0}, DataType::Float32);
    otherOutput.m_Output.SetShape(TensorShape({2, 3}));
    CheckRejectsShapes(otherOutput, "each dimension");
}

} // namespace tenon::test::transpose_test
