// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of CpuAcc for two float matrices that both change from run to run: y is packed as it runs, some panels of
// columns at a time, so that what is packed stays in the cache while all rows of x pass.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/Parts.hpp"
#include "backends/cpu/gemm/DotsF32.hpp"
#include "backends/cpu/gemm/ProductF32.hpp"
#include "backends/cpu/gemm/SumsF32.hpp"
#include "backends/cpu/moves/TransposeVectors.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr backends::TypeRow Types[] = {
    backends::Types({DataType::Float32, DataType::Float32}, DataType::Float32),
};

/// Bytes of packed panels that a thread has at a time: half of a second-level cache of 1 MiB.
constexpr size_t PackedBytes = 512 * 1024;
/// Bytes of x that a thread turns around at a time: in pieces of a third-level cache, as each repeats the packing of y.
constexpr size_t TurnedBytes = 8 * 1024 * 1024;
/// A few columns of a great depth take many times their memory when they are packed: fewer threads do that then.
constexpr size_t MostScratchBytes = 64 * 1024 * 1024;
/// Packing a panel should be little beside what is computed with it.
constexpr size_t LeastRows = 64;

/// Whether rows or columns are contiguous.
bool IsContiguous(const ref::MatMulGeometry::Strides& strides)
{
    return strides.m_Column == 1 || strides.m_Row == 1;
}

/// The products of all batches, cut into units: of a batch, some panels of y by some rows of x.
class Products
{
public:
    explicit Products(const ref::MatMulGeometry& geometry)
        : m_Geometry(geometry),
          m_Panels(std::make_shared<PanelsF32>(WeightSizes{1, geometry.m_Columns, geometry.m_Depth})),
          m_TurnsX(geometry.m_X.m_Column != 1), m_Product(*m_Panels, MakeRows(), DivideUp(geometry.m_Rows, Cut()))
    {
        OutputPlace place;
        place.m_PixelStride = geometry.m_Output.m_Row;
        m_Product.SetPlace(place);

        Scratch part;
        size_t packed = 0;
        for (size_t group = 0; group < m_Groups; ++group)
        {
            packed = std::max(packed, GetPackedFloats(GetPart(m_Panels->Get().size(), m_Groups, group)));
        }
        part.Add<float>(packed);
        m_TurnedOffset = part.Add<float>(m_TurnsX ? DivideUp(geometry.m_Rows, m_RowParts) : 0, geometry.m_Depth);
        m_ProductOffset = part.Add<std::byte>(m_Product.GetPartBytes());
        m_PartBytes = part.GetBytes();
        m_Parts = std::clamp<size_t>(MostScratchBytes / m_PartBytes, 1, m_Parts);
        m_Scratch.AddParts(part, m_Parts);
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }

    void operator()(const ExecuteArgs& args) const
    {
        const size_t parts = std::min<size_t>(m_Parts, args.m_Parallel->GetNumThreads());
        RunParts(*args.m_Parallel, parts,
                 [&](size_t index) { RunPart(args, GetPart(GetUnits(), parts, index), index); });
    }

private:
    size_t GetUnits() const { return m_Geometry.m_NumBatches * m_Groups * m_RowParts; }

    Windows MakeRows() const
    {
        Windows rows = MakeRowWindows(m_Geometry.m_Rows, m_Geometry.m_Depth);
        rows.m_Channels = static_cast<int64_t>(m_TurnsX ? m_Geometry.m_Depth : m_Geometry.m_X.m_Row);
        return rows;
    }

