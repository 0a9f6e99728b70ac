// SPDX-License-Identifier: Apache-2.0
// A network of one layer, loaded, with memory for its inputs and outputs: what bench_kernels runs again and again.
#pragma once

#include "AlignedBytes.hpp"
#include "KernelNetworks.hpp"

namespace tenon::bench
{

struct Settings
{
    unsigned int m_Threads = 1;
    bool m_FastMath = false;
    bool m_Bf16 = false;
};

class LoadedLayer
{
public:
    /// Throws tenon::Exception where the layer is refused. The network's constants must outlive this.
    LoadedLayer(const LayerNetwork& layer, const Settings& settings);

    void Run() { m_Runtime->EnqueueWorkload(m_Id, m_Inputs, m_Outputs); }
    /// CpuAcc if that runs the layer or a part of it, else CpuRef.
    const std::string& Backend() const { return m_Backend; }

private:
    IRuntimePtr m_Runtime;
    NetworkId m_Id = 0;
    std::string m_Backend;
    std::vector<AlignedBytes> m_Memory;
    InputTensors m_Inputs;
    OutputTensors m_Outputs;
};

} // namespace tenon::bench
