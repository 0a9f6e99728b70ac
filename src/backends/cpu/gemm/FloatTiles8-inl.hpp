// SPDX-License-Identifier: Apache-2.0
// Tiles of products of bytes that write floats, for sources that are compiled for each target (Foreach.hpp):
// Tiles8.cpp. Included once a target. Sums stay in registers until they are floats, see ByteTilesAvx512-inl.hpp.
#if defined(TENON_CPU_FLOAT_TILES8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_CPU_FLOAT_TILES8_INL
#undef TENON_CPU_FLOAT_TILES8_INL
#else
#define TENON_CPU_FLOAT_TILES8_INL
#endif

#include "backends/cpu/Parts.hpp"
#include "backends/cpu/gemm/DotTile-inl.hpp"
#include "backends/cpu/gemm/Tiles8.hpp"
#include "backends/cpu/simd/Floats-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tenon::cpu::HWY_NAMESPACE
{

/// `SameScale`: the data of all rows have one scale and zero point, and no terms.
template <typename Dot, bool SameScale, size_t Rows, size_t Vectors>
void FloatTile(const FloatProduct8& product, const FloatColumns& columns, size_t row)
{
    const Ints d;
    const FloatTag dFloat;
    const size_t lanes = hn::Lanes(d);
    const FloatRows& rows = product.m_Rows;
    const uint8_t* data[Rows];
    Vector sums[Rows][Vectors];
    BeginTile(static_cast<const uint8_t*>(product.m_Data) + row * product.m_DataStride, product.m_DataStride,
              product.m_Bias, data, sums);
    const auto* weights = static_cast<const std::byte*>(product.m_Panel);
    for (size_t group = 0; group < product.m_Groups; ++group)
    {
        DotTile<Dot>::AddGroup(data, group, weights, sums);
    }
    const size_t lastCount = rows.m_Columns - (Vectors - 1) * lanes;
    HWY_UNROLL(4)
    for (size_t v = 0; v < Vectors; ++v)
    {
        const Vector weightSum = hn::Load(d, columns.m_WeightSums + v * lanes);
        const Floats columnScale = hn::Load(dFloat, columns.m_Scales + v * lanes);
        const Floats bias = hn::Load(dFloat, columns.m_Bias + v * lanes);
        const Floats sameScale = hn::Mul(hn::Set(dFloat, rows.m_Scales[row]), columnScale);
        HWY_UNROLL(8)
        for (size_t r = 0; r < Rows; ++r)
        {
            Vector sum = sums[r][v];
            Floats scale = sameScale;
            if constexpr (!SameScale)
            {
                const int32_t term = rows.m_RowTerms != nullptr ? rows.m_RowTerms[row + r] : 0;
                sum = hn::Sub(sum, hn::Mul(hn::Set(d, rows.m_ZeroPoints[row + r]), weightSum));
                sum = hn::Add(sum, hn::Set(d, term));
                scale = hn::Mul(hn::Set(dFloat, rows.m_Scales[row + r]), columnScale);
            }
            Floats real = hn::Add(hn::Mul(hn::ConvertTo(dFloat, sum), scale), bias);
            if (columns.m_HasClamp)
            {
                real = Clamped(real, hn::Set(dFloat, columns.m_Low), hn::Set(dFloat, columns.m_High));
            }
            StoreSome(real, rows.m_Out + (row + r) * rows.m_OutStride + v * lanes, v + 1 < Vectors ? lanes : lastCount);
        }
    }
}

template <typename Dot, bool SameScale, size_t Vectors, size_t Rows>
bool WriteFloatTiles(const FloatProduct8& product, const FloatColumns& columns)
{
    // Equal tiles have one of two numbers of rows.
    const size_t tiles = DivideUp(product.m_Rows.m_Rows, Rows);
    if (product.m_Rows.m_Rows < tiles * (Rows - 1))
    {
        return false;
    }
    ForEachTile(product.m_Rows.m_Rows, Rows,
                [&](size_t row, size_t count) HWY_ATTR
                {
                    count == Rows ? FloatTile<Dot, SameScale, Rows, Vectors>(product, columns, row)
                                  : FloatTile<Dot, SameScale, Rows - 1, Vectors>(product, columns, row);
                });
    return true;
}

template <typename Dot, size_t Vectors, size_t Rows>
bool WriteFloatRows(const FloatProduct8& product, const FloatColumns& columns)
{
    const FloatRows& rows = product.m_Rows;
    bool isSame = rows.m_RowTerms == nullptr;
    for (size_t r = 1; r < rows.m_Rows; ++r)
    {
        isSame &= rows.m_ZeroPoints[r] == rows.m_ZeroPoints[0] && rows.m_Scales[r] == rows.m_Scales[0];
    }
    if (!isSame)
    {
        return WriteFloatTiles<Dot, false, Vectors, Rows>(product, columns);
    }
    // What the zero point makes of the weights is what sums begin with.
    const Ints d;
    HWY_ALIGN int32_t bias[Vectors * hn::MaxLanes(d)];
    for (size_t i = 0; i < Vectors * hn::Lanes(d); i += hn::Lanes(d))
    {
        const Vector correction = hn::Mul(hn::Set(d, -rows.m_ZeroPoints[0]), hn::Load(d, columns.m_WeightSums + i));
        hn::Store(hn::Add(hn::Load(d, product.m_Bias + i), correction), d, bias + i);
    }
    FloatProduct8 corrected = product;
    corrected.m_Bias = bias;
    return WriteFloatTiles<Dot, true, Vectors, Rows>(corrected, columns);
}

/// For processors with 32 registers.
template <typename Dot>
void FillFloatRows(TileSet8& tiles)
{
    tiles.m_WriteFloats[1] = WriteFloatRows<Dot, 1, 8>;
    tiles.m_WriteFloats[2] = WriteFloatRows<Dot, 2, 8>;
    tiles.m_WriteFloats[3] = WriteFloatRows<Dot, 3, 8>;
    tiles.m_WriteFloats[4] = WriteFloatRows<Dot, 4, 6>;
}

} // namespace tenon::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
