// SPDX-License-Identifier: Apache-2.0
// PackedWeightsF32: constant float32 weights, packed for this processor when a workload is made. Read by GemmF32.
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
    /// Packs the weights into panels. `getWeights` is called only where packing is needed; its result is read before
    /// the next call.
    PackedWeightsF32(FunctionRef<const float*()> getWeights, const WeightSizes& sizes, WeightOrder order,
                     backends::PackedStore& store);
    PackedWeightsF32(const FloatWeights& weights, const WeightSizes& sizes, WeightOrder order,
                     backends::PackedStore& store);
    /// Weights that stay unpacked as [columns][depth], for GEMMs of few rows or few columns (DotProductsF32). Refers to
    /// the constant weights, which must outlive this; a transposed or widened copy is made where their layout or type
    /// differs. `isReadOnce`: weights of F16 or Bf16 need not be widened.
    static std::unique_ptr<PackedWeightsF32> MakeUnpacked(const FloatWeights& weights, const WeightSizes& sizes,
                                                          WeightOrder order, bool isReadOnce,
                                                          backends::PackedStore& store);

    /// Bytes of the packed panels of weights of these sizes.
    static uint64_t GetPackedBytes(const WeightSizes& sizes);

    bool RefersToConstants() const override { return m_Unpacked != nullptr && m_Data.Bytes() == 0; }

    const PanelsF32& GetPanels() const { return m_Panels; }
    const WeightSizes& GetSizes() const { return m_Panels.GetSizes(); }
    /// All panels.
    const float* GetData() const { return m_Data.As<float>(); }
    /// The unpacked weights [columns][depth]; null: they are in panels.
    const void* GetUnpacked() const { return m_Unpacked; }
    DataType GetUnpackedType() const { return m_UnpackedType; }
    /// Zeros for taps in the padding: as many as a row of taps of all groups has elements.
    const float* GetZeros() const { return reinterpret_cast<const float*>(m_Zeros.Data()); }

private:
    PackedWeightsF32(PanelsF32 panels, const WeightSizes& sizes);
    /// `pack` writes one panel.
    PackedWeightsF32(const WeightSizes& sizes, backends::PackedStore& store,
                     FunctionRef<void(const PanelF32&, float*)> pack);

    PanelsF32 m_Panels;
    const void* m_Unpacked = nullptr;
    DataType m_UnpackedType = DataType::Float32;
    backends::PackedBlock m_Data;
    AlignedMemory m_Zeros;
};

/// Weights for a GEMM of `rows` rows (an upper bound where the number is unknown). Unpacked for few rows, where all
/// weights are read once anyway, and for few columns, where vectors would be mostly padding; else in panels.
std::unique_ptr<PackedWeightsF32> PackMatrix(const FloatWeights& weights, const WeightSizes& sizes, WeightOrder order,
                                             size_t rows, backends::PackedStore& store);
/// Whether the columns are so few that the weights stay unpacked for any number of rows.
bool HasFewColumns(const WeightSizes& sizes);

} // namespace tenon::cpu