    /// Finds groups of panels and parts of rows: as few as keep packed panels in the cache and all threads busy.
    /// Returns m_RowParts.
    size_t Cut()
    {
        const ref::MatMulGeometry& g = m_Geometry;
        const size_t panels = m_Panels->Get().size();
        const double multiplications = static_cast<double>(g.m_NumBatches) * static_cast<double>(g.m_Rows) *
                                       static_cast<double>(g.m_Columns) * static_cast<double>(g.m_Depth);
        m_Parts = std::min(GetMostParts(), GetWorthwhileParts(multiplications));
        const size_t forCache = DivideUp(m_Panels->GetFloats() * sizeof(float), PackedBytes);
        const size_t forThreads = DivideUp(m_Parts, g.m_NumBatches);
        m_Groups = std::min(panels, std::max(forCache, forThreads));
        const size_t rowsForThreads = DivideUp(m_Parts, g.m_NumBatches * m_Groups);
        const size_t rowsForCache = m_TurnsX ? DivideUp(g.m_Rows * g.m_Depth * sizeof(float), TurnedBytes) : 1;
        m_RowParts =
            std::clamp<size_t>(std::max(rowsForThreads, rowsForCache), 1, std::max<size_t>(g.m_Rows / LeastRows, 1));
        m_Parts = std::min(m_Parts, GetUnits());
        return m_RowParts;
    }

    size_t GetPackedFloats(const Part& panels) const
    {
        size_t floats = 0;
        for (size_t p = panels.m_Begin; p < panels.m_End; ++p)
        {
            floats += m_Panels->GetFloats(m_Panels->Get()[p]);
        }
        return floats;
    }

    void RunPart(const ExecuteArgs& args, const Part& units, size_t index) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        auto* const scratch = static_cast<std::byte*>(args.m_Scratch) + index * m_PartBytes;
        auto* const packed = Scratch::At<float>(scratch, 0);
        auto* const turned = Scratch::At<float>(scratch, m_TurnedOffset);
        size_t packedMatrix = SIZE_MAX;
        size_t packedGroup = SIZE_MAX;
        const float* turnedX = nullptr;
        for (size_t unit = units.m_Begin; unit < units.m_End; ++unit)
        {
            const ref::MatMulGeometry::Batch batch = g.GetBatch(unit / (m_Groups * m_RowParts));
            const size_t group = unit / m_RowParts % m_Groups;
            const Part panels = GetPart(m_Panels->Get().size(), m_Groups, group);
            const Part rows = GetPart(g.m_Rows, m_RowParts, unit % m_RowParts);
            const size_t count = rows.m_End - rows.m_Begin;
            if (packedMatrix != batch.m_MatrixY || packedGroup != group)
            {
                Pack(args.GetInput<float>(1) + g.GetMatrixY(batch.m_MatrixY), panels, packed);
                packedMatrix = batch.m_MatrixY;
                packedGroup = group;
            }
            const float* x = args.GetInput<float>(0) + batch.m_X + rows.m_Begin * g.m_X.m_Row;
            if (m_TurnsX && turnedX != x)
            {
                TransposeFloats(x, g.m_X.m_Column, count, g.m_Depth, turned, g.m_Depth);
                turnedX = x;
            }
            m_Product.RunRange(m_TurnsX ? turned : x, packed,
                               args.GetOutput<float>(0) + batch.m_Output + rows.m_Begin * g.m_Output.m_Row,
                               {0, count, panels.m_Begin, panels.m_End}, scratch + m_ProductOffset);
        }
    }

    void Pack(const float* y, const Part& panels, float* packed) const
    {
        const ref::MatMulGeometry::Strides& strides = m_Geometry.m_Y;
        for (size_t p = panels.m_Begin; p < panels.m_End; ++p)
        {
            const PanelF32& panel = m_Panels->Get()[p];
            if (strides.m_Column == 1)
            {
                m_Panels->Pack(panel, y, WeightOrder::Depth, strides.m_Row, packed);
            }
            else
            {
                m_Panels->Pack(panel, y, WeightOrder::Columns, strides.m_Column, packed);
            }
            packed += m_Panels->GetFloats(panel);
        }
    }

    ref::MatMulGeometry m_Geometry;
    std::shared_ptr<const PanelsF32> m_Panels;
    bool m_TurnsX;
    size_t m_Groups = 1;   ///< of panels
    size_t m_RowParts = 1; ///< of a batch
    size_t m_Parts = 1;    ///< with scratch memory of their own
    ProductF32 m_Product;  ///< of a unit
    size_t m_TurnedOffset = 0;
    size_t m_ProductOffset = 0;
    size_t m_PartBytes = 0;
    Scratch m_Scratch;
};

