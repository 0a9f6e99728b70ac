// SPDX-License-Identifier: Apache-2.0
// AMX-INT8: C[16 or 32][16 * vectors] by tdpbssd (int8 x int8) or tdpbusd (uint8 x int8). All eight tile registers have
// the same shape, 16 rows of 64 bytes, so that one configuration serves everything:
//
//   tmm0-3: accumulators, 2 x 2 blocks of 16 x 16      tmm4-5: data, 16 rows each      tmm6-7: weights, 16 columns each
//
// The depth is padded to whole registers by zero weights; the data there may be anything. The code is assembly, as the
// compiler takes the intrinsics only with options for the whole file.
#include "backends/cpu/gemm/kernels/int8/RegisterMicrokernelsInt8.hpp"

#if defined(__x86_64__)

#include "backends/cpu/gemm/kernels/AmxTileConfig.hpp"

#include <cstdint>
#include <initializer_list>

namespace tenon::cpu
{

namespace
{

constexpr size_t TileRows = AmxTileConfig::MaxRows;
constexpr size_t TileBytes = AmxTileConfig::MaxRowBytes; ///< of a row: sixteen groups, or sixteen accumulators

constexpr AmxTileConfig MakeConfiguration()
{
    AmxTileConfig configuration;
    for (size_t tile = 0; tile < 8; ++tile)
    {
        configuration.Set(tile, TileRows, TileBytes);
    }
    return configuration;
}

void Begin()
{
    static constexpr AmxTileConfig configuration = MakeConfiguration();
    configuration.Load();
}

void End()
{
    asm volatile("tilerelease");
}

#define TENON_TILE_DOT(sums, data, weights)                                                                            \
    if constexpr (IsSigned)                                                                                            \
    {                                                                                                                  \
        asm volatile("tdpbssd %%tmm" weights ", %%tmm" data ", %%tmm" sums : :);                                       \
    }                                                                                                                  \
    else                                                                                                               \
    {                                                                                                                  \
        asm volatile("tdpbusd %%tmm" weights ", %%tmm" data ", %%tmm" sums : :);                                       \
    }

/// Multiplies 16 or 32 rows by one or two vectors of columns. All rows begin with `bias`, which is loaded with a stride
/// of 0.
template <bool IsSigned, size_t Rows, size_t Vectors>
void SumPair(const uint8_t* data, size_t dataStride, const uint8_t* weights, size_t weightStride, size_t steps,
             const int32_t* bias, int32_t* sums, size_t sumStride)
{
    constexpr size_t Same = 0;
    TENON_TILE_LOAD("0", bias, Same);
    if constexpr (Vectors == 2)
    {
        TENON_TILE_LOAD("1", bias + TileBytes / sizeof(int32_t), Same);
    }
    if constexpr (Rows == 2 * TileRows)
    {
        TENON_TILE_LOAD("2", bias, Same);
        if constexpr (Vectors == 2)
        {
            TENON_TILE_LOAD("3", bias + TileBytes / sizeof(int32_t), Same);
        }
    }
    for (size_t step = 0; step < steps; ++step, data += TileBytes, weights += TileRows * weightStride)
    {
        TENON_TILE_LOAD("4", data, dataStride);
        TENON_TILE_LOAD("6", weights, weightStride);
        TENON_TILE_DOT("0", "4", "6");
        if constexpr (Vectors == 2)
        {
            TENON_TILE_LOAD("7", weights + TileBytes, weightStride);
            TENON_TILE_DOT("1", "4", "7");
        }
        if constexpr (Rows == 2 * TileRows)
        {
            TENON_TILE_LOAD("5", data + TileRows * dataStride, dataStride);
            TENON_TILE_DOT("2", "5", "6");
            if constexpr (Vectors == 2)
            {
                TENON_TILE_DOT("3", "5", "7");
            }
        }
    }
    TENON_TILE_STORE("0", sums, sumStride);
    if constexpr (Vectors == 2)
    {
        TENON_TILE_STORE("1", sums + TileBytes / sizeof(int32_t), sumStride);
    }
    if constexpr (Rows == 2 * TileRows)
    {
        int32_t* lower = sums + TileRows * sumStride / sizeof(int32_t);
        TENON_TILE_STORE("2", lower, sumStride);
        if constexpr (Vectors == 2)
        {
            TENON_TILE_STORE("3", lower + TileBytes / sizeof(int32_t), sumStride);
        }
    }
}

template <bool IsSigned, size_t Rows, size_t Vectors>
void Tile(const void* data, size_t dataStride, const void* panel, size_t groups, const int32_t* bias, int32_t* sums)
{
    const auto* rows = static_cast<const uint8_t*>(data);
    const auto* weights = static_cast<const uint8_t*>(panel);
    constexpr size_t Stride = Vectors * TileBytes; // of the panel's groups, and of the accumulators
    const size_t steps = groups / TileRows;
    for (size_t vector = 0; vector + 2 <= Vectors; vector += 2)
    {
        SumPair<IsSigned, Rows, 2>(rows, dataStride, weights + vector * TileBytes, Stride, steps, bias + vector * 16,
                                   sums + vector * 16, Stride);
    }
    if constexpr (Vectors % 2 == 1)
    {
        constexpr size_t Last = Vectors - 1;
        SumPair<IsSigned, Rows, 1>(rows, dataStride, weights + Last * TileBytes, Stride, steps, bias + Last * 16,
                                   sums + Last * 16, Stride);
    }
}

template <size_t Vectors>
void Fill(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned)
{
    ofSigned.Add(Vectors, TileRows, Tile<true, TileRows, Vectors>);
    ofSigned.Add(Vectors, 2 * TileRows, Tile<true, 2 * TileRows, Vectors>);
    ofUnsigned.Add(Vectors, TileRows, Tile<false, TileRows, Vectors>);
    ofUnsigned.Add(Vectors, 2 * TileRows, Tile<false, 2 * TileRows, Vectors>);
}

} // namespace

void UseAmx(MicrokernelSetInt8& ofSigned, MicrokernelSetInt8& ofUnsigned)
{
    for (MicrokernelSetInt8* tiles : {&ofSigned, &ofUnsigned})
    {
        tiles->m_Begin = Begin;
        tiles->m_End = End;
    }
    Fill<1>(ofSigned, ofUnsigned);
    Fill<2>(ofSigned, ofUnsigned);
    Fill<3>(ofSigned, ofUnsigned);
    Fill<4>(ofSigned, ofUnsigned);
}

} // namespace tenon::cpu

#else

namespace tenon::cpu
{

void UseAmx(MicrokernelSetInt8&, MicrokernelSetInt8&) {}

} // namespace tenon::cpu

#endif
