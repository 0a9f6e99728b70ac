// SPDX-License-Identifier: Apache-2.0
// Products of two matrices of bytes that both change from run to run, the bytes of the reference kernels: y is packed
// as it runs, some panels of columns at a time, and blocks of rows of x are laid out as the tiles read them. What
// BatchMatMul of bytes is, and layers whose weights are not constant.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/pack/MatrixPanelsInt8.hpp"
#include "backends/cpu/matmul/BatchedEpilogueInt8.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tenon::cpu
{

/// The products of all batches, cut into units: of a batch, a group of panels of y by a part of the rows. The units
/// that a packed group serves, of all batches with the same matrix y, lie one after the other.
class ByteProducts
{
public:
    /// Whether these can be multiplied so. `mostBias`: what no bias exceeds; with Rounding8::Double one of up to 2^29
    /// need not be counted. To be asked before anything is planned: what is not exact may be too large for that.
    static bool Takes(const ref::MatMulGeometry& geometry, int64_t mostBias = 0);

    /// Of inputs 0 and 1, all int8 or all uint8 but for int8 weights of either type, with one zero point each.
    ByteProducts(const ref::MatMulGeometry& geometry, const ReshapeArgs& args, const ByteEnds& ends);

    size_t GetScratchBytes() const { return m_Scratch.GetBytes(); }
    void operator()(const ExecuteArgs& args) const;

private:
    size_t GetUnits() const { return m_Geometry.m_NumBatches * m_Groups * m_RowParts; }
    void Cut(unsigned int maxThreads);
    void RunPart(const ExecuteArgs& args, const Part& units, std::byte* scratch) const;
    void Pack(const uint8_t* y, const int32_t* bias, const Part& panels, std::byte* scratch) const;
    /// Rows of x, and what is to be added to the sums of each.
    void LayOut(const uint8_t* x, size_t count, std::byte* scratch) const;
    void CopyRow(const uint8_t* x, uint8_t* to) const;
    void RunPanels(const Part& panels, size_t count, uint8_t* out, std::byte* scratch) const;

    ref::MatMulGeometry m_Geometry;
    bool m_IsSigned; ///< x, y and the output are
    int32_t m_ZeroX;
    ByteEnds m_Ends;
    std::shared_ptr<const MatrixPanels8> m_Panels;
    ColumnEnds8 m_Columns;
    size_t m_Groups = 1;   ///< of panels
    size_t m_RowParts = 1; ///< of a batch
    size_t m_Parts = 1;    ///< with scratch memory of their own, which begins with packed panels
    size_t m_BlockRows = 1;
    size_t m_Pitch = 0;  ///< numbers of a row of x as it is laid out
    size_t m_Stride = 0; ///< bytes of it
    size_t m_BiasOffset = 0;
    size_t m_BlockOffset = 0;
    size_t m_BytesOffset = 0;
    size_t m_TermsOffset = 0;
    size_t m_SliceOffset = 0;
    size_t m_PartBytes = 0;
    backends::Scratch m_Scratch;
};

} // namespace tenon::cpu
