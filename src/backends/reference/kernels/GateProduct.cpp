// SPDX-License-Identifier: Apache-2.0
// See GateProduct.hpp.
#include "backends/reference/kernels/GateProduct.hpp"

#include "backends/reference/kernels/HybridInput.hpp"
#include "backends/reference/kernels/RowProducts.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace tenon::ref
{

bool IsInt8Weights(DataType type)
{
    switch (type)
    {
    case DataType::QAsymmS8:
    case DataType::QSymmS8:
    case DataType::QAsymmU8:
    case DataType::Signed8:
    case DataType::Unsigned8: return true;
    default: return false;
    }
}

SupportResult CheckGateWeights(const LayerView& layer, std::initializer_list<size_t> slots)
{
    for (const size_t slot : slots)
    {
        if (!layer.HasInput(slot) || !layer.GetInput(slot).IsQuantized())
        {
            continue;
        }
        const TensorInfo& info = layer.GetInput(slot);
        if (info.HasMultipleQuantizationScales() || !std::isfinite(info.GetQuantizationScale()))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters,
                                     "input " + std::to_string(slot) + " (" + info.ToString() +
                                         ") must have one scale that is finite, as all weights of this operator");
        }
    }
    return SupportResult::Yes();
}

GateWeights::GateWeights(const ReshapeArgs& args, size_t slot)
{
    if (!args.HasInput(slot))
    {
        return;
    }
    const TensorInfo& info = args.GetInput(slot);
    m_Slot = slot;
    m_IsInteger = info.GetDataType() != DataType::Float32;
    if (m_IsInteger)
    {
        m_Scale = info.IsQuantized() ? info.GetQuantizationScale() : 0.0f;
    }
}

GateRows::GateRows(size_t rows, size_t columns, bool isQuantized, bool isAsymmetric, backends::Scratch& scratch)
    : m_Columns(columns), m_IsQuantized(isQuantized), m_IsAsymmetric(isAsymmetric)
{
    if (isQuantized)
    {
        m_Bytes = scratch.Add<int8_t>(columns);
        m_Steps = scratch.Add<int16_t>(rows, columns);
        m_Scales = scratch.Add<float>(rows);
        m_UsedScales = m_Scales;
    }
}

void GateRows::Load(void* scratch, const float* values, size_t rows) const
{
    if (!m_IsQuantized)
    {
        return;
    }
    auto* bytes = backends::Scratch::At<int8_t>(scratch, m_Bytes);
    auto* steps = backends::Scratch::At<int16_t>(scratch, m_Steps);
    auto* scales = backends::Scratch::At<float>(scratch, m_Scales);
    for (size_t row = 0; row < rows; ++row, values += m_Columns, steps += m_Columns)
    {
        const AsymmetricScale scale = m_IsAsymmetric ? QuantizeAsymmetric(values, m_Columns, bytes)
                                                     : AsymmetricScale{QuantizeSymmetric(values, m_Columns, bytes), 0};
        scales[row] = scale.m_Scale;
        std::transform(bytes, bytes + m_Columns, steps,
                       [&](int8_t byte) { return static_cast<int16_t>(byte - scale.m_ZeroPoint); });
    }
}

void GateRows::Accumulate(const ExecuteArgs& args, const GateWeights& weights, const float* values, size_t rows,
                          size_t units, void* partial, float* sums) const
{
    const auto* steps = backends::Scratch::At<int16_t>(args.m_Scratch, m_Steps);
    const auto* scales = backends::Scratch::At<float>(args.m_Scratch, m_UsedScales);
    for (size_t row = 0; row < rows; ++row, sums += units)
    {
        if (weights.m_IsInteger)
        {
            auto* products = static_cast<int32_t*>(partial);
            MultiplyPatches(steps + row * m_Columns, 1, args.GetInput<int8_t>(weights.m_Slot), 0, units, m_Columns,
                            products);
            const float scale = scales[row] * weights.m_Scale;
            for (size_t unit = 0; unit < units; ++unit)
            {
                sums[unit] += static_cast<float>(products[unit]) * scale;
            }
        }
        else
        {
            auto* products = static_cast<float*>(partial);
            MultiplyPatches(values + row * m_Columns, 1, args.GetInput<float>(weights.m_Slot), 0, units, m_Columns,
                            products);
            std::transform(sums, sums + units, products, sums, [](float a, float b) { return a + b; });
        }
    }
}

void ApplyRecurrentActivation(uint32_t code, float* values, size_t count)
{
    const auto apply = [&](auto f) { std::transform(values, values + count, values, f); };
    switch (code)
    {
    case ReluCode: return apply([](float x) { return std::max(0.0f, x); });
    case 2: return apply([](float x) { return std::min(1.0f, std::max(-1.0f, x)); });
    case 3: return apply([](float x) { return std::min(6.0f, std::max(0.0f, x)); });
    case TanhCode: return apply([](float x) { return std::tanh(x); });
    case 5: return apply([](float x) { return std::signbit(x) ? 1.0f : 0.0f; });
    case SigmoidCode: return apply([](float x) { return 1.0f / (1.0f + std::exp(-x)); });
    default: return;
    }
}

SupportResult CheckRecurrentActivation(uint32_t code)
{
    if (code > SigmoidCode)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "activation " + std::to_string(code) + " does not exist: codes are 0 to 6");
    }
    return SupportResult::Yes();
}

SequenceShape::SequenceShape(const TensorShape& data, bool isTimeMajor)
{
    const bool isSequence = data.GetNumDimensions() == 3;
    m_IsTimeMajor = isTimeMajor || !isSequence;
    m_Batches = data[isSequence && isTimeMajor ? 1 : 0];
    m_Steps = isSequence ? data[isTimeMajor ? 0 : 1] : 1;
}

} // namespace tenon::ref
