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
constexpr size_t TaskElements = size_t{1} << 15;

size_t CountTasks(const IParallelFor& parallel, size_t count)
{
    return count < 2 * TaskElements ? 1 : std::min<size_t>(parallel.GetNumThreads(), count / TaskElements);
}

FloatRange FindRange(IParallelFor& parallel, const float* values, size_t count)
{
    constexpr size_t MaxTasks = 16;
    const size_t tasks = std::min(CountTasks(parallel, count), MaxTasks);
    if (tasks == 1) // each row of a matrix is a batch
    {
        return GetMicrokernelsInt8().m_FindRange(values, count);
    }
    std::array<FloatRange, MaxTasks> ranges;
    RunTasks(parallel, tasks,
             [&](size_t index)
             {
                 const IndexRange chunk = GetTaskRange(count, tasks, index);
                 ranges[index] = GetMicrokernelsInt8().m_FindRange(values + chunk.m_Begin, chunk.m_End - chunk.m_Begin);
             });
    FloatRange range;
    for (size_t i = 0; i < tasks; ++i)
    {
        range = {std::min(range.m_Min, ranges[i].m_Min), std::max(range.m_Max, ranges[i].m_Max)};
    }
    return range;
}

void QuantizeValues(const float* values, size_t count, const QuantizeParametersInt8& steps, int8_t* quantized)
{
    GetMicrokernelsInt8().m_Quantize(values, count, steps, quantized);
}

void QuantizeValues(const float* values, size_t count, const QuantizeParametersInt8& steps, float* quantized)
{
    GetMicrokernelsInt8().m_QuantizeToFloats(values, count, steps, quantized);
}

/// QuantizeBatch for sampled pixels. Precondition: the batch is not all zeros.
void QuantizeSampled(IParallelFor& parallel, const float* values, const SampledPixelsInt8& seen,
                     const QuantizeParametersInt8& steps, int8_t* quantized)
{
    const size_t tasks = std::min(seen.m_Rows, CountTasks(parallel, seen.GetElements()));
    RunTasks(parallel, tasks,
             [&](size_t index)
             {
                 const IndexRange chunk = GetTaskRange(seen.m_Rows, tasks, index);
                 int8_t* to = quantized + chunk.m_Begin * seen.m_Columns * seen.m_Channels;
                 for (size_t row = chunk.m_Begin; row < chunk.m_End; ++row)
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

SampledPixelsInt8::SampledPixelsInt8(const Im2col& windows)
{
    constexpr int64_t MinChannels = 16;
    if (!windows.IsStridedPointwise() || windows.m_Channels < MinChannels)
    {
        return;
    }
    m_Rows = static_cast<size_t>(windows.m_OutputHeight);
    m_Columns = static_cast<size_t>(windows.m_OutputWidth);
    m_Channels = static_cast<size_t>(windows.m_Channels);
    m_RowStep = static_cast<size_t>(windows.m_StrideY * windows.m_InputWidth) * m_Channels;
    m_ColumnStep = static_cast<size_t>(windows.m_StrideX) * m_Channels;
}

BatchQuantizationInt8 FindBatchQuantization(IParallelFor& parallel, const float* values, size_t count,
                                            bool isAsymmetric)
{
    const FloatRange range = FindRange(parallel, values, count);
    const float maxMagnitude = std::max(-range.m_Min, range.m_Max);
    if (isAsymmetric ? range.m_Min == range.m_Max : maxMagnitude == 0.0f)
    {
        return {};
    }
    if (!isAsymmetric)
    {
        return {{127.0f / maxMagnitude, 0, -127, 0}, {maxMagnitude / 127.0f, 0}, false};
    }
    const ref::AsymmetricScale scale = ref::FindAsymmetricScale(range.m_Min, range.m_Max);
    return {{1.0f / scale.m_Scale, scale.m_ZeroPoint, -128, 0}, {scale.m_Scale, scale.m_ZeroPoint}, false};
}

template <typename T>
void QuantizeBatch(IParallelFor& parallel, const float* values, size_t count, const BatchQuantizationInt8& steps,
                   T* quantized)
{
    if (steps.m_IsZero)
    {
        std::memset(quantized, steps.m_Steps.m_SignXor, count * sizeof(T));
        return;
    }
    const size_t tasks = CountTasks(parallel, count);
    if (tasks == 1)
    {
        QuantizeValues(values, count, steps.m_Steps, quantized);
        return;
    }
    RunTasks(parallel, tasks,
             [&](size_t index)
             {
                 const IndexRange chunk = GetTaskRange(count, tasks, index);
                 QuantizeValues(values + chunk.m_Begin, chunk.m_End - chunk.m_Begin, steps.m_Steps,
                                quantized + chunk.m_Begin);
             });
}

template void QuantizeBatch<float>(IParallelFor&, const float*, size_t, const BatchQuantizationInt8&, float*);

GemmDataInt8 HybridQuantizerInt8::Quantize(const ExecuteArgs& args) const
{
    auto* const quantized = backends::Scratch::At<int8_t>(args.m_Scratch, m_Values);
    auto* const scales = backends::Scratch::At<ScaleAndZeroPoint>(args.m_Scratch, m_Scales);
    const float* const values = args.GetInput<float>(0);
    const auto quantize = [&](size_t batch, IParallelFor& parallel)
    {
        const float* const from = values + batch * m_BatchElements;
        int8_t* const to = quantized + batch * m_SampledElements;
        BatchQuantizationInt8 steps = FindBatchQuantization(parallel, from, m_BatchElements, m_Data.m_IsAsymmetric);
        steps.m_Steps.m_SignXor = m_Data.m_SignXor;
        m_Data.m_Sampled.HasSamples() && !steps.m_IsZero
            ? QuantizeSampled(parallel, from, m_Data.m_Sampled, steps.m_Steps, to)
            : QuantizeBatch(parallel, from, m_SampledElements, steps, to);
        scales[batch] = steps.m_Scale;
    };
    if (m_BatchElements >= TaskElements)
    {
        for (size_t batch = 0; batch < m_Data.m_Batches; ++batch)
        {
            quantize(batch, *args.m_Parallel);
        }
        return {reinterpret_cast<const uint8_t*>(quantized), scales};
    }
    const size_t worthwhile = std::max<size_t>(1, m_Data.m_Batches * m_BatchElements / TaskElements);
    const size_t tasks = std::min<size_t>({m_Data.m_Batches, args.m_Parallel->GetNumThreads(), worthwhile});
    RunTasks(*args.m_Parallel, tasks,
             [&](size_t index)
             {
                 const IndexRange chunk = GetTaskRange(m_Data.m_Batches, tasks, index);
                 OneThread serial;
                 for (size_t batch = chunk.m_Begin; batch < chunk.m_End; ++batch)
                 {
                     quantize(batch, serial);
                 }
             });
    return {reinterpret_cast<const uint8_t*>(quantized), scales};
}

} // namespace tenon::cpu
