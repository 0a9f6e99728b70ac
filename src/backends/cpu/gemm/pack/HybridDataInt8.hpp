// SPDX-License-Identifier: Apache-2.0
// Hybrid data (TFLite's word): float activations are quantized to int8 at run time, each batch with its own scale (and
// zero point if asymmetric).
//
//   q = round(x / scale) + zero point
//   out = float(sum_k q w - zero point * column sum) * (scale * weight scale) + bias
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Pixels that a strided 1x1 convolution reads: only these are quantized, one after the other. Steps are in floats.
struct SampledPixelsInt8
{
    size_t m_Rows = 0; ///< 0: all pixels are quantized
    size_t m_Columns = 0;
    size_t m_RowStep = 0;
    size_t m_ColumnStep = 0;
    size_t m_Channels = 0;

    SampledPixelsInt8() = default;
    /// The pixels that these windows read. All pixels where channels are so few that quantizing pixel by pixel takes
    /// longer.
    explicit SampledPixelsInt8(const Im2col& windows);

    bool HasSamples() const { return m_Rows != 0; }
    size_t GetElements() const { return m_Rows * m_Columns * m_Channels; }
};

/// Parameters of hybrid data.
struct HybridDataInt8
{
    size_t m_Batches = 1; ///< batches, each with its own scale
    bool m_IsAsymmetric = false;
    uint8_t m_SignXor = 0;         ///< see QuantizeParametersInt8
    SampledPixelsInt8 m_Sampled{}; ///< pixels of each batch that the GEMM reads; the scale is that of the whole batch
};

/// Quantization of one batch: floats that share a scale and zero point.
struct BatchQuantizationInt8
{
    QuantizeParametersInt8 m_Steps; ///< unused if m_IsZero
    ScaleAndZeroPoint m_Scale;
    bool m_IsZero = true; ///< all values are zeros
};

/// Finds the range over all values, as the reference kernels do (ref::QuantizeSymmetric, QuantizeAsymmetric); many
/// values are split among threads.
BatchQuantizationInt8 FindBatchQuantization(IParallelFor& parallel, const float* values, size_t count,
                                            bool isAsymmetric);

/// Quantizes a batch. T: int8_t, or float: whole numbers less the zero point; m_SignXor must be 0.
template <typename T>
void QuantizeBatch(IParallelFor& parallel, const float* values, size_t count, const BatchQuantizationInt8& steps,
                   T* quantized);

/// The data operand of a GEMM: int8 or uint8, or quantized floats.
struct GemmDataInt8
{
    const uint8_t* m_Values = nullptr;
    const ScaleAndZeroPoint* m_Batches = nullptr; ///< of hybrid data; else null
};

/// Quantizes input 0 of a layer into scratch memory.
class HybridQuantizerInt8
{
public:
    HybridQuantizerInt8() = default;
    /// `elements`: of all batches. Reserves its share of `shared`.
    HybridQuantizerInt8(const HybridDataInt8& data, size_t elements, backends::Scratch& shared)
        : m_Data(data), m_BatchElements(elements / data.m_Batches),
          m_SampledElements(data.m_Sampled.HasSamples() ? data.m_Sampled.GetElements() : m_BatchElements),
          m_Values(shared.Add<int8_t>(data.m_Batches, m_SampledElements)),
          m_Scales(shared.Add<ScaleAndZeroPoint>(data.m_Batches))
    {
    }

    GemmDataInt8 Quantize(const ExecuteArgs& args) const;

private:
    HybridDataInt8 m_Data;
    size_t m_BatchElements = 0;
    size_t m_SampledElements = 0; ///< of a batch, quantized
    size_t m_Values = 0;          ///< offsets in the scratch memory
    size_t m_Scales = 0;
};

} // namespace tenon::cpu
