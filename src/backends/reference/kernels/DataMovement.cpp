// SPDX-License-Identifier: Apache-2.0
// Strided copies and 4-bit packing for the kernels that move elements.
#include "backends/reference/kernels/DataMovement.hpp"

#include "common/CopyBlock.hpp"
#include "common/FourBits.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace tenon::ref
{

Extents GetExtents(const TensorShape& shape)
{
    Extents extents{};
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        extents[i] = shape[i];
    }
    return extents;
}

Extents GetStrides(const TensorShape& shape)
{
    Extents strides{};
    uint64_t stride = 1; // wraps only in tensors without elements, where it is not used
    for (unsigned int i = shape.GetNumDimensions(); i-- > 0;)
    {
        strides[i] = static_cast<int64_t>(stride);
        stride *= shape[i];
    }
    return strides;
}

size_t CountElements(const TensorShape& shape, unsigned int first, unsigned int last)
{
    size_t count = 1;
    for (unsigned int i = first; i < last; ++i)
    {
        count *= shape[i];
    }
    return count;
}

size_t GetMovedBytes(DataType type)
{
    const unsigned int bits = GetDataTypeBits(type);
    return bits < 8 ? 1 : bits / 8;
}

backends::Prepared PrepareCopy(const TensorInfo& input)
{
    backends::Prepared prepared(
        [bytes = input.GetNumBytes()](const ExecuteArgs& run)
        {
            if (bytes != 0 && run.m_Outputs[0] != run.m_Inputs[0])
            {
                CopyBlock(run.m_Outputs[0], run.m_Inputs[0], bytes);
            }
        });
    prepared.m_IsCopy = true;
    return prepared;
}

backends::Prepared PrepareMove(const TensorInfo& input, const TensorInfo& output, const BoxCopy& move)
{
    // 4-bit elements may leave half a byte at the end, which an alias would not set to 0.
    const size_t part = GetDataTypeBits(input.GetDataType()) >= 8 ? move.FindContiguousOffset() : TensorAliases::None;
    if (part == 0 && output.GetNumBytes() == input.GetNumBytes())
    {
        return PrepareCopy(input);
    }
    backends::Prepared prepared = PrepareMove(input, output, MoveFunction(move));
    if (part != TensorAliases::None)
    {
        prepared.m_Aliases.m_OutputsInInput = {part};
    }
    return prepared;
}

backends::Prepared PrepareMove(const TensorInfo& input, const TensorInfo& output, MoveFunction move)
{
    return PrepareIndexedMove(input, output,
                              [move = std::move(move)](const ExecuteArgs&, const std::byte* from, std::byte* to)
                              { move(from, to); });
}

backends::Prepared PrepareIndexedMove(const TensorInfo& input, const TensorInfo& output, IndexedMoveFunction move)
{
    if (GetDataTypeBits(input.GetDataType()) >= 8)
    {
        return [move = std::move(move)](const ExecuteArgs& args)
        { move(args, args.GetInput<std::byte>(0), args.GetOutput<std::byte>(0)); };
    }

    const size_t inputCount = input.GetNumElements();
    const size_t outputCount = output.GetNumElements();
    const auto run = [move = std::move(move), inputCount, outputCount](const ExecuteArgs& args)
    {
        auto* unpackedInput = static_cast<std::byte*>(args.m_Scratch);
        std::byte* unpackedOutput = unpackedInput + inputCount;
        UnpackFourBits(args.GetInput<std::byte>(0), inputCount, true, unpackedInput);
        move(args, unpackedInput, unpackedOutput);
        PackFourBits(unpackedOutput, outputCount, args.GetOutput<std::byte>(0));
    };
    return {run, inputCount + outputCount};
}

void CheckOutputShape(const ReshapeArgs& args, const char* layerType, const std::vector<unsigned int>& sizes)
{
    const TensorShape& output = args.GetOutput(0).GetShape();
    bool fits = output.GetNumDimensions() == sizes.size();
    std::string wanted;
    for (unsigned int i = 0; i < sizes.size(); ++i)
    {
        fits = fits && output[i] == sizes[i];
        wanted += i == 0 ? "" : ",";
        wanted += std::to_string(sizes[i]);
    }
    if (!fits)
    {
        throw LayerValidationException(std::string(layerType) + " of " + args.GetInput(0).GetShape().ToString() +
                                       " gives [" + wanted + "]; the output's shape is " + output.ToString());
    }
}

