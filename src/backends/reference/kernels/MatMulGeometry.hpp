// SPDX-License-Identifier: Apache-2.0
// Where the elements of BatchMatMul's matrices are, or of other layers that are such products. Made in the prepare
// step.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <array>
#include <cstddef>

namespace tenon::ref
{

/// How many dimensions from the end the columns are: 1, or 2 where channels follow them.
inline unsigned int GetColumnsFromEnd(DataLayout layout)
{
    return layout == DataLayout::NHWC || layout == DataLayout::NDHWC ? 2 : 1;
}

/// Output [.., m_Rows, m_Columns] = x [.., m_Rows, m_Depth] * y [.., m_Depth, m_Columns], transposed ones as they are
/// once turned. Batches of one matrix of y whose rows follow each other are one batch of all their rows.
class MatMulGeometry
{
public:
    /// Throws LayerValidationException when the shapes do not fit.
    explicit MatMulGeometry(const ReshapeArgs& args);

    /// Of one product of matrices without gaps, which other layers are. `isTransposedY`: y is stored as
    /// [columns, depth].
    static MatMulGeometry MakeOfOne(size_t rows, size_t depth, size_t columns, bool isTransposedY);

    /// Elements from one row or column to the next.
    struct Strides
    {
        size_t m_Row = 0;
        size_t m_Column = 0;

        /// Whether rows or columns are contiguous.
        bool IsContiguous() const { return m_Column == 1 || m_Row == 1; }
    };

    /// Where the matrices of one product start: elements, but for y, whose matrices are counted.
    struct Batch
    {
        size_t m_X = 0;
        size_t m_MatrixY = 0;
        size_t m_Output = 0;
    };

    Batch GetBatch(size_t index) const;
    /// The batches of a matrix of y, as many for each.
    size_t CountBatchesOf() const { return m_NumMatricesY != 0 ? m_NumBatches / m_NumMatricesY : 0; }
    Batch GetBatchOf(size_t matrixY, size_t index) const;
    /// The first element of a matrix of y.
    size_t GetMatrixY(size_t index) const;
    bool IsEmpty() const { return m_NumBatches * m_Rows * m_Columns == 0; }

    size_t m_NumBatches = 1;
    size_t m_NumMatricesY = 1;
    size_t m_Rows = 0;
    size_t m_Columns = 0;
    size_t m_Depth = 0;
    Strides m_X;
    Strides m_Y;
    Strides m_Output;

private:
    MatMulGeometry() = default;

    /// A dimension that is not of the matrices.
    struct Dimension
    {
        size_t m_Size = 1;  ///< of the output
        size_t m_StepX = 0; ///< elements; 0: broadcast
        size_t m_StepOutput = 0;
        size_t m_SizeY = 1;
        size_t m_StepY = 0;  ///< elements; whether broadcast or not
        size_t m_CountY = 0; ///< matrices of y; 0: broadcast
    };

    /// Whether so many batches of one matrix of y are more rows: then they are from now on.
    bool IsRowSequence(size_t batches, size_t stepX, size_t stepOutput);

    std::array<Dimension, MaxNumOfTensorDimensions> m_Dimensions{}; ///< innermost first
    unsigned int m_NumDimensions = 0;
};

} // namespace tenon::ref
