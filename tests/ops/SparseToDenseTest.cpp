// SPDX-License-Identifier: Apache-2.0
// SparseToDense: places of any rank and type, one value or one each, and places that are outside.
#include "ops/MovementOracle.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

namespace tenon::test::sparse_to_dense_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

OpCase MakeCase(const Sizes& placesShape, const std::vector<double>& places, const Sizes& out, const Sizes& valuesShape,
                const std::vector<double>& values, std::vector<double> expected, DataType type = DataType::Float32,
                DataType indexType = DataType::Signed32)
{
    OpCase op;
    op.m_Name = MakeShape(placesShape).ToString() + " into " + MakeShape(out).ToString();
    op.m_Type = LayerType::SparseToDense;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    const std::vector<double> shape(out.begin(), out.end());
    const TensorInfo shapeInfo({static_cast<unsigned int>(out.size())}, indexType);
    op.m_Inputs = {Stored(TensorInfo(MakeShape(placesShape), indexType), places), Stored(shapeInfo, shape),
                   Stored(MakeInfo(MakeShape(valuesShape), type), values), Stored(MakeInfo(MakeShape({}), type), {9})};
    op.m_Output = MakeInfo(MakeShape(out), type);
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    op.m_Oracle = Expect(op.m_Output, std::move(expected));
    return op;
}

} // namespace

ISA_TEST(SparseToDense, AnyType)
{
    for (const DataType type : {DataType::Float32, DataType::Signed32, DataType::Signed64, DataType::QAsymmS8,
                                DataType::Unsigned8, DataType::Float16, DataType::Float64})
    {
        for (const DataType indexType : {DataType::Signed32, DataType::Signed64})
        {
            CheckOp(MakeCase({2, 2}, {0, 1, 1, 2}, {2, 3}, {2}, {5, 6}, {9, 5, 9, 9, 9, 6}, type, indexType));
        }
    }
}

ISA_TEST(SparseToDense, AnyRank)
{
    CheckOp(MakeCase({}, {2}, {4}, {}, {5}, {9, 9, 5, 9}));
    CheckOp(MakeCase({2}, {3, 0}, {4}, {2}, {5, 6}, {6, 9, 9, 5}));
    CheckOp(MakeCase({2, 1}, {3, 0}, {4}, {}, {5}, {5, 9, 9, 5}));
    CheckOp(MakeCase({2, 3}, {0, 0, 1, 1, 1, 0}, {2, 2, 2}, {2}, {5, 6}, {9, 5, 9, 9, 9, 9, 6, 9}));
    CheckOp(MakeCase({0, 2}, {}, {1, 2}, {0}, {}, {9, 9}));
    CheckOp(MakeCase({0, 2}, {}, {0, 2}, {0}, {}, {}));
}

ISA_TEST(SparseToDense, LastValueCounts)
{
    CheckOp(MakeCase({3}, {1, 1, 1}, {2}, {3}, {5, 6, 7}, {9, 7}));
}

ISA_TEST(SparseToDense, RefusesPlacesOutside)
{
    const IBackend& reference = *GetTestBackends().front();
    for (const double index : {-1.0, 4.0, 2147483647.0})
    {
        EXPECT_THROW(RunOp(reference, MakeCase({1}, {index}, {4}, {1}, {5}, {9, 9, 9, 9}), RunVariant()),
                     RuntimeException);
    }
    CheckRejectsShapes(MakeCase({2, 2}, {0, 1, 1, 2}, {2, 3}, {3}, {5, 6, 7}, {9, 5, 9, 9, 9, 6}), "input 2");
}

} // namespace tenon::test::sparse_to_dense_test
