// SPDX-License-Identifier: Apache-2.0
// Updates that go to slices of a tensor one after the other: they overwrite, or are added, subtracted, multiplied, or
// the larger or smaller value stays. The slices belong to a copy of input 0, or to zeros; input 2 has the updates.
// Quantized elements are processed as the stored integers, as in TFLite. Used by ScatterElements and ScatterNd.
#pragma once

#include "backends/common/KernelTable.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/AccumulatorType.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "common/CopyBlock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace tenon::ref
{

/// slice[i] = f(slice[i], update[i])
using UpdateFunction = void (*)(const std::byte* update, size_t count, std::byte* slice);

/// The function of an update; null for plain copies.
UpdateFunction ChooseUpdate(ScatterNdFunction function, DataType type);

/// Whether the types of input 0 (if `hasInput`), of input 2 and of the output fit each other.
SupportResult CheckScatter(const LayerView& layer, ScatterNdFunction function, bool hasInput);

/// Sums of floats are taken in double precision, in the scratch memory.
template <typename T, typename Places>
backends::Prepared MakeFloatSum(const Places& places, size_t sliceElements, size_t outputElements, bool hasInput,
                                double sign)
{
    return {[=](const ExecuteArgs& run)
            {
                auto* sums = static_cast<double*>(run.m_Scratch);
                if (hasInput)
                {
                    const T* in = run.GetInput<T>(0);
                    std::transform(in, in + outputElements, sums, [](T value) { return static_cast<double>(value); });
                }
                else
                {
                    std::fill_n(sums, outputElements, 0.0);
                }
                const T* update = run.GetInput<T>(2);
                places.ForEach(run,
                               [&](size_t, size_t place)
                               {
                                   double* slice = sums + place;
                                   for (size_t k = 0; k < sliceElements; ++k)
                                   {
                                       slice[k] += sign * static_cast<double>(*update++);
                                   }
                               });
                std::transform(sums, sums + outputElements, run.GetOutput<T>(0), FromAccumulator<T>);
            },
            backends::CheckedCount(outputElements, sizeof(double))};
}

/// `places.ForEach(args, f)` calls f(i, place) for each update; `place` is the index of its first element. Places and
/// updates are checked.
template <typename Places>
backends::Prepared PrepareScatter(const TensorInfo& output, const Places& places, size_t sliceElements,
                                  ScatterNdFunction function, bool hasInput)
{
    const size_t outputElements = output.GetNumElements();
    if (outputElements == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    const bool isSum = function == ScatterNdFunction::Add || function == ScatterNdFunction::Sub;
    if (isSum && backends::FloatTypes.Has(output.GetDataType()))
    {
        const double sign = function == ScatterNdFunction::Add ? 1.0 : -1.0;
        return DispatchType<float, double, Half, BFloat16>(output.GetDataType(),
                                                           [&](auto tag) {
                                                               return MakeFloatSum<typename decltype(tag)::Type>(
                                                                   places, sliceElements, outputElements, hasInput,
                                                                   sign);
                                                           });
    }
    const size_t elementBytes = GetMovedBytes(output.GetDataType());
    const size_t sliceBytes = sliceElements * elementBytes;
    const size_t outputBytes = outputElements * elementBytes;
    const UpdateFunction update = ChooseUpdate(function, output.GetDataType());
    return [=](const ExecuteArgs& run)
    {
        auto* to = run.GetOutput<std::byte>(0);
        if (hasInput)
        {
            CopyBlock(to, run.m_Inputs[0], outputBytes);
        }
        else
        {
            std::memset(to, 0, outputBytes);
        }
        const auto* from = run.GetInput<std::byte>(2);
        places.ForEach(run,
                       [&](size_t i, size_t place)
                       {
                           std::byte* slice = to + place * elementBytes;
                           if (update != nullptr)
                           {
                               update(from + i * sliceBytes, sliceElements, slice);
                           }
                           else
                           {
                               std::memcpy(slice, from + i * sliceBytes, sliceBytes);
                           }
                       });
    };
}

} // namespace tenon::ref
