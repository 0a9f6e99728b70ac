// SPDX-License-Identifier: Apache-2.0
// OneHot: any axis and type, and indices that are outside.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <gtest/gtest.h>

namespace tenon::test::one_hot_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& indices, int32_t axis, unsigned int depth, DataType type,
                DataType indexType = DataType::Signed32)
{
    OpCase op;
    op.m_Name = MakeShape(indices).ToString() + " along " + std::to_string(axis);
    op.m_Type = LayerType::OneHot;
    OneHotDescriptor descriptor;
    descriptor.m_Axis = axis;
    op.m_Descriptor = MakeDescriptor(descriptor);
    const TensorShape scalar(Dimensionality::Scalar);
    op.m_Inputs = {Random(TensorInfo(MakeShape(indices), indexType), 3, -1, depth),
                   Stored(TensorInfo(scalar, DataType::Signed32), {static_cast<double>(depth)}),
                   Stored(MakeInfo(scalar, type), {1}), Stored(MakeInfo(scalar, type), {0})};
    Sizes sizes = indices;
    sizes.insert(sizes.begin() + axis, depth);
    op.m_Output = MakeInfo(MakeShape(sizes), type);
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    op.m_Oracle = [=, shape = op.m_Output.GetShape()](const std::vector<RealTensor>& in)
    {
        RealTensor choice{TensorShape({2}), {in[3].m_Values[0], in[2].m_Values[0]}};
        return Move(shape, choice,
                    [&](Coordinates at) -> Coordinates
                    {
                        const double place = static_cast<double>(at[static_cast<size_t>(axis)]);
                        at.erase(at.begin() + axis);
                        size_t offset = 0;
                        for (size_t i = 0; i < at.size(); ++i)
                        {
                            offset = offset * indices[i] + static_cast<size_t>(at[i]);
                        }
                        return {in[0].m_Values.at(offset) == place ? 1 : 0};
                    });
    };
    return op;
}

} // namespace

ISA_TEST(OneHot, AnyTypeAndAxis)
{
    for (const DataType type : GetMovedTypes())
    {
        for (int32_t axis = 0; axis <= 2; ++axis)
        {
            CheckOp(MakeCase({3, 4}, axis, 5, type, axis == 1 ? DataType::Signed64 : DataType::Signed32));
        }
    }
}

ISA_TEST(OneHot, NegativeIndicesCountFromTheEnd)
{
    for (const DataType indexType : {DataType::Signed16, DataType::Signed32, DataType::Signed64})
    {
        for (int32_t axis = 0; axis <= 1; ++axis)
        {
            OpCase op = MakeCase({7}, axis, 3, DataType::Float32, indexType);
            OneHotDescriptor descriptor;
            descriptor.m_Axis = axis;
            descriptor.m_NegativeIndices = true;
            op.m_Descriptor = MakeDescriptor(descriptor);
            op.m_Inputs[0] = Stored(op.m_Inputs[0].m_Info, {-4, -3, -1, 0, 2, 3, -32768});
            const Oracle plain = op.m_Oracle;
            op.m_Oracle = [plain](std::vector<RealTensor> in)
            {
                for (double& index : in[0].m_Values)
                {
                    index += index < 0 ? 3 : 0;
                }
                return plain(in);
            };
            CheckOp(op);
        }
    }
}

ISA_TEST(OneHot, ScalarsAndNothing)
{
    CheckOp(MakeCase({}, 0, 3, DataType::Float32));
    CheckOp(MakeCase({2}, 1, 0, DataType::Float32));
    CheckOp(MakeCase({0, 2}, 1, 3, DataType::Float32));
}

ISA_TEST(OneHot, RefusesWhatDoesNotFit)
{
    OpCase op = MakeCase({3}, 0, 4, DataType::Float32);
    op.m_Output.SetShape(TensorShape({5, 4}));
    CheckRejectsShapes(op, "output 0");
    OpCase types = MakeCase({3}, 0, 4, DataType::Float32);
    types.m_Inputs[3].m_Info.SetDataType(DataType::Signed32);
    CheckUnsupported(types, SupportCode::UnsupportedType, "input 3");
}

} // namespace tenon::test::one_hot_test
