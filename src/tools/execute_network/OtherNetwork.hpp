// SPDX-License-Identifier: Apache-2.0
// OtherNetwork: a further network in the runtime of the run: its model on other backends, or another model.
#pragma once

#include "tools/common/ErrorAttribution.hpp"
#include "tools/common/Model.hpp"
#include "tools/common/OutputStore.hpp"
#include "tools/execute_network/Options.hpp"

#include <tenon/IOptimizedNetwork.hpp>
#include <tenon/IRuntime.hpp>

#include <cstdint>
#include <vector>

namespace tenon::tools
{

class OtherNetwork
{
public:
    /// Whether a debug callback gets the tensors between layers.
    enum class Debug
    {
        Off,
        On
    };

    /// Optimizes and loads the model, whose inputs take `inputBytes`. Options about layers to print do not count. The
    /// runtime must outlive the network.
    OtherNetwork(Model model, const std::vector<BackendId>& backends, const Options& options, uint64_t inputBytes,
                 const ErrorAttribution& blame, IRuntime& runtime, Debug debug = Debug::Off);
    ~OtherNetwork() { m_Runtime.UnloadNetwork(m_Network); }
    OtherNetwork(const OtherNetwork&) = delete;
    OtherNetwork& operator=(const OtherNetwork&) = delete;

    /// Runs once, and returns the milliseconds. States begin anew unless --keep-states keeps them.
    double Run(const InputTensors& tensors);

    void SetDebugCallback(const DebugCallbackFunction& callback);

    const std::vector<LayerAssignment>& GetAssignment() const { return m_Assignment; }
    const OutputStore& GetOutputs() const { return m_Outputs; }

private:
    ErrorAttribution m_Blame;
    IRuntime& m_Runtime;
    NetworkId m_Network = 0;
    std::vector<LayerAssignment> m_Assignment;
    OutputStore m_Outputs;
    bool m_KeepsStates;
    bool m_Dequantizes;
    bool m_HasRun = false;
};

} // namespace tenon::tools
