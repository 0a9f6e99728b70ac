// SPDX-License-Identifier: Apache-2.0
// GEMM of the gates of a recurrent layer with int8 or uint8 data and int32 sums:
//     sums[row][column] = sum_k (x[row][k] - zx) * w[column][k] + b[column]
//                       = sum_k x[row][k] * w[column][k] + (b[column] - zx * sum_k w[column][k])
// The bracket is computed when weights are packed (GetCorrectedBias). LSTMs of int8 data, BasicLstm of uint8 and Svdf
// call it.
#pragma once

#include "backends/cpu/gemm/driver/GemmInt8.hpp"
#include "backends/cpu/recurrent/GateWeights.hpp"
#include "common/AlignedMemory.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::cpu
{

/// Packed weights of one product, and its bias less zero point times column sums.
struct PackedGatesInt8
{
    PackedGatesInt8(PackedWeightsInt8 weights, int32_t zeroPoint, const std::vector<int32_t>& bias)
        : m_Weights(std::move(weights))
    {
        if (m_Weights.IsExact())
        {
            m_CorrectedBias = m_Weights.MakeSumStart(zeroPoint, bias.empty() ? nullptr : bias.data());
        }
    }

    const int32_t* GetCorrectedBias() const { return reinterpret_cast<const int32_t*>(m_CorrectedBias.Data()); }

    PackedWeightsInt8 m_Weights;
    AlignedMemory m_CorrectedBias;
};

/// The GEMM of known shapes.
class GateGemmInt8
{
public:
    /// `maxThreads`: see ReshapeArgs.
    GateGemmInt8(const PackedGatesInt8& packed, size_t rows, unsigned int maxThreads)
        : m_Product(packed.m_Weights, MakeMatrixIm2col(rows, packed.m_Weights.GetDepth()), rows, maxThreads),
          m_CorrectedBias(packed.GetCorrectedBias())
    {
    }

    size_t GetScratchBytes() const { return m_Product.GetScratchBytes(); }
    /// See GemmInt8::RunSums.
    void Run(const ExecuteArgs& args, const void* data, int32_t* sums, std::byte* scratch) const
    {
        m_Product.RunSums(data, m_CorrectedBias, sums, scratch, *args.m_Parallel);
    }

private:
    GemmInt8 m_Product;
    const int32_t* m_CorrectedBias;
};

} // namespace tenon::cpu
