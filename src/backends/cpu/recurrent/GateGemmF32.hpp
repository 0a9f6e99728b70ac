// SPDX-License-Identifier: Apache-2.0
// Constant weights of the gates of a recurrent layer of floats, as one product: floats, or 8-bit weights, beside which
// rows of data are quantized one by one while running.
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

/// The constant at this input: floats, or bytes times their scale.
std::vector<float> ReadGateFloats(const LayerView& layer, size_t slot);

class FloatGates
{
public:
    /// The weights at the inputs `slots`, constants of one shape and kind; `bias`: one for each of their rows, or none.
    /// `rows`: of the data, at most.
    FloatGates(const LayerView& layer, const std::vector<size_t>& slots, size_t rows, std::vector<float> bias,
               backends::PackedStore& store);

    /// Whether FloatGatesProduct gives the sums of the reference kernel.
    bool IsExact() const { return !m_Bytes || m_Bytes->IsExact(); }
    /// Whether it reads the constants, or a kernel in its place does.
    bool RefersToConstants() const { return m_Bytes && m_Bytes->RefersToConstants(); }
    size_t GetDepth() const { return m_Bytes ? m_Bytes->GetDepth() : m_Floats->GetSizes().m_Depth; }
    size_t GetColumns() const { return m_Columns; }

private:
    friend class FloatGatesProduct;

    size_t m_Columns;
    std::vector<float> m_Bias; ///< of floats
    std::optional<PackedWeightsF32> m_Floats;
    std::optional<PackedWeights8> m_Bytes;
};

/// A product of known shapes.
class FloatGatesProduct
{
public:
    /// `maxThreads`: see ReshapeArgs.
    FloatGatesProduct(const FloatGates& gates, size_t rows, bool isAsymmetric, unsigned int maxThreads);

    size_t GetScratchBytes() const { return m_OfBytes ? m_OfBytes->GetScratchBytes() : m_OfFloats->GetScratchBytes(); }
    /// sums[row][column] = data[row] * weights + bias
    void Run(const ExecuteArgs& args, const float* data, float* sums, std::byte* scratch) const
    {
        RunAndAdd(args, data, nullptr, sums, scratch);
    }
    /// The same plus added[row][column], unless it is null.
    void RunAndAdd(const ExecuteArgs& args, const float* data, const float* added, float* sums,
                   std::byte* scratch) const;

private:
    void RunBytes(const ExecuteArgs& args, const float* data, float* sums, std::byte* scratch) const;

    const float* m_Bias;
    size_t m_NumSums;
    std::optional<ProductF32> m_OfFloats;
    std::optional<Product8> m_OfBytes;
};

} // namespace tenon::cpu
