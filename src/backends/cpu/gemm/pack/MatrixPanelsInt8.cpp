// SPDX-License-Identifier: Apache-2.0
// Packing of int8 matrices at run time. Where adjacent columns are contiguous, words are made from several rows at
// once, which compilers vectorize.
#include "backends/cpu/gemm/pack/MatrixPanelsInt8.hpp"

#include "backends/cpu/move/TransposeVectors.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace tenon::cpu
{

namespace
{

/// Value of the depth k of a column, at its position in a word: four bytes, or two int16 less the zero point.
template <bool IsDataInt16, typename T>
uint32_t ToPartOfWord(T value, size_t k, int32_t zeroPoint, uint8_t signXor)
{
    if constexpr (IsDataInt16)
    {
        return uint32_t{static_cast<uint16_t>(value - zeroPoint)} << (16 * k);
    }
    else
    {
        return uint32_t{static_cast<uint8_t>(static_cast<uint8_t>(value) ^ signXor)} << (8 * k);
    }
}

} // namespace

MatrixPanelsInt8::MatrixPanelsInt8(bool isDataSigned, size_t columns, size_t depth, bool isSigned, int32_t zeroPoint)
    : m_Tiles(&GetMicrokernelsInt8().GetPlain(isDataSigned)), m_Depth(depth),
      m_Groups(GetNumGroupsInt8(*m_Tiles, depth)), m_IsSigned(isSigned), m_ZeroPoint(zeroPoint),
      m_ZeroPointCorrection(*m_Tiles, isSigned, zeroPoint),
      m_Panels(CutPanelsInt8(columns, GetMicrokernelsInt8().m_Lanes, *m_Tiles))
{
}

size_t MatrixPanelsInt8::GetBytes(const IndexRange& panels) const
{
    size_t bytes = 0;
    for (size_t p = panels.m_Begin; p < panels.m_End; ++p)
    {
        bytes += GetBytes(m_Panels[p]);
    }
    return bytes;
}

size_t MatrixPanelsInt8::FindWord(size_t group, size_t column, size_t width) const
{
    const size_t beside = m_Tiles->m_ColumnGroups;
    return (group / beside * width + column) * beside + group % beside;
}

void MatrixPanelsInt8::PackColumns(const PanelInt8& panel, const MatrixInt8& matrix, std::byte* packed, int32_t* sums,
                                   std::byte* slice) const
{
    const size_t stride = m_Groups * 4;
    const uint8_t* const data = matrix.m_Data + panel.m_Column * matrix.m_ColumnStride;
    for (size_t c = 0; c < panel.m_Columns; ++c)
    {
        const uint8_t* const from = data + c * matrix.m_ColumnStride;
        std::byte* const to = slice + c * stride;
        const size_t bytes = m_Tiles->IsDataInt16() ? m_Depth * sizeof(int16_t) : m_Depth;
        if (m_Tiles->IsDataInt16())
        {
            GetMicrokernelsInt8().m_Widen(from, m_Depth, m_IsSigned, m_ZeroPoint, reinterpret_cast<int16_t*>(to));
        }
        else
        {
            std::transform(from, from + m_Depth, to,
                           [signXor = m_ZeroPointCorrection.m_SignXor](uint8_t byte)
                           { return static_cast<std::byte>(byte ^ signXor); });
        }
        std::memset(to + bytes, 0, stride - bytes);
    }
    TransposeWords(slice, stride, m_Groups, panel.m_Columns, packed, GetWidth(panel) * 4);
    if (!m_Tiles->IsDataInt16())
    {
        GetMicrokernelsInt8().m_SumRows(data, matrix.m_ColumnStride, panel.m_Columns, m_Depth, m_IsSigned, 1, sums);
    }
}

template <bool IsSigned>
void MatrixPanelsInt8::PackAs(const PanelInt8& panel, const MatrixInt8& matrix, std::byte* packed, int32_t* sums) const
{
    using T = std::conditional_t<IsSigned, int8_t, uint8_t>;
    const size_t width = GetWidth(panel);
    const size_t groupDepth = m_Tiles->GetGroupDepth();
    const auto* const data = reinterpret_cast<const T*>(matrix.m_Data) + panel.m_Column * matrix.m_ColumnStride;
    auto* const words = reinterpret_cast<uint32_t*>(packed);
    const auto visit = [&](auto isWide)
    {
        constexpr bool IsDataInt16 = decltype(isWide)::value;
        const auto put = [&](size_t k, size_t c)
        {
            const T value = data[k * matrix.m_DepthStride + c * matrix.m_ColumnStride];
            words[FindWord(k / groupDepth, c, width)] |=
                ToPartOfWord<IsDataInt16>(value, k % groupDepth, m_ZeroPoint, m_ZeroPointCorrection.m_SignXor);
            sums[c] += value;
        };
        if (m_Tiles->m_ColumnGroups != 1)
        {
            for (size_t c = 0; c < panel.m_Columns; ++c)
            {
                for (size_t k = 0; k < m_Depth; ++k)
                {
                    put(k, c);
                }
            }
            return;
        }
        for (size_t k = 0; k < m_Depth; ++k)
        {
            const T* const row = data + k * matrix.m_DepthStride;
            uint32_t* const to = words + k / groupDepth * width;
            for (size_t c = 0; c < panel.m_Columns; ++c)
            {
                to[c] |=
                    ToPartOfWord<IsDataInt16>(row[c], k % groupDepth, m_ZeroPoint, m_ZeroPointCorrection.m_SignXor);
                sums[c] += row[c];
            }
        }
    };
    m_Tiles->IsDataInt16() ? visit(std::true_type()) : visit(std::false_type());
}

void MatrixPanelsInt8::Pack(const PanelInt8& panel, const MatrixInt8& matrix, int32_t dataZeroPoint, std::byte* packed,
                            int32_t* bias, std::byte* slice) const
{
    std::memset(packed, 0, GetBytes(panel));
    std::fill_n(bias, GetWidth(panel), 0);
    if (PacksSlices(matrix.m_ColumnStride))
    {
        PackColumns(panel, matrix, packed, bias, slice);
    }
    else
    {
        m_IsSigned ? PackAs<true>(panel, matrix, packed, bias) : PackAs<false>(panel, matrix, packed, bias);
    }
    for (size_t c = 0; c < GetWidth(panel); ++c)
    {
        const int64_t sum = bias[c] - int64_t{m_ZeroPoint} * static_cast<int64_t>(m_Depth);
        const int64_t correction =
            m_Tiles->IsDataInt16() ? 0 : m_ZeroPointCorrection.GetCorrection(sum, m_Depth, dataZeroPoint);
        bias[c] = static_cast<int32_t>(correction); // overflows cancel out
    }
}

} // namespace tenon::cpu
