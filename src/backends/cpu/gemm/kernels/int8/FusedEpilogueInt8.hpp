// SPDX-License-Identifier: Apache-2.0
// Rows of data by a panel of columns that become bytes without memory in between: what such tiles of
// MicrokernelsInt8.hpp read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Whether the last vector of so many columns has some in its lower half alone.
constexpr bool HasHalves(size_t columns)
{
    constexpr size_t Lanes = 16;
    return columns % Lanes >= 1 && columns % Lanes <= Lanes / 2;
}

/// How the sums of a panel's columns become bytes, as tiles that write bytes read it.
struct ByteColumns8
{
    static constexpr size_t MostVectors = 4;
    static constexpr size_t MostLanes = 16;
    static constexpr size_t VectorBytes = 320;

    alignas(64) std::byte m_Scales[MostVectors * VectorBytes]; ///< of the engine's making
    alignas(64) int32_t m_Bias[MostVectors * MostLanes];       ///< what sums begin with
    alignas(64) uint8_t m_Min[4 * MostLanes];                  ///< of int8, the same in all lanes
    alignas(64) uint8_t m_Max[4 * MostLanes];
    alignas(64) uint8_t m_Flip[4 * MostLanes]; ///< what is written differs from int8 by these bits
    /// HasHalves; the upper half repeats the lower one.
    bool m_HasHalves = false;
    bool m_IsPlain = false; ///< bytes are int8, and all values of these are in range
    uint64_t m_Mask = 0;    ///< a bit for each column that is written
};

/// Rows of data by a panel, to become bytes.
struct ByteRows8
{
    const void* m_Data = nullptr;
    size_t m_DataStride = 0; ///< bytes
    size_t m_Rows = 0;
    const void* m_Panel = nullptr;
    size_t m_Groups = 0;
    const int32_t* m_RowTerms = nullptr; ///< to add to each row
    uint8_t* m_Out = nullptr;
    size_t m_OutStride = 0;
};

/// Writes all rows; false, and nothing is done, where it is not made for so few.
using ByteRowsFunction8 = bool (*)(const ByteRows8& rows, const ByteColumns8& columns);

/// Rows of data by a panel, to become bytes or floats, that are windows of an image which is laid out with its padding:
/// runs of bytes, at the same distances from where each row begins.
struct ImageRows8
{
    /// As often as this the last row is named once more behind it, in m_Begins and m_Places.
    static constexpr size_t PastRows = 8;

    const uint8_t* m_Image = nullptr;   ///< as the tiles multiply it
    const uint32_t* m_Begins = nullptr; ///< [rows]: how many bytes of the image come before a row
    const size_t* m_Places = nullptr;   ///< [rows]: where a row is written, in elements from the output on
    size_t m_Rows = 0;                  ///< 1 at least
    /// [groups]: how many bytes come before each group, from where a row begins on. What the last one of a run has past
    /// the run's end has weights of zero.
    const uint32_t* m_GroupPlaces = nullptr;
    const void* m_Panel = nullptr;
    size_t m_Groups = 0;
    uint8_t* m_Out = nullptr; ///< null for floats, see ImageFloats8
};

using ImageRowsFunction8 = void (*)(const ImageRows8& rows, const ByteColumns8& columns);

} // namespace tenon::cpu
