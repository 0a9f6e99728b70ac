// SPDX-License-Identifier: Apache-2.0
// See GemmF64.hpp.
#include "backends/cpu/gemm/driver/GemmF64.hpp"

#include <algorithm>
#include <limits>

namespace tenon::cpu
{

namespace
{

// Constants of CBLAS.
constexpr int RowMajor = 101;
constexpr int Plain = 111;
constexpr int Transposed = 112;

/// With fewer rows in a block, packing y for each of them takes a large share of the time.
constexpr size_t MinBlockRows = 32;

} // namespace

bool IsSizeF64(size_t size)
{
    return size <= size_t{std::numeric_limits<int>::max()};
}

std::optional<backends::Prepared> DeclineWithoutDgemm()
{
    const DgemmLibrary& library = DgemmLibrary::Get();
    return library.GetFunction() == nullptr
               ? std::optional(backends::Prepared::Declined(library.GetReason().c_str())) // which lives as long
               : std::nullopt;
}

std::optional<MatrixLayoutF64> MatrixLayoutF64::Find(size_t rows, size_t columns, size_t rowStep, size_t columnStep)
{
    // The pitch of a single row does not matter, but dgemm wants one that is not below the length of a row.
    const auto find = [](bool isTransposed, size_t count, size_t length, size_t pitch)
    {
        const size_t wanted = count <= 1 ? length : pitch;
        return wanted >= length && IsSizeF64(wanted) && IsSizeF64(count)
                   ? std::optional(MatrixLayoutF64{isTransposed, static_cast<int>(wanted)})
                   : std::nullopt;
    };
    std::optional<MatrixLayoutF64> layout;
    if (columnStep == 1 || columns <= 1)
    {
        layout = find(false, rows, columns, rowStep);
    }
    if (!layout && (rowStep == 1 || rows <= 1))
    {
        layout = find(true, columns, rows, columnStep);
    }
    return layout;
}

void GemmF64::Run(const double* x, const double* y, const double* bias, double* out, size_t rows) const
{
    // dgemm adds to what the output has. With a factor of 0 for that, some versions keep its NaN.
    for (size_t row = 0; row < rows; ++row)
    {
        double* const to = out + row * m_Sizes.m_OutputPitch;
        bias != nullptr ? std::copy_n(bias, m_Sizes.m_Columns, to) : std::fill_n(to, m_Sizes.m_Columns, 0.0);
    }
    m_Function(RowMajor, m_Sizes.m_X.m_IsTransposed ? Transposed : Plain,
               m_Sizes.m_Y.m_IsTransposed ? Transposed : Plain, static_cast<int>(rows),
               static_cast<int>(m_Sizes.m_Columns), static_cast<int>(m_Sizes.m_Depth), 1.0, x, m_Sizes.m_X.m_Pitch, y,
               m_Sizes.m_Y.m_Pitch, 1.0, out, static_cast<int>(m_Sizes.m_OutputPitch));
    for (size_t row = 0; row < rows && m_Clamp.IsActive(); ++row)
    {
        m_Clamp.Run(out + row * m_Sizes.m_OutputPitch, m_Sizes.m_Columns);
    }
}

RowBlocksF64::RowBlocksF64(size_t products, size_t rows, double multiplications, size_t maxRows)
    : m_Products(products), m_Rows(rows)
{
    const size_t tasks = std::min(GetFixedTasks(), GetWorthwhileTasks(multiplications));
    const size_t shared = std::min(DivideUp(tasks, std::max<size_t>(products, 1)), DivideUp(rows, MinBlockRows));
    m_Blocks = std::max<size_t>({1, shared, DivideUp(rows, maxRows)});
}

} // namespace tenon::cpu
