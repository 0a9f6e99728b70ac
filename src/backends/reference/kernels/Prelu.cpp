// SPDX-License-Identifier: Apache-2.0
// Prelu: x where x >= 0, else alpha * x, with broadcasting. Inputs: x, alpha. 8-bit tensors, and 16-bit tensors with
// 8-bit slopes, are computed as in TFLite's reference kernels; 16-bit tensors with 16-bit slopes likewise.
#include "backends/common/KernelTable.hpp"
#include "backends/common/Quantization.hpp"
#include "backends/common/Rescale.hpp"
#include "backends/common/Scratch.hpp"
#include "backends/reference/BroadcastLoop.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/TensorQuantization.hpp"

#include <algorithm>
#include <limits>

namespace tenon::ref
{

namespace
{

using backends::FloatTypes;
using backends::MultiplySaturating;
using backends::PerTensor;
using backends::Prepared;
using backends::QuantizedMultiplier;
using backends::QuantizeMultiplier;
using backends::SameType;
using backends::TypeSet;

constexpr backends::TypeRow PreluTypes[] = {
    PerTensor(SameType(FloatTypes | TypeSet{DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16}, 2)),
    PerTensor(backends::Types({DataType::QSymmS16, {DataType::QAsymmS8, DataType::QSymmS8}}, DataType::QSymmS16))};

template <typename T, typename Op>
Prepared MakeRun(const ReshapeArgs& args, const Op& op)
{
    const BroadcastLoop loop(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape());
    return [loop, op](const ExecuteArgs& run)
    { loop.Run(run.GetInput<T>(0), run.GetInput<T>(1), run.GetOutput<T>(0), op); };
}

template <typename T>
struct FloatPrelu
{
    T operator()(T x, T alpha) const
    {
        using C = ComputeType<T>;
        const auto value = static_cast<C>(x);
        return value >= 0 ? x : static_cast<T>(value * static_cast<C>(alpha));
    }
};

template <typename T>
struct QuantizedPrelu
{
    TensorQuantization m_X;
    TensorQuantization m_Alpha;
    TensorQuantization m_Output;
    // Products of scales are computed in float, as in TFLite.
    QuantizedMultiplier m_Positive = QuantizeMultiplier(static_cast<double>(m_X.m_Scale / m_Output.m_Scale));
    QuantizedMultiplier m_Negative =
        QuantizeMultiplier(static_cast<double>(m_X.m_Scale * m_Alpha.m_Scale / m_Output.m_Scale));

    T operator()(T x, T alpha) const
    {
        const int32_t value = x - m_X.m_ZeroPoint;
        // 16-bit values with a zero point may need more than 32 bits.
        const int64_t product = int64_t{value} * (alpha - m_Alpha.m_ZeroPoint);
        const int32_t scaled =
            value >= 0 ? MultiplySaturating(value, m_Positive) : backends::MultiplySumSaturating(product, m_Negative);
        return static_cast<T>(std::clamp<int32_t>(backends::SaturatingAdd(scaled, m_Output.m_ZeroPoint),
                                                  std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
};

template <typename T>
QuantizedPrelu<T> MakeQuantized(const ReshapeArgs& args)
{
    return {GetTensorQuantization(args.GetInput(0)), GetTensorQuantization(args.GetInput(1)),
            GetTensorQuantization(args.GetOutput(0))};
}

/// 16-bit data with 8-bit slopes, which are widened to 16 bits first.
Prepared MakeWithByteSlopes(const ReshapeArgs& args)
{
    const BroadcastLoop loop(args.GetInput(0).GetShape(), args.GetInput(1).GetShape(), args.GetOutput(0).GetShape());
    const size_t count = args.GetInput(1).GetNumElements();
    backends::Scratch scratch;
    const size_t wide = scratch.Add<int16_t>(count);
    const auto run = [loop, count, wide, op = MakeQuantized<int16_t>(args)](const ExecuteArgs& runArgs)
    {
        int16_t* slopes = backends::Scratch::At<int16_t>(runArgs.m_Scratch, wide);
        std::copy_n(runArgs.GetInput<int8_t>(1), count, slopes);
        loop.Run(runArgs.GetInput<int16_t>(0), slopes, runArgs.GetOutput<int16_t>(0), op);
    };
    return Prepared(run, scratch.GetBytes());
}

Prepared PreparePrelu(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const DataType type = args.GetInput(0).GetDataType();
    if (FloatTypes.Has(type))
    {
        return DispatchType<float, double, Half, BFloat16>(type,
                                                           [&](auto tag)
                                                           {
                                                               using T = typename decltype(tag)::Type;
                                                               return MakeRun<T>(args, FloatPrelu<T>());
                                                           });
    }
    if (args.GetInput(1).GetDataType() != type)
    {
        return MakeWithByteSlopes(args);
    }
    return DispatchType<int8_t, uint8_t, int16_t>(type,
                                                  [&](auto tag)
                                                  {
                                                      using T = typename decltype(tag)::Type;
                                                      return MakeRun<T>(args, MakeQuantized<T>(args));
                                                  });
}

} // namespace

extern const backends::Kernel RefPreluKernel = {"RefPrelu", PreluTypes, PreparePrelu};

} // namespace tenon::ref
