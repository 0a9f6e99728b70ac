// SPDX-License-Identifier: Apache-2.0
// Pad: a border of one value (Constant), of the tensor mirrored at its edge elements (Reflect) or at its edges
// (Symmetric), of its edge elements (Edge), or of the tensor repeated (Wrap). The loop goes dimension by dimension from
// the innermost: the middle is copied, then the border is filled with the value or copied from slabs that are complete
// already.
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/StoredElement.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Expansion.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow PadTypes[] = {backends::SameType(backends::AnyType)};

/// One dimension; steps in bytes.
struct Dimension
{
    size_t m_Size = 0;
    size_t m_Before = 0;
    size_t m_After = 0;
    size_t m_InputStep = 0;
    size_t m_OutputStep = 0;
};

struct PadPlan
{
    std::array<Dimension, MaxNumOfTensorDimensions> m_Dimensions{};
    unsigned int m_Rank = 0; ///< without the innermost dimensions that get no border
    size_t m_RunBytes = 0;   ///< bytes of those dimensions together
    size_t m_ElementBytes = 0;
    PaddingMode m_Mode = PaddingMode::Constant;

    /// Writes the slab of the output from dimension `d` on.
    void Run(unsigned int d, const std::byte* input, std::byte* output, const std::byte* value) const
    {
        if (d == m_Rank)
        {
            CopyBlock(output, input, m_RunBytes);
            return;
        }
        const Dimension& dim = m_Dimensions[d];
        const size_t step = dim.m_OutputStep;
        std::byte* middle = output + dim.m_Before * step;
        if (d + 1 == m_Rank && dim.m_Size != 0)
        {
            std::memcpy(middle, input, dim.m_Size * step);
        }
        else
        {
            for (size_t i = 0; i < dim.m_Size; ++i)
            {
                Run(d + 1, input + i * dim.m_InputStep, middle + i * step, value);
            }
        }
        std::byte* behind = middle + dim.m_Size * step;
        if (m_Mode == PaddingMode::Constant)
        {
            FillElements(output, dim.m_Before * step, value, m_ElementBytes);
            FillElements(behind, dim.m_After * step, value, m_ElementBytes);
            return;
        }
        // The distance from the edge, within the middle, of the source of border element i, counted from the middle.
        const auto from = [&](size_t i) -> size_t
        {
            switch (m_Mode)
            {
            case PaddingMode::Edge: return 0;
            case PaddingMode::Wrap: return dim.m_Size - 1 - i % dim.m_Size;
            case PaddingMode::Reflect: return i + 1; // the edge itself is not repeated
            default: return i;
            }
        };
        for (size_t i = 0; i < dim.m_Before; ++i)
        {
            std::memcpy(middle - (i + 1) * step, middle + from(i) * step, step);
        }
        for (size_t i = 0; i < dim.m_After; ++i)
        {
            std::memcpy(behind + i * step, behind - (from(i) + 1) * step, step);
        }
    }
};

