// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of two int16 matrices; results are the numbers of the reference kernel. Sums of int16 * int16 exceed 32
// bits, so y is packed as two int16 panels whose elements have the magnitude of a byte:
//
//   y = 256 * high + low,  low in [-128, 127]      sum_k x_k*y_k = 256 * sum_k x_k*high_k + sum_k x_k*low_k
//
// Both sums fit 32 bits up to a depth of MaxDepth; added up as doubles they are exact. Panel: [depth / 2][width][2]
// int16.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/epilogue/RequantizeArraysInt16.hpp"
#include "backends/cpu/matmul/BatchedGemmTasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr backends::TypeRow Types[] = {
    backends::WithScales(backends::Types({DataType::QSymmS16, DataType::QSymmS16}, DataType::QSymmS16),
                         {backends::Scales::PerTensor, backends::Scales::PerTensor}, backends::Scales::PerTensor)};

/// Rows of x in a block that passes a panel.
constexpr size_t BlockRows = 64;
/// High and low bytes of y are in [-128, 127].
constexpr size_t MaxDepth = RequantizeArraysInt16::MaxMagnitude / 128;

/// Larger sums are requantized one by one: the doubles of the int16 microkernels are exact up to this value.
double GetMaxSum(double factor)
{
    constexpr double MaxResult = 2147483646.0; // larger results of the reference kernel wrap around
    return std::min(std::ldexp(1.0, 37), MaxResult / factor);
}

/// The GEMMs of all batches, cut into work items: (batch, panel of y, chunk of rows of x).
class BatchedGemmInt16
{
public:
    BatchedGemmInt16(const ref::MatMulGeometry& geometry, const ReshapeArgs& args)
        : m_Geometry(geometry), m_Microkernels(&GetMicrokernelsInt16()), m_Groups((geometry.m_Depth + 1) / 2),
          m_PanelColumns(m_Microkernels->m_Vectors * m_Microkernels->m_Lanes),
          m_Panels(DivideUp(geometry.m_Columns, m_PanelColumns)),
          m_IsInPlace(geometry.m_X.m_Column == 1 && geometry.m_Depth % 2 == 0),
          m_Arrays(std::make_shared<RequantizeArraysInt16>(m_PanelColumns, RoundingInt16::HalfUp))
    {
        const double scale = GetProductScale(args);
        for (size_t place = 0; place < m_PanelColumns; ++place)
        {
            m_Arrays->Set(place, 0, 0, scale);
        }
        m_Multiplier = backends::QuantizeMultiplier(scale);
        m_MaxSum = GetMaxSum(*m_Arrays->From(0).m_Scale);

        const double multiplications = static_cast<double>(geometry.m_NumBatches) *
                                       static_cast<double>(geometry.m_Rows) * static_cast<double>(geometry.m_Columns) *
                                       static_cast<double>(geometry.m_Depth);
        m_Tasks = std::min(GetMaxTasks(args.m_MaxThreads), GetWorthwhileTasks(multiplications));
        m_RowChunks = CountRowChunks(DivideUp(m_Tasks, geometry.m_NumBatches * m_Panels), geometry.m_Rows);
        m_Tasks = std::min(m_Tasks, CountWorkItems());
        Scratch task;
        task.Add<int32_t>(size_t{2}, m_Groups, m_PanelColumns); // the panel of high bytes, then that of low bytes
        m_IndirectionOffset = task.Add<const int16_t*>(BlockRows);
        m_RowsOffset = task.Add<int16_t>(m_IsInPlace ? size_t{0} : BlockRows, 2 * m_Groups);
        m_TaskBytes = task.GetBytes();
        m_Scratch.AddPerTask(task, m_Tasks);
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }

    void operator()(const ExecuteArgs& args) const
    {
        RunWorkItems(args, CountWorkItems(), m_Tasks, m_TaskBytes,
                     [&](const IndexRange& items, std::byte* scratch) { RunTask(args, items, scratch); });
    }

private:
    struct Panel
    {
        size_t m_Column = 0; ///< first column
        size_t m_Columns = 0;
        size_t m_Vectors = 0;
        size_t m_Width = 0; ///< padded to whole vectors
        const int16_t* m_High = nullptr;
        const int16_t* m_Low = nullptr;
        int32_t m_MaxMagnitude = 0; ///< largest magnitude in the panel
    };

    size_t CountWorkItems() const { return m_Geometry.m_NumBatches * m_Panels * m_RowChunks; }

