// SPDX-License-Identifier: Apache-2.0
// ChannelShuffle: the slices of an axis, as a table of [groups, slices of a group], are read column by column.
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Arrangement.hpp>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow ChannelShuffleTypes[] = {backends::SameType(backends::AnyType)};

backends::Prepared PrepareChannelShuffle(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<ChannelShuffleDescriptor>();
    const TensorShape& shape = args.GetInput(0).GetShape();
    const unsigned int axis = descriptor.m_Axis;
    const unsigned int groups = descriptor.m_NumGroups;
    const bool fits = axis < shape.GetNumDimensions() && groups != 0 && shape[axis] % groups == 0 &&
                      args.GetOutput(0).GetNumElements() == args.GetInput(0).GetNumElements();
    if (!fits)
    {
        throw LayerValidationException("axis " + std::to_string(axis) + " of the shape " + shape.ToString() +
                                       " cannot be cut into " + std::to_string(groups) + " groups");
    }
    const auto outer = static_cast<int64_t>(CountElements(shape, 0, axis));
    const auto inner = static_cast<int64_t>(CountElements(shape, axis + 1, shape.GetNumDimensions()));
    const int64_t size = shape[axis];
    const int64_t perGroup = size / groups;
    return PrepareMove(args.GetInput(0), args.GetOutput(0),
                       BoxCopy(4, {outer, perGroup, groups, inner}, {size * inner, inner, perGroup * inner, 1}, 0,
                               GetMovedBytes(args.GetInput(0).GetDataType())));
}

} // namespace

extern const backends::Kernel RefChannelShuffleKernel = {"RefChannelShuffle", ChannelShuffleTypes,
                                                         PrepareChannelShuffle};

} // namespace tenon::ref