void CheckShapes(const ReshapeArgs& args, const PadDescriptor& descriptor)
{
    const TensorShape& input = args.GetInput(0).GetShape();
    const TensorShape& output = args.GetOutput(0).GetShape();
    const std::string what = "Pad of " + input.ToString() + " to " + output.ToString();
    const unsigned int rank = input.GetNumDimensions();
    if (descriptor.m_PadList.size() != rank || output.GetNumDimensions() != rank)
    {
        throw LayerValidationException(what + ": there must be one pair of paddings for each dimension, there are " +
                                       std::to_string(descriptor.m_PadList.size()));
    }
    for (unsigned int i = 0; i < rank; ++i)
    {
        const auto [before, after] = descriptor.m_PadList[i];
        if (uint64_t{input[i]} + before + after != output[i])
        {
            throw LayerValidationException(what + ": dimension " + std::to_string(i) + " with " +
                                           std::to_string(before) + " before and " + std::to_string(after) +
                                           " behind is not as long as the output's");
        }
        const PaddingMode mode = descriptor.m_PaddingMode;
        const bool isBordered = std::max(before, after) != 0;
        if ((mode == PaddingMode::Edge || mode == PaddingMode::Wrap) && isBordered && input[i] == 0)
        {
            throw LayerValidationException(what + ": dimension " + std::to_string(i) +
                                           " has no elements that could be repeated");
        }
        if (mode == PaddingMode::Reflect || mode == PaddingMode::Symmetric)
        {
            const uint64_t min = uint64_t{std::max(before, after)} + (mode == PaddingMode::Reflect ? 1 : 0);
            if (isBordered && min > input[i])
            {
                throw LayerValidationException(what + ": dimension " + std::to_string(i) + " is too short to mirror " +
                                               std::to_string(std::max(before, after)) + " elements");
            }
        }
    }
    if (descriptor.m_ValueAsInput && descriptor.m_PaddingMode == PaddingMode::Constant &&
        (!args.HasInput(2) || args.GetInput(2).GetNumElements() != 1))
    {
        throw LayerValidationException(what + ": input 2 must hold one element, the value to pad with");
    }
}

PadPlan MakePlan(const TensorInfo& input, const TensorInfo& output, const PadDescriptor& descriptor)
{
    PadPlan plan;
    plan.m_ElementBytes = GetMovedBytes(input.GetDataType());
    plan.m_Mode = descriptor.m_PaddingMode;
    plan.m_RunBytes = plan.m_ElementBytes;
    plan.m_Rank = input.GetNumDimensions();
    while (plan.m_Rank != 0 && descriptor.m_PadList[plan.m_Rank - 1] == std::pair{0U, 0U})
    {
        plan.m_RunBytes *= input.GetShape()[--plan.m_Rank];
    }
    size_t inputStep = plan.m_RunBytes;
    size_t outputStep = plan.m_RunBytes;
    for (unsigned int i = plan.m_Rank; i-- > 0;)
    {
        plan.m_Dimensions[i] = {input.GetShape()[i], descriptor.m_PadList[i].first, descriptor.m_PadList[i].second,
                                inputStep, outputStep};
        inputStep *= input.GetShape()[i];
        outputStep *= output.GetShape()[i];
    }
    return plan;
}

backends::Prepared PreparePad(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<PadDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const TensorInfo& output = args.GetOutput(0);
    CheckShapes(args, descriptor);
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const PadPlan plan = MakePlan(input, output, descriptor);
    if (descriptor.m_ValueAsInput && descriptor.m_PaddingMode == PaddingMode::Constant)
    {
        return [plan](const ExecuteArgs& run)
        { plan.Run(0, run.GetInput<std::byte>(0), run.GetOutput<std::byte>(0), run.GetInput<std::byte>(2)); };
    }
    const StoredElement value = StoreValue(descriptor.m_PadValue, input.GetDataType());
    return PrepareMove(input, output,
                       [plan, value](const std::byte* from, std::byte* to) { plan.Run(0, from, to, value.data()); });
}

SupportResult CheckPad(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<PadDescriptor>();
    if (!descriptor.m_ValueAsInput || descriptor.m_PaddingMode != PaddingMode::Constant)
    {
        return SupportResult::Yes();
    }
    if (!layer.HasInput(2))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "input 2, the value to pad with, is not connected");
    }
    if (layer.GetInput(2).GetDataType() != layer.GetInput(0).GetDataType())
    {
        return SupportResult::No(SupportCode::UnsupportedType, std::string("the value to pad with is ") +
                                                                   GetDataTypeName(layer.GetInput(2).GetDataType()) +
                                                                   "; it must be of the input's type, " +
                                                                   GetDataTypeName(layer.GetInput(0).GetDataType()));
    }
    if (GetDataTypeBits(layer.GetInput(0).GetDataType()) < 8)
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 "4-bit tensors are padded with a value known before the run only");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefPadKernel = {"RefPad", PadTypes, PreparePad, CheckPad};

} // namespace tenon::ref
