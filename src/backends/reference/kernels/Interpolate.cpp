// SPDX-License-Identifier: Apache-2.0
// Interpolate: ONNX's Resize. Each output element is a weighted sum of elements of the input; a weight is the product
// of the weights along all dimensions (InterpolationTaps.hpp). Sums are taken in double precision. Integers, also
// quantized ones, are interpolated as stored values, rounded to the nearest, and saturate. The nearest element is only
// moved.
#include "backends/reference/ElementTypes.hpp"
#include "backends/reference/kernels/DataMovement.hpp"
#include "backends/reference/kernels/InterpolationTaps.hpp"
#include "backends/reference/kernels/MovedElement.hpp"
#include "backends/reference/kernels/SampledValue.hpp"
#include "backends/reference/kernels/StoredElement.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace tenon::ref
{

namespace
{

constexpr backends::TypeSet WeightedTypes =
    backends::FloatTypes | backends::SignedTypes | backends::QuantizedTypes |
    backends::TypeSet{DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64};
constexpr backends::TypeRow InterpolateTypes[] = {backends::SameType(backends::WholeByteType)};

SupportResult CheckInterpolate(const LayerView& layer)
{
    const auto& descriptor = layer.GetDescriptor<InterpolateDescriptor>();
    const DataType type = layer.GetInput(0).GetDataType();
    const bool isMoved = descriptor.m_Mode == InterpolationMode::Nearest &&
                         descriptor.m_Coordinates != InterpolationCoordinates::TfCropAndResize;
    if (!isMoved && !WeightedTypes.Has(type))
    {
        return SupportResult::No(SupportCode::UnsupportedType,
                                 std::string(GetDataTypeName(type)) + " has no values to interpolate between");
    }
    return SupportResult::Yes();
}

struct Interpolation
{
    std::vector<InterpolationTaps> m_Taps; ///< taps of each dimension; at least one dimension
    Extents m_Strides{};                   ///< strides of the input
    size_t m_Rows = 1;                     ///< rows of the output, along its last dimension
    StoredElement m_Extrapolated{};        ///< value of elements outside of the input

    const InterpolationTaps& Last() const { return m_Taps.back(); }
};

/// The number of elements of a row that are computed at once.
constexpr size_t Chunk = 256;

/// The position of one output row in each dimension except the last.
using Places = std::array<size_t, MaxNumOfTensorDimensions>;

bool IsOutside(const InterpolationTaps& taps, size_t place)
{
    return !taps.m_IsOutside.empty() && taps.m_IsOutside[place] != 0;
}

/// Runs body(position, first output element, whether the row lies outside of the input) for all rows of the output.
template <typename Body>
void ForEachRow(const ExecuteArgs& run, const Interpolation& interpolation, const Body& body)
{
    const std::vector<InterpolationTaps>& taps = interpolation.m_Taps;
    const size_t elements = interpolation.Last().m_Output;
    const auto part = [&](size_t begin, size_t end)
    {
        for (size_t row = begin; row < end; ++row)
        {
            Places places{};
            bool isOutside = false;
            size_t rest = row;
            for (size_t d = taps.size() - 1; d-- > 0;)
            {
                places[d] = rest % taps[d].m_Output;
                rest /= taps[d].m_Output;
                isOutside = isOutside || IsOutside(taps[d], places[d]);
            }
            body(places, row * elements, isOutside);
        }
    };
    constexpr size_t Grain = 2048; // elements: some ten microseconds
    run.m_Parallel->Run(interpolation.m_Rows, std::max<size_t>(1, Grain / elements), std::ref(part));
}

/// Adds elements [first, first + count) of an output row to `sums`, with the taps of dimension `d` and those after it.
template <typename T>
void AddTaps(const T* in, const Interpolation& interpolation, const Places& places, size_t d, double weight,
             size_t first, size_t count, double* sums)
{
    const InterpolationTaps& taps = interpolation.m_Taps[d];
    if (d + 1 < interpolation.m_Taps.size())
    {
        const int64_t stride = interpolation.m_Strides[d];
        if (taps.m_IsIdentity)
        {
            AddTaps(in + static_cast<int64_t>(places[d]) * stride, interpolation, places, d + 1, weight, first, count,
                    sums);
            return;
        }
        for (size_t k = places[d] * taps.m_Taps; k < (places[d] + 1) * taps.m_Taps; ++k)
        {
            if (taps.m_Weight[k] != 0.0) // an element without a weight is left out, even if it is infinite
            {
                AddTaps(in + taps.m_Index[k] * stride, interpolation, places, d + 1, weight * taps.m_Weight[k], first,
                        count, sums);
            }
        }
        return;
    }
    if (taps.m_IsIdentity)
    {
        for (size_t i = 0; i < count; ++i)
        {
            sums[i] += weight * static_cast<double>(in[first + i]);
        }
        return;
    }
    for (size_t i = 0; i < count; ++i)
    {
        for (size_t k = (first + i) * taps.m_Taps; k < (first + i + 1) * taps.m_Taps; ++k)
        {
            sums[i] +=
                taps.m_Weight[k] == 0.0 ? 0.0 : weight * taps.m_Weight[k] * static_cast<double>(in[taps.m_Index[k]]);
        }
    }
}

template <typename T>
backends::Prepared MakeWeighted(std::shared_ptr<const Interpolation> shared)
{
    return [shared = std::move(shared)](const ExecuteArgs& run)
    {
        const Interpolation& interpolation = *shared;
        T extrapolated;
        std::memcpy(&extrapolated, interpolation.m_Extrapolated.data(), sizeof(T));
        const T* const in = run.GetInput<T>(0);
        T* const out = run.GetOutput<T>(0);
        const InterpolationTaps& last = interpolation.Last();
        ForEachRow(run, interpolation,
                   [&](const Places& places, size_t row, bool isOutside)
                   {
                       for (size_t first = 0; first < last.m_Output; first += Chunk)
                       {
                           const size_t count = std::min(Chunk, last.m_Output - first);
                           std::array<double, Chunk> sums;
                           std::fill_n(sums.begin(), count, 0.0);
                           if (!isOutside)
                           {
                               AddTaps(in, interpolation, places, 0, 1.0, first, count, sums.data());
                           }
                           for (size_t i = 0; i < count; ++i)
                           {
                               out[row + first + i] =
                                   isOutside || IsOutside(last, first + i) ? extrapolated : ToSampled<T>(sums[i]);
                           }
                       }
                   });
    };
}

template <typename T>
backends::Prepared MakeNearest(std::shared_ptr<const Interpolation> shared)
{
    return [shared = std::move(shared)](const ExecuteArgs& run)
    {
        const Interpolation& interpolation = *shared;
        T extrapolated;
        std::memcpy(&extrapolated, interpolation.m_Extrapolated.data(), sizeof(T));
        T* const out = run.GetOutput<T>(0);
        const std::vector<InterpolationTaps>& taps = interpolation.m_Taps;
        const InterpolationTaps& last = interpolation.Last();
        ForEachRow(run, interpolation,
                   [&](const Places& places, size_t row, bool isOutside)
                   {
                       const T* in = run.GetInput<T>(0);
                       for (size_t d = 0; d + 1 < taps.size(); ++d)
                       {
                           const size_t index = taps[d].m_IsIdentity ? places[d] : size_t{taps[d].m_Index[places[d]]};
                           in += static_cast<int64_t>(index) * interpolation.m_Strides[d];
                       }
                       for (size_t i = 0; i < last.m_Output; ++i)
                       {
                           out[row + i] = isOutside || IsOutside(last, i) ? extrapolated
                                          : last.m_IsIdentity             ? in[i]
                                                                          : in[last.m_Index[i]];
                       }
                   });
    };
}

/// The value of elements outside of the input, as stored.
StoredElement StoreExtrapolated(float value, const TensorInfo& info)
{
    if (backends::QuantizedTypes.Has(info.GetDataType()) && info.GetQuantizationScale() != 0.0f)
    {
        value = value / info.GetQuantizationScale() + static_cast<float>(info.GetQuantizationOffset());
    }
    return StoreValue(value, info.GetDataType());
}

backends::Prepared PrepareInterpolate(const ReshapeArgs& args, const backends::PackedWeights*)
{
    const auto& descriptor = args.GetDescriptor<InterpolateDescriptor>();
    const TensorInfo& input = args.GetInput(0);
    const TensorShape& output = args.GetOutput(0).GetShape();
    auto made = std::make_shared<Interpolation>();
    Interpolation& interpolation = *made;
    interpolation.m_Taps = FindInterpolationTaps(descriptor, input.GetShape(), output);
    interpolation.m_Strides = GetStrides(input.GetShape());
    if (interpolation.m_Taps.empty()) // a scalar
    {
        interpolation.m_Taps.emplace_back();
    }
    if (output.GetNumElements() == 0)
    {
        return [](const ExecuteArgs&) {};
    }
    interpolation.m_Rows = output.GetNumElements() / interpolation.Last().m_Output;
    if (descriptor.m_Coordinates == InterpolationCoordinates::TfCropAndResize)
    {
        interpolation.m_Extrapolated = StoreExtrapolated(descriptor.m_ExtrapolationValue, input);
    }
    const DataType type = input.GetDataType();
    if (descriptor.m_Mode == InterpolationMode::Nearest)
    {
        return DispatchMoved(type,
                             [&](auto tag) { return MakeNearest<typename decltype(tag)::Type>(std::move(made)); });
    }
    return DispatchType<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                        uint64_t>(type, [&](auto tag)
                                  { return MakeWeighted<typename decltype(tag)::Type>(std::move(made)); });
}

} // namespace

extern const backends::Kernel RefInterpolateKernel = {"RefInterpolate", InterpolateTypes, PrepareInterpolate,
                                                      CheckInterpolate};

} // namespace tenon::ref
