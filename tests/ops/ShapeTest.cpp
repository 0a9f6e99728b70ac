// SPDX-License-Identifier: Apache-2.0
// Shape: the sizes of any tensor.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

namespace tenon::test::shape_test
{

namespace
{

OpCase MakeCase(const std::vector<unsigned int>& sizes, DataType type, DataType outputType = DataType::Signed32)
{
    const TensorInfo info = MakeInfo(MakeShape(sizes), type);
    const TensorInfo output(TensorShape({static_cast<unsigned int>(sizes.size())}), outputType);
    return {"shape of " + info.ToString(),
            LayerType::Shape,
            MakeDescriptor(NullDescriptor()),
            {Random(info, 1)},
            output,
            Expect(output, std::vector<double>(sizes.begin(), sizes.end()))};
}

} // namespace

ISA_TEST(Shape, AnyTensor)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const DataType output : {DataType::Signed32, DataType::Signed64})
        {
            CheckOp(MakeCase({}, type, output));
            CheckOp(MakeCase({2, 3, 4}, type, output));
            CheckOp(MakeCase({2, 0, 4, 1, 1, 1, 1, 5}, type, output));
        }
    }
}

ISA_TEST(Shape, RefusesWhatDoesNotFit)
{
    CheckUnsupported(MakeCase({2}, DataType::Float32, DataType::Float32), SupportCode::UnsupportedType, "output 0");
    CheckRejectsShapes(MakeCase({0, 0xFFFFFFFFU}, DataType::Float32), "Signed64");
    OpCase output = MakeCase({2, 3}, DataType::Float32);
    output.m_Output.SetShape(TensorShape({3}));
    CheckRejectsShapes(output, "[2]");
}

} // namespace tenon::test::shape_test