void AppendSizes(std::vector<unsigned int>& sizes, const TensorShape& shape, unsigned int first, unsigned int last)
{
    for (unsigned int i = first; i < last; ++i)
    {
        sizes.push_back(shape[i]);
    }
}

void RepeatBlock(std::byte* to, size_t blockBytes, size_t bytes)
{
    if (blockBytes == 0)
    {
        return;
    }
    for (size_t done = blockBytes; done < bytes;) // the filled part doubles until it is enough
    {
        const size_t more = std::min(done, bytes - done);
        CopyBlock(to + done, to, more);
        done += more;
    }
}

BoxCopy::BoxCopy(unsigned int rank, const Extents& sizes, const Extents& strides, int64_t first, size_t elementBytes)
{
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (sizes[i] == 0)
        {
            return;
        }
    }
    m_First = first * static_cast<int64_t>(elementBytes);
    m_RunBytes = elementBytes;

    // The loop goes from the innermost dimension outwards. The first dimensions lengthen the run; the others become
    // loops. Two neighbours become one loop if the outer one continues at the end of the inner one.
    std::array<Loop, MaxNumOfTensorDimensions> innermostFirst{};
    for (unsigned int i = rank; i-- > 0;)
    {
        const Loop loop{sizes[i], strides[i] * static_cast<int64_t>(elementBytes)};
        if (loop.m_Count == 1)
        {
            continue;
        }
        if (m_NumLoops == 0 && loop.m_Step == static_cast<int64_t>(m_RunBytes))
        {
            m_RunBytes *= static_cast<size_t>(loop.m_Count);
            continue;
        }
        if (m_NumLoops != 0)
        {
            Loop& inner = innermostFirst[m_NumLoops - 1];
            if (loop.m_Step == inner.m_Count * inner.m_Step)
            {
                inner.m_Count *= loop.m_Count;
                continue;
            }
        }
        innermostFirst[m_NumLoops++] = loop;
    }
    for (unsigned int i = 0; i < m_NumLoops; ++i)
    {
        m_Loops[i] = innermostFirst[m_NumLoops - 1 - i];
    }
}

namespace
{

/// Copies `count` runs of `bytes` bytes, a constant for the compiler, so that each run takes one or two moves.
template <size_t bytes>
std::byte* CopyRuns(const std::byte* from, int64_t count, int64_t step, std::byte* to)
{
    for (int64_t i = 0; i < count; ++i, from += step, to += bytes)
    {
        CopyBlock(to, from, bytes);
    }
    return to;
}

std::byte* CopyRuns(const std::byte* from, int64_t count, int64_t step, size_t bytes, std::byte* to)
{
    switch (bytes)
    {
    case 1: return CopyRuns<1>(from, count, step, to);
    case 2: return CopyRuns<2>(from, count, step, to);
    case 4: return CopyRuns<4>(from, count, step, to);
    case 8: return CopyRuns<8>(from, count, step, to);
    case 16: return CopyRuns<16>(from, count, step, to);
    default: break;
    }
    for (int64_t i = 0; i < count; ++i, from += step, to += bytes)
    {
        CopyBlock(to, from, bytes);
    }
    return to;
}

} // namespace

void BoxCopy::operator()(const std::byte* input, std::byte* output) const
{
    if (m_RunBytes == 0)
    {
        return;
    }
    const std::byte* from = input + m_First;
    if (m_NumLoops == 0)
    {
        if (output != from) // otherwise it is in place already, see TensorAliases
        {
            CopyBlock(output, from, m_RunBytes);
        }
        return;
    }

    const unsigned int last = m_NumLoops - 1;
    std::array<int64_t, MaxNumOfTensorDimensions> index{};
    int64_t offset = 0;
    while (true)
    {
        output = CopyRuns(from + offset, m_Loops[last].m_Count, m_Loops[last].m_Step, m_RunBytes, output);
        unsigned int i = last;
        while (true)
        {
            if (i == 0)
            {
                return;
            }
            --i;
            offset += m_Loops[i].m_Step;
            if (++index[i] < m_Loops[i].m_Count)
            {
                break;
            }
            offset -= m_Loops[i].m_Count * m_Loops[i].m_Step;
            index[i] = 0;
        }
    }
}

} // namespace tenon::ref
