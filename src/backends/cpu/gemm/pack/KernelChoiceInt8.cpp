// SPDX-License-Identifier: Apache-2.0
// See KernelChoiceInt8.hpp.
#include "backends/cpu/gemm/pack/KernelChoiceInt8.hpp"

#include "backends/cpu/gemm/pack/PermutedWeightsInt8.hpp"

#include <limits>
#include <optional>
#include <utility>

namespace tenon::cpu
{

namespace
{

/// With so few rows most of the time is reading the weights from memory, and no layout is shorter than the bytes
/// themselves.
constexpr size_t FewProductRows = 4;
/// Counterpart of GemmFactsInt8::FewColumnsOfDots for sign transfer.
constexpr size_t FewColumnsOfSignTransfer = 5;
/// For rows of this many bytes, horizontal sums cost less than the cache space of complement blocks.
constexpr size_t DeepRows = 2048;
constexpr size_t FewColumnsOfDeepRows = 8;
constexpr size_t MinDepthOfColumn = 32;
/// Larger weights come from beyond the second-level cache, faster from huge pages than from those of a file.
constexpr size_t MaxUnpackedBytes = size_t{512} << 10;
/// Permuting weights takes as long as a few dozen inferences with fewer rows would gain, unless the depth is large.
constexpr size_t ManyRows = 16;
constexpr size_t LargeDepth = 1024;
/// Making complement blocks takes as long as multiplying one vector of columns by them, unless they are made once for
/// all pixels that read them.
constexpr size_t FewVectors = 2;
/// Dot products of 8-bit weights are as fast as those of 4-bit weights, whose only gain is fewer bytes from memory.
constexpr size_t FewRowsOfInt4 = 4;

/// With AMX: a step of the tile registers takes 64 values of the depth, and sums go through memory. Measured, times of
/// AMX by those of VNNI: 1.14 to 1.34 at a depth of 16 and 24 with 96 and 144 columns, 1.03 to 1.08 at 32 and 40 with
/// 64 to 240, 0.66 to 0.98 with at most two vectors of columns; 0.69 at a depth of 64; 1.25 to 1.35 for one row.
constexpr size_t ShallowDepth = 40;

using Role = KernelRoleInt8;

class Chooser
{
public:
    Chooser(const GemmFactsInt8& facts, const KernelRowsInt8& rows, const WeightQuestionsInt8& questions)
        : m_Facts(facts), m_Rows(rows), m_Questions(questions),
          m_SignTransfer(rows.Find(facts.m_IsDataSigned ? Role::SignTransferInt8 : Role::SignTransferUInt8)),
          m_IsInt8(!facts.m_IsInt4 && !facts.m_IsTransposed),
          m_HasCentredWeights(facts.m_IsWeightSigned && facts.m_WeightZeroPoint == 0),
          m_HasSameSigns(facts.m_IsDataSigned == facts.m_IsWeightSigned), m_HasFewRows(facts.m_Rows <= FewProductRows)
    {
    }

    KernelChoiceInt8 Choose()
    {
        if (m_Facts.m_HasBlocks)
        {
            ChooseForBlocks();
        }
        else if (!ChooseForFewRows() && !ChooseForInt16Sums())
        {
            ChooseByTypes();
        }
        return std::move(m_Choice);
    }

private:
    /// Rule 0.
    void ChooseForBlocks()
    {
        const KernelRowInt8* const oneRow =
            m_Facts.m_IsInt4 && m_Facts.m_Rows == 1 ? m_Rows.Find(Role::Int4BlocksOneRow) : nullptr;
        Take(oneRow != nullptr ? oneRow : m_Rows.Find(m_Facts.m_IsInt4 ? Role::Int4Blocks : Role::Int8Blocks),
             "a scale per block");
    }

