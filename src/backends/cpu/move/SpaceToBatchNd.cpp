// SPDX-License-Identifier: Apache-2.0
// SpaceToBatchNd and BatchToSpaceNd of CpuAcc as StridedMoves. Without padding and crops there is one move. Otherwise
// there is one for each position of the block, since the positions share different elements with the space, and the
// border is filled by moves that repeat one element. The reference kernel is prepared first: it checks shapes.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/move/StridedMove.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/StoredElement.hpp"

#include <tenon/descriptors/Arrangement.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow BlockTypes[] = {backends::SameType(backends::WholeByteType)};

/// Each move is a loop of its own: more moves would have little to do each.
constexpr size_t MaxMoves = 64;

using Block = std::vector<unsigned int>;
using Edges = std::vector<std::pair<unsigned int, unsigned int>>;

/// A loop with its strides in the tensor with the space, and in the tensor with the blocks in the batch.
struct Dimension
{
    size_t m_Count = 1;
    int64_t m_Space = 0; ///< stride in bytes
    int64_t m_Blocks = 0;
};

struct Region
{
    std::vector<Dimension> m_Dimensions;
    int64_t m_Space = 0; ///< offset of the first element in bytes
    int64_t m_Blocks = 0;
};

struct Tensors
{
    const TensorInfo& m_Space;
    const TensorInfo& m_Blocks;
    const Block& m_Block;
    const Edges& m_Edges;

    bool HasEdges() const
    {
        return std::any_of(m_Edges.begin(), m_Edges.end(),
                           [](const auto& edge) { return edge.first != 0 || edge.second != 0; });
    }
    size_t CountPlaces() const
    {
        size_t places = 1;
        for (const unsigned int size : m_Block)
        {
            places *= size;
        }
        return places;
    }
};

/// The regions of elements that both tensors share (the space without its crops), and of the border that only the
/// blocks have.
class Regions
{
public:
    explicit Regions(const Tensors& tensors)
        : m_Tensors(tensors), m_Bytes(static_cast<int64_t>(ref::GetMovedBytes(tensors.m_Space.GetDataType()))),
          m_SpaceStrides(ref::GetStrides(tensors.m_Space.GetShape())),
          m_BlocksStrides(ref::GetStrides(tensors.m_Blocks.GetShape()))
    {
        if (!tensors.HasEdges())
        {
            m_Shared.push_back(MakeWhole());
            return;
        }
        for (size_t place = 0; place < tensors.CountPlaces(); ++place)
        {
            AddPlace(place);
        }
    }

    const std::vector<Region>& GetShared() const { return m_Shared; }
    const std::vector<Region>& GetBorder() const { return m_Border; } ///< regions that the space does not have

private:
    struct Span
    {
        size_t m_Begin = 0;
        size_t m_End = 0;
    };
    using Spans = std::vector<Span>;

    int64_t SpaceStep(size_t spatial) const { return m_SpaceStrides[spatial + 1] * m_Bytes; }
    int64_t BlocksStep(size_t spatial) const { return m_BlocksStrides[spatial + 1] * m_Bytes; }
    size_t CountBlocks(size_t spatial) const
    {
        return m_Tensors.m_Blocks.GetShape()[static_cast<unsigned int>(spatial + 1)];
    }
    /// The stride in bytes from one block position to the next, in the batch of the blocks.
    int64_t PlaceStep() const { return m_Tensors.m_Space.GetShape()[0] * m_BlocksStrides[0] * m_Bytes; }

    /// The loops over the batch and over the dimensions inside of the spatial ones.
    Region MakeFrame() const
    {
        const TensorShape& space = m_Tensors.m_Space.GetShape();
        const auto firstOfRest = static_cast<unsigned int>(m_Tensors.m_Block.size() + 1);
        Region region;
        region.m_Dimensions.push_back({space[0], m_SpaceStrides[0] * m_Bytes, m_BlocksStrides[0] * m_Bytes});
        region.m_Dimensions.push_back(
            {ref::CountElements(space, firstOfRest, space.GetNumDimensions()), m_Bytes, m_Bytes});
        return region;
    }

    Region MakeWhole() const
    {
        Region region = MakeFrame();
        int64_t placeStep = PlaceStep();
        for (size_t i = m_Tensors.m_Block.size(); i-- > 0;)
        {
            const unsigned int block = m_Tensors.m_Block[i];
            region.m_Dimensions.push_back({CountBlocks(i), SpaceStep(i) * block, BlocksStep(i)});
            region.m_Dimensions.push_back({block, SpaceStep(i), placeStep});
            placeStep *= block;
        }
        return region;
    }

    void AddPlace(size_t place)
    {
        const size_t rank = m_Tensors.m_Block.size();
        std::vector<int64_t> first(rank); // index in the space of block 0's element at this position
        Spans shared(rank);
        size_t rest = place;
        for (size_t i = rank; i-- > 0;)
        {
            const size_t block = m_Tensors.m_Block[i];
            const size_t inBlock = rest % block;
            rest /= block;
            const size_t before = m_Tensors.m_Edges[i].first;
            const size_t end = before + m_Tensors.m_Space.GetShape()[static_cast<unsigned int>(i + 1)];
            first[i] = static_cast<int64_t>(inBlock) - static_cast<int64_t>(before);
            shared[i].m_End = end > inBlock ? DivideUp(end - inBlock, block) : 0;
            shared[i].m_Begin =
                std::min(shared[i].m_End, before > inBlock ? DivideUp(before - inBlock, block) : size_t{0});
        }
        Add(m_Shared, place, shared, first);
        // For each dimension: the border before and behind, within the shared range of the dimensions outside of it.
        for (size_t i = 0; i < rank; ++i)
        {
            Spans border = shared;
            for (size_t inner = i + 1; inner < rank; ++inner)
            {
                border[inner] = {0, CountBlocks(inner)};
            }
            border[i] = {0, shared[i].m_Begin};
            Add(m_Border, place, border, first);
            border[i] = {shared[i].m_End, CountBlocks(i)};
            Add(m_Border, place, border, first);
        }
    }

