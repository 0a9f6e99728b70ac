// SPDX-License-Identifier: Apache-2.0
// Tile: repeats the input along each dimension. The loop goes dimension by dimension from the innermost: the first copy
// is duplicated until its number is reached.
#include "backends/reference/kernels/DataMovement.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Expansion.hpp>

#include <string>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow TileTypes[] = {backends::SameType(backends::AnyType)};

/// One dimension; steps in bytes.
struct Dimension
{
    size_t m_Size = 0;
    size_t m_Multiple = 1;
    size_t m_InputStep = 0;
    size_t m_OutputStep = 0;
};

struct TilePlan
{
    std::array<Dimension, MaxNumOfTensorDimensions> m_Dimensions{};
    unsigned int m_Rank = 0; ///< without the innermost dimensions that are not repeated
    size_t m_RunBytes = 0;   ///< bytes of those dimensions together

    void operator()(const std::byte* input, std::byte* output) const { Run(0, input, output); }

    /// Writes the slab of the output from dimension `d` on.
    void Run(unsigned int d, const std::byte* input, std::byte* output) const
    {
        if (d == m_Rank)
        {
            CopyBlock(output, input, m_RunBytes);
            return;
        }
        const Dimension& dim = m_Dimensions[d];
        const size_t bytes = dim.m_Size * dim.m_OutputStep;
        if (d + 1 == m_Rank)
        {
            CopyBlock(output, input, bytes);
        }
        else
        {
            for (size_t i = 0; i < dim.m_Size; ++i)
            {
                Run(d + 1, input + i * dim.m_InputStep, output + i * dim.m_OutputStep);
            }
        }
        RepeatBlock(output, bytes, bytes * dim.m_Multiple);
    }
};

backends::Prepared PrepareTile(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    const std::vector<uint32_t>& multiples = args.GetDescriptor<TileDescriptor>().m_Multiples;
    const TensorShape& shape = input.GetShape();
    bool fits = multiples.size() == shape.GetNumDimensions() && output.GetNumDimensions() == multiples.size();
    for (unsigned int i = 0; fits && i < multiples.size(); ++i)
    {
        fits = uint64_t{shape[i]} * multiples[i] == output.GetShape()[i];
    }
    if (!fits)
    {
        throw LayerValidationException("Tile of " + shape.ToString() + " to " + output.GetShape().ToString() +
                                       ": there must be one multiple for each dimension (there are " +
                                       std::to_string(multiples.size()) + "), and the output that many times as long");
    }
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }

    TilePlan plan;
    plan.m_RunBytes = GetMovedBytes(input.GetDataType());
    plan.m_Rank = shape.GetNumDimensions();
    while (plan.m_Rank != 0 && multiples[plan.m_Rank - 1] == 1)
    {
        plan.m_RunBytes *= shape[--plan.m_Rank];
    }
    if (plan.m_Rank == 0 && GetDataTypeBits(input.GetDataType()) >= 8) // nothing is repeated
    {
        return PrepareCopy(input);
    }
    size_t inputStep = plan.m_RunBytes;
    size_t outputStep = plan.m_RunBytes;
    for (unsigned int i = plan.m_Rank; i-- > 0;)
    {
        plan.m_Dimensions[i] = {shape[i], multiples[i], inputStep, outputStep};
        inputStep *= shape[i];
        outputStep *= output.GetShape()[i];
    }
    return PrepareMove(input, output, plan);
}

} // namespace

extern const backends::Kernel RefTileKernel = {"RefTile", TileTypes, PrepareTile};

} // namespace tenon::ref
