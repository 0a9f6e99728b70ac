// SPDX-License-Identifier: Apache-2.0
// ReverseSequence: reverses the first elements along one dimension; their number depends on the index along another
// dimension.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "backends/reference/kernels/MovedElement.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <algorithm>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow ReverseSequenceTypes[] = {
    backends::Types({backends::WholeByteType, IndexTypes}, backends::WholeByteType)};

SupportResult CheckReverseSequence(const LayerView& layer)
{
    return CheckSameType(layer.GetOutput(0), "output 0", layer.GetInput(0).GetDataType());
}

/// The tensor as [outer, first, middle, second, inner], where first and second are batch and sequence in either order.
struct ReverseRun
{
    IndexInput m_Lengths;
    bool m_BatchFirst;
    size_t m_Outer;
    size_t m_First;
    size_t m_Middle;
    size_t m_Second;
    size_t m_BlockBytes;

    /// The source index, along the sequence, of position `at`.
    size_t Source(const ExecuteArgs& args, size_t batch, size_t at) const
    {
        const size_t longest = m_BatchFirst ? m_Second : m_First;
        const auto length = static_cast<size_t>(m_Lengths.Read(args, batch, 0, static_cast<int64_t>(longest) + 1));
        return at < length ? length - 1 - at : at;
    }

    void operator()(const ExecuteArgs& args) const
    {
        const auto* in = args.GetInput<std::byte>(0);
        auto* out = args.GetOutput<std::byte>(0);
        for (size_t outer = 0; outer < m_Outer; ++outer)
        {
            for (size_t a = 0; a < m_First; ++a)
            {
                for (size_t middle = 0; middle < m_Middle; ++middle)
                {
                    for (size_t b = 0; b < m_Second; ++b, out += m_BlockBytes)
                    {
                        const size_t fromA = m_BatchFirst ? a : Source(args, b, a);
                        const size_t fromB = m_BatchFirst ? Source(args, a, b) : b;
                        const size_t block = ((outer * m_First + fromA) * m_Middle + middle) * m_Second + fromB;
                        CopyBlock(out, in + block * m_BlockBytes, m_BlockBytes);
                    }
                }
            }
        }
    }
};

backends::Prepared PrepareReverseSequence(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<ReverseSequenceDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const TensorShape& shape = input.GetShape();
    const unsigned int rank = shape.GetNumDimensions();
    const auto sequence = static_cast<unsigned int>(descriptor.m_SequenceDimension);
    const auto batch = static_cast<unsigned int>(descriptor.m_BatchDimension);
    if (sequence >= rank || batch >= rank || sequence == batch)
    {
        throw LayerValidationException("sequences along dimension " + std::to_string(descriptor.m_SequenceDimension) +
                                       " and batches along " + std::to_string(descriptor.m_BatchDimension) +
                                       " do not fit an input of shape " + shape.ToString());
    }
    RequireElements(args.GetInput(1), "input 1", shape[batch]);
    RequireElements(args.GetOutput(0), "output 0", shape.GetNumElements64());
    if (shape.GetNumElements64() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const unsigned int first = std::min(sequence, batch);
    const unsigned int second = std::max(sequence, batch);
    return ReverseRun{IndexInput(args, 1),
                      batch < sequence,
                      CountElements(shape, 0, first),
                      shape[first],
                      CountElements(shape, first + 1, second),
                      shape[second],
                      CountElements(shape, second + 1, rank) * GetMovedBytes(input.GetDataType())};
}

} // namespace

extern const backends::Kernel RefReverseSequenceKernel = {"RefReverseSequence", ReverseSequenceTypes,
                                                          PrepareReverseSequence, CheckReverseSequence};

} // namespace tenon::ref
