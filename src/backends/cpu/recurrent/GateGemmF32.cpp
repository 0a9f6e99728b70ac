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

PackedGatesF32::PackedGatesF32(const LayerView& layer, const std::vector<size_t>& slots, size_t rows,
                               std::vector<float> bias, backends::PackedStore& store)
    : m_Columns(slots.size() * layer.GetInput(slots.front()).GetShape()[0])
{
    if (layer.GetInput(slots.front()).GetDataType() != DataType::Float32)
    {
        m_WeightsInt8.emplace(PackGateWeightsInt8(layer, slots, rows, bias, store));
        return;
    }
    std::vector<float> joined;
    const auto join = [&]() -> const float*
    {
        joined = JoinConstants<float>(layer, slots);
        return joined.data();
    };
    const size_t depth = layer.GetInput(slots.front()).GetShape()[1];
    m_WeightsF32.emplace(join, WeightSizes{1, m_Columns, depth}, WeightOrder::Columns, store);
    m_Bias = std::move(bias);
}

GateGemmF32::GateGemmF32(const PackedGatesF32& gates, size_t rows, bool isAsymmetric, unsigned int maxThreads)
    : m_Bias(gates.m_Bias.empty() ? nullptr : gates.m_Bias.data()), m_NumSums(rows * gates.GetColumns())
{
    const Im2col windows = MakeMatrixIm2col(rows, gates.GetDepth());
    if (!gates.m_WeightsInt8)
    {
        m_GemmF32.emplace(*gates.m_WeightsF32, windows, rows, backends::FloatClamp(), maxThreads);
        return;
    }
    const TensorInfo data(TensorShape({static_cast<unsigned int>(rows), static_cast<unsigned int>(gates.GetDepth())}),
                          DataType::Float32);
    const TensorInfo* const input = &data;
    ReshapeArgs args;
    args.m_Inputs = {&input, 1};
    args.m_MaxThreads = maxThreads;
    m_GemmInt8.emplace(*gates.m_WeightsInt8, windows, rows, HybridDataInt8{rows, isAsymmetric}, args);
}

void GateGemmF32::RunAndAdd(const ExecuteArgs& args, const float* data, const float* added, float* sums,
                            std::byte* scratch) const
{
    if (m_GemmF32)
    {
        const bool canAdd = m_GemmF32->CanAdd();
        m_GemmF32->Run(data, m_Bias, sums, scratch, *args.m_Parallel, canAdd ? added : nullptr);
        added = canAdd ? nullptr : added;
    }
    else
    {
        RunHybrid(args, data, sums, scratch);
    }
    for (size_t i = 0; added != nullptr && i < m_NumSums; ++i)
    {
        sums[i] += added[i];
    }
}

void GateGemmF32::RunHybrid(const ExecuteArgs& args, const float* data, float* sums, std::byte* scratch) const
{
    const void* const input = data;
    void* const output = sums;
    ExecuteArgs own;
    own.m_Inputs = {&input, 1};
    own.m_Outputs = {&output, 1};
    own.m_Scratch = scratch;
    own.m_Parallel = args.m_Parallel;
    m_GemmInt8->Run(own);
}

} // namespace tenon::cpu
