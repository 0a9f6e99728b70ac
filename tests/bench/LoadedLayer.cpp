// SPDX-License-Identifier: Apache-2.0
// Loads networks of one layer, with random inputs.
#include "LoadedLayer.hpp"

#include "RandomValues.hpp"

#include <random>

namespace tenon::bench
{

namespace
{

AlignedBytes MakeInput(const TensorInfo& info, std::mt19937& random)
{
    AlignedBytes bytes(info.GetNumBytes());
    FillRandom(info.GetDataType(), bytes.data(), bytes.size(), random);
    return bytes;
}

class FindCpuAcc : public IStrategy
{
public:
    void ExecuteStrategy(const IConnectableLayer* layer, const BaseDescriptor&, const std::vector<ConstTensor>&,
                         const char*, const LayerBindingId) override
    {
        m_Found = m_Found || layer->GetBackendId() == BackendId("CpuAcc");
    }
    bool m_Found = false;
};

} // namespace

LoadedLayer::LoadedLayer(const LayerNetwork& layer, const Settings& settings) : m_Runtime(IRuntime::Create({}))
{
    OptimizerOptionsOpaque options;
    options.SetReduceFp32ToBf16(settings.m_Bf16);
    if (settings.m_FastMath)
    {
        options.AddModelOption(BackendOptions("CpuAcc", {{"FastMathEnabled", true}}));
    }
    IOptimizedNetworkPtr optimized =
        Optimize(*layer.m_Network, {"CpuAcc", "CpuRef"}, m_Runtime->GetDeviceSpec(), options);
    FindCpuAcc find;
    optimized->ExecuteStrategy(find);
    m_Backend = find.m_Found ? "CpuAcc" : "CpuRef";

    INetworkProperties properties;
    properties.m_NumberOfThreads = settings.m_Threads;
    std::string error;
    if (m_Runtime->LoadNetwork(m_Id, std::move(optimized), error, properties) != Status::Success)
    {
        throw RuntimeException(error);
    }
    std::mt19937 random(5);
    for (unsigned int i = 0; i < layer.m_Inputs.size(); ++i)
    {
        TensorInfo info = layer.m_Inputs[i];
        info.SetConstant();
        m_Memory.push_back(MakeInput(info, random));
        m_Inputs.emplace_back(static_cast<LayerBindingId>(i), ConstTensor(info, m_Memory.back().data()));
    }
    for (unsigned int i = 0; i < layer.m_Outputs; ++i)
    {
        const auto id = static_cast<LayerBindingId>(i);
        const TensorInfo output = m_Runtime->GetOutputTensorInfo(m_Id, id);
        m_Memory.emplace_back(output.GetNumBytes());
        m_Outputs.emplace_back(id, Tensor(output, m_Memory.back().data()));
    }
}

} // namespace tenon::bench
