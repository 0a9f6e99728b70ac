// SPDX-License-Identifier: Apache-2.0
// The outputs of a run: their memory, which is allocated on request of the network, because shapes may become known
// only then, and their values as text.
#pragma once

#include "tools/common/Buffer.hpp"
#include "tools/common/Model.hpp"

#include <tenon/IRuntime.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenon::tools
{

struct OutputData
{
    TensorInfo m_Info;
    Buffer m_Data;
};

class OutputStore
{
public:
    OutputStore() = default;
    /// A store for all outputs of a network whose inputs take `inputBytes`; the limit is on both together.
    OutputStore(const std::vector<Binding>& outputs, uint64_t inputBytes, const Limits& limits);

    /// Throws InputError if inputs and outputs of the loaded network's shapes exceed the limit.
    void CheckBytes(const IRuntime& runtime, NetworkId network) const;

    /// The allocator for EnqueueWorkload. Memory is reused in the next run if it is large enough. The allocator throws
    /// InputError above the limit, and RunError, which names the output, if memory is exhausted.
    OutputAllocator GetAllocator();

    /// Converts the quantized outputs of a run to real numbers (Float32), which Get() then returns. Throws InputError
    /// above the limit, and RunError, which names the output, if memory is exhausted.
    void Dequantize();

    /// The output of this id from the last run. Throws RunError when there is none.
    const OutputData& Get(LayerBindingId id) const;

private:
    void* Allocate(LayerBindingId id, const TensorInfo& info) { return Allocate(m_Outputs[id], id, info); }
    void* Allocate(OutputData& output, LayerBindingId id, const TensorInfo& info);

    std::map<LayerBindingId, std::string> m_Names;
    uint64_t m_Bytes = 0; ///< the bytes of the inputs and of the outputs' present memory
    Limits m_Limits;
    std::map<LayerBindingId, OutputData> m_Outputs;
    std::map<LayerBindingId, OutputData> m_Dequantized; ///< the real numbers of the last run, after Dequantize()
};

/// The elements as text, at most `maxElements` of them: "0.1 0.9 … (1001 values)".
std::string FormatValues(const OutputData& output, size_t maxElements);

} // namespace tenon::tools
