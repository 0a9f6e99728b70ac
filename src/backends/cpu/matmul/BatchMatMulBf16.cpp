// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of CpuAcc for two bfloat16 matrices that both change from run to run: BatchedGemm by the processor's bf16
// dot products, summed in float32. Without such instructions, and for few rows, BatchMatMulF16 multiplies them as
// floats.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/gemm/driver/GemmBf16.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsBf16.hpp"
#include "backends/cpu/matmul/BatchedGemm.hpp"
#include "backends/cpu/move/TransposeVectors.hpp"
#include "backends/cpu/weights/WeightsCheckFloat.hpp"
#include "backends/reference/Kernels.hpp"

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow Types[] = {backends::SameType(DataType::BFloat16, 2)};

/// With fewer rows packing y takes a large share of the time.
constexpr size_t MinRows = 5;

/// Traits for BatchedGemm.
struct BatchedGemmTraitsBf16
{
    using Element = uint16_t;
    using Panels = PanelsBf16;
    using Gemm = GemmBf16;
    static constexpr double Speedup = 4;
    static constexpr bool HasEpilogue = false;

    static size_t CountPanels(const Panels& panels) { return panels.GetPanels(); }
    static size_t CountElements(const Panels& panels, const IndexRange& part) { return panels.GetElements(part); }
    static void Pack(const Panels& panels, const IndexRange& part, const uint16_t* y, WeightOrder order, size_t stride,
                     uint16_t* to)
    {
        for (size_t panel = part.m_Begin; panel < part.m_End; ++panel)
        {
            panels.Pack(panel, y, order, stride, to);
            to += panels.GetElements({panel, panel + 1});
        }
    }
    // Dot products take pairs of rows of y, which packing interleaves.
    static size_t FindInPlaceStride(const ref::MatMulGeometry&) { return 0; }
    static void Transpose(const uint16_t* x, size_t stride, size_t rows, size_t depth, uint16_t* to)
    {
        TransposeElements<sizeof(uint16_t)>(reinterpret_cast<const std::byte*>(x), stride * sizeof(uint16_t), rows,
                                            depth, reinterpret_cast<std::byte*>(to), depth * sizeof(uint16_t));
    }
    static void Release(const Panels& panels) { panels.GetMicrokernels().m_Release(); }
};

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const ref::MatMulGeometry g(args);
    if (g.IsEmpty() || g.m_Depth == 0 || g.m_Rows < MinRows || !g.m_X.IsContiguous() || !g.m_Y.IsContiguous() ||
        g.m_Output.m_Column != 1)
    {
        return backends::Prepared::Declined(
            "its matrices are empty or have too few rows, or rows and columns lie apart");
    }
    BatchedGemm<BatchedGemmTraitsBf16> products(g, args.m_MaxThreads);
    const size_t bytes = products.GetScratchBytes();
    return {std::move(products), bytes};
}

} // namespace

extern const backends::Kernel CpuBatchMatMulBf16Kernel = {.m_Name = "CpuBatchMatMulBf16",
                                                          .m_Types = Types,
                                                          .m_Prepare = Prepare,
                                                          .m_CheckMachine = CheckBf16Products,
                                                          .m_Reference = &ref::RefBatchMatMulKernel};

} // namespace tenon::cpu
