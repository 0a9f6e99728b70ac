// SPDX-License-Identifier: Apache-2.0
// Range: numbers in equal steps. Shape inference has computed their number. Each number is the previous one plus the
// step, in the type's own precision, as in TFLite; quantized types step in float.
#include "backends/common/Quantization.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"
#include "backends/reference/kernels/MovedElement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeRow RangeTypes[] = {
    backends::SameType(backends::FloatTypes | backends::SignedTypes, 3),
    backends::WithScales(backends::SameType({DataType::QAsymmS8, DataType::QSymmS8, DataType::QSymmS16}, 3),
                         {backends::Scales::PerTensor, backends::Scales::Any, backends::Scales::PerTensor},
                         backends::Scales::Any)};

/// a + b; integers wrap.
template <typename T>
T Add(T a, T b)
{
    if constexpr (std::is_integral_v<T>)
    {
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    }
    else
    {
        return static_cast<T>(static_cast<ComputeType<T>>(a) + static_cast<ComputeType<T>>(b));
    }
}

template <typename T>
struct PlainRange
{
    size_t m_Count;

    void operator()(const ExecuteArgs& args) const
    {
        T value = *args.GetInput<T>(0);
        const T delta = *args.GetInput<T>(2);
        T* out = args.GetOutput<T>(0);
        for (size_t i = 0; i < m_Count; ++i, value = Add(value, delta))
        {
            out[i] = value;
        }
    }
};

template <typename T>
struct QuantizedRange
{
    size_t m_Count;
    TensorQuantization m_Start;
    TensorQuantization m_Delta;

    static float Dequantize(T stored, const TensorQuantization& quantization)
    {
        return static_cast<float>(static_cast<double>(quantization.m_Scale) * (stored - quantization.m_ZeroPoint));
    }

    /// Quantizes with the quantization of the start, which is the output's.
    T Quantize(float value) const
    {
        constexpr float Bound = 1e9f; // far outside any type, well inside int32
        const float steps = std::clamp(std::round(value / m_Start.m_Scale), -Bound, Bound);
        const int64_t stored = static_cast<int64_t>(steps) + m_Start.m_ZeroPoint;
        return static_cast<T>(
            std::clamp<int64_t>(stored, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }

    void operator()(const ExecuteArgs& args) const
    {
        float value = Dequantize(*args.GetInput<T>(0), m_Start);
        const float delta = Dequantize(*args.GetInput<T>(2), m_Delta);
        T* out = args.GetOutput<T>(0);
        for (size_t i = 0; i < m_Count; ++i, value += delta)
        {
            out[i] = Quantize(value);
        }
    }
};

backends::Prepared PrepareRange(const ReshapeArgs& args, const backends::PackedWeights*)
{
    for (size_t i = 0; i < 3; ++i)
    {
        RequireElements(args.GetInput(i), "an input of a range", 1);
    }
    const size_t count = args.GetOutput(0).GetNumElements();
    const DataType type = args.GetInput(0).GetDataType();
    if (IsQuantizedType(type))
    {
        const TensorQuantization start = GetTensorQuantization(args.GetInput(0));
        const TensorQuantization delta = GetTensorQuantization(args.GetInput(2));
        return DispatchType<int8_t, int16_t>(
            type,
            [&](auto tag) -> backends::Prepared {
                return QuantizedRange<typename decltype(tag)::Type>{count, start, delta};
            });
    }
    return DispatchType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t>(
        type, [&](auto tag) -> backends::Prepared { return PlainRange<typename decltype(tag)::Type>{count}; });
}

} // namespace

extern const backends::Kernel RefRangeKernel = {"RefRange", RangeTypes, PrepareRange};

} // namespace tenon::ref
