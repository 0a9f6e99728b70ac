// SPDX-License-Identifier: Apache-2.0
// ScatterNd: updates go to the slices that tuples of indices name, one after the other: they overwrite, or are added,
// subtracted, or the larger or smaller one stays. The slices are those of a copy of input 0, or of zeros. Quantized
// elements are taken as the integers that are stored, as TFLite does.
#include "backends/common/Scratch.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/SumType.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/IndexInput.hpp"
#include "common/CopyBlock.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Indexing.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::WholeByteType;

constexpr backends::TypeRow ScatterNdTypes[] = {backends::Types({{}, IndexTypes, WholeByteType}, WholeByteType)};

/// slice[i] = f(slice[i], update[i])
using UpdateFunction = void (*)(const std::byte* update, size_t count, std::byte* slice);

/// In what sums of integers are computed, which wrap. Floats come here for other functions alone, see MakeFloatSum.
template <typename T>
auto ToSum(T value)
{
    if constexpr (std::is_integral_v<T>)
    {
        return static_cast<uint64_t>(value);
    }
    else
    {
        return static_cast<ComputeType<T>>(value);
    }
}

template <ScatterNdFunction function, typename T>
T Combine(T a, T b)
{
    switch (function)
    {
    case ScatterNdFunction::Add: return static_cast<T>(ToSum(a) + ToSum(b));
    case ScatterNdFunction::Sub: return static_cast<T>(ToSum(a) - ToSum(b));
    case ScatterNdFunction::Max: return b > a || b != b ? b : a; // NaN stays, whichever it is
    case ScatterNdFunction::Min: return b < a || b != b ? b : a;
    default: return b;
    }
}

template <ScatterNdFunction function, typename T>
void UpdateSlice(const std::byte* update, size_t count, std::byte* slice)
{
    const auto* from = reinterpret_cast<const T*>(update);
    auto* to = reinterpret_cast<T*>(slice);
    for (size_t i = 0; i < count; ++i)
    {
        to[i] = Combine<function>(to[i], from[i]);
    }
}

/// Booleans add up to whether any is true; a difference is whether they differ.
template <ScatterNdFunction function>
void UpdateBooleans(const std::byte* update, size_t count, std::byte* slice)
{
    for (size_t i = 0; i < count; ++i)
    {
        const bool a = slice[i] != std::byte{0};
        const bool b = update[i] != std::byte{0};
        const bool result = function == ScatterNdFunction::Sub   ? a != b
                            : function == ScatterNdFunction::Min ? a && b
                                                                 : a || b;
        slice[i] = std::byte{result};
    }
}

template <ScatterNdFunction function>
UpdateFunction ChooseUpdate(DataType type)
{
    if (type == DataType::Boolean)
    {
        return UpdateBooleans<function>;
    }
    return DispatchType<float, double, Half, BFloat16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t,
                        uint64_t>(
        type, [](auto tag) -> UpdateFunction { return UpdateSlice<function, typename decltype(tag)::Type>; });
}

/// Null: plain copies.
UpdateFunction ChooseUpdate(ScatterNdFunction function, DataType type)
{
    switch (function)
    {
    case ScatterNdFunction::Add: return ChooseUpdate<ScatterNdFunction::Add>(type);
    case ScatterNdFunction::Sub: return ChooseUpdate<ScatterNdFunction::Sub>(type);
    case ScatterNdFunction::Max: return ChooseUpdate<ScatterNdFunction::Max>(type);
    case ScatterNdFunction::Min: return ChooseUpdate<ScatterNdFunction::Min>(type);
    default: return nullptr;
    }
}

/// Sums of floats: in double precision, in the scratch memory.
template <typename T>
Prepared MakeFloatSum(const IndexTuples& tuples, size_t outputElements, bool hasInput, double sign)
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
                for (size_t i = 0; i < tuples.GetCount() && outputElements != 0; ++i)
                {
                    double* slice = sums + tuples.GetOffset(run, i);
                    for (size_t k = 0; k < tuples.GetSliceElements(); ++k)
                    {
                        slice[k] += sign * static_cast<double>(*update++);
                    }
                }
                std::transform(sums, sums + outputElements, run.GetOutput<T>(0), FromSum<T>);
            },
            backends::CheckedCount(outputElements, sizeof(double))};
}