    /// Rules 1 and 2.
    bool ChooseForFewRows()
    {
        const KernelRowInt8* const unpacked =
            m_Rows.Find(m_Facts.m_IsDataSigned ? Role::UnpackedInt8 : Role::UnpackedUInt8);
        const bool mayStay = unpacked != nullptr && MayStayUnpacked(*unpacked);
        const char* const reason =
            m_HasFewRows ? "few rows, weights of the model in place" : "few columns, weights of the model in place";
        if (mayStay && unpacked->TakesAnyMinWeights())
        {
            return Take(unpacked, reason);
        }
        if (m_SignTransfer == nullptr || !m_IsInt8 || !(m_HasFewRows || mayStay) || !m_HasSameSigns)
        {
            return false;
        }
        const KernelRowInt8* const row = mayStay ? unpacked : m_SignTransfer; // neither takes -128
        return CountMinWeights() == 0 ? Take(row, mayStay                    ? reason
                                                  : m_Facts.m_IsWeightSigned ? "few rows, no weight is -128"
                                                                             : "few rows, no weight is 0")
                                      : Decline(row, m_Facts.m_IsWeightSigned ? "a weight is -128" : "a weight is 0");
    }

    bool MayStayUnpacked(const KernelRowInt8& row)
    {
        const bool hasFewColumns = m_Facts.m_Columns <= GetFewColumns(row) && !m_Facts.m_IsHybrid &&
                                   m_Facts.m_Depth >= MinDepthOfColumn * m_Facts.m_Columns;
        if (!m_Facts.m_MayStayUnpacked || !m_IsInt8 || !m_HasSameSigns || (!m_HasFewRows && !hasFewColumns) ||
            m_Facts.m_Matrices != 1)
        {
            return false;
        }
        if (m_Facts.m_Depth < row.m_MinDepth)
        {
            return Decline(&row, "the depth is below 64");
        }
        return m_Facts.m_Columns * m_Facts.m_Depth <= MaxUnpackedBytes ||
               Decline(&row, "the weights are larger than 512 KiB");
    }

    /// Maximum number of columns for which weights may stay unpacked, whatever the number of rows.
    size_t GetFewColumns(const KernelRowInt8& unpacked) const
    {
        if (unpacked.TakesAnyMinWeights())
        {
            return GemmFactsInt8::FewColumnsOfDots;
        }
        return m_Facts.m_IsDataSigned && m_Facts.m_Depth >= DeepRows ? FewColumnsOfDeepRows : FewColumnsOfSignTransfer;
    }

    /// Rules 3 to 5: sums of products in int16.
    bool ChooseForInt16Sums()
    {
        const KernelRowInt8* const permuted = m_Rows.Find(Role::Permuted);
        const bool isPaidBack = m_Facts.m_Rows >= ManyRows || (!m_HasFewRows && m_Facts.m_Depth >= LargeDepth);
        const bool isBothSigned = m_IsInt8 && m_HasCentredWeights && m_Facts.m_IsDataSigned;
        const bool mayPermute = permuted != nullptr && isBothSigned && isPaidBack &&
                                m_Facts.m_Depth >= PermutedWeightsInt8::MinDepth &&
                                m_Facts.m_Depth <= PermutedWeightsInt8::MaxDepth;
        // Weights with a scale for each channel usually have too many terms.
        const bool hasFewTerms = !(mayPermute && m_Facts.m_HasScales);
        const KernelRowInt8* const split = m_Rows.Find(m_Facts.m_IsDataSigned ? Role::SplitInt8 : Role::SplitUInt8);
        if (split != nullptr && m_IsInt8 && hasFewTerms && !(m_HasFewRows && m_HasCentredWeights))
        {
            if (m_Questions.m_IsSplitWorthwhile(*split))
            {
                return Take(split, "few weights overflow int16 pairs");
            }
            Decline(split, "many weights overflow int16 pairs");
        }
        if (!mayPermute)
        {
            return false;
        }
        const size_t minWeights = CountMinWeights();
        if (m_SignTransfer != nullptr && m_Facts.m_Columns <= FewVectors * m_Rows.m_Lanes * m_Facts.m_Matrices &&
            !m_Facts.m_SharesComplementBlocks)
        {
            if (minWeights == 0)
            {
                return Take(m_SignTransfer, "few columns, no weight is -128");
            }
            Decline(m_SignTransfer, "a weight is -128");
        }
        return minWeights <= permuted->m_MaxMinWeights ? Take(permuted, "many rows, int8 weights without a zero point")
                                                       : Decline(permuted, "more than two of eight weights are -128");
    }