    /// Adds a region unless it is empty.
    void Add(std::vector<Region>& regions, size_t place, const Spans& spans, const std::vector<int64_t>& first) const
    {
        Region region = MakeFrame();
        region.m_Blocks = static_cast<int64_t>(place) * PlaceStep();
        for (size_t i = 0; i < spans.size(); ++i)
        {
            const auto begin = static_cast<int64_t>(spans[i].m_Begin);
            const int64_t block = m_Tensors.m_Block[i];
            region.m_Dimensions.push_back({spans[i].m_End - spans[i].m_Begin, SpaceStep(i) * block, BlocksStep(i)});
            region.m_Space += (first[i] + begin * block) * SpaceStep(i);
            region.m_Blocks += begin * BlocksStep(i);
        }
        if (std::none_of(region.m_Dimensions.begin(), region.m_Dimensions.end(),
                         [](const Dimension& dimension) { return dimension.m_Count == 0; }))
        {
            regions.push_back(std::move(region));
        }
    }

    const Tensors& m_Tensors;
    int64_t m_Bytes; ///< bytes of an element
    ref::Extents m_SpaceStrides;
    ref::Extents m_BlocksStrides;
    std::vector<Region> m_Shared;
    std::vector<Region> m_Border;
};

struct Move
{
    StridedMove m_Move;
    int64_t m_From = 0; ///< offset of its first element in bytes
    int64_t m_To = 0;
};
using Moves = std::vector<Move>;

void RunMoves(const Moves& moves, IParallelFor& parallel, const std::byte* from, std::byte* to)
{
    for (const Move& move : moves)
    {
        move.m_Move.Run(parallel, from + move.m_From, to + move.m_To);
    }
}

bool IsFast(const Tensors& tensors, const TensorInfo& output)
{
    return output.GetNumElements() != 0 && (!tensors.HasEdges() || tensors.CountPlaces() <= MaxMoves);
}

Prepared RefineSpaceToBatch(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<SpaceToBatchNdDescriptor>();
    const TensorInfo& output = args.GetOutput(0);
    const Tensors tensors = {args.GetInput(0), output, descriptor.m_BlockShape, descriptor.m_PadList};
    if (!IsFast(tensors, output))
    {
        return Prepared::Declined("it is empty, or has too many moves");
    }
    const size_t bytes = ref::GetMovedBytes(output.GetDataType());
    const auto makeMoves = [bytes](const std::vector<Region>& regions, bool isFill)
    {
        Moves moves;
        for (const Region& region : regions)
        {
            std::vector<StridedMove::Dimension> dimensions;
            for (const Dimension& d : region.m_Dimensions)
            {
                dimensions.push_back({d.m_Count, isFill ? 0 : d.m_Space, d.m_Blocks});
            }
            moves.push_back({StridedMove(std::move(dimensions), bytes), isFill ? 0 : region.m_Space, region.m_Blocks});
        }
        return moves;
    };
    const Regions regions(tensors);
    const float zero = output.HasPerAxisQuantization() ? 0.0f : static_cast<float>(output.GetQuantizationOffset());
    return [moves = makeMoves(regions.GetShared(), false), fills = makeMoves(regions.GetBorder(), true),
            zero = ref::StoreValue(zero, output.GetDataType())](const ExecuteArgs& run)
    {
        RunMoves(moves, *run.m_Parallel, run.GetInput<std::byte>(0), run.GetOutput<std::byte>(0));
        RunMoves(fills, *run.m_Parallel, zero.data(), run.GetOutput<std::byte>(0));
    };
}

Prepared RefineBatchToSpace(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const auto& descriptor = args.GetDescriptor<BatchToSpaceNdDescriptor>();
    const TensorInfo& output = args.GetOutput(0);
    const Tensors tensors = {output, args.GetInput(0), descriptor.m_BlockShape, descriptor.m_Crops};
    if (!IsFast(tensors, output))
    {
        return Prepared::Declined("it is empty, or has too many moves");
    }
    Moves moves;
    const Regions regions(tensors);
    for (const Region& region : regions.GetShared())
    {
        std::vector<StridedMove::Dimension> dimensions;
        for (const Dimension& d : region.m_Dimensions)
        {
            dimensions.push_back({d.m_Count, d.m_Blocks, d.m_Space});
        }
        moves.push_back({StridedMove(std::move(dimensions), ref::GetMovedBytes(output.GetDataType())), region.m_Blocks,
                         region.m_Space});
    }
    return [moves = std::move(moves)](const ExecuteArgs& run)
    { RunMoves(moves, *run.m_Parallel, run.GetInput<std::byte>(0), run.GetOutput<std::byte>(0)); };
}

} // namespace

extern const backends::Kernel CpuSpaceToBatchNdKernel = {.m_Name = "CpuSpaceToBatchNd",
                                                         .m_Types = BlockTypes,
                                                         .m_Reference = &ref::RefSpaceToBatchNdKernel,
                                                         .m_Refine = RefineSpaceToBatch};
extern const backends::Kernel CpuBatchToSpaceNdKernel = {.m_Name = "CpuBatchToSpaceNd",
                                                         .m_Types = BlockTypes,
                                                         .m_Reference = &ref::RefBatchToSpaceNdKernel,
                                                         .m_Refine = RefineBatchToSpace};

} // namespace tenon::cpu
