// SPDX-License-Identifier: Apache-2.0
// PanelsF32: cuts the columns of float32 weights into panels for the microkernels of the processor, and packs them.
// Used by PackedWeightsF32 (constant weights) and by BatchMatMul (a matrix that is packed in each run).
//
// Panel [depth][vectors * lanes], padded with zeros to whole vectors:
//     k = 0    w[c0][0] w[c1][0] ..     columns of vector 0, of vector 1, ..
//     k = 1    w[c0][1] w[c1][1] ..
#pragma once

#include "backends/cpu/gemm/kernels/f32/MicrokernelsF32.hpp"

#include <tenon/backend/LayerView.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cpu
{

/// The constant weights of a float layer as the model stores them: Float32, Float16 or BFloat16. Packing reads them in
/// slices, so that no Float32 copy of all weights exists.
class FloatWeights
{
public:
    explicit FloatWeights(const float* floats) : m_Floats(floats) {}
    /// `input`: a constant input of one of these types.
    FloatWeights(const LayerView& layer, size_t input);

    bool Is16Bit() const { return m_Words != nullptr; }
    DataType GetType() const { return m_Type; }
    /// The weights in their own type.
    const void* GetData() const { return m_Words != nullptr ? static_cast<const void*>(m_Words) : m_Floats; }
    /// Precondition: the type is Float32.
    const float* GetFloats() const { return m_Floats; }
    /// Writes `count` weights from `first` on, as floats.
    void Copy(size_t first, size_t count, float* to) const;
    /// `count` weights from `first` on, as floats; those of 16 bits are widened into `memory`.
    const float* Get(size_t first, size_t count, std::vector<float>& memory) const;
    const float* GetAll(size_t count, std::vector<float>& memory) const { return Get(0, count, memory); }

private:
    DataType m_Type = DataType::Float32;
    const float* m_Floats = nullptr;
    const uint16_t* m_Words = nullptr;
};

/// A panel: a few vectors of output channels of one group.
struct PanelF32
{
    size_t m_Group = 0;
    size_t m_Column = 0;  ///< the first column, counted over all groups
    size_t m_Columns = 0; ///< without the zeros that pad the last vector
    size_t m_Vectors = 0;
    size_t m_Offset = 0; ///< floats from the start of the weights
};

/// Memory layout of weights.
enum class WeightOrder : uint8_t
{
    Columns, ///< [columns, depth]
    Depth    ///< [depth, columns]
};

/// Sizes of weights. Each group of columns has data of its own; matrices have one group.
struct WeightSizes
{
    size_t m_Groups = 1;
    size_t m_Columns = 0;  ///< of all groups
    size_t m_Depth = 0;    ///< elements of a column
    size_t m_RowDepth = 0; ///< elements of a row of taps; 0: the data are a matrix
    /// Floats between rows of a matrix [depth][columns] of whole vectors whose panels are read in place; 0: panels are
    /// packed.
    size_t m_InPlaceStride = 0;
};

class PanelsF32
{
public:
    explicit PanelsF32(const WeightSizes& sizes);
    /// No panels, for weights that stay unpacked.
    static PanelsF32 MakeEmpty(const WeightSizes& sizes);

    const MicrokernelsF32& GetMicrokernels() const { return *m_Microkernels; }
    const WeightSizes& GetSizes() const { return m_Sizes; }
    const std::vector<PanelF32>& Get() const { return m_Panels; }
    /// Floats of all panels.
    size_t GetFloats() const { return m_Floats; }

    /// Packs a panel to `to`, which is aligned to vectors. `stride`: floats between columns, or between steps of the
    /// depth.
    void Pack(const PanelF32& panel, const float* weights, WeightOrder order, size_t stride, float* to) const;
    /// The same for contiguous weights of any float type.
    void Pack(const PanelF32& panel, const FloatWeights& weights, WeightOrder order, float* to) const;
    /// Floats of a panel.
    size_t GetFloats(const PanelF32& panel) const
    {
        return panel.m_Vectors * m_Microkernels->m_Lanes * m_Sizes.m_Depth;
    }
    bool IsInPlace() const { return m_Sizes.m_InPlaceStride != 0; }
    /// Floats between steps of the depth.
    size_t GetStride(const PanelF32& panel) const { return IsInPlace() ? m_Sizes.m_InPlaceStride : GetWidth(panel); }

private:
    size_t GetWidth(const PanelF32& panel) const { return panel.m_Vectors * m_Microkernels->m_Lanes; }
    void Pack16Bit(const PanelF32& panel, const FloatWeights& weights, WeightOrder order, float* to) const;
    /// Zeroes the columns that pad the last vector.
    void PadLastVector(const PanelF32& panel, float* to) const;

    const MicrokernelsF32* m_Microkernels;
    WeightSizes m_Sizes;
    std::vector<PanelF32> m_Panels;
    size_t m_Floats = 0;
};

} // namespace tenon::cpu
