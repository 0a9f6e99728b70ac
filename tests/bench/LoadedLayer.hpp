// SPDX-License-Identifier: Apache-2.0
// A network of one layer, loaded, with memory for its inputs and outputs. bench_kernels runs it repeatedly.
#pragma once

#include "AlignedBytes.hpp"
#include "KernelNetworks.hpp"

#include <functional>

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
    /// Throws tenon::Exception if the layer is refused. The network's constants must outlive this object.
    LoadedLayer(const LayerNetwork& layer, const Settings& settings);

    void Run() { m_Runtime->EnqueueWorkload(m_Id, m_Inputs, m_Outputs); }
    /// A memcpy of half as many bytes as the layer reads and writes, from one half of the inputs and outputs to the
    /// other: it finds the same data in the caches as the layer. If it writes inputs, it uses a second set of inputs.
    void Copy();
    const InputTensors& GetInputs() const { return m_Inputs; }
    const OutputTensors& GetOutputs() const { return m_Outputs; }
    /// CpuAcc if it runs the layer or a part of it, else CpuRef.
    const std::string& Backend() const { return m_Backend; }

private:
    /// Each tensor begins at a page, as do the halves of the copied range: some differences of offsets within pages are
    /// slow (common/CopyBlock.hpp).
    void BindMemory(const std::vector<TensorInfo>& infos, size_t inputs, size_t copied);

    IRuntimePtr m_Runtime;
    NetworkId m_Id = 0;
    std::string m_Backend;
    AlignedBytes m_Memory; ///< inputs, then outputs
    char* m_First = nullptr;
    size_t m_CopyDistance = 0;
    size_t m_Copied = 0;
    InputTensors m_Inputs;
    OutputTensors m_Outputs;
};

/// A run of a network that adds one number to another, which measures the overhead of a call.
std::function<void()> MakeCall(const Settings& settings);

} // namespace tenon::bench