    void RunTask(const ExecuteArgs& args, const IndexRange& items, std::byte* scratch) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        Panel panel;
        size_t packed = SIZE_MAX; // number of the packed panel, over all matrices
        for (size_t item = items.m_Begin; item < items.m_End; ++item)
        {
            const ref::MatMulGeometry::Batch batch = g.GetBatch(item / m_RowChunks / m_Panels);
            const size_t index = item / m_RowChunks % m_Panels;
            if (packed != batch.m_MatrixY * m_Panels + index)
            {
                packed = batch.m_MatrixY * m_Panels + index;
                panel = Pack(args.GetInput<int16_t>(1) + g.GetMatrixY(batch.m_MatrixY), index, scratch);
            }
            const IndexRange rows = GetTaskRange(g.m_Rows, m_RowChunks, item % m_RowChunks);
            for (size_t first = rows.m_Begin; first < rows.m_End; first += BlockRows)
            {
                RunBlock(panel, args.GetInput<int16_t>(0) + batch.m_X + first * g.m_X.m_Row,
                         std::min(BlockRows, rows.m_End - first),
                         args.GetOutput<int16_t>(0) + batch.m_Output + first * g.m_Output.m_Row, scratch);
            }
        }
    }

    Panel Pack(const int16_t* y, size_t index, std::byte* scratch) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        Panel panel;
        panel.m_Column = index * m_PanelColumns;
        panel.m_Columns = std::min(m_PanelColumns, g.m_Columns - panel.m_Column);
        panel.m_Vectors = DivideUp(panel.m_Columns, m_Microkernels->m_Lanes);
        panel.m_Width = panel.m_Vectors * m_Microkernels->m_Lanes;
        const size_t numbers = m_Groups * panel.m_Width * 2;
        auto* const high = Scratch::At<int16_t>(scratch, 0);
        auto* const low = high + numbers;
        if (panel.m_Columns != panel.m_Width || g.m_Depth % 2 != 0)
        {
            std::fill_n(high, 2 * numbers, int16_t{0});
        }
        // In blocks of rows, so that a y with contiguous columns is read from few cache lines at a time.
        constexpr size_t Block = 32;
        int32_t maxMagnitude = 0;
        for (size_t depth = 0; depth < g.m_Depth; depth += Block)
        {
            for (size_t column = 0; column < panel.m_Columns; ++column)
            {
                const size_t place = GetPaddedColumnInt16(column, panel.m_Vectors, m_Microkernels->m_Lanes);
                const int16_t* from = y + (panel.m_Column + column) * g.m_Y.m_Column;
                for (size_t k = depth; k < std::min(depth + Block, g.m_Depth); ++k)
                {
                    const int32_t value = from[k * g.m_Y.m_Row];
                    const size_t at = (k / 2 * panel.m_Width + place) * 2 + k % 2;
                    const auto lower = static_cast<int8_t>(value);
                    low[at] = lower;
                    high[at] = static_cast<int16_t>((value - lower) >> 8);
                    maxMagnitude = std::max(maxMagnitude, std::abs(value));
                }
            }
        }
        panel.m_High = high;
        panel.m_Low = low;
        panel.m_MaxMagnitude = maxMagnitude;
        return panel;
    }

    /// Points to rows of x, or copies them. Returns the largest sum of a row's magnitudes.
    int32_t FindRows(const int16_t* x, size_t count, std::byte* scratch) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        auto** const indirection = Scratch::At<const int16_t*>(scratch, m_IndirectionOffset);
        auto* const copies = Scratch::At<int16_t>(scratch, m_RowsOffset);
        int32_t maxMagnitude = 0;
        for (size_t row = 0; row < count; ++row, x += g.m_X.m_Row)
        {
            indirection[row] = x;
            if (!m_IsInPlace)
            {
                int16_t* const to = copies + row * 2 * m_Groups;
                for (size_t k = 0; k < g.m_Depth; ++k)
                {
                    to[k] = x[k * g.m_X.m_Column];
                }
                std::fill(to + g.m_Depth, to + 2 * m_Groups, int16_t{0});
                indirection[row] = to;
            }
            int32_t sum = 0;
            for (size_t k = 0; k < g.m_Depth; ++k)
            {
                sum += std::abs(int32_t{indirection[row][k]});
            }
            maxMagnitude = std::max(maxMagnitude, sum);
        }
        return maxMagnitude;
    }

    void RunBlock(const Panel& panel, const int16_t* x, size_t count, int16_t* out, std::byte* scratch) const
    {
        constexpr size_t MaxSums =
            MicrokernelsInt16::MaxRows * MicrokernelsInt16::MaxVectors * MicrokernelsInt16::MaxLanes;
        alignas(64) int32_t highs[MaxSums];
        alignas(64) int32_t lows[MaxSums];
        alignas(64) double totals[MaxSums];
        const double maxSum =
            static_cast<double>(FindRows(x, count, scratch)) * static_cast<double>(panel.m_MaxMagnitude);
        RequantizeColumnsInt16 columns = m_Arrays->From(0);
        columns.m_Min = std::numeric_limits<int16_t>::min();
        columns.m_Max = std::numeric_limits<int16_t>::max();
        RequantizeRowsInt16 rows;
        rows.m_Sums = lows;
        rows.m_Totals = totals;
        rows.m_SumStride = panel.m_Width;
        rows.m_Columns = panel.m_Columns;
        rows.m_OutStride = m_Geometry.m_Output.m_Row;
        TileInt16 tile;
        tile.m_TapStep = count;
        tile.m_TapGroups = m_Groups;
        tile.m_Groups = m_Groups;
        ForEachTile(count, m_Microkernels->m_Rows[panel.m_Vectors],
                    [&](size_t row, size_t height)
                    {
                        tile.m_Indirection = Scratch::At<const int16_t*>(scratch, m_IndirectionOffset) + row;
                        tile.m_Panel = panel.m_High;
                        tile.m_Sums = highs;
                        m_Microkernels->m_Tiles[panel.m_Vectors][height](tile);
                        tile.m_Panel = panel.m_Low;
                        tile.m_Sums = lows;
                        m_Microkernels->m_Tiles[panel.m_Vectors][height](tile);
                        std::transform(highs, highs + height * panel.m_Width, totals,
                                       [](int32_t high) { return high * 256.0; });
                        rows.m_Rows = height;
                        rows.m_Out = out + row * rows.m_OutStride + panel.m_Column;
                        if (maxSum <= m_MaxSum)
                        {
                            m_Microkernels->m_Requantize(rows, columns);
                        }
                        else
                        {
                            RequantizeEach(rows, panel.m_Vectors);
                        }
                    });
    }

    void RequantizeEach(const RequantizeRowsInt16& rows, size_t vectors) const
    {
        for (size_t row = 0; row < rows.m_Rows; ++row)
        {
            for (size_t column = 0; column < rows.m_Columns; ++column)
            {
                const size_t at =
                    row * rows.m_SumStride + GetPaddedColumnInt16(column, vectors, m_Microkernels->m_Lanes);
                const int64_t sum = static_cast<int64_t>(rows.m_Totals[at]) + rows.m_Sums[at];
                const int32_t scaled = backends::MultiplyReducedSaturating(sum, m_Multiplier);
                rows.m_Out[row * rows.m_OutStride + column] = static_cast<int16_t>(std::clamp<int32_t>(
                    scaled, std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max()));
            }
        }
    }

    ref::MatMulGeometry m_Geometry;
    const MicrokernelsInt16* m_Microkernels;
    size_t m_Groups;       ///< pairs of the depth
    size_t m_PanelColumns; ///< columns of a panel of y
    size_t m_Panels;
    bool m_IsInPlace; ///< whether rows of x are read in place
    std::shared_ptr<RequantizeArraysInt16> m_Arrays;
    backends::QuantizedMultiplier m_Multiplier;
    double m_MaxSum = 0;
    size_t m_RowChunks = 1;
    size_t m_Tasks = 1; ///< tasks; the scratch memory of each begins with a packed panel
    size_t m_IndirectionOffset = 0;
    size_t m_RowsOffset = 0;
    size_t m_TaskBytes = 0;
    Scratch m_Scratch;
};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const ref::MatMulGeometry g(args);
    if (g.IsEmpty() || g.m_Depth == 0 || g.m_Depth > MaxDepth || g.m_Output.m_Column != 1)
    {
        return backends::Prepared::Declined("its matrices are empty or too deep, or columns of the output lie apart");
    }
    BatchedGemmInt16 products(g, args);
    const size_t bytes = products.GetScratchBytes();
    return {std::move(products), bytes};
}

} // namespace

extern const backends::Kernel CpuBatchMatMulInt16Kernel = {
    .m_Name = "CpuBatchMatMulInt16", .m_Types = Types, .m_Prepare = Prepare, .m_Reference = &ref::RefBatchMatMulKernel};

} // namespace tenon::cpu
