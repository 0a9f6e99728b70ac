// SPDX-License-Identifier: Apache-2.0
// See GateGemmF32.hpp.
#include "backends/cpu/recurrent/GateGemmF32.hpp"

#include <algorithm>
#include <utility>

namespace tenon::cpu
{

std::vector<float> ReadGateFloats(const LayerView& layer, size_t slot)
{
    const TensorInfo& info = layer.GetInput(slot);
    if (info.GetDataType() == DataType::Float32)
    {
        return JoinConstants<float>(layer, {slot});
    }
    const float scale = info.IsQuantized() ? info.GetQuantizationScale() : 0.0f;
    const std::vector<int8_t> bytes = JoinConstants<int8_t>(layer, {slot});
    std::vector<float> values(bytes.size());
    std::transform(bytes.begin(), bytes.end(), values.begin(),
                   [scale](int8_t byte) { return scale * static_cast<float>(byte); });
    return values;
}

FloatGates::FloatGates(const LayerView& layer, const std::vector<size_t>& slots, size_t rows, std::vector<float> bias,
                       backends::PackedStore& store)
    : m_Columns(slots.size() * layer.GetInput(slots.front()).GetShape()[0])
{
    if (layer.GetInput(slots.front()).GetDataType() != DataType::Float32)
    {
        m_Bytes.emplace(PackGateWeights8(layer, slots, rows, bias, store));
        return;
    }
    std::vector<float> joined;
    const auto join = [&]() -> const float*
    {
        joined = JoinConstants<float>(layer, slots);
        return joined.data();
    };
    const size_t depth = layer.GetInput(slots.front()).GetShape()[1];
    m_Floats.emplace(join, WeightSizes{1, m_Columns, depth}, WeightOrder::Columns, store);
    m_Bias = std::move(bias);
}

FloatGatesProduct::FloatGatesProduct(const FloatGates& gates, size_t rows, bool isAsymmetric, unsigned int maxThreads)
    : m_Bias(gates.m_Bias.empty() ? nullptr : gates.m_Bias.data()), m_NumSums(rows * gates.GetColumns())
{
    const Windows windows = MakeRowWindows(rows, gates.GetDepth());
    if (!gates.m_Bytes)
    {
        m_OfFloats.emplace(*gates.m_Floats, windows, rows, backends::FloatClamp(), maxThreads);
        return;
    }
    const TensorInfo data(TensorShape({static_cast<unsigned int>(rows), static_cast<unsigned int>(gates.GetDepth())}),
                          DataType::Float32);
    const TensorInfo* const input = &data;
    ReshapeArgs args;
    args.m_Inputs = {&input, 1};
    args.m_MaxThreads = maxThreads;
    m_OfBytes.emplace(*gates.m_Bytes, windows, rows, HybridData8{rows, isAsymmetric}, args);
}

void FloatGatesProduct::RunAndAdd(const ExecuteArgs& args, const float* data, const float* added, float* sums,
                                  std::byte* scratch) const
{
    if (m_OfFloats)
    {
        const bool canAdd = m_OfFloats->CanAdd();
        m_OfFloats->Run(data, m_Bias, sums, scratch, *args.m_Parallel, canAdd ? added : nullptr);
        added = canAdd ? nullptr : added;
    }
    else
    {
        RunBytes(args, data, sums, scratch);
    }
    for (size_t i = 0; added != nullptr && i < m_NumSums; ++i)
    {
        sums[i] += added[i];
    }
}

void FloatGatesProduct::RunBytes(const ExecuteArgs& args, const float* data, float* sums, std::byte* scratch) const
{
    const void* const input = data;
    void* const output = sums;
    ExecuteArgs own;
    own.m_Inputs = {&input, 1};
    own.m_Outputs = {&output, 1};
    own.m_Scratch = scratch;
    own.m_Parallel = args.m_Parallel;
    m_OfBytes->Run(own);
}

} // namespace tenon::cpu
