// SPDX-License-Identifier: Apache-2.0
// Table: looks up each element in a table that is an input. Quantization does not matter here: the table includes it.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/LookupTable.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace tenon::ref
{

namespace
{

using backends::Types;
using backends::TypeSet;

constexpr TypeSet Int8Types = {DataType::QAsymmS8, DataType::QSymmS8, DataType::Signed8, DataType::QAsymmU8,
                               DataType::Unsigned8};
constexpr TypeSet Int16Types = {DataType::QSymmS16, DataType::Signed16};

constexpr backends::TypeRow TableTypes[] = {Types({Int8Types | Int16Types, Int8Types}, Int8Types),
                                            Types({Int8Types | Int16Types, Int16Types}, Int16Types)};

/// A table of 256 entries from the lowest value on.
template <typename Entry>
Entry LookUp(int8_t x, const Entry* table)
{
    return table[x + 128];
}

template <typename Entry>
Entry LookUp(uint8_t x, const Entry* table)
{
    return table[x];
}

template <typename Entry>
Entry LookUp(int16_t x, const Entry* table)
{
    return Interpolate(table, x);
}

template <typename T, typename Entry>
backends::Prepared MakeTable(size_t count, size_t entries)
{
    return [count, entries](const ExecuteArgs& run)
    {
        const T* in = run.GetInput<T>(0);
        Entry* out = run.GetOutput<Entry>(0);
        std::array<Entry, InterpolatedTableEntries> table; // a copy, because the output may lie in the memory of the
                                                           // table
        std::copy_n(run.GetInput<Entry>(1), entries, table.data());
        for (size_t i = 0; i < count; ++i)
        {
            out[i] = LookUp(in[i], table.data());
        }
    };
}

backends::Prepared PrepareTable(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const TensorInfo& input = args.GetInput(0);
    const size_t entries = Int8Types.Has(input.GetDataType()) ? 256 : InterpolatedTableEntries;
    if (args.GetInput(1).GetNumElements() != entries || args.GetOutput(0).GetShape() != input.GetShape())
    {
        throw LayerValidationException("a table of shape " + args.GetInput(1).GetShape().ToString() + " for " +
                                       input.ToString() + " to " + args.GetOutput(0).GetShape().ToString() +
                                       ": it must have " + std::to_string(entries) +
                                       " entries, and the output the shape of the input");
    }
    return DispatchType<int8_t, uint8_t, int16_t>(
        input.GetDataType(),
        [&](auto tag)
        {
            using T = typename decltype(tag)::Type;
            return DispatchType<int8_t, uint8_t, int16_t>(
                args.GetOutput(0).GetDataType(), [&](auto entryTag)
                { return MakeTable<T, typename decltype(entryTag)::Type>(input.GetNumElements(), entries); });
        });
}

} // namespace

extern const backends::Kernel RefTableKernel = {"RefTable", TableTypes, PrepareTable};

} // namespace tenon::ref
