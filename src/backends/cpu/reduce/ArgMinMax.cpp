// SPDX-License-Identifier: Apache-2.0
// Kernel row of ArgMinMax: floats and 8-bit tensors, along the last dimension or another one.
#include "backends/common/KernelTable.hpp"
#include "backends/cpu/parallel/Tasks.hpp"
#include "backends/cpu/reduce/ArgMinMaxVectors.hpp"
#include "backends/reference/Kernels.hpp"
#include "backends/reference/kernels/AxisRows.hpp"

#include <tenon/descriptors/Reduction.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace tenon::cpu
{

namespace
{

using backends::Prepared;

constexpr backends::TypeRow ArgMinMaxTypes[] = {
    backends::Types({{DataType::Float32, DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed8,
                      DataType::Unsigned8}},
                    {DataType::Signed32, DataType::Signed64})};

constexpr size_t ChunkIndices = 256; ///< indices in a buffer before they are copied to the output

/// Calls find(first, count, indices) for chunks of [begin, end), and copies the indices to `out`.
template <typename Index, typename Find>
void FindChunks(size_t begin, size_t end, Index* out, const Find& find)
{
    std::array<int32_t, ChunkIndices> indices;
    for (size_t first = begin; first < end; first += ChunkIndices)
    {
        const size_t count = std::min(ChunkIndices, end - first);
        find(first, count, indices.data());
        std::copy_n(indices.data(), count, out + first);
    }
}

template <typename Index>
Prepared MakeOfRows(const ref::AxisRows& rows, size_t elementBytes, ArgRowsFunction function)
{
    return [=](const ExecuteArgs& run)
    {
        const auto* const in = run.GetInput<std::byte>(0);
        auto* const out = run.GetOutput<Index>(0);
        const auto find = [&](size_t first, size_t count, int32_t* indices)
        {
            function(in + first * rows.m_Depth * elementBytes, count, rows.m_Depth,
                     (rows.m_Outer - first) * rows.m_Depth, indices);
        };
        RunRanges(*run.m_Parallel, rows.m_Outer, GetGrain(rows.m_Depth * elementBytes),
                  [&](size_t begin, size_t end) { FindChunks(begin, end, out, find); });
    };
}

template <typename Index>
Prepared MakeOfColumns(const ref::AxisRows& rows, size_t elementBytes, ArgColumnsFunction function)
{
    // A unit of the loop is a chunk of columns.
    const size_t chunks = (rows.m_Step + ChunkIndices - 1) / ChunkIndices;
    return [=](const ExecuteArgs& run)
    {
        const auto* const in = run.GetInput<std::byte>(0);
        auto* const out = run.GetOutput<Index>(0);
        const auto search = [&](size_t begin, size_t end)
        {
            for (size_t unit = begin; unit < end; ++unit)
            {
                const size_t outer = unit / chunks;
                const size_t column = unit % chunks * ChunkIndices;
                const auto find = [&](size_t first, size_t count, int32_t* indices)
                {
                    function(in + (outer * rows.m_Depth * rows.m_Step + first) * elementBytes, rows.m_Depth,
                             rows.m_Step, count, indices);
                };
                FindChunks(column, std::min(column + ChunkIndices, rows.m_Step), out + outer * rows.m_Step, find);
            }
        };
        RunRanges(*run.m_Parallel, rows.m_Outer * chunks, GetGrain(rows.m_Depth * ChunkIndices * elementBytes), search);
    };
}

template <typename Index>
Prepared MakeArgMinMax(const ref::AxisRows& rows, size_t operation, DataType type)
{
    const bool isUnsigned = type == DataType::QAsymmU8 || type == DataType::Unsigned8;
    const size_t typeIndex = type == DataType::Float32 ? 0 : (isUnsigned ? 2 : 1);
    const ArgFunctions& functions = GetArgFunctions();
    return rows.m_Step == 1
               ? MakeOfRows<Index>(rows, GetDataTypeSize(type), functions.m_Rows[operation][typeIndex])
               : MakeOfColumns<Index>(rows, GetDataTypeSize(type), functions.m_Columns[operation][typeIndex]);
}

Prepared RefineArgMinMax(const ReshapeArgs& args, const backends::PackedWeights*, Prepared&)
{
    const TensorInfo& input = args.GetInput(0);
    const auto& descriptor = args.GetDescriptor<ArgMinMaxDescriptor>();
    const ref::AxisRows rows(input.GetShape(), descriptor.m_Axis);
    if (input.GetNumElements() == 0 || rows.m_Depth > INT32_MAX || descriptor.m_SelectLastIndex)
    {
        return Prepared::Declined(
            "the input is empty, or its axis longer than 32-bit indices, or the last index counts");
    }
    const size_t operation = descriptor.m_Function == ArgMinMaxFunction::Max ? 0 : 1;
    return args.GetOutput(0).GetDataType() == DataType::Signed64
               ? MakeArgMinMax<int64_t>(rows, operation, input.GetDataType())
               : MakeArgMinMax<int32_t>(rows, operation, input.GetDataType());
}

} // namespace

extern const backends::Kernel CpuArgMinMaxKernel = {.m_Name = "CpuArgMinMax",
                                                    .m_Types = ArgMinMaxTypes,
                                                    .m_Reference = &ref::RefArgMinMaxKernel,
                                                    .m_Refine = RefineArgMinMax};

} // namespace tenon::cpu
