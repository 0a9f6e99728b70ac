// SPDX-License-Identifier: Apache-2.0
// The layers of CpuAcc that are one StridedMove each: Transpose, Slice, StridedSlice, SpaceToDepth, DepthToSpace, Tile
// and BroadcastTo. The reference kernel is prepared first: it checks shapes, and handles 4-bit elements and plain
// copies.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/move/StridedMove.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"

#include <tenon/descriptors/Arrangement.hpp>
#include <tenon/descriptors/Expansion.hpp>
#include <tenon/descriptors/Slicing.hpp>

#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;
using Dimension = StridedMove::Dimension;
using Dimensions = std::vector<Dimension>;

constexpr backends::TypeRow MoveTypes[] = {backends::SameType(backends::WholeByteType)};

/// One loop; strides are in elements.
struct Loop
{
    int64_t m_Count = 1;
    int64_t m_From = 0;
};

/// The move of a layer: loops from the outermost one on. Their order is the order of the output's elements.
struct Move
{
    std::vector<Loop> m_Loops;
    int64_t m_First = 0; ///< offset of the first input element
    bool m_IsFast = true;
};

Move MoveTranspose(const ReshapeArgs& args)
{
    const PermutationVector& mappings = args.GetDescriptor<TransposeDescriptor>().m_DimMappings;
    const ref::Extents strides = ref::GetStrides(args.GetInput(0).GetShape());
    Move move;
    for (unsigned int i = 0; i < mappings.GetSize(); ++i)
    {
        move.m_Loops.push_back({args.GetOutput(0).GetShape()[i], strides[mappings[i]]});
    }
    return move;
}

Move MoveSlice(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<SliceDescriptor>();
    const ref::Extents strides = ref::GetStrides(args.GetInput(0).GetShape());
    Move move;
    for (unsigned int i = 0; i < args.GetInput(0).GetNumDimensions(); ++i)
    {
        move.m_Loops.push_back({descriptor.m_Size[i], strides[i]});
        move.m_First += descriptor.m_Begin[i] * strides[i];
    }
    return move;
}

Move MoveStridedSlice(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<StridedSliceDescriptor>();
    const TensorShape& shape = args.GetInput(0).GetShape();
    const ref::Extents strides = ref::GetStrides(shape);
    Move move;
    for (unsigned int i = 0; i < shape.GetNumDimensions(); ++i)
    {
        const int64_t begin = descriptor.m_Begin[i];
        const int64_t end = descriptor.m_End[i];
        const int64_t step = descriptor.m_Stride[i];
        const int64_t count = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;
        const int64_t last = begin + (count - 1) * step;
        // A slice that reaches outside of the input is left to the reference kernel; this is rare.
        move.m_IsFast = move.m_IsFast && begin >= 0 && begin < shape[i] && last >= 0 && last < shape[i];
        move.m_Loops.push_back({count, strides[i] * step});
        move.m_First += begin * strides[i];
    }
    return move;
}

Move MoveSpaceToDepth(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<SpaceToDepthDescriptor>();
    const int64_t block = descriptor.m_BlockSize;
    const ref::Extents strides = ref::GetStrides(args.GetInput(0).GetShape());
    const TensorShape& out = args.GetOutput(0).GetShape();
    if (descriptor.m_ChannelMajor)
    {
        // [batch, row of blocks, block within it, channel, row of the block, pixel within it]
        return {{{out[0], strides[0]},
                 {out[1], strides[1] * block},
                 {out[2], strides[2] * block},
                 {args.GetInput(0).GetShape()[3], 1},
                 {block, strides[1]},
                 {block, strides[2]}}};
    }
    // [batch, row of blocks, block within it, row of the block, pixel within it, channel]
    return {{{out[0], strides[0]},
             {out[1], strides[1] * block},
             {out[2], strides[2] * block},
             {block, strides[1]},
             {block, strides[2]},
             {args.GetInput(0).GetShape()[3], 1}}};
}

Move MoveDepthToSpace(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<DepthToSpaceDescriptor>();
    const int64_t block = descriptor.m_BlockSize;
    const TensorShape& in = args.GetInput(0).GetShape();
    const ref::Extents strides = ref::GetStrides(in);
    const int64_t channels = args.GetOutput(0).GetShape()[3];
    const bool isMajor = descriptor.m_ChannelMajor;
    // [batch, row of blocks, row of the block, block within the row, pixel of the block's row, channel]
    return {{{in[0], strides[0]},
             {in[1], strides[1]},
             {block, isMajor ? block : channels * block},
             {in[2], strides[2]},
             {block, isMajor ? 1 : channels},
             {channels, isMajor ? block * block : 1}}};
}

