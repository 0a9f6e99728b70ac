// SPDX-License-Identifier: Apache-2.0
// See OtherNetwork.hpp.
#include "tools/execute_network/OtherNetwork.hpp"

#include "tools/common/Stopwatch.hpp"
#include "tools/execute_network/OptimizerOptions.hpp"

#include <string>
#include <utility>

namespace tenon::tools
{

OtherNetwork::OtherNetwork(Model model, const std::vector<BackendId>& backends, const Options& options,
                           uint64_t inputBytes, const ErrorAttribution& blame, IRuntime& runtime, Debug debug)
    : m_Blame(blame), m_Runtime(runtime), m_Outputs(model.m_Outputs, inputBytes, options.m_Limits),
      m_KeepsStates(options.m_KeepStates), m_Dequantizes(options.m_DequantizeOutputs)
{
    OptimizerOptionsOpaque optimizerOptions = MakeOptimizerOptions(options, backends, options.m_Limits);
    optimizerOptions.SetDebugEnabled(debug == Debug::On);
    optimizerOptions.SetDebugToFileEnabled(false);
    IOptimizedNetworkPtr network = std::move(model.m_Optimized);
    if (network == nullptr)
    {
        std::vector<std::string> messages; // those of the run's own network are shown
        network = m_Blame.OfModel(
            [&]
            {
                return Optimize(*model.m_Network, backends, m_Runtime.GetDeviceSpec(), optimizerOptions,
                                Optional<std::vector<std::string>&>(messages));
            });
    }
    m_Assignment = network->GetAssignment();
    INetworkProperties properties;
    properties.m_NumberOfThreads = options.m_NumberOfThreads;
    m_Blame.OfRun([&] { return m_Runtime.LoadNetwork(m_Network, std::move(network), properties); });
}

double OtherNetwork::Run(const InputTensors& tensors)
{
    if (std::exchange(m_HasRun, true) && !m_KeepsStates)
    {
        m_Runtime.ResetStates(m_Network);
    }
    const OutputAllocator allocator = m_Outputs.GetAllocator();
    const Stopwatch running;
    m_Blame.OfRun([&] { return m_Runtime.EnqueueWorkload(m_Network, tensors, allocator); });
    const double ms = running.Milliseconds();
    if (m_Dequantizes)
    {
        m_Outputs.Dequantize();
    }
    return ms;
}

void OtherNetwork::SetDebugCallback(const DebugCallbackFunction& callback)
{
    m_Runtime.RegisterDebugCallback(m_Network, callback);
}

} // namespace tenon::tools
