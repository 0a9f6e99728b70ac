// SPDX-License-Identifier: Apache-2.0
// See InterpolationTaps.hpp. Coordinates are computed in double precision; for the nearest element in float, as in ONNX
// Runtime. A coordinate that is an integer except for the rounding of the scale then becomes that integer, as 3 / 0.3f
// does.
#include "backends/reference/kernels/InterpolationTaps.hpp"

#include <tenon/Exceptions.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace tenon::ref
{

namespace
{

/// The minimum product of a scale and a size that gives an element: sizes that keep a ratio are rounded.
constexpr double MinExtent = 0.49;

struct Axis
{
    double m_Input;
    double m_Output;
    double m_Scale;
    double m_RegionStart;
    double m_RegionEnd;
};

/// The coordinate in the input of element x of the output, computed in F.
template <typename F>
double TransformCoordinate(const InterpolateDescriptor& descriptor, const Axis& axis, F x)
{
    constexpr F Half{0.5};
    const auto input = static_cast<F>(axis.m_Input);
    const auto output = static_cast<F>(axis.m_Output);
    const auto scale = static_cast<F>(axis.m_Scale);
    const F last = input - F{1};
    switch (descriptor.m_Coordinates)
    {
    case InterpolationCoordinates::HalfPixel: return static_cast<double>((x + Half) / scale - Half);
    case InterpolationCoordinates::HalfPixelSymmetric:
        return static_cast<double>(input / F{2} * (F{1} - output / (scale * input)) + (x + Half) / scale - Half);
    case InterpolationCoordinates::PytorchHalfPixel:
        return static_cast<double>(output > F{1} ? (x + Half) / scale - Half : F{0});
    case InterpolationCoordinates::AlignCorners:
        return static_cast<double>(output > F{1} ? x * last / (output - F{1}) : F{0});
    case InterpolationCoordinates::Asymmetric: return static_cast<double>(x / scale);
    case InterpolationCoordinates::TfHalfPixelForNn: return static_cast<double>((x + Half) / scale);
    case InterpolationCoordinates::TfCropAndResize:
    {
        const auto start = static_cast<F>(axis.m_RegionStart);
        const auto end = static_cast<F>(axis.m_RegionEnd);
        return static_cast<double>(output > F{1} ? start * last + x * (end - start) * last / (output - F{1})
                                                 : Half * (start + end) * last);
    }
    }
    throw InvalidArgumentException("Interpolate with unknown coordinates");
}

double RoundNearest(NearestRounding rounding, double x)
{
    switch (rounding)
    {
    case NearestRounding::PreferFloor: return std::ceil(x - 0.5);
    case NearestRounding::PreferCeil: return std::floor(x + 0.5);
    case NearestRounding::Floor: return std::floor(x);
    case NearestRounding::Ceil: return std::ceil(x);
    }
    throw InvalidArgumentException("Interpolate with an unknown rounding");
}

/// The weight of an element at this distance, in elements of the filter.
double Weigh(const InterpolateDescriptor& descriptor, double distance)
{
    const double x = std::abs(distance);
    if (descriptor.m_Mode == InterpolationMode::Linear)
    {
        return std::max(1.0 - x, 0.0);
    }
    const double a = static_cast<double>(descriptor.m_CubicCoefficient); // Keys' cubic convolution
    return x <= 1.0  ? ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0
           : x < 2.0 ? ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a
                     : 0.0;
}

/// The taps of linear and cubic interpolation around `place`.
void AddTaps(const InterpolateDescriptor& descriptor, double place, double stretch, InterpolationTaps& taps)
{
    const auto last = static_cast<double>(taps.m_Input - 1);
    const double first = std::floor(place) - static_cast<double>(taps.m_Taps / 2) + 1.0;
    const size_t begin = taps.m_Weight.size();
    double sum = 0.0;
    for (size_t k = 0; k < taps.m_Taps; ++k)
    {
        const double index = first + static_cast<double>(k);
        const bool isExcluded = descriptor.m_ExcludeOutside && (index < 0.0 || index > last);
        const double weight = isExcluded ? 0.0 : Weigh(descriptor, (index - place) / stretch);
        taps.m_Index.push_back(static_cast<uint32_t>(std::clamp(index, 0.0, last)));
        taps.m_Weight.push_back(weight);
        sum += weight;
    }
    const bool isNormalized = (descriptor.m_ExcludeOutside || stretch > 1.0) && sum != 0.0;
    for (size_t k = begin; k < taps.m_Weight.size() && isNormalized; ++k)
    {
        taps.m_Weight[k] /= sum;
    }
}

InterpolationTaps FindTaps(const InterpolateDescriptor& descriptor, const Axis& axis)
{
    InterpolationTaps taps;
    taps.m_Input = static_cast<size_t>(axis.m_Input);
    taps.m_Output = static_cast<size_t>(axis.m_Output);
    const bool isCrop = descriptor.m_Coordinates == InterpolationCoordinates::TfCropAndResize;
    const bool isWhole = !isCrop || (axis.m_RegionStart == 0.0 && axis.m_RegionEnd == 1.0);
    taps.m_IsIdentity = taps.m_Input == taps.m_Output && axis.m_Scale == 1.0 && isWhole;
    if (taps.m_IsIdentity)
    {
        return taps;
    }
    const bool isNearest = descriptor.m_Mode == InterpolationMode::Nearest;
    const double stretch = descriptor.m_Antialias && !isNearest ? std::max(1.0, 1.0 / axis.m_Scale) : 1.0;
    const double support = (descriptor.m_Mode == InterpolationMode::Cubic ? 2.0 : 1.0) * stretch;
    taps.m_Taps = isNearest ? 1 : 2 * static_cast<size_t>(std::ceil(support));
    constexpr size_t MaxEntries = size_t{1} << 26; // 800 MB
    if (taps.m_Output > MaxEntries / taps.m_Taps)
    {
        throw LayerValidationException("Interpolate takes " + std::to_string(taps.m_Taps) + " elements for each of " +
                                       std::to_string(taps.m_Output) +
                                       " along one dimension: tables of more than 2^26 "
                                       "entries are not made");
    }
    const double last = axis.m_Input - 1.0;
    for (size_t x = 0; x < taps.m_Output; ++x)
    {
        const double place = isNearest ? TransformCoordinate<float>(descriptor, axis, static_cast<float>(x))
                                       : TransformCoordinate<double>(descriptor, axis, static_cast<double>(x));
        if (isCrop)
        {
            taps.m_IsOutside.push_back(!(place >= 0.0 && place <= last) ? 1 : 0);
        }
        // Far outside, all taps are the element at the border.
        const double near = std::clamp(place, -2.0 * support - 1.0, last + 2.0 * support + 1.0);
        if (isNearest)
        {
            const double index = std::clamp(RoundNearest(descriptor.m_Rounding, near), 0.0, last);
            taps.m_Index.push_back(static_cast<uint32_t>(index));
            taps.m_Weight.push_back(1.0);
        }
        else
        {
            AddTaps(descriptor, near, stretch, taps);
        }
    }
    return taps;
}

} // namespace

std::vector<InterpolationTaps> FindInterpolationTaps(const InterpolateDescriptor& descriptor, const TensorShape& input,
                                                     const TensorShape& output)
{
    const unsigned int rank = input.GetNumDimensions();
    const auto fail = [&]()
    {
        throw LayerValidationException("Interpolate of " + input.ToString() + " to " + output.ToString() +
                                       ": the lists must have a value for each resized dimension, and only these may "
                                       "differ in size");
    };
    if (output.GetNumDimensions() != rank)
    {
        fail();
    }
    const size_t count = descriptor.m_Axes.empty() ? rank : descriptor.m_Axes.size();
    for (size_t size : {descriptor.m_Scales.size(), descriptor.m_RegionStarts.size(), descriptor.m_RegionEnds.size()})
    {
        if (size != 0 && size != count)
        {
            fail();
        }
    }
    std::vector<InterpolationTaps> taps(rank);
    std::vector<bool> isResized(rank);
    for (size_t i = 0; i < count; ++i)
    {
        const size_t axis = descriptor.m_Axes.empty() ? i : descriptor.m_Axes[i];
        if (axis >= rank ||
            (input[static_cast<unsigned int>(axis)] == 0 && output[static_cast<unsigned int>(axis)] != 0))
        {
            fail();
        }
        const double from = input[static_cast<unsigned int>(axis)];
        const double to = output[static_cast<unsigned int>(axis)];
        const auto get = [i](const std::vector<float>& list, double byDefault)
        { return list.empty() ? byDefault : static_cast<double>(list[i]); };
        const double scale = get(descriptor.m_Scales, to / from);
        if (to > 0.0 && !(scale * from >= MinExtent)) // otherwise a filter would be wider than any input
        {
            fail();
        }
        taps[axis] = FindTaps(
            descriptor, {from, to, scale, get(descriptor.m_RegionStarts, 0.0), get(descriptor.m_RegionEnds, 1.0)});
        isResized[axis] = true;
    }
    for (unsigned int i = 0; i < rank; ++i)
    {
        if (!isResized[i])
        {
            taps[i].m_Input = input[i];
            taps[i].m_Output = output[i];
        }
        if (!isResized[i] && input[i] != output[i])
        {
            fail();
        }
    }
    return taps;
}

} // namespace tenon::ref
