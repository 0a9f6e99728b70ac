// SPDX-License-Identifier: Apache-2.0
// Loads networks of one layer, with random inputs.
#include "LoadedLayer.hpp"

#include "RandomValues.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

namespace tenon::bench
{

namespace
{

constexpr size_t PageBytes = 4096;

size_t RoundUpToPage(size_t bytes)
{
    return (bytes + PageBytes - 1) / PageBytes * PageBytes;
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
    std::vector<TensorInfo> infos = layer.m_Inputs;
    for (unsigned int i = 0; i < layer.m_Outputs; ++i)
    {
        infos.push_back(m_Runtime->GetOutputTensorInfo(m_Id, static_cast<LayerBindingId>(i)));
    }
    BindMemory(infos, layer.m_Inputs.size(), static_cast<size_t>(layer.m_Bytes / 2));
}

void LoadedLayer::BindMemory(const std::vector<TensorInfo>& infos, size_t inputs, size_t copied)
{
    size_t bytes = 0;
    for (const TensorInfo& info : infos)
    {
        bytes += RoundUpToPage(info.GetNumBytes());
    }
    m_CopyDistance = RoundUpToPage(copied);
    m_Memory = AlignedBytes(PageBytes + std::max(bytes, m_CopyDistance + copied));
    m_First = m_Memory.data() + RoundUpToPage(reinterpret_cast<uintptr_t>(m_Memory.data())) -
              reinterpret_cast<uintptr_t>(m_Memory.data());
    m_Copied = copied;
    std::mt19937 random(5);
    char* next = m_First;
    for (size_t i = 0; i < infos.size(); ++i)
    {
        TensorInfo info = infos[i];
        if (i < inputs)
        {
            FillRandom(info.GetDataType(), next, info.GetNumBytes(), random);
            info.SetConstant();
            m_Inputs.emplace_back(static_cast<LayerBindingId>(i), ConstTensor(info, next));
        }
        else
        {
            m_Outputs.emplace_back(static_cast<LayerBindingId>(i - inputs), Tensor(info, next));
        }
        next += RoundUpToPage(info.GetNumBytes());
    }
}

void LoadedLayer::Copy()
{
    char* const to = m_First + m_CopyDistance;
    std::memcpy(to, m_First, m_Copied);
    asm volatile("" : : "r"(to) : "memory");
}

std::function<void()> MakeCall(const Settings& settings)
{
    struct Call
    {
        explicit Call(const Settings& settings) : m_Loaded(m_Network, settings) {}

        LayerNetwork m_Network = MakeBinary(Element::Float32, BinaryOperation::Add, "add", {1, 1, 1, 1}, {1, 1, 1, 1});
        LoadedLayer m_Loaded;
    };
    return [call = std::make_shared<Call>(settings)] { call->m_Loaded.Run(); };
}

} // namespace tenon::bench
