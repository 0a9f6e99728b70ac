// SPDX-License-Identifier: Apache-2.0
// See MatMulGeometry.hpp.
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Products.hpp>

#include <utility>

namespace tenon::ref
{

namespace
{

/// Splits the index in a dimension off `rest`. The last dimension gets the whole rest without a division: two divisions
/// take as long as a row of a small matrix.
size_t TakeIndex(size_t& rest, size_t size, bool isLast)
{
    if (isLast)
    {
        return rest;
    }
    const size_t at = rest % size;
    rest /= size;
    return at;
}

/// A tensor's sizes and strides, extended to the number of dimensions of the output.
struct Extended
{
    std::array<size_t, MaxNumOfTensorDimensions> m_Sizes{};
    std::array<size_t, MaxNumOfTensorDimensions> m_Strides{};

    Extended(const TensorShape& shape, unsigned int rank, unsigned int columnsFromEnd, bool isTransposed)
    {
        size_t stride = 1;
        const unsigned int own = shape.GetNumDimensions();
        for (unsigned int i = 0; i < rank; ++i)
        {
            const size_t size = i < own ? shape[own - 1 - i] : 1;
            m_Sizes[rank - 1 - i] = size;
            m_Strides[rank - 1 - i] = stride;
            stride *= size;
        }
        if (isTransposed)
        {
            const unsigned int column = rank - columnsFromEnd;
            std::swap(m_Sizes[column], m_Sizes[column - 1]);
            std::swap(m_Strides[column], m_Strides[column - 1]);
        }
    }
};

} // namespace

MatMulGeometry::MatMulGeometry(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<BatchMatMulDescriptor>();
    const TensorShape& shapeX = args.GetInput(0).GetShape();
    const TensorShape& shapeY = args.GetInput(1).GetShape();
    const TensorShape& shapeOutput = args.GetOutput(0).GetShape();
    const auto require = [&](bool fits)
    {
        if (!fits)
        {
            throw LayerValidationException("matrices " + shapeX.ToString() + " and " + shapeY.ToString() +
                                           " have no product of shape " + shapeOutput.ToString());
        }
    };
    const unsigned int rank = shapeOutput.GetNumDimensions();
    const unsigned int fromEnd = GetColumnsFromEnd(descriptor.m_DataLayoutX);
    require(fromEnd == GetColumnsFromEnd(descriptor.m_DataLayoutY) && shapeX.GetNumDimensions() > fromEnd &&
            shapeY.GetNumDimensions() > fromEnd && shapeX.GetNumDimensions() <= rank &&
            shapeY.GetNumDimensions() <= rank);
    const Extended x(shapeX, rank, fromEnd, descriptor.m_TransposeX || descriptor.m_AdjointX);
    const Extended y(shapeY, rank, fromEnd, descriptor.m_TransposeY || descriptor.m_AdjointY);
    const Extended output(shapeOutput, rank, fromEnd, false);

    const unsigned int column = rank - fromEnd;
    const unsigned int row = column - 1;
    m_Rows = x.m_Sizes[row];
    m_Depth = x.m_Sizes[column];
    m_Columns = y.m_Sizes[column];
    require(y.m_Sizes[row] == m_Depth && output.m_Sizes[row] == m_Rows && output.m_Sizes[column] == m_Columns);
    m_X = {x.m_Strides[row], x.m_Strides[column]};
    m_Y = {y.m_Strides[row], y.m_Strides[column]};
    m_Output = {output.m_Strides[row], output.m_Strides[column]};
    for (unsigned int i = rank; i-- > 0;)
    {
        if (i == row || i == column)
        {
            continue;
        }
        const size_t size = output.m_Sizes[i];
        require((x.m_Sizes[i] == size || x.m_Sizes[i] == 1) && (y.m_Sizes[i] == size || y.m_Sizes[i] == 1));
        if (y.m_Sizes[i] == 1 && x.m_Sizes[i] == size && IsRowSequence(size, x.m_Strides[i], output.m_Strides[i]))
        {
            continue;
        }
        Dimension& dimension = m_Dimensions[m_NumDimensions++];
        dimension.m_Size = size;
        dimension.m_StepX = x.m_Sizes[i] == 1 ? 0 : x.m_Strides[i];
        dimension.m_StepOutput = output.m_Strides[i];
        dimension.m_SizeY = y.m_Sizes[i];
        dimension.m_StepY = y.m_Strides[i];
        dimension.m_CountY = y.m_Sizes[i] == 1 ? 0 : m_NumMatricesY;
        m_NumBatches *= size;
        m_NumMatricesY *= y.m_Sizes[i];
    }
}

MatMulGeometry MatMulGeometry::MakeOfOne(size_t rows, size_t depth, size_t columns, bool isTransposedY)
{
    MatMulGeometry g;
    g.m_Rows = rows;
    g.m_Columns = columns;
    g.m_Depth = depth;
    g.m_X = {depth, 1};
    g.m_Y = isTransposedY ? Strides{1, depth} : Strides{columns, 1};
    g.m_Output = {columns, 1};
    return g;
}

bool MatMulGeometry::IsRowSequence(size_t batches, size_t stepX, size_t stepOutput)
{
    if (batches == 1)
    {
        return true;
    }
    if (m_Rows == 1)
    {
        m_X.m_Row = stepX;
        m_Output.m_Row = stepOutput;
    }
    else if (m_Rows == 0 || stepX != m_Rows * m_X.m_Row || stepOutput != m_Rows * m_Output.m_Row)
    {
        return false;
    }
    m_Rows *= batches;
    return true;
}

MatMulGeometry::Batch MatMulGeometry::GetBatch(size_t index) const
{
    Batch batch;
    for (unsigned int i = 0; i < m_NumDimensions; ++i)
    {
        const Dimension& dimension = m_Dimensions[i];
        const size_t at = TakeIndex(index, dimension.m_Size, i + 1 == m_NumDimensions);
        batch.m_X += at * dimension.m_StepX;
        batch.m_MatrixY += at * dimension.m_CountY;
        batch.m_Output += at * dimension.m_StepOutput;
    }
    return batch;
}

MatMulGeometry::Batch MatMulGeometry::GetBatchOf(size_t matrixY, size_t index) const
{
    Batch batch;
    batch.m_MatrixY = matrixY;
    for (unsigned int i = 0; i < m_NumDimensions; ++i)
    {
        const Dimension& dimension = m_Dimensions[i];
        size_t& rest = dimension.m_SizeY == 1 ? index : matrixY;
        const size_t at = rest % dimension.m_Size;
        rest /= dimension.m_Size;
        batch.m_X += at * dimension.m_StepX;
        batch.m_Output += at * dimension.m_StepOutput;
    }
    return batch;
}

size_t MatMulGeometry::GetMatrixY(size_t index) const
{
    size_t element = 0;
    for (unsigned int i = 0; i < m_NumDimensions; ++i)
    {
        const Dimension& dimension = m_Dimensions[i];
        element += TakeIndex(index, dimension.m_SizeY, i + 1 == m_NumDimensions) * dimension.m_StepY;
    }
    return element;
}

} // namespace tenon::ref
