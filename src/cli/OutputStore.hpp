// SPDX-License-Identifier: Apache-2.0
// Memory for what a network gives out, taken when the network asks, because shapes may become known that late; and how
// a tensor is shown to people.
#pragma once

#include "cli/Buffer.hpp"
#include "cli/Model.hpp"

#include <tenon/IRuntime.hpp>
#include <tenon/Limits.hpp>
#include <tenon/Tensor.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenon::cli
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
    /// For all outputs of a network whose inputs take `inputBytes`: the limit is on both together.
    OutputStore(const std::vector<Binding>& outputs, uint64_t inputBytes, const Limits& limits);

    /// Throws InputError where inputs and outputs take more than the limit by the shapes that the loaded network has.
    void CheckBytes(const IRuntime& runtime, NetworkId network) const;

    /// The allocator to give to EnqueueWorkload. Memory is used again in the next run where it is large enough. Throws
    /// InputError above the limit, and RunError naming the output where memory runs out.
    OutputAllocator GetAllocator();

    /// After a run: lets Get() give the real numbers (Float32) for which quantized outputs of it stand. Throws
    /// InputError above the limit, and RunError naming the output where memory runs out.
    void Dequantize();

    /// The output of this id from the last run. Throws RunError when there is none.
    const OutputData& Get(LayerBindingId id) const;

private:
    void* Allocate(LayerBindingId id, const TensorInfo& info) { return Allocate(m_Outputs[id], id, info); }
    void* Allocate(OutputData& output, LayerBindingId id, const TensorInfo& info);

    std::map<LayerBindingId, std::string> m_Names;
    uint64_t m_Bytes = 0; ///< of the inputs, and of what outputs have by now
    Limits m_Limits;
    std::map<LayerBindingId, OutputData> m_Outputs;
    std::map<LayerBindingId, OutputData> m_Dequantized; ///< of the last run, where it was asked for
};

/// The elements as text, at most `maxElements` of them: "0.1 0.9 … (1001 values)".
std::string FormatValues(const OutputData& output, size_t maxElements);

} // namespace tenon::cli