Prepared PrepareScatterNd(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<ScatterNdDescriptor>();
    const TensorInfo& output = args.GetOutput(0);
    const TensorShape& updates = args.GetInput(2).GetShape();
    const IndexTuples tuples(args, 1, output.GetShape());
    const std::vector<unsigned int>& slices = tuples.GetSlicesShape();
    bool fits = updates.GetNumDimensions() == slices.size();
    for (unsigned int i = 0; fits && i < slices.size(); ++i)
    {
        fits = updates[i] == slices[i];
    }
    if (!fits || (descriptor.m_InputEnabled && args.GetInput(0).GetShape() != output.GetShape()))
    {
        throw LayerValidationException("ScatterNd of updates " + updates.ToString() + " by indices " +
                                       args.GetInput(1).GetShape().ToString() + " to " + output.GetShape().ToString() +
                                       ": there must be an update for each index tuple, and input 0, if it is the "
                                       "tensor to update, must have the output's shape");
    }
    const bool isSum =
        descriptor.m_Function == ScatterNdFunction::Add || descriptor.m_Function == ScatterNdFunction::Sub;
    if (isSum && backends::FloatTypes.Has(output.GetDataType()))
    {
        const double sign = descriptor.m_Function == ScatterNdFunction::Add ? 1.0 : -1.0;
        return DispatchType<float, double, Half, BFloat16>(output.GetDataType(),
                                                           [&](auto tag)
                                                           {
                                                               return MakeFloatSum<typename decltype(tag)::Type>(
                                                                   tuples, output.GetNumElements(),
                                                                   descriptor.m_InputEnabled, sign);
                                                           });
    }
    const size_t elementBytes = GetMovedBytes(output.GetDataType());
    const size_t sliceBytes = tuples.GetSliceElements() * elementBytes;
    const size_t outputBytes = output.GetNumElements() * elementBytes;
    const UpdateFunction update = ChooseUpdate(descriptor.m_Function, output.GetDataType());
    return [=, isCopy = descriptor.m_InputEnabled](const ExecuteArgs& run)
    {
        auto* to = run.GetOutput<std::byte>(0);
        if (outputBytes == 0)
        {
            return;
        }
        if (isCopy)
        {
            CopyBlock(to, run.m_Inputs[0], outputBytes);
        }
        else
        {
            std::memset(to, 0, outputBytes);
        }
        const auto* from = run.GetInput<std::byte>(2);
        for (size_t i = 0; i < tuples.GetCount(); ++i, from += sliceBytes)
        {
            std::byte* slice = to + tuples.GetOffset(run, i) * elementBytes;
            if (update != nullptr)
            {
                update(from, tuples.GetSliceElements(), slice);
            }
            else
            {
                std::memcpy(slice, from, sliceBytes);
            }
        }
    };
}

SupportResult CheckScatterNd(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<ScatterNdDescriptor>();
    const DataType type = layer.GetOutput(0).GetDataType();
    if (descriptor.m_AxisEnabled || descriptor.m_Axis != 0)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "updates along an axis are not possible");
    }
    for (const size_t i : {size_t{0}, size_t{2}})
    {
        if ((i == 2 || descriptor.m_InputEnabled) && layer.GetInput(i).GetDataType() != type)
        {
            return SupportResult::No(SupportCode::UnsupportedType,
                                     "input " + std::to_string(i) + " is " +
                                         GetDataTypeName(layer.GetInput(i).GetDataType()) + " and the output " +
                                         GetDataTypeName(type) + "; they must be of one type");
        }
    }
    const bool isComplex = type == DataType::Complex64 || type == DataType::Complex128;
    if (isComplex && descriptor.m_Function != ScatterNdFunction::Update)
    {
        return SupportResult::No(SupportCode::UnsupportedType, "complex elements can only be overwritten");
    }
    return SupportResult::Yes();
}

} // namespace

extern const backends::Kernel RefScatterNdKernel = {"RefScatterNd", ScatterNdTypes, PrepareScatterNd, CheckScatterNd};

} // namespace tenon::ref
