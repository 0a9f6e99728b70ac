// SPDX-License-Identifier: Apache-2.0
// FusedAttentionF32: BatchMatMul, Add, Softmax and BatchMatMul of floats as one step,
//     out = softmax(beta * (queries * keys^T + mask)) * values
// for a panel of queries at a time ("FlashAttention": Dao et al., 2022). The scores of a panel are a block
// [keys][width] that stays in the first-level cache; the block is the packed panel [depth][width] of the second
// product. BatchMatMul prepares it as FusionHooks::m_MakeAttention.
#pragma once

#include "backends/cpu/gemm/kernels/f32/MicrokernelsF32.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/Fusion.hpp>

#include <cstddef>
#include <optional>

namespace tenon::cpu
{

/// out[count][width] = rows[count][depth] * panel[depth][width], with the GEMM microkernels `microkernels`; width =
/// vectors * lanes. Attention calls it as well.
void MultiplyByPanel(const MicrokernelsF32& microkernels, size_t vectors, const float* rows, size_t stride,
                     size_t count, size_t depth, const float* panel, float* out);
/// Packs a panel: to[row][query] = from[query][row]. Queries beyond `queries` are zeros up to the width.
void TransposeToPanel(const float* from, size_t stride, size_t rows, size_t queries, float* to, size_t width);

/// One fused attention of known shapes. Tasks are panels of queries.
class FusedAttentionF32
{
public:
    /// `scores`: the geometry of the first product. None if the shapes or the order of the matrices in memory are not
    /// supported.
    static std::optional<FusedAttentionF32> Make(const ref::MatMulGeometry& scores, const AttentionRest& rest);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// See FusionHooks::m_MakeAttention.
    void operator()(const ExecuteArgs& args) const;

private:
    /// The mask that is added to scores.
    enum class Added : uint8_t
    {
        Nothing,
        OfKeys, ///< one number a key
        All
    };
    struct Buffers;

    FusedAttentionF32(const ref::MatMulGeometry& scores, const ref::MatMulGeometry& values, const AttentionRest& rest,
                      Added added);

    void RunQueries(const ExecuteArgs& args, size_t first, const Buffers& buffers) const;
    void FindRows(const ExecuteArgs& args, Buffers& buffers) const;
    void Multiply(const float* rows, size_t stride, size_t count, size_t depth, const float* panel, float* out) const
    {
        MultiplyByPanel(*m_Microkernels, m_Vectors, rows, stride, count, depth, panel, out);
    }

    ref::MatMulGeometry m_Scores;
    ref::MatMulGeometry m_Values;
    float m_Beta;
    int m_Log2Divisor; ///< exponentials are divided by 2^this: sums of their products with values do not exceed these
    Added m_Added;
    const MicrokernelsF32* m_Microkernels;
    size_t m_Vectors; ///< vectors of a panel
    size_t m_Width;   ///< queries of a panel
    size_t m_Tasks;   ///< ranges of panels, each on a thread of its own
    size_t m_KeysOffset = 0;
    size_t m_ValuesOffset = 0;
    size_t m_TasksOffset = 0;
    size_t m_TaskBytes = 0;
    size_t m_BlockOffset = 0; ///< offset in the memory of a task, as the next three
    size_t m_AddedOffset = 0;
    size_t m_FactorsOffset = 0;
    size_t m_OutOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
