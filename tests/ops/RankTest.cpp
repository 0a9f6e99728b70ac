// SPDX-License-Identifier: Apache-2.0
// Rank: the number of dimensions of any tensor.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

namespace tenon::test::rank_test
{

ISA_TEST(Rank, AnyTensor)
{
    const TensorInfo output(MakeShape({}), DataType::Signed32);
    for (const DataType type : GetMovedTypes())
    {
        for (unsigned int rank = 0; rank <= MaxNumOfTensorDimensions; ++rank)
        {
            const TensorInfo info = MakeInfo(MakeShape(std::vector<unsigned int>(rank, 2)), type);
            CheckOp({"rank of " + info.ToString(),
                     LayerType::Rank,
                     MakeDescriptor(NullDescriptor()),
                     {Random(info, 1)},
                     output,
                     Expect(output, {static_cast<double>(rank)})});
        }
    }
}

ISA_TEST(Rank, RefusesOtherOutputs)
{
    const TensorInfo info(TensorShape({2, 3}), DataType::Float32);
    OpCase op{"rank", LayerType::Rank, MakeDescriptor(NullDescriptor()), {Random(info, 1)}, info, nullptr};
    CheckUnsupported(op, SupportCode::UnsupportedType, "output 0");
    op.m_Output.SetDataType(DataType::Signed32);
    CheckRejectsShapes(op, "Rank");
}

} // namespace tenon::test::rank_test
