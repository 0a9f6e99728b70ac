// SPDX-License-Identifier: Apache-2.0
// See HybridDataInt8.hpp.
#include "backends/cpu/gemm/pack/HybridDataInt8.hpp"

#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/kernels/HybridInput.hpp"
#include "common/OneThread.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace tenon::cpu
{

namespace
{

/// Minimum number of floats per task.
constexpr size_t PartElements = size_t{1} << 15;

size_t CountParts(const IParallelFor& parallel, size_t count)
{
    return count < 2 * PartElements ? 1 : std::min<size_t>(parallel.GetNumThreads(), count / PartElements);
}

FloatRange FindRange(IParallelFor& parallel, const float* values, size_t count)
{
    constexpr size_t MostParts = 16;
    std::array<FloatRange, MostParts> ranges;
    const size_t parts = std::min(CountParts(parallel, count), MostParts);
    RunParts(parallel, parts,
             [&](size_t index)
             {
                 const Part part = GetPart(count, parts, index);
                 ranges[index] = GetEngine8().m_FindRange(values + part.m_Begin, part.m_End - part.m_Begin);
             });
    FloatRange range;
    for (size_t i = 0; i < parts; ++i)
    {
        range = {std::min(range.m_Least, ranges[i].m_Least), std::max(range.m_Most, ranges[i].m_Most)};
    }
    return range;
}

void QuantizeValues(const float* values, size_t count, const QuantizeSteps8& steps, int8_t* quantized)
{
    GetEngine8().m_Quantize(values, count, steps, quantized);
}

void QuantizeValues(const float* values, size_t count, const QuantizeSteps8& steps, float* quantized)
{
    GetEngine8().m_QuantizeToFloats(values, count, steps, quantized);
}

/// QuantizeBatch for sampled pixels. Precondition: the batch is not all zeros.
void QuantizeSeen(IParallelFor& parallel, const float* values, const SeenPixels8& seen, const QuantizeSteps8& steps,
                  int8_t* quantized)
{
    const size_t parts = std::min(seen.m_Rows, CountParts(parallel, seen.GetElements()));
    RunParts(parallel, parts,
             [&](size_t index)
             {
                 const Part part = GetPart(seen.m_Rows, parts, index);
                 int8_t* to = quantized + part.m_Begin * seen.m_Columns * seen.m_Channels;
                 for (size_t row = part.m_Begin; row < part.m_End; ++row)
                 {
                     const float* from = values + row * seen.m_RowStep;
                     for (size_t column = 0; column < seen.m_Columns; ++column)
                     {
                         QuantizeValues(from, seen.m_Channels, steps, to);
                         from += seen.m_ColumnStep;
                         to += seen.m_Channels;
                     }
                 }
             });
}

} // namespace

SeenPixels8::SeenPixels8(const Windows& windows)
{
    constexpr int64_t LeastChannels = 16;
    if (!windows.AreSomePixels() || windows.m_Channels < LeastChannels)
    {
        return;
    }
    m_Rows = static_cast<size_t>(windows.m_OutputHeight);
    m_Columns = static_cast<size_t>(windows.m_OutputWidth);
    m_Channels = static_cast<size_t>(windows.m_Channels);
    m_RowStep = static_cast<size_t>(windows.m_StrideY * windows.m_InputWidth) * m_Channels;
    m_ColumnStep = static_cast<size_t>(windows.m_StrideX) * m_Channels;
}

RunSteps8 FindRunSteps(IParallelFor& parallel, const float* values, size_t count, bool isAsymmetric)
{
    const FloatRange range = FindRange(parallel, values, count);
    const float most = std::max(-range.m_Least, range.m_Most);
    if (isAsymmetric ? range.m_Least == range.m_Most : most == 0.0f)
    {
        return {};
    }
    if (!isAsymmetric)
    {
        return {{127.0f / most, 0, -127, 0}, {most / 127.0f, 0}, false};
    }
    const ref::AsymmetricScale scale = ref::FindAsymmetricScale(range.m_Least, range.m_Most);
    return {{1.0f / scale.m_Scale, scale.m_ZeroPoint, -128, 0}, {scale.m_Scale, scale.m_ZeroPoint}, false};
}

template <typename T>
void QuantizeRun(IParallelFor& parallel, const float* values, size_t count, const RunSteps8& steps, T* quantized)
{
    if (steps.m_AreZeros)
    {
        std::memset(quantized, steps.m_Steps.m_Flip, count * sizeof(T));
        return;
    }
    const size_t parts = CountParts(parallel, count);
    RunParts(parallel, parts,
             [&](size_t index)
             {
                 const Part part = GetPart(count, parts, index);
                 QuantizeValues(values + part.m_Begin, part.m_End - part.m_Begin, steps.m_Steps,
                                quantized + part.m_Begin);
             });
}

template void QuantizeRun<float>(IParallelFor&, const float*, size_t, const RunSteps8&, float*);

ByteData8 HybridQuantizer8::Quantize(const ExecuteArgs& args) const
{
    auto* const quantized = backends::Scratch::At<int8_t>(args.m_Scratch, m_Values);
    auto* const scales = backends::Scratch::At<FloatScale>(args.m_Scratch, m_Scales);
    const float* const values = args.GetInput<float>(0);
    const auto quantize = [&](size_t batch, IParallelFor& parallel)
    {
        const float* const from = values + batch * m_BatchElements;
        int8_t* const to = quantized + batch * m_SeenElements;
        RunSteps8 steps = FindRunSteps(parallel, from, m_BatchElements, m_Data.m_IsAsymmetric);
        steps.m_Steps.m_Flip = m_Data.m_Flip;
        m_Data.m_Seen.AreSome() && !steps.m_AreZeros ? QuantizeSeen(parallel, from, m_Data.m_Seen, steps.m_Steps, to)
                                                     : QuantizeRun(parallel, from, m_SeenElements, steps, to);
        scales[batch] = steps.m_Scale;
    };
    if (m_BatchElements >= PartElements)
    {
        for (size_t batch = 0; batch < m_Data.m_Batches; ++batch)
        {
            quantize(batch, *args.m_Parallel);
        }
        return {reinterpret_cast<const uint8_t*>(quantized), scales};
    }
    const size_t worthwhile = std::max<size_t>(1, m_Data.m_Batches * m_BatchElements / PartElements);
    const size_t parts = std::min<size_t>({m_Data.m_Batches, args.m_Parallel->GetNumThreads(), worthwhile});
    RunParts(*args.m_Parallel, parts,
             [&](size_t index)
             {
                 const Part part = GetPart(m_Data.m_Batches, parts, index);
                 OneThread serial;
                 for (size_t batch = part.m_Begin; batch < part.m_End; ++batch)
                 {
                     quantize(batch, serial);
                 }
             });
    return {reinterpret_cast<const uint8_t*>(quantized), scales};
}

} // namespace tenon::cpu
