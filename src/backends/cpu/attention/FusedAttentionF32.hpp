// SPDX-License-Identifier: Apache-2.0
// An attention of floats, softmax(beta * (queries * keys + added)) * values, for a vector of queries at a time: their
// scores are columns of a block that stays in the first-level cache, and that is a packed panel of the second product.
// Used by BatchMatMul.
#pragma once

#include "backends/cpu/gemm/kernels/f32/MicrokernelsF32.hpp"
#include "backends/reference/kernels/MatMulGeometry.hpp"

#include <tenon/backend/Fusion.hpp>

#include <cstddef>
#include <optional>

namespace tenon::cpu
{

/// out[count][width] = rows * panel, for a panel of `vectors` vectors of the engine: [depth][width].
void MultiplyByPanel(const EngineF32& engine, size_t vectors, const float* rows, size_t stride, size_t count,
                     size_t depth, const float* panel, float* out);
/// to[row][query] = from[query][row], and zeros for queries that fill up the width.
void TurnQueries(const float* from, size_t stride, size_t rows, size_t queries, float* to, size_t width);

class AttentionF32
{
public:
    /// `scores`: of the first product. None where shapes or the order of matrices in memory are not of the kind that
    /// this takes.
    static std::optional<AttentionF32> Make(const ref::MatMulGeometry& scores, const AttentionRest& rest);

    size_t GetScratchBytes() const { return m_ScratchBytes; }
    /// See FusionHooks::m_MakeAttention.
    void operator()(const ExecuteArgs& args) const;

private:
    /// What is added to scores.
    enum class Added : uint8_t
    {
        Nothing,
        OfKeys, ///< the same for all queries
        All
    };
    struct Buffers;

    AttentionF32(const ref::MatMulGeometry& scores, const ref::MatMulGeometry& values, const AttentionRest& rest,
                 Added added);

    void RunQueries(const ExecuteArgs& args, size_t first, const Buffers& buffers) const;
    void FindRows(const ExecuteArgs& args, Buffers& buffers) const;
    void Multiply(const float* rows, size_t stride, size_t count, size_t depth, const float* panel, float* out) const
    {
        MultiplyByPanel(*m_Engine, m_Vectors, rows, stride, count, depth, panel, out);
    }

    ref::MatMulGeometry m_Scores;
    ref::MatMulGeometry m_Values;
    float m_Beta;
    int m_Halvings; ///< of powers, so that no sum of their products with values is larger than these
    Added m_Added;
    const EngineF32* m_Engine;
    size_t m_Vectors; ///< of queries at a time
    size_t m_Width;   ///< so many queries
    size_t m_Parts;   ///< of the queries, on threads of their own
    size_t m_KeysOffset = 0;
    size_t m_ValuesOffset = 0;
    size_t m_PartsOffset = 0;
    size_t m_PartBytes = 0;
    size_t m_BlockOffset = 0; ///< in a part's
    size_t m_AddedOffset = 0;
    size_t m_FactorsOffset = 0;
    size_t m_OutOffset = 0;
    size_t m_ScratchBytes = 0;
};

} // namespace tenon::cpu
