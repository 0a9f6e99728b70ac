// SPDX-License-Identifier: Apache-2.0
// MatrixDiag and MatrixSetDiag: every element size, batches, and matrices that are not square.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Base.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::test::matrix_diag_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

/// `background`: of MatrixSetDiag.
OpCase MakeCase(const Sizes& matrices, DataType type, bool background)
{
    Sizes diagonal(matrices.begin(), matrices.end() - 1);
    diagonal.back() = std::min(matrices[matrices.size() - 2], matrices.back());
    OpCase op;
    op.m_Name = MakeShape(matrices).ToString();
    op.m_Type = background ? LayerType::MatrixSetDiag : LayerType::MatrixDiag;
    op.m_Descriptor = MakeDescriptor(NullDescriptor());
    op.m_Output = MakeInfo(MakeShape(matrices), type);
    if (background)
    {
        op.m_Inputs.push_back(Random(op.m_Output, 3));
    }
    op.m_Inputs.push_back(Random(MakeInfo(MakeShape(diagonal), type), 4));
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    op.m_Oracle = [=, output = op.m_Output](const std::vector<RealTensor>& in)
    {
        const size_t rank = matrices.size();
        // What is stored as zero, whatever that stands for.
        const double zero =
            output.IsQuantized() ? -double{output.GetQuantizationScale()} * output.GetQuantizationOffset() : 0.0;
        std::vector<double> values = background ? in[0].m_Values : std::vector<double>(output.GetNumElements(), zero);
        size_t next = 0;
        const size_t columns = matrices[rank - 1];
        const size_t matrix = columns * matrices[rank - 2];
        for (size_t first = 0; first < values.size(); first += matrix)
        {
            for (size_t i = 0; i < diagonal.back(); ++i)
            {
                values[first + i * columns + i] = in.back().m_Values[next++];
            }
        }
        return values;
    };
    return op;
}

} // namespace

ISA_TEST(MatrixDiag, AnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({3, 3}, type, false));
        CheckOp(MakeCase({2, 2, 4, 4}, type, false));
    }
    CheckOp(MakeCase({2, 0, 0}, DataType::Float32, false));
}

ISA_TEST(MatrixSetDiag, AnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        CheckOp(MakeCase({3, 3}, type, true));
        CheckOp(MakeCase({2, 3, 5}, type, true));
        CheckOp(MakeCase({2, 2, 5, 3}, type, true));
    }
    CheckOp(MakeCase({2, 0, 3}, DataType::Float32, true));
}

ISA_TEST(MatrixDiag, RefusesWhatDoesNotFit)
{
    OpCase one = MakeCase({3, 3}, DataType::Float32, false);
    one.m_Output.SetShape(TensorShape({4, 4}));
    CheckRejectsShapes(one, "input 0");
    OpCase two = MakeCase({3, 3}, DataType::Float32, true);
    two.m_Output.SetShape(TensorShape({3, 4}));
    CheckRejectsShapes(two, "input 0");
}

} // namespace tenon::test::matrix_diag_test
