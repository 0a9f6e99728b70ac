// SPDX-License-Identifier: Apache-2.0
// Stack: joins the inputs along a new axis. The inputs have the quantization of the output.
#include "backends/reference/kernels/ChunkJoin.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <string>
#include <vector>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow StackTypes[] = {backends::SameType(backends::AnyType)};

SupportResult CheckStack(const LayerView& layer)
{
    const TensorInfo& output = layer.GetOutput(0);
    for (size_t i = 0; i < layer.GetNumInputs(); ++i)
    {
        const std::string which = "input " + std::to_string(i);
        if (!layer.HasInput(i))
        {
            return SupportResult::No(SupportCode::UnsupportedParameters, which + " is not connected");
        }
        if (!layer.GetInput(i).IsTypeSpaceMatch(output))
        {
            return SupportResult::No(SupportCode::UnsupportedType, which + " (" + layer.GetInput(i).ToString() +
                                                                       ") has not the type and quantization of the "
                                                                       "output (" +
                                                                       output.ToString() + ")");
        }
    }
    return SupportResult::Yes();
}

backends::Prepared PrepareStack(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const unsigned int axis = args.GetDescriptor<StackDescriptor>().m_Axis;
    const TensorShape& input = args.GetInput(0).GetShape();
    const unsigned int rank = input.GetNumDimensions();
    bool fits = axis <= rank;
    for (const TensorInfo* other : args.m_Inputs)
    {
        fits = fits && other->GetShape() == input;
    }
    if (!fits)
    {
        throw LayerValidationException("Stack of inputs like " + input.ToString() + " along axis " +
                                       std::to_string(axis) +
                                       ": all must have one shape, and the axis may be at most its rank");
    }
    std::vector<unsigned int> sizes;
    AppendSizes(sizes, input, 0, axis);
    sizes.push_back(static_cast<unsigned int>(args.m_Inputs.size()));
    AppendSizes(sizes, input, axis, rank);
    CheckOutputShape(args, "Stack", sizes);
    if (args.GetOutput(0).GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    JoinInput part;
    part.m_ChunkElements = CountElements(input, axis, rank);
    return PrepareJoin(std::vector<JoinInput>(args.m_Inputs.size(), part), CountElements(input, 0, axis),
                       args.GetOutput(0));
}

} // namespace

extern const backends::Kernel RefStackKernel = {"RefStack", StackTypes, PrepareStack, CheckStack};

} // namespace tenon::ref
