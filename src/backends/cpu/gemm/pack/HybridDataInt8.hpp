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
struct SeenPixels8
{
    size_t m_Rows = 0; ///< 0: all pixels are quantized
    size_t m_Columns = 0;
    size_t m_RowStep = 0;
    size_t m_ColumnStep = 0;
    size_t m_Channels = 0;

    SeenPixels8() = default;
    /// The pixels that these windows read. All pixels where channels are so few that quantizing pixel by pixel takes
    /// longer.
    explicit SeenPixels8(const Windows& windows);

    bool AreSome() const { return m_Rows != 0; }
    size_t GetElements() const { return m_Rows * m_Columns * m_Channels; }
};

/// Parameters of hybrid data.
struct HybridData8
{
    size_t m_Batches = 1; ///< batches, each with its own scale
    bool m_IsAsymmetric = false;
    uint8_t m_Flip = 0;   ///< see QuantizeParametersInt8
    SeenPixels8 m_Seen{}; ///< pixels of each batch that the GEMM reads; the scale is that of the whole batch
};

/// Quantization of one batch: floats that share a scale and zero point.
struct RunSteps8
{
    QuantizeSteps8 m_Steps; ///< unused if m_IsZero
    FloatScale m_Scale;
    bool m_AreZeros = true; ///< all values are zeros
};

/// Finds the range over all values, as the reference kernels do (ref::QuantizeSymmetric, QuantizeAsymmetric); many
/// values are split among threads.
RunSteps8 FindRunSteps(IParallelFor& parallel, const float* values, size_t count, bool isAsymmetric);

/// Quantizes a batch. T: int8_t, or float: whole numbers less the zero point; m_SignXor must be 0.
template <typename T>
void QuantizeRun(IParallelFor& parallel, const float* values, size_t count, const RunSteps8& steps, T* quantized);

/// The data operand of a GEMM: int8 or uint8, or quantized floats.
struct ByteData8
{
    const uint8_t* m_Values = nullptr;
    const FloatScale* m_Batches = nullptr; ///< of hybrid data; else null
};

/// Quantizes input 0 of a layer into scratch memory.
class HybridQuantizer8
{
public:
    HybridQuantizer8() = default;
    /// `elements`: of all batches. Reserves its share of `shared`.
    HybridQuantizer8(const HybridData8& data, size_t elements, backends::Scratch& shared)
        : m_Data(data), m_BatchElements(elements / data.m_Batches),
          m_SeenElements(data.m_Seen.AreSome() ? data.m_Seen.GetElements() : m_BatchElements),
          m_Values(shared.Add<int8_t>(data.m_Batches, m_SeenElements)), m_Scales(shared.Add<FloatScale>(data.m_Batches))
    {
    }

    ByteData8 Quantize(const ExecuteArgs& args) const;

private:
    HybridData8 m_Data;
    size_t m_BatchElements = 0;
    size_t m_SeenElements = 0; ///< of a batch, quantized
    size_t m_Values = 0;       ///< offsets in the scratch memory
    size_t m_Scales = 0;
};

} // namespace tenon::cpu
