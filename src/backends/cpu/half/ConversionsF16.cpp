// SPDX-License-Identifier: Apache-2.0
// See ConversionsF16.hpp.
#include "backends/cpu/half/ConversionsF16.hpp"

#include "backends/cpu/elementwise/BroadcastRuns.hpp"
#include "backends/cpu/elementwise/ConversionLoops.hpp"

namespace tenon::cpu
{

namespace
{

void Convert(IParallelFor& parallel, const void* in, DataType from, size_t count, void* out, DataType to)
{
    const ConversionLoop loop = FindCast(from, to);
    RunElements(parallel, count,
                [&](size_t begin, size_t end)
                {
                    loop(static_cast<const std::byte*>(in) + begin * GetDataTypeSize(from),
                         static_cast<std::byte*>(out) + begin * GetDataTypeSize(to), end - begin, {});
                });
}

void Widen(IParallelFor& parallel, const void* halves, DataType type, size_t count, float* floats)
{
    Convert(parallel, halves, type, count, floats, DataType::Float32);
}

void Narrow(IParallelFor& parallel, const float* floats, DataType type, size_t count, void* halves)
{
    Convert(parallel, floats, DataType::Float32, count, halves, type);
}

} // namespace

extern const ref::F16Loops VectorConversionsF16 = {Widen, Narrow};

} // namespace tenon::cpu
