// SPDX-License-Identifier: Apache-2.0
// GEMM of the gates of a recurrent layer with float data:
//     sums[row][column] = sum_k data[row][k] * weights[column][k] + bias[column]
// The columns are the units of one gate after those of the other. Weights are float (GemmF32), or 8-bit (hybrid): then
// each row of data is quantized while the layer runs, and the sums are scaled back to float (GemmInt8).
#pragma once

#include "backends/cpu/gemm/driver/GemmF32.hpp"
#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/gemm/pack/PackedWeightsF32.hpp"
#include "backends/cpu/recurrent/GateWeights.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace tenon::cpu
{

/// The constant at this input as floats: 8-bit weights are multiplied by their scale.
std::vector<float> ReadGateFloats(const LayerView& layer, size_t slot);

class PackedGatesF32
{
public:
    /// Packs the constants at the inputs `slots`, which have one shape and type; `bias`: one for each row of these
    /// weights, or none. `rows`: the largest number of rows of data.
    PackedGatesF32(const LayerView& layer, const std::vector<size_t>& slots, size_t rows, std::vector<float> bias,
                   backends::PackedStore& store);

    /// Whether GateGemmF32 computes the sums of the reference kernel.
    bool IsExact() const { return !m_WeightsInt8 || m_WeightsInt8->IsExact(); }
    /// Whether the constants of the model must stay in memory.
    bool RefersToConstants() const { return m_WeightsInt8 && m_WeightsInt8->RefersToConstants(); }
    size_t GetDepth() const { return m_WeightsInt8 ? m_WeightsInt8->GetDepth() : m_WeightsF32->GetSizes().m_Depth; }
    size_t GetColumns() const { return m_Columns; }

private:
    friend class GateGemmF32;

    size_t m_Columns;
    std::vector<float> m_Bias; ///< of float weights
    std::optional<PackedWeightsF32> m_WeightsF32;
    std::optional<PackedWeightsInt8> m_WeightsInt8;
};

/// The GEMM of known shapes.
class GateGemmF32
{
public:
    /// `maxThreads`: see ReshapeArgs.
    GateGemmF32(const PackedGatesF32& gates, size_t rows, bool isAsymmetric, unsigned int maxThreads);

    size_t GetScratchBytes() const { return m_GemmInt8 ? m_GemmInt8->GetScratchBytes() : m_GemmF32->GetScratchBytes(); }
    /// sums[row][column] = data[row] * weights + bias
    void Run(const ExecuteArgs& args, const float* data, float* sums, std::byte* scratch) const
    {
        RunAndAdd(args, data, nullptr, sums, scratch);
    }
    /// sums[row][column] = data[row] * weights + bias + added[row][column]; `added` may be null.
    void RunAndAdd(const ExecuteArgs& args, const float* data, const float* added, float* sums,
                   std::byte* scratch) const;

private:
    void RunHybrid(const ExecuteArgs& args, const float* data, float* sums, std::byte* scratch) const;

    const float* m_Bias;
    size_t m_NumSums;
    std::optional<GemmF32> m_GemmF32;
    std::optional<GemmInt8> m_GemmInt8;
};

} // namespace tenon::cpu
