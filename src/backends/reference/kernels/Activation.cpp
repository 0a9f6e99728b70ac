// SPDX-License-Identifier: Apache-2.0
// Activation: out = f(in). Floats and plain integers here; tensors with a scale in QuantizedActivation.cpp.
#include "backends/common/KernelTable.hpp"
#include "backends/reference/ActivationFunctions.hpp"
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/QuantizedActivation.hpp"

#include <tenon/descriptors/Elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::ref
{

namespace
{

using backends::Prepared;
using backends::QuantizedTypes;
using backends::SameType;
using backends::SingleFloatTypes;
using backends::TypeSet;

constexpr TypeSet IntegerTypes = backends::SignedTypes | DataType::Unsigned8;
constexpr backends::TypeRow ActivationTypes[] = {SameType(SingleFloatTypes | IntegerTypes),
                                                 backends::PerTensor(SameType(QuantizedTypes))};

SupportResult CheckActivation(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<ActivationDescriptor>();
    const ActivationFunction function = descriptor.m_Function;
    const DataType type = layer.GetInput(0).GetDataType();
    if (IntegerTypes.Has(type) && function != ActivationFunction::ReLu && function != ActivationFunction::BoundedReLu)
    {
        return SupportResult::No(SupportCode::UnsupportedParameters,
                                 "integers without a scale can only go through ReLu and BoundedReLu");
    }
    if (!SingleFloatTypes.Has(type) && function == ActivationFunction::BoundedReLu &&
        (std::isnan(descriptor.m_A) || std::isnan(descriptor.m_B)))
    {
        return SupportResult::No(SupportCode::UnsupportedParameters, "the bounds of a BoundedReLu must be numbers");
    }
    return QuantizedTypes.Has(type) ? CheckQuantizedActivation(layer) : SupportResult::Yes();
}

template <typename T>
Prepared MakeFloat(const ReshapeArgs& args)
{
    const size_t count = args.GetInput(0).GetNumElements();
    return DispatchActivation(args.GetDescriptor<ActivationDescriptor>(),
                              [count](auto f) -> Prepared
                              {
                                  return [count, f](const ExecuteArgs& run)
                                  {
                                      const T* in = run.GetInput<T>(0);
                                      T* out = run.GetOutput<T>(0);
                                      for (size_t i = 0; i < count; ++i)
                                      {
                                          out[i] = static_cast<T>(f(static_cast<float>(in[i])));
                                      }
                                  };
                              });
}

/// A bound of an integer clamp: rounded towards the inside of the interval, and within the type.
template <typename T>
T ToIntegerBound(double bound, bool isLower)
{
    const double inside = isLower ? std::ceil(bound) : std::floor(bound);
    if (inside <= static_cast<double>(std::numeric_limits<T>::min()))
    {
        return std::numeric_limits<T>::min();
    }
    // The largest 64-bit value is rounded up to 2^63, which is outside.
    if (inside >= static_cast<double>(std::numeric_limits<T>::max()))
    {
        return std::numeric_limits<T>::max();
    }
    return static_cast<T>(inside);
}

template <typename T>
Prepared MakeInteger(const ReshapeArgs& args)
{
    const auto& descriptor = args.GetDescriptor<ActivationDescriptor>();
    T low = 0;
    T high = std::numeric_limits<T>::max();
    if (descriptor.m_Function == ActivationFunction::BoundedReLu)
    {
        low = ToIntegerBound<T>(descriptor.m_B, true);
        high = ToIntegerBound<T>(descriptor.m_A, false);
    }
    return [low, high, count = args.GetInput(0).GetNumElements()](const ExecuteArgs& run)
    {
        const T* in = run.GetInput<T>(0);
        T* out = run.GetOutput<T>(0);
        for (size_t i = 0; i < count; ++i)
        {
            out[i] = std::min(high, std::max(low, in[i]));
        }
    };
}

Prepared PrepareActivation(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const DataType type = args.GetInput(0).GetDataType();
    if (QuantizedTypes.Has(type))
    {
        return PrepareQuantizedActivation(args);
    }
    if (SingleFloatTypes.Has(type))
    {
        return DispatchType<float, Half, BFloat16>(type, [&](auto tag)
                                                   { return MakeFloat<typename decltype(tag)::Type>(args); });
    }
    return DispatchType<int32_t, int64_t, int16_t, int8_t, uint8_t>(
        type, [&](auto tag) { return MakeInteger<typename decltype(tag)::Type>(args); });
}

} // namespace

extern const backends::Kernel RefActivationKernel = {"RefActivation", ActivationTypes, PrepareActivation,
                                                     CheckActivation};

} // namespace tenon::ref