/// The products of a few rows: y is read once, where it is.
struct FewRows
{
    ref::MatMulGeometry m_Geometry;
    size_t m_ColumnParts = 1; ///< of a batch
    size_t m_Grain = 1;       ///< of these

    explicit FewRows(const ref::MatMulGeometry& geometry) : m_Geometry(geometry)
    {
        const size_t bytes = geometry.m_Columns * geometry.m_Depth * sizeof(float);
        constexpr size_t LeastColumns = 64; // several cache lines of the output
        const size_t most = std::min(bytes / GetGrain(1), geometry.m_Columns / LeastColumns);
        m_ColumnParts =
            std::clamp<size_t>(DivideUp(GetMostParts(), geometry.m_NumBatches), 1, std::max<size_t>(most, 1));
        m_Grain = GetGrain(bytes / m_ColumnParts);
    }

    static bool Takes(const ref::MatMulGeometry& g)
    {
        return g.m_Rows <= SumsF32::MostRows &&
               (g.m_Y.m_Column == 1 || (g.m_Y.m_Column == g.m_Depth && g.m_X.m_Row == g.m_Depth));
    }

    void operator()(const ExecuteArgs& args) const
    {
        const auto range = [&](size_t begin, size_t end)
        {
            for (size_t unit = begin; unit < end; ++unit)
            {
                Multiply(args, m_Geometry.GetBatch(unit / m_ColumnParts),
                         GetPart(m_Geometry.m_Columns, m_ColumnParts, unit % m_ColumnParts));
            }
        };
        RunRanges(*args.m_Parallel, m_Geometry.m_NumBatches * m_ColumnParts, m_Grain, range);
    }

    void Multiply(const ExecuteArgs& args, const ref::MatMulGeometry::Batch& batch, const Part& columns) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        const float* x = args.GetInput<float>(0) + batch.m_X;
        const float* y = args.GetInput<float>(1) + g.GetMatrixY(batch.m_MatrixY) + columns.m_Begin * g.m_Y.m_Column;
        float* out = args.GetOutput<float>(0) + batch.m_Output + columns.m_Begin;
        const size_t count = columns.m_End - columns.m_Begin;
        if (g.m_Y.m_Column == 1)
        {
            RunSumsF32(
                {x, g.m_X.m_Row, g.m_X.m_Column, y, g.m_Y.m_Row, g.m_Rows, count, g.m_Depth, out, g.m_Output.m_Row});
        }
        else
        {
            RunDotsF32({x, y, nullptr, g.m_Rows, count, g.m_Depth, out, g.m_Output.m_Row});
        }
    }
};

SupportResult Check(const LayerView& layer)
{
    return ref::FindKernel(LayerType::BatchMatMul)->m_Check(layer);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const ref::MatMulGeometry g(args);
    if (g.IsEmpty() || g.m_Depth == 0 || !IsContiguous(g.m_X) || !IsContiguous(g.m_Y) || g.m_Output.m_Column != 1)
    {
        return ref::FindKernel(LayerType::BatchMatMul)->Prepare(args, nullptr);
    }
    if (FewRows::Takes(g))
    {
        return FewRows(g);
    }
    Products products(g);
    const size_t bytes = products.GetScratchBytes();
    return {std::move(products), bytes};
}

} // namespace

extern const backends::Kernel CpuBatchMatMulKernel = {"CpuBatchMatMul", Types, Prepare, Check};

} // namespace tenon::cpu