Move MoveTile(const ReshapeArgs& args)
{
    const std::vector<uint32_t>& multiples = args.GetDescriptor<TileDescriptor>().m_Multiples;
    const TensorShape& in = args.GetInput(0).GetShape();
    const ref::Extents strides = ref::GetStrides(in);
    Move move;
    for (unsigned int i = 0; i < in.GetNumDimensions(); ++i)
    {
        move.m_Loops.push_back({multiples[i], 0});
        move.m_Loops.push_back({in[i], strides[i]});
    }
    return move;
}

Move MoveBroadcastTo(const ReshapeArgs& args)
{
    const TensorShape& in = args.GetInput(0).GetShape();
    const TensorShape& out = args.GetOutput(0).GetShape();
    const ref::Extents strides = ref::GetStrides(in);
    const unsigned int added = out.GetNumDimensions() - in.GetNumDimensions();
    Move move;
    for (unsigned int i = 0; i < out.GetNumDimensions(); ++i)
    {
        const bool isRepeated = i < added || in[i - added] == 1;
        move.m_Loops.push_back({out[i], isRepeated ? 0 : strides[i - added]});
    }
    return move;
}

template <Move (*Make)(const ReshapeArgs&)>
Prepared RefineMove(const ReshapeArgs& args, const backends::PackedWeights*, Prepared& reference)
{
    if (reference.m_IsCopy || args.GetOutput(0).GetNumElements() == 0)
    {
        return Prepared::Declined("it is a mere copy, or empty");
    }
    const Move move = Make(args);
    if (!move.m_IsFast)
    {
        return Prepared::Declined("it reaches outside of the input");
    }
    const auto bytes = static_cast<int64_t>(ref::GetMovedBytes(args.GetInput(0).GetDataType()));
    Dimensions dimensions(move.m_Loops.size());
    int64_t to = bytes;
    for (size_t i = dimensions.size(); i-- > 0;)
    {
        const Loop& loop = move.m_Loops[i];
        dimensions[i] = {static_cast<size_t>(loop.m_Count), loop.m_From * bytes, to};
        to *= loop.m_Count;
    }
    Prepared prepared = [strided = StridedMove(std::move(dimensions), static_cast<size_t>(bytes)),
                         first = move.m_First * bytes](const ExecuteArgs& run)
    { strided.Run(*run.m_Parallel, run.GetInput<std::byte>(0) + first, run.GetOutput<std::byte>(0)); };
    prepared.m_Aliases = std::move(reference.m_Aliases);
    return prepared;
}

} // namespace

extern const backends::Kernel CpuTransposeKernel = {.m_Name = "CpuTranspose",
                                                    .m_Types = MoveTypes,
                                                    .m_Reference = &ref::RefTransposeKernel,
                                                    .m_Refine = RefineMove<MoveTranspose>};
extern const backends::Kernel CpuSliceKernel = {
    .m_Name = "CpuSlice", .m_Types = MoveTypes, .m_Reference = &ref::RefSliceKernel, .m_Refine = RefineMove<MoveSlice>};
extern const backends::Kernel CpuStridedSliceKernel = {.m_Name = "CpuStridedSlice",
                                                       .m_Types = MoveTypes,
                                                       .m_Reference = &ref::RefStridedSliceKernel,
                                                       .m_Refine = RefineMove<MoveStridedSlice>};
extern const backends::Kernel CpuSpaceToDepthKernel = {.m_Name = "CpuSpaceToDepth",
                                                       .m_Types = MoveTypes,
                                                       .m_Reference = &ref::RefSpaceToDepthKernel,
                                                       .m_Refine = RefineMove<MoveSpaceToDepth>};
extern const backends::Kernel CpuDepthToSpaceKernel = {.m_Name = "CpuDepthToSpace",
                                                       .m_Types = MoveTypes,
                                                       .m_Reference = &ref::RefDepthToSpaceKernel,
                                                       .m_Refine = RefineMove<MoveDepthToSpace>};
extern const backends::Kernel CpuTileKernel = {
    .m_Name = "CpuTile", .m_Types = MoveTypes, .m_Reference = &ref::RefTileKernel, .m_Refine = RefineMove<MoveTile>};
extern const backends::Kernel CpuBroadcastToKernel = {.m_Name = "CpuBroadcastTo",
                                                      .m_Types = MoveTypes,
                                                      .m_Reference = &ref::RefBroadcastToKernel,
                                                      .m_Refine = RefineMove<MoveBroadcastTo>};

} // namespace tenon::cpu
