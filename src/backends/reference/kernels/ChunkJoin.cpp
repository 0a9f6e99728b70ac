// SPDX-License-Identifier: Apache-2.0
// Joins tensors chunk by chunk: see ChunkJoin.hpp.
#include "backends/reference/kernels/ChunkJoin.hpp"

#include "backends/reference/kernels/DataMovement.hpp"
#include "common/CopyBlock.hpp"
#include "common/FourBits.hpp"

#include <algorithm>
#include <utility>

namespace tenon::ref
{

namespace
{

/// Interleaves the chunks of the inputs.
void JoinChunks(const std::vector<JoinInput>& parts, Span<const void* const> inputs, size_t chunks, size_t elementBytes,
                std::byte* output)
{
    for (size_t chunk = 0; chunk < chunks; ++chunk)
    {
        for (size_t i = 0; i < parts.size(); ++i)
        {
            const JoinInput& part = parts[i];
            const size_t bytes = part.m_ChunkElements * elementBytes;
            if (bytes == 0)
            {
                continue;
            }
            const std::byte* from = static_cast<const std::byte*>(inputs[i]) + chunk * bytes;
            if (part.m_Requantize != nullptr)
            {
                part.m_Requantize(from, part.m_ChunkElements, part.m_Scale, part.m_Bias, part.m_ZeroPoint, output);
            }
            else if (output != from) // otherwise the input is in place already, see TensorAliases
            {
                CopyBlock(output, from, bytes);
            }
            output += bytes;
        }
    }
}

/// Chunks of 4-bit elements start at half bytes: they are joined with one byte per element, input by input, then
/// packed.
backends::Prepared PreparePacked(std::vector<JoinInput> parts, size_t chunks, size_t outputElements)
{
    size_t largest = 0;
    for (const JoinInput& part : parts)
    {
        largest = std::max(largest, part.m_ChunkElements * chunks);
    }
    const auto run = [parts = std::move(parts), chunks, outputElements](const ExecuteArgs& args)
    {
        auto* joined = static_cast<std::byte*>(args.m_Scratch);
        std::byte* unpacked = joined + outputElements;
        const size_t stride = outputElements / chunks;
        size_t begin = 0;
        for (size_t i = 0; i < parts.size(); ++i)
        {
            const size_t length = parts[i].m_ChunkElements;
            UnpackFourBits(args.GetInput<std::byte>(i), length * chunks, true, unpacked);
            for (size_t chunk = 0; chunk < chunks; ++chunk)
            {
                std::copy_n(unpacked + chunk * length, length, joined + chunk * stride + begin);
            }
            begin += length;
        }
        PackFourBits(joined, outputElements, args.GetOutput<std::byte>(0));
    };
    return {run, outputElements + largest};
}

/// The inputs are ranges of a single chunk, except inputs that are requantized.
TensorAliases FindOffsets(const std::vector<JoinInput>& parts, size_t elementBytes)
{
    TensorAliases shared;
    size_t begin = 0;
    for (const JoinInput& part : parts)
    {
        shared.m_InputsInOutput.push_back(part.m_Requantize == nullptr ? begin : TensorAliases::None);
        begin += part.m_ChunkElements * elementBytes;
    }
    return shared;
}

} // namespace

backends::Prepared PrepareJoin(std::vector<JoinInput> parts, size_t chunks, const TensorInfo& output)
{
    if (GetDataTypeBits(output.GetDataType()) < 8)
    {
        return PreparePacked(std::move(parts), chunks, output.GetNumElements());
    }
    if (parts.size() == 1 && parts.front().m_Requantize == nullptr)
    {
        return PrepareCopy(output); // copies the one input, which has the same number of bytes
    }
    const size_t bytes = GetMovedBytes(output.GetDataType());
    TensorAliases shared = chunks == 1 ? FindOffsets(parts, bytes) : TensorAliases();
    backends::Prepared prepared = [parts = std::move(parts), chunks, bytes](const ExecuteArgs& run)
    { JoinChunks(parts, run.m_Inputs, chunks, bytes, run.GetOutput<std::byte>(0)); };
    prepared.m_Aliases = std::move(shared);
    return prepared;
}

} // namespace tenon::ref