    /// Rules 6 to 10.
    void ChooseByTypes()
    {
        const KernelRowInt8* const plain = m_Rows.Find(m_Facts.m_IsDataSigned ? Role::Int8 : Role::UInt8);
        const bool hasDots = m_Rows.Find(Role::Int8)->m_Layout == WeightLayoutInt8::Int8x4;
        const KernelRowInt8* const int4 = m_Rows.Find(Role::Int4);
        if (m_Facts.m_IsInt4 && int4 != nullptr && !m_Facts.m_IsTransposed)
        {
            if (m_Facts.m_Rows <= (hasDots ? FewRowsOfInt4 : std::numeric_limits<size_t>::max()))
            {
                const KernelRowInt8* const oneRow = m_Facts.m_Rows == 1 ? m_Rows.Find(Role::Int4OneRow) : nullptr;
                Take(oneRow != nullptr ? oneRow : int4, hasDots ? "4-bit weights, few rows" : "4-bit weights");
                return;
            }
            Decline(int4, "more than four rows, unpacking to bytes is faster");
        }
        const KernelRowInt8* const int8x2 = m_Rows.Find(Role::Int8x2);
        const KernelRowInt8* const hybrid = m_Rows.Find(Role::Hybrid);
        if (int8x2 != nullptr && !m_Facts.m_IsTransposed && m_HasCentredWeights)
        {
            Take(int8x2, "int8 weights without a zero point, widened on load");
        }
        else if (hybrid != nullptr && m_Facts.m_IsDataFloat)
        {
            Take(hybrid, "float data, quantized biased by 128");
        }
        else if (const KernelRowInt8* const shallow =
                     m_Rows.Find(m_Facts.m_IsDataSigned ? Role::ShallowInt8 : Role::ShallowUInt8);
                 shallow != nullptr && (m_HasFewRows || IsShallow()))
        {
            Take(shallow, m_HasFewRows ? "few rows, too few for tile registers" : "a short depth for tile registers");
        }
        else
        {
            Take(plain, hasDots ? "dot products of bytes" : "no dot products of bytes");
        }
    }

    bool IsShallow() const
    {
        return m_Facts.m_Depth <= ShallowDepth && m_Facts.m_Columns > FewVectors * m_Rows.m_Lanes * m_Facts.m_Matrices;
    }

    size_t CountMinWeights()
    {
        m_MinWeights = m_MinWeights ? *m_MinWeights : m_Questions.m_CountMinWeights();
        return *m_MinWeights;
    }

    /// Returns true.
    bool Take(const KernelRowInt8* row, const char* reason)
    {
        m_Choice.m_Row = row;
        m_Choice.m_Reason = reason;
        return true;
    }
    /// Returns false.
    bool Decline(const KernelRowInt8* row, const char* reason)
    {
        m_Choice.m_Declined.push_back({row, reason});
        return false;
    }

    const GemmFactsInt8& m_Facts;
    const KernelRowsInt8& m_Rows;
    const WeightQuestionsInt8& m_Questions;
    const KernelRowInt8* m_SignTransfer; ///< null: none
    bool m_IsInt8;                       ///< weights of 8 bits, not transposed
    bool m_HasCentredWeights;
    bool m_HasSameSigns; ///< data and weights
    bool m_HasFewRows;
    std::optional<size_t> m_MinWeights;
    KernelChoiceInt8 m_Choice;
};

} // namespace

std::string KernelChoiceInt8::Describe(const char* path) const
{
    std::string text = m_Row->m_Name + (path != nullptr ? ", " + std::string(path) : "") + ": " + m_Reason;
    for (const Declined& declined : m_Declined)
    {
        text += (&declined == m_Declined.data() ? " (not " : "; not ") + std::string(declined.m_Row->m_Name) + ": " +
                declined.m_Reason;
    }
    return text + (m_Declined.empty() ? "" : ")");
}

KernelChoiceInt8 ChooseGemmInt8(const GemmFactsInt8& facts, const KernelRowsInt8& rows,
                                const WeightQuestionsInt8& questions)
{
    return Chooser(facts, rows, questions).Choose();
}

} // namespace tenon::cpu
