// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of CpuAcc for bytes, the bytes of the reference kernel: y is packed as it runs, some panels of columns at
// a time, and blocks of rows of x are laid out as the tiles read them.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/bytes/MatrixPanels8.hpp"
#include "backends/cpu/gemm/bytes/PanelSums8.hpp"
#include "backends/cpu/gemm/bytes/RequantizeArrays.hpp"
#include "backends/cpu/kernels/MatMulUnits.hpp"
#include "backends/reference/CpuRefBackend.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace tenon::cpu
{

namespace
{

using backends::Scratch;

constexpr backends::TypeSet SignedBytes = {DataType::QAsymmS8, DataType::QSymmS8};
constexpr backends::TypeRow Types[] = {
    backends::WithScales(backends::Types({DataType::QAsymmU8, DataType::QAsymmU8}, DataType::QAsymmU8),
                         {backends::Scales::PerTensor}, backends::Scales::PerTensor),
    backends::WithScales(backends::Types({SignedBytes, SignedBytes}, SignedBytes), {backends::Scales::PerTensor},
                         backends::Scales::PerTensor),
};

/// Bytes of packed panels that a thread has at a time: half of a second-level cache of 512 KiB.
constexpr size_t PackedBytes = 256 * 1024;
/// Bytes of x that are laid out at a time.
constexpr size_t BlockBytes = 64 * 1024;
constexpr size_t MostBlockRows = 512;

bool IsSigned(const TensorInfo& info)
{
    return info.GetDataType() != DataType::QAsymmU8;
}

/// What no sum of a product exceeds.
int64_t GetMostSum(const ref::MatMulGeometry& geometry)
{
    return static_cast<int64_t>(geometry.m_Depth) * 255 * 255;
}

/// The products of all batches, cut into units: of a batch, a group of panels of y by a part of the rows. The units
/// that a packed group serves, of all batches with the same matrix y, lie one after the other.
class ByteProducts
{
public:
    ByteProducts(const ref::MatMulGeometry& geometry, const ReshapeArgs& args)
        : m_Geometry(geometry), m_IsSigned(IsSigned(args.GetInput(0))),
          m_ZeroX(args.GetInput(0).GetQuantizationOffset()),
          m_Panels(std::make_shared<MatrixPanels8>(m_IsSigned, geometry.m_Columns, geometry.m_Depth,
                                                   IsSigned(args.GetInput(1)),
                                                   args.GetInput(1).GetQuantizationOffset())),
          m_Arrays(std::make_shared<RequantizeArrays>(m_Panels->GetMostWidth(), Rounding8::FixedPoint,
                                                      args.GetOutput(0).GetQuantizationOffset()))
    {
        const double scale = GetProductScale(args);
        for (size_t place = 0; place < m_Panels->GetMostWidth(); ++place)
        {
            m_Arrays->Set(place, GetMostSum(geometry), 0, scale);
        }
        Cut();
        const TileSet8& tiles = m_Panels->GetTiles();
        m_Pitch = m_Panels->GetGroups() * tiles.GetGroupDepth();
        m_Stride = m_Pitch * (tiles.IsWide() ? sizeof(int16_t) : 1);
        const size_t tileRows = tiles.m_Rows[m_Panels->Get().front().m_Vectors];
        m_BlockRows = std::clamp<size_t>(BlockBytes / m_Stride, 1, std::min(MostBlockRows, m_Geometry.m_Rows));
        m_BlockRows = DivideUp(m_BlockRows, tileRows) * tileRows;
        size_t packed = 0;
        for (size_t group = 0; group < m_Groups; ++group)
        {
            packed = std::max(packed, m_Panels->GetBytes(GetPart(m_Panels->Get().size(), m_Groups, group)));
        }
        Scratch part;
        part.Add<std::byte>(packed);
        m_BiasOffset = part.Add<int32_t>(DivideUp(m_Panels->Get().size(), m_Groups), m_Panels->GetMostWidth());
        m_BlockOffset = part.Add<std::byte>(m_BlockRows + TileSet8::MostRows, m_Stride); // tiles read whole ones
        m_BytesOffset = part.Add<uint8_t>(tiles.IsWide() ? m_Pitch : 0);
        m_TermsOffset = part.Add<int32_t>(m_BlockRows);
        m_SliceOffset = part.Add<std::byte>(m_Panels->GetSliceBytes(geometry.m_Y.m_Column));
        m_PartBytes = part.GetBytes();
        m_Scratch.AddParts(part, m_Parts);
    }

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }

    void operator()(const ExecuteArgs& args) const
    {
        RunUnits(args, GetUnits(), m_Parts, m_PartBytes,
                 [&](const Part& units, std::byte* scratch) { RunPart(args, units, scratch); });
    }

private:
    size_t GetUnits() const { return m_Geometry.m_NumBatches * m_Groups * m_RowParts; }

    /// Finds groups of panels, and parts of rows: as few as keep packed panels in the cache and all threads busy.
    void Cut()
    {
        const ref::MatMulGeometry& g = m_Geometry;
        const size_t panels = m_Panels->Get().size();
        const double outputs =
            static_cast<double>(g.m_NumBatches) * static_cast<double>(g.m_Rows) * static_cast<double>(g.m_Columns);
        // Sums become bytes in the time of some multiplications.
        m_Parts = std::min(GetMostParts(), GetWorthwhileParts(outputs * (static_cast<double>(g.m_Depth) / 2 + 32)));
        const size_t forCache = DivideUp(m_Panels->GetBytes(Part{0, panels}), PackedBytes);
        const size_t forThreads = DivideUp(m_Parts, g.m_NumBatches);
        m_Groups = std::min(panels, std::max(forCache, forThreads));
        m_RowParts = CountRowParts(DivideUp(m_Parts, g.m_NumBatches * m_Groups), g.m_Rows);
        m_Parts = std::min(m_Parts, GetUnits());
    }

    void RunPart(const ExecuteArgs& args, const Part& units, std::byte* scratch) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        const TileSet8& tiles = m_Panels->GetTiles();
        if (tiles.m_Begin != nullptr)
        {
            tiles.m_Begin();
        }
        const size_t length = g.CountBatchesOf() * m_RowParts; // of a run of units with one group of one matrix
        for (size_t unit = units.m_Begin; unit < units.m_End; ++unit)
        {
            const size_t run = unit / length;
            const ref::MatMulGeometry::Batch batch = g.GetBatchOf(run / m_Groups, unit % length / m_RowParts);
            const size_t group = run % m_Groups;
            const Part panels = GetPart(m_Panels->Get().size(), m_Groups, group);
            const Part rows = GetPart(g.m_Rows, m_RowParts, unit % m_RowParts);
            if (unit == units.m_Begin || unit % length == 0)
            {
                Pack(args.GetInput<uint8_t>(1) + g.GetMatrixY(batch.m_MatrixY), panels, scratch);
            }
            for (size_t first = rows.m_Begin; first < rows.m_End; first += m_BlockRows)
            {
                const size_t count = std::min(m_BlockRows, rows.m_End - first);
                const uint8_t* x = args.GetInput<uint8_t>(0) + batch.m_X + first * g.m_X.m_Row;
                LayOut(x, count, scratch);
                RunPanels(panels, count, args.GetOutput<uint8_t>(0) + batch.m_Output + first * g.m_Output.m_Row,
                          scratch);
            }
        }
        if (tiles.m_End != nullptr)
        {
            tiles.m_End();
        }
    }

    void Pack(const uint8_t* y, const Part& panels, std::byte* scratch) const
    {
        std::byte* packed = scratch;
        auto* bias = Scratch::At<int32_t>(scratch, m_BiasOffset);
        for (size_t p = panels.m_Begin; p < panels.m_End; ++p)
        {
            const Panel8& panel = m_Panels->Get()[p];
            m_Panels->Pack(panel, {y, m_Geometry.m_Y.m_Row, m_Geometry.m_Y.m_Column}, m_ZeroX, packed, bias,
                           Scratch::At<std::byte>(scratch, m_SliceOffset));
            packed += m_Panels->GetBytes(panel);
            bias += m_Panels->GetMostWidth();
        }
    }

    /// Rows of x, and what is to be added to the sums of each.
    void LayOut(const uint8_t* x, size_t count, std::byte* scratch) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        const bool isWide = m_Panels->GetTiles().IsWide();
        auto* const block = Scratch::At<std::byte>(scratch, m_BlockOffset);
        auto* const bytes = Scratch::At<uint8_t>(scratch, m_BytesOffset);
        for (size_t row = 0; row < count; ++row, x += g.m_X.m_Row)
        {
            std::byte* const to = block + row * m_Stride;
            const uint8_t* from = x;
            if (g.m_X.m_Column != 1 || !isWide)
            {
                auto* const stored = isWide ? bytes : reinterpret_cast<uint8_t*>(to);
                CopyRow(x, stored);
                from = stored;
            }
            if (isWide)
            {
                auto* const wide = reinterpret_cast<int16_t*>(to);
                GetEngine8().m_Widen(from, g.m_Depth, m_IsSigned, m_ZeroX, wide);
                std::fill(wide + g.m_Depth, wide + m_Pitch, int16_t{0});
            }
        }
        if (m_Panels->GetRowFactor() != 0)
        {
            GetEngine8().m_SumRows(block, m_Stride, count, g.m_Depth, m_IsSigned, m_Panels->GetRowFactor(),
                                   Scratch::At<int32_t>(scratch, m_TermsOffset));
        }
    }

    void CopyRow(const uint8_t* x, uint8_t* to) const
    {
        const ref::MatMulGeometry& g = m_Geometry;
        if (g.m_X.m_Column == 1)
        {
            std::memcpy(to, x, g.m_Depth);
        }
        for (size_t k = 0; g.m_X.m_Column != 1 && k < g.m_Depth; ++k)
        {
            to[k] = x[k * g.m_X.m_Column];
        }
        std::memset(to + g.m_Depth, 0, m_Pitch - g.m_Depth);
    }

    void RunPanels(const Part& panels, size_t count, uint8_t* out, std::byte* scratch) const
    {
        const auto* const block = Scratch::At<std::byte>(scratch, m_BlockOffset);
        const auto* const terms = Scratch::At<int32_t>(scratch, m_TermsOffset);
        const auto* bias = Scratch::At<int32_t>(scratch, m_BiasOffset);
        const std::byte* packed = scratch;
        const size_t outStride = m_Geometry.m_Output.m_Row;
        RequantizeColumns columns = m_Arrays->From(0);
        columns.m_Min = m_IsSigned ? std::numeric_limits<int8_t>::min() : std::numeric_limits<uint8_t>::min();
        columns.m_Max = m_IsSigned ? std::numeric_limits<int8_t>::max() : std::numeric_limits<uint8_t>::max();
        for (size_t p = panels.m_Begin; p < panels.m_End; ++p)
        {
            const Panel8& panel = m_Panels->Get()[p];
            const size_t width = m_Panels->GetWidth(panel);
            SumPanel8({&m_Panels->GetTiles(), panel.m_Vectors, width, packed, m_Panels->GetGroups(), bias},
                      {block, m_Stride, count},
                      [&](const int32_t* sums, size_t row, size_t rows)
                      {
                          const int32_t* const ofRows = m_Panels->GetRowFactor() != 0 ? terms + row : nullptr;
                          GetEngine8().m_Requantize({sums, width, rows, panel.m_Columns, ofRows,
                                                     out + row * outStride + panel.m_Column, outStride, m_IsSigned},
                                                    columns);
                      });
            packed += m_Panels->GetBytes(panel);
            bias += m_Panels->GetMostWidth();
        }
    }

    ref::MatMulGeometry m_Geometry;
    bool m_IsSigned; ///< x, y and the output are
    int32_t m_ZeroX;
    std::shared_ptr<const MatrixPanels8> m_Panels;
    std::shared_ptr<RequantizeArrays> m_Arrays; ///< for any panel
    size_t m_Groups = 1;                        ///< of panels
    size_t m_RowParts = 1;                      ///< of a batch
    size_t m_Parts = 1;                         ///< with scratch memory of their own, which begins with packed panels
    size_t m_BlockRows = 1;
    size_t m_Pitch = 0;  ///< numbers of a row of x as it is laid out
    size_t m_Stride = 0; ///< bytes of it
    size_t m_BiasOffset = 0;
    size_t m_BlockOffset = 0;
    size_t m_BytesOffset = 0;
    size_t m_TermsOffset = 0;
    size_t m_SliceOffset = 0;
    size_t m_PartBytes = 0;
    Scratch m_Scratch;
};

SupportResult Check(const LayerView& layer)
{
    return ref::FindKernel(LayerType::BatchMatMul)->m_Check(layer);
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const ref::MatMulGeometry g(args);
    // Before anything is planned: what is not exact may be too large for that.
    const bool isExact = RequantizeArrays::IsExactFor(GetMostSum(g));
    const bool isPlain = (g.m_Y.m_Column == 1 || g.m_Y.m_Row == 1) && g.m_Output.m_Column == 1;
    if (!g.IsEmpty() && g.m_Depth != 0 && isExact && isPlain && !args.GetInput(1).HasMultipleQuantizationScales())
    {
        ByteProducts products(g, args);
        const size_t bytes = products.GetScratchBytes();
        return {std::move(products), bytes};
    }
    return ref::FindKernel(LayerType::BatchMatMul)->Prepare(args, nullptr);
}

} // namespace

extern const backends::Kernel CpuBatchMatMulBytesKernel = {"CpuBatchMatMulBytes", Types, Prepare, Check};

} // namespace tenon::cpu
