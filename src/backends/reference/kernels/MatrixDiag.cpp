// SPDX-License-Identifier: Apache-2.0
// MatrixDiag and MatrixSetDiag: matrices with given diagonals; other elements are zero, or come from another tensor.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <algorithm>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow MatrixDiagTypes[] = {backends::SameType(backends::WholeByteType)};
constexpr backends::TypeRow MatrixSetDiagTypes[] = {backends::SameType(backends::WholeByteType, 2)};

template <typename T>
struct DiagonalRun
{
    size_t m_Matrices;
    size_t m_Rows;
    size_t m_Columns;
    bool m_HasBackground; ///< input 0 has the elements off the diagonal, and input 1 the diagonals

    void operator()(const ExecuteArgs& args) const
    {
        const T* diagonal = args.GetInput<T>(m_HasBackground ? 1 : 0);
        T* out = args.GetOutput<T>(0);
        const size_t elements = m_Matrices * m_Rows * m_Columns;
        if (m_HasBackground)
        {
            std::copy_n(args.GetInput<T>(0), elements, out);
        }
        else
        {
            std::fill_n(out, elements, T{});
        }
        for (size_t matrix = 0; matrix < m_Matrices; ++matrix, out += m_Rows * m_Columns)
        {
            for (size_t i = 0; i < std::min(m_Rows, m_Columns); ++i)
            {
                out[i * m_Columns + i] = *diagonal++;
            }
        }
    }
};

backends::Prepared PrepareDiagonals(const ReshapeArgs& args, size_t diagonalInput)
{
    const TensorInfo& output = args.GetOutput(0);
    const TensorShape& shape = output.GetShape();
    RequireRank(output, "output 0", 2);
    if (shape.GetNumElements64() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const unsigned int rank = shape.GetNumDimensions();
    const size_t matrices = CountElements(shape, 0, rank - 2);
    const size_t rows = shape[rank - 2];
    const size_t columns = shape[rank - 1];
    RequireElements(args.GetInput(diagonalInput), diagonalInput == 0 ? "input 0" : "input 1",
                    matrices * std::min(rows, columns));
    if (diagonalInput != 0)
    {
        RequireElements(args.GetInput(0), "input 0", shape.GetNumElements64());
    }
    return DispatchMoved(output.GetDataType(),
                         [&](auto tag) -> backends::Prepared
                         {
                             using T = typename decltype(tag)::Type;
                             return DiagonalRun<T>{matrices, rows, columns, diagonalInput != 0};
                         });
}

backends::Prepared PrepareMatrixDiag(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return PrepareDiagonals(args, 0);
}

backends::Prepared PrepareMatrixSetDiag(const ReshapeArgs& args, const backends::PackedWeights*)
{
    return PrepareDiagonals(args, 1);
}

} // namespace

extern const backends::Kernel RefMatrixDiagKernel = {"RefMatrixDiag", MatrixDiagTypes, PrepareMatrixDiag};
extern const backends::Kernel RefMatrixSetDiagKernel = {"RefMatrixSetDiag", MatrixSetDiagTypes, PrepareMatrixSetDiag};

} // namespace tenon::ref
