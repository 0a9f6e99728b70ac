// SPDX-License-Identifier: Apache-2.0
// Float data of products with integer weights: quantized to int8 while running, each batch with a scale of its own, as
// TFLite's hybrid kernels do.
#pragma once

#include "backends/common/Scratch.hpp"
#include "backends/cpu/gemm/kernels/int8/MicrokernelsInt8.hpp"
#include "backends/cpu/im2col/Im2col.hpp"

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <cstdint>

namespace tenon::cpu
{

/// Pixels of an image that become bytes, one after the other, where windows are some of them; steps are in floats.
struct SeenPixels8
{
    size_t m_Rows = 0; ///< 0: all become bytes
    size_t m_Columns = 0;
    size_t m_RowStep = 0;
    size_t m_ColumnStep = 0;
    size_t m_Channels = 0;

    SeenPixels8() = default;
    /// What of these windows. All with so few channels that becoming bytes pixel by pixel takes longer.
    explicit SeenPixels8(const Windows& windows);

    bool AreSome() const { return m_Rows != 0; }
    size_t GetElements() const { return m_Rows * m_Columns * m_Channels; }
};

/// How float data are quantized.
struct HybridData8
{
    size_t m_Batches = 1; ///< runs of data that have a scale of their own
    bool m_IsAsymmetric = false;
    uint8_t m_Flip = 0;   ///< see QuantizeSteps8
    SeenPixels8 m_Seen{}; ///< of each batch, whose product is that of these alone; the scale is that of all
};

/// How a run of floats that share a scale becomes bytes.
struct RunSteps8
{
    QuantizeSteps8 m_Steps; ///< unless they are zeros
    FloatScale m_Scale;
    bool m_AreZeros = true; ///< whatever they are
};

/// Looks at all of them, as the reference kernels do (ref::QuantizeSymmetric, QuantizeAsymmetric); at many on several
/// threads.
RunSteps8 FindRunSteps(IParallelFor& parallel, const float* values, size_t count, bool isAsymmetric);

/// Quantizes the run. T: int8_t, or float: whole numbers less the zero point, with nothing to flip.
template <typename T>
void QuantizeRun(IParallelFor& parallel, const float* values, size_t count, const RunSteps8& steps, T* quantized);

/// The data of a product: bytes, or what floats became.
struct ByteData8
{
    const uint8_t* m_Values = nullptr;
    const FloatScale* m_Batches = nullptr; ///< of float data; null for bytes
};

/// Quantizes input 0 of a layer into scratch memory.
class HybridQuantizer8
{
public:
    HybridQuantizer8() = default;
    /// Of so many elements, of all batches. Takes its part of `shared`.
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
    size_t m_SeenElements = 0; ///< that become bytes
    size_t m_Values = 0;       ///< offsets in the scratch memory
    size_t m_Scales = 0;
};

} // namespace tenon::cpu
