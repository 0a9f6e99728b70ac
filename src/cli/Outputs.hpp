// SPDX-License-Identifier: Apache-2.0
// The outputs of a run: their memory, which is allocated on request of the network, because shapes may become known
// only then; their values as text; the files of --write-outputs-to-file; and comparisons with other outputs.
#pragma once

#include "cli/Buffer.hpp"
#include "cli/Model.hpp"
#include "cli/Options.hpp"

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

/// Throws UsageError unless the number of files of --write-outputs-to-file and of --compare-output fits `numOutputs`.
void CheckOutputFiles(const Options& options, size_t numOutputs);

/// A remark if the name of a file of --write-outputs-to-file does not show whether the file gets text or .npy; empty if
/// all names do, and for streams and devices.
std::string DescribeOutputKinds(const Options& options);

/// Writes the outputs of an iteration, counted from 0, to the iteration's set of files, unless a later iteration writes
/// them again. Returns the lines of --armnn-output about it. Throws RunError.
std::string WriteOutputFiles(const Options& options, const std::vector<Binding>& bindings, const OutputStore& outputs,
                             unsigned int iteration);

// Comparisons give a line "Byte level root mean square error: 0.5" for each output: the root of the mean square
// difference of the bytes, 0 if there are no bytes. Unless `asArmNN`, floats have a second line: "largest difference
// 2e-07, 1e-07 of the largest value".

/// Compares the outputs of two runs. Throws RunError if an output has another number of bytes.
std::string CompareWithOthers(const std::vector<Binding>& bindings, const OutputStore& outputs,
                              const OutputStore& others, bool asArmNN);

/// Compares outputs with one file for each, in the formats of --write-outputs-to-file; the text is empty without files.
/// Throws InputError, which names the file and its output, also if the shape or the type differs.
std::string CompareWithFiles(const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& files, const Limits& limits, bool asArmNN);

} // namespace tenon::cli
