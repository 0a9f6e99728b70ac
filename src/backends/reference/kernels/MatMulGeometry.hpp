// SPDX-License-Identifier: Apache-2.0
// The positions of the elements of the matrices of BatchMatMul, and of other layers that are such products. Made in the
// prepare step.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <array>
#include <cstddef>

namespace tenon::ref
{

/// The dimension of the columns, counted from the end: 1, or 2 if channels follow them.
inline unsigned int GetColumnsFromEnd(DataLayout layout)
{
    return layout == DataLayout::NHWC || layout == DataLayout::NDHWC ? 2 : 1;
}

/// Output [.., m_Rows, m_Columns] = x [.., m_Rows, m_Depth] * y [.., m_Depth, m_Columns], after any transposition.
/// Batches that multiply the same matrix of y, and whose rows follow each other, are merged into one batch of all their
/// rows.
class MatMulGeometry
{
public:
    /// Throws LayerValidationException when the shapes do not fit.
    explicit MatMulGeometry(const ReshapeArgs& args);

    /// The geometry of a single product of matrices without gaps, for other layers. `isTransposedY`: y is stored as
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

    /// The positions of the matrices of one product: offsets in elements; the index of the matrix for y.
    struct Batch
    {
        size_t m_X = 0;
        size_t m_MatrixY = 0;
        size_t m_Output = 0;
    };

    Batch GetBatch(size_t index) const;
    /// The number of batches of each matrix of y, which is the same for all.
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

    /// A dimension outside of the matrices.
    struct Dimension
    {
        size_t m_Size = 1;  ///< size in the output
        size_t m_StepX = 0; ///< elements; 0: broadcast
        size_t m_StepOutput = 0;
        size_t m_SizeY = 1;
        size_t m_StepY = 0;  ///< elements; whether broadcast or not
        size_t m_CountY = 0; ///< matrices of y; 0: broadcast
    };

    /// Merges `batches` batches of one matrix of y into its rows, if they are evenly spaced. Returns whether it did.
    bool IsRowSequence(size_t batches, size_t stepX, size_t stepOutput);

    std::array<Dimension, MaxNumOfTensorDimensions> m_Dimensions{}; ///< innermost first
    unsigned int m_NumDimensions = 0;
};

} // namespace tenon::ref
