// SPDX-License-Identifier: Apache-2.0
// The outputs of a run: their memory, taken when the network asks, because shapes may become known that late; their
// values as text; the files of --write-outputs-to-file; and comparisons with other outputs.
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
    uint64_t m_Bytes = 0; ///< the bytes of the inputs and of the outputs' memory by now
    Limits m_Limits;
    std::map<LayerBindingId, OutputData> m_Outputs;
    std::map<LayerBindingId, OutputData> m_Dequantized; ///< the real numbers of the last run, after Dequantize()
};

/// The elements as text, at most `maxElements` of them: "0.1 0.9 … (1001 values)".
std::string FormatValues(const OutputData& output, size_t maxElements);

/// Throws UsageError unless the number of files of --write-outputs-to-file and of --compare-output fits `numOutputs`.
void CheckOutputFiles(const Options& options, size_t numOutputs);

/// A remark where a file of --write-outputs-to-file has a name that does not show whether it gets text or .npy; empty
/// where all names do, and for streams and devices.
std::string DescribeOutputKinds(const Options& options);

/// Writes the outputs of an iteration, counted from 0, to the set of files whose turn it is, unless a later iteration
/// writes them again. Returns the lines of --armnn-output about it. Throws RunError.
std::string WriteOutputFiles(const Options& options, const std::vector<Binding>& bindings, const OutputStore& outputs,
                             unsigned int iteration);

// Comparisons give a line "Byte level root mean square error: 0.5" for each output: the root of the mean square
// difference of the bytes, 0 where there are none. Unless `asArmNN`, a second one for floats: "largest difference
// 2e-07, 1e-07 of the largest value".

/// Compares the outputs of two runs. Throws RunError where an output has another count of bytes.
std::string CompareWithOthers(const std::vector<Binding>& bindings, const OutputStore& outputs,
                              const OutputStore& others, bool asArmNN);

/// Compares outputs with one file for each, of the kinds that --write-outputs-to-file writes; the text is empty without
/// files. Throws InputError, which names the file and its output, also where the shape or the type is another one.
std::string CompareWithFiles(const std::vector<Binding>& bindings, const OutputStore& outputs,
                             const std::vector<std::string>& files, const Limits& limits, bool asArmNN);

} // namespace tenon::cli
