// SPDX-License-Identifier: Apache-2.0
// StablehloPad and Dilate: copies of one value around and between the elements of a tensor. The output is filled with
// the value, then the elements are copied to their positions.
#include "backends/reference/IndexWalk.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Expansion.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow PadTypes[] = {backends::SameType(backends::WholeByteType, 2)};

/// Input index k of a dimension is copied to output index m_Low + k * m_Step.
struct Placement
{
    int64_t m_Low = 0;
    int64_t m_Step = 1;
};
using Placements = std::array<Placement, MaxNumOfTensorDimensions>;

/// Writes `bytes` bytes of repeated elements.
void Fill(std::byte* to, size_t bytes, const std::byte* element, size_t elementBytes)
{
    std::memcpy(to, element, elementBytes);
    for (size_t done = elementBytes; done < bytes;) // the filled part doubles until it is enough
    {
        const size_t more = std::min(done, bytes - done);
        std::memcpy(to + done, to, more);
        done += more;
    }
}

backends::Prepared PreparePlacement(const TensorInfo& input, const TensorInfo& output, const Placements& placements)
{
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const size_t elementBytes = GetMovedBytes(input.GetDataType());
    const auto bytes = static_cast<int64_t>(elementBytes);
    const unsigned int rank = input.GetNumDimensions();
    const Extents inputStrides = GetStrides(input.GetShape());
    const Extents outputStrides = GetStrides(output.GetShape());

    std::array<int64_t, MaxNumOfTensorDimensions> counts{};
    std::array<int64_t, MaxNumOfTensorDimensions> begins{};
    size_t copied = 1;
    for (unsigned int i = 0; i < rank; ++i)
    {
        const auto [low, step] = placements[i];
        const int64_t room = int64_t{output.GetShape()[i]} - 1 - low; // distance from the position of index 0 to the
                                                                      // last position
        const int64_t end = room < 0 ? 0 : std::min<int64_t>(input.GetShape()[i], room / step + 1);
        begins[i] = low < 0 ? (-low + step - 1) / step : 0;
        counts[i] = std::max<int64_t>(end - begins[i], 0);
        copied *= static_cast<size_t>(counts[i]);
    }
    IndexWalk<2>::Offsets first{};
    for (unsigned int i = 0; i < rank && copied != 0; ++i) // if nothing is copied, offsets may be out of range
    {
        first[0] += begins[i] * inputStrides[i] * bytes;
        first[1] += (placements[i].m_Low + begins[i] * placements[i].m_Step) * outputStrides[i] * bytes;
    }

    // Whole rows are copied at once: the innermost dimensions that are unchanged, and the next one if it is contiguous.
    unsigned int loops = copied == 0 ? 0 : rank;
    size_t runBytes = copied == 0 ? 0 : elementBytes;
    for (bool isWhole = true; isWhole && loops != 0 && placements[loops - 1].m_Step == 1;)
    {
        --loops;
        runBytes *= static_cast<size_t>(counts[loops]);
        isWhole = counts[loops] == input.GetShape()[loops] && counts[loops] == output.GetShape()[loops];
    }
    IndexWalk<2> walk;
    for (unsigned int i = 0; i < loops; ++i)
    {
        const int64_t step = counts[i] == 1 ? 1 : placements[i].m_Step; // a step that is not used may have any value
        walk.Add(static_cast<size_t>(counts[i]), {inputStrides[i] * bytes, step * outputStrides[i] * bytes});
    }
    const bool fills = copied != output.GetNumElements();
    return [=, outputBytes = output.GetNumBytes()](const ExecuteArgs& run)
    {
        const auto* from = run.GetInput<std::byte>(0);
        auto* to = run.GetOutput<std::byte>(0);
        if (fills)
        {
            Fill(to, outputBytes, run.GetInput<std::byte>(1), elementBytes);
        }
        if (runBytes != 0)
        {
            walk.Run(first, [&](const auto&, const auto& at) { std::memcpy(to + at[1], from + at[0], runBytes); });
        }
    };
}

[[noreturn]] void ThrowMismatch(const ReshapeArgs& args)
{
    throw LayerValidationException(args.GetInput(0).GetShape().ToString() + " with a value of shape " +
                                   args.GetInput(1).GetShape().ToString() + " to " +
                                   args.GetOutput(0).GetShape().ToString() +
                                   ": the paddings or dilations do not fit, or the value is not one element");
}

void CheckRanks(const ReshapeArgs& args, size_t parameters)
{
    if (parameters != args.GetInput(0).GetNumDimensions() || parameters != args.GetOutput(0).GetNumDimensions() ||
        args.GetInput(1).GetNumElements() != 1)
    {
        ThrowMismatch(args);
    }
}

backends::Prepared PrepareStablehloPad(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<StablehloPadDescriptor>();
    CheckRanks(args, descriptor.m_Interior.size());
    CheckRanks(args, descriptor.m_EdgeLow.size());
    CheckRanks(args, descriptor.m_EdgeHigh.size());
    Placements placements{};
    const TensorShape& output = args.GetOutput(0).GetShape();
    const bool isEmpty = output.GetNumElements64() == 0;
    for (unsigned int i = 0; i < output.GetNumDimensions(); ++i)
    {
        placements[i] = {descriptor.m_EdgeLow[i], int64_t{descriptor.m_Interior[i]} + 1};
        // 32-bit sizes and steps keep this within 64 bits.
        const int64_t size = args.GetInput(0).GetShape()[i];
        const int64_t spread = size == 0 ? 0 : (size - 1) * placements[i].m_Step + 1;
        if (placements[i].m_Step < 1 ||
            (!isEmpty && spread + descriptor.m_EdgeLow[i] + descriptor.m_EdgeHigh[i] != output[i]))
        {
            ThrowMismatch(args);
        }
    }
    return PreparePlacement(args.GetInput(0), args.GetOutput(0), placements);
}

backends::Prepared PrepareDilate(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& dilations = args.GetDescriptor<DilateDescriptor>().m_Dilations;
    CheckRanks(args, dilations.size());
    Placements placements{};
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    for (unsigned int i = 0; i < output.GetNumDimensions(); ++i)
    {
        placements[i] = {0, dilations[i]};
        const uint64_t expected = input[i] == 0 ? 0 : (uint64_t{input[i]} - 1) * dilations[i] + 1;
        if (dilations[i] == 0 || expected != output[i])
        {
            ThrowMismatch(args);
        }
    }
    return PreparePlacement(args.GetInput(0), args.GetOutput(0), placements);
}

} // namespace

extern const backends::Kernel RefStablehloPadKernel = {"RefStablehloPad", PadTypes, PrepareStablehloPad};
extern const backends::Kernel RefDilateKernel = {"RefDilate", PadTypes, PrepareDilate};

} // namespace tenon::ref
