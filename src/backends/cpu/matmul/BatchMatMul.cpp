// SPDX-License-Identifier: Apache-2.0
// BatchMatMul of CpuAcc for two float matrices that both change from run to run: see BatchedGemmF32.hpp. The kernel
// also offers fused attention (PrepareAttention).
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/attention/FusedAttentionF32.hpp"
#include "backends/cpu/matmul/BatchedGemmF32.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace tenon::cpu
{

namespace
{

constexpr backends::TypeRow Types[] = {
    backends::Types({DataType::Float32, DataType::Float32}, DataType::Float32),
};

backends::Prepared PrepareAttention(const ref::MatMulGeometry& scores, const AttentionRest& rest)
{
    std::optional<FusedAttentionF32> attention = FusedAttentionF32::Make(scores, rest);
    if (!attention)
    {
        return backends::Prepared::Declined("its matrices are not of the kind that a vector of queries takes");
    }
    const size_t bytes = attention->GetScratchBytes();
    backends::Prepared prepared(*std::move(attention), bytes);
    prepared.m_KernelName = "CpuAttention";
    return prepared;
}

backends::Prepared Prepare(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const ref::MatMulGeometry g(args);
    if (g.IsEmpty() || g.m_Depth == 0 || !g.m_X.IsContiguous() || !g.m_Y.IsContiguous() || g.m_Output.m_Column != 1)
    {
        return backends::Prepared::Declined("its matrices are empty, or rows and columns lie apart");
    }
    backends::Prepared prepared = PrepareBatchedGemmF32(g, args.m_MaxThreads);
    constexpr size_t MinQueries = 5; // fewer rows gain nothing from fused attention
    if (g.m_Rows < MinQueries && FewRowsF32::Takes(g))
    {
        return prepared;
    }
    prepared.m_MakeAttention = std::make_shared<const std::function<backends::Prepared(const AttentionRest&)>>(
        [g](const AttentionRest& rest) { return PrepareAttention(g, rest); });
    return prepared;
}

} // namespace

extern const backends::Kernel CpuBatchMatMulKernel = {
    .m_Name = "CpuBatchMatMul", .m_Types = Types, .m_Prepare = Prepare, .m_Reference = &ref::RefBatchMatMulKernel};

} // namespace tenon::cpu
