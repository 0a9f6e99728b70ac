// SPDX-License-Identifier: Apache-2.0
// Roll: rotates a tensor along axes. Input 1 has the shifts in elements, input 2 the axes; the shifts of a repeated
// axis add up.
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/Exceptions.hpp>

#include <cstring>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::TypeSet;

constexpr TypeSet IndexTypes = {DataType::Signed32, DataType::Signed64};
constexpr backends::TypeRow RollTypes[] = {
    backends::Types({backends::WholeByteType, IndexTypes, IndexTypes}, backends::WholeByteType)};

SupportResult CheckRoll(const LayerView& layer)
{
    if (layer.GetInput(0).GetDataType() != layer.GetOutput(0).GetDataType())
    {
        return SupportResult::No(SupportCode::UnsupportedType, "input 0 and output 0 must be of one type");
    }
    return SupportResult::Yes();
}

int64_t ReadIndex(const void* data, DataType type, size_t i)
{
    return type == DataType::Signed32 ? static_cast<const int32_t*>(data)[i] : static_cast<const int64_t*>(data)[i];
}

struct RollPlan
{
    unsigned int m_Rank = 0;
    Extents m_Sizes{};   ///< no size is 0
    Extents m_Strides{}; ///< bytes
    size_t m_NumShifts = 0;
    DataType m_ShiftType = DataType::Signed32;
    DataType m_AxisType = DataType::Signed32;
    size_t m_Bytes = 0;

    /// The shift of each dimension in elements, in [0, size).
    Extents ReadShifts(const ExecuteArgs& run) const
    {
        Extents shifts{};
        for (size_t i = 0; i < m_NumShifts; ++i)
        {
            const int64_t axis = ReadIndex(run.m_Inputs[2], m_AxisType, i);
            const int64_t rank = m_Rank;
            if (axis < -rank || axis >= rank)
            {
                throw InvalidArgumentException("Roll: element " + std::to_string(i) + " of input 2, the axes, is " +
                                               std::to_string(axis) + ", but it must be in [" + std::to_string(-rank) +
                                               ", " + std::to_string(rank) + ")");
            }
            const auto dimension = static_cast<size_t>(axis < 0 ? axis + rank : axis);
            const int64_t size = m_Sizes[dimension];
            const int64_t shift = ReadIndex(run.m_Inputs[1], m_ShiftType, i) % size;
            shifts[dimension] = (shifts[dimension] + shift + size) % size;
        }
        return shifts;
    }

    /// Copies the dimensions from `dimension` on. Dimensions after `last` are not rotated.
    void Copy(unsigned int dimension, unsigned int last, const Extents& shifts, const std::byte* from,
              std::byte* to) const
    {
        const int64_t stride = m_Strides[dimension];
        const int64_t wrapped = shifts[dimension]; // the number of last elements that come first
        const int64_t rest = m_Sizes[dimension] - wrapped;
        if (dimension == last)
        {
            std::memcpy(to, from + rest * stride, static_cast<size_t>(wrapped * stride));
            std::memcpy(to + wrapped * stride, from, static_cast<size_t>(rest * stride));
            return;
        }
        for (int64_t i = 0; i < m_Sizes[dimension]; ++i)
        {
            const int64_t source = i < wrapped ? i + rest : i - wrapped;
            Copy(dimension + 1, last, shifts, from + source * stride, to + i * stride);
        }
    }

    void Run(const ExecuteArgs& run) const
    {
        const Extents shifts = ReadShifts(run);
        unsigned int last = m_Rank;
        while (last != 0 && shifts[last - 1] == 0)
        {
            --last;
        }
        const auto* from = run.GetInput<std::byte>(0);
        auto* to = run.GetOutput<std::byte>(0);
        if (last == 0)
        {
            CopyBlock(to, from, m_Bytes);
            return;
        }
        Copy(0, last - 1, shifts, from, to);
    }
};

backends::Prepared PrepareRoll(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    RollPlan plan;
    plan.m_Rank = input.GetNumDimensions();
    plan.m_NumShifts = args.GetInput(1).GetNumElements();
    plan.m_ShiftType = args.GetInput(1).GetDataType();
    plan.m_AxisType = args.GetInput(2).GetDataType();
    plan.m_Bytes = input.GetNumBytes();
    if (args.GetInput(2).GetNumElements() != plan.m_NumShifts || args.GetOutput(0).GetShape() != input.GetShape())
    {
        throw LayerValidationException(
            "Roll of " + input.GetShape().ToString() + " to " + args.GetOutput(0).GetShape().ToString() + " with " +
            std::to_string(plan.m_NumShifts) + " shifts and " + std::to_string(args.GetInput(2).GetNumElements()) +
            " axes: the shapes must be the same, and there must be a shift for each axis");
    }
    if (plan.m_Bytes == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    plan.m_Sizes = GetExtents(input.GetShape());
    plan.m_Strides = GetStrides(input.GetShape());
    for (int64_t& stride : plan.m_Strides)
    {
        stride *= static_cast<int64_t>(GetMovedBytes(input.GetDataType()));
    }
    return [plan](const ExecuteArgs& run) { plan.Run(run); };
}

} // namespace

extern const backends::Kernel RefRollKernel = {"RefRoll", RollTypes, PrepareRoll, CheckRoll};

} // namespace tenon::ref
