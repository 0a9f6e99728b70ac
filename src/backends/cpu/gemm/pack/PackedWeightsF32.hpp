// SPDX-License-Identifier: Apache-2.0
// Constant float32 weights of a product, packed for the processor at hand when a workload is made. Read by ProductF32.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/PackedStore.hpp"
#include "backends/cpu/gemm/pack/PanelsF32.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace tenon::cpu
{

class PackedWeightsF32 final : public backends::PackedWeights
{
public:
    /// Packs the weights into panels. `getWeights` is called where there is something to be packed: its result is read
    /// before it is called again.
    PackedWeightsF32(FunctionRef<const float*()> getWeights, const WeightSizes& sizes, WeightOrder order,
                     backends::PackedStore& store);
    PackedWeightsF32(const FloatWeights& weights, const WeightSizes& sizes, WeightOrder order,
                     backends::PackedStore& store);
    /// Leaves the weights as columns, for products of few rows or few columns: refers to them, which must outlive this,
    /// or has them turned around or as floats. There are no panels. `areReadOnce`: weights of 16 bits may stay so.
    static std::unique_ptr<PackedWeightsF32> MakePlain(const FloatWeights& weights, const WeightSizes& sizes,
                                                       WeightOrder order, bool areReadOnce,
                                                       backends::PackedStore& store);

    /// Bytes of the panels of such weights.
    static uint64_t GetPackedBytes(const WeightSizes& sizes);

    bool RefersToConstants() const override { return m_Plain != nullptr && m_Data.Bytes() == 0; }

    const PanelsF32& GetPanels() const { return m_Panels; }
    const WeightSizes& GetSizes() const { return m_Panels.GetSizes(); }
    /// All panels.
    const float* GetData() const { return m_Data.As<float>(); }
    /// The weights as columns, where they are not in panels; else null.
    const void* GetPlain() const { return m_Plain; }
    DataType GetPlainType() const { return m_PlainType; }
    /// As many zeros as a row of windows has elements of all groups: what lies outside of an image.
    const float* GetZeros() const { return reinterpret_cast<const float*>(m_Zeros.Data()); }

private:
    PackedWeightsF32(PanelsF32 panels, const WeightSizes& sizes);
    /// `pack` writes one panel.
    PackedWeightsF32(const WeightSizes& sizes, backends::PackedStore& store,
                     FunctionRef<void(const PanelF32&, float*)> pack);

    PanelsF32 m_Panels;
    const void* m_Plain = nullptr;
    DataType m_PlainType = DataType::Float32;
    backends::PackedBlock m_Data;
    AlignedMemory m_Zeros;
};

/// Weights for `rows` rows, or the most that there are where these are not known: as columns where there are few rows,
/// so that all of the weights are read once anyway, or so few columns that vectors of them would be padding for the
/// most part; else in panels.
std::unique_ptr<PackedWeightsF32> PackMatrix(const FloatWeights& weights, const WeightSizes& sizes, WeightOrder order,
                                             size_t rows, backends::PackedStore& store);
/// Whether such weights are left as columns for any number of rows.
bool AreFewColumns(const WeightSizes& sizes);

} // namespace tenon::cpu
