// SPDX-License-Identifier: Apache-2.0
// Bitcast and ZerosLike: layers that look at no value.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::test::bitcast_test
{

namespace
{

OpCase MakeCase(LayerType type, TestTensor input, const TensorInfo& output, Oracle oracle)
{
    OpCase op{input.m_Info.ToString() + " to " + output.ToString(),
              type,
              MakeDescriptor(NullDescriptor()),
              {std::move(input)},
              output,
              std::move(oracle)};
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    return op;
}

} // namespace

ISA_TEST(Bitcast, KeepsTheBytes)
{
    const TensorInfo floats(TensorShape({3}), DataType::Float32);
    const TensorInfo words(TensorShape({3}), DataType::Unsigned32);
    const TensorInfo bytes(TensorShape({3, 4}), DataType::Unsigned8);
    CheckOp(MakeCase(LayerType::Bitcast, Stored(floats, {1.0, -2.0, 0.0}), words,
                     Expect(words, {0x3F800000, 0xC0000000, 0})));
    CheckOp(MakeCase(LayerType::Bitcast, Stored(words, {0x3F800000, 0xC0000000, 0}), floats,
                     Expect(floats, {1.0, -2.0, 0.0})));
    CheckOp(MakeCase(LayerType::Bitcast, Stored(words, {0x04030201, 0xFFFEFDFC, 0}), bytes,
                     Expect(bytes, {1, 2, 3, 4, 252, 253, 254, 255, 0, 0, 0, 0})));
    CheckOp(MakeCase(LayerType::Bitcast, Stored(bytes, {1, 2, 3, 4, 252, 253, 254, 255, 0, 0, 0, 0}), words,
                     Expect(words, {0x04030201, 0xFFFEFDFC, 0})));
    const TensorInfo none(TensorShape({0, 4}), DataType::Unsigned8);
    const TensorInfo noWords(TensorShape({0}), DataType::Unsigned32);
    CheckOp(MakeCase(LayerType::Bitcast, Stored(none, {}), noWords, Expect(noWords, {})));
}

ISA_TEST(Bitcast, RefusesOtherSizesAndHalfBytes)
{
    const TensorInfo words(TensorShape({3}), DataType::Unsigned32);
    const TensorInfo bytes(TensorShape({3, 2}), DataType::Unsigned8);
    CheckRejectsShapes(MakeCase(LayerType::Bitcast, Random(words, 1), bytes, {}), "as many bytes");
    const TensorInfo nibbles(TensorShape({24}), DataType::QSymmS4, 0.5f);
    CheckUnsupported(MakeCase(LayerType::Bitcast, Random(words, 1), nibbles, {}), SupportCode::UnsupportedType, "");
}

ISA_TEST(ZerosLike, OfAnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const TensorShape& shape : {TensorShape({3, 5}), TensorShape(Dimensionality::Scalar), TensorShape({2, 0})})
        {
            const TensorInfo info = MakeInfo(shape, type);
            CheckOp(MakeCase(LayerType::ZerosLike, Random(info, 3), info,
                             [info](const auto&) { return std::vector<double>(info.GetNumElements(), 0.0); }));
        }
    }
}

} // namespace tenon::test::bitcast_test
