// SPDX-License-Identifier: Apache-2.0
// Interpolate: all modes, coordinates and roundings in any number of dimensions, against the definitions.
#include "harness/LayerRun.hpp"
#include "ops/InferCases.hpp"
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::test::interpolate_test
{

namespace
{

using Sizes = std::vector<unsigned int>;
using Coordinate = InterpolationCoordinates;
using Mode = InterpolationMode;

constexpr Mode Modes[] = {Mode::Nearest, Mode::Linear, Mode::Cubic};
constexpr Coordinate AllCoordinates[] = {
    Coordinate::HalfPixel,  Coordinate::HalfPixelSymmetric, Coordinate::PytorchHalfPixel, Coordinate::AlignCorners,
    Coordinate::Asymmetric, Coordinate::TfHalfPixelForNn,   Coordinate::TfCropAndResize};
constexpr NearestRounding Roundings[] = {NearestRounding::PreferFloor, NearestRounding::PreferCeil,
                                         NearestRounding::Floor, NearestRounding::Ceil};

/// What the oracle knows of a dimension.
struct Axis
{
    double m_Input;
    double m_Output;
    double m_Scale;
    double m_Start;
    double m_End;
    bool m_IsResized;
};

double FindPlace(const InterpolateDescriptor& d, const Axis& axis, double x)
{
    const double halfPixel = (x + 0.5) / axis.m_Scale - 0.5;
    const double first = axis.m_Start * (axis.m_Input - 1);
    const double last = axis.m_End * (axis.m_Input - 1);
    const bool isOne = axis.m_Output == 1;
    switch (d.m_Coordinates)
    {
    case Coordinate::HalfPixel: return halfPixel;
    case Coordinate::HalfPixelSymmetric:
        return axis.m_Input / 2 * (1 - axis.m_Output / (axis.m_Scale * axis.m_Input)) + halfPixel;
    case Coordinate::PytorchHalfPixel: return isOne ? 0 : halfPixel;
    case Coordinate::AlignCorners: return isOne ? 0 : x * (axis.m_Input - 1) / (axis.m_Output - 1);
    case Coordinate::Asymmetric: return x / axis.m_Scale;
    case Coordinate::TfHalfPixelForNn: return (x + 0.5) / axis.m_Scale;
    case Coordinate::TfCropAndResize:
        return isOne ? (first + last) / 2 : first + x * (last - first) / (axis.m_Output - 1);
    }
    return 0;
}

double RoundPlace(NearestRounding rounding, double place)
{
    const double floor = std::floor(place);
    switch (rounding)
    {
    case NearestRounding::PreferFloor: return place - floor <= 0.5 ? floor : floor + 1;
    case NearestRounding::PreferCeil: return place - floor < 0.5 ? floor : floor + 1;
    case NearestRounding::Floor: return floor;
    case NearestRounding::Ceil: return std::ceil(place);
    }
    return 0;
}

double Weigh(const InterpolateDescriptor& d, double distance)
{
    const double x = std::abs(distance);
    if (d.m_Mode == Mode::Linear)
    {
        return std::max(0.0, 1 - x);
    }
    const auto a = static_cast<double>(d.m_CubicCoefficient);
    if (x <= 1)
    {
        return (a + 2) * x * x * x - (a + 3) * x * x + 1;
    }
    return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/// The weight of each element of a dimension for element x of the output; empty outside of the input.
std::vector<double> FindWeights(const InterpolateDescriptor& d, const Axis& axis, double x)
{
    const auto count = static_cast<size_t>(axis.m_Input);
    std::vector<double> weights(count);
    if (!axis.m_IsResized)
    {
        weights[static_cast<size_t>(x)] = 1;
        return weights;
    }
    const double place = FindPlace(d, axis, x);
    const double last = axis.m_Input - 1;
    if (d.m_Coordinates == Coordinate::TfCropAndResize && (place < 0 || place > last))
    {
        return {};
    }
    if (d.m_Mode == Mode::Nearest)
    {
        weights[static_cast<size_t>(std::clamp(RoundPlace(d.m_Rounding, place), 0.0, last))] = 1;
        return weights;
    }
    const double stretch = d.m_Antialias ? std::max(1.0, 1 / axis.m_Scale) : 1;
    const double reach = 2 * stretch;
    double sum = 0;
    for (double i = std::floor(place - reach); i <= std::ceil(place + reach); ++i)
    {
        const double weight = d.m_ExcludeOutside && (i < 0 || i > last) ? 0 : Weigh(d, (i - place) / stretch);
        weights[static_cast<size_t>(std::clamp(i, 0.0, last))] += weight;
        sum += weight;
    }
    for (double& weight : weights)
    {
        weight /= d.m_ExcludeOutside || stretch > 1 ? sum : 1;
    }
    return weights;
}

std::vector<Axis> FindAxes(const InterpolateDescriptor& d, const Sizes& input, const Sizes& output)
{
    std::vector<Axis> axes;
    for (unsigned int i = 0; i < input.size(); ++i)
    {
        const auto listed = std::find(d.m_Axes.begin(), d.m_Axes.end(), i);
        const auto at = static_cast<size_t>(listed - d.m_Axes.begin());
        const size_t place = d.m_Axes.empty() ? i : at;
        const bool isResized = d.m_Axes.empty() || listed != d.m_Axes.end();
        const auto get = [&](const std::vector<float>& list, double byDefault)
        { return list.empty() || !isResized ? byDefault : static_cast<double>(list[place]); };
        const double scale = get(d.m_Scales, static_cast<double>(output[i]) / input[i]);
        const double start = get(d.m_RegionStarts, 0);
        const double end = get(d.m_RegionEnds, 1);
        const bool isSame = input[i] == output[i] && scale == 1 && start == 0 && end == 1;
        axes.push_back({double{1} * input[i], double{1} * output[i], scale, start, end, isResized && !isSame});
    }
    return axes;
}

/// The sum along all dimensions from `dimension` on; `outside` where one has no weights.
double Sum(const RealTensor& in, const std::vector<std::vector<double>>& weights, size_t dimension, size_t offset)
{
    if (dimension == weights.size())
    {
        return in.m_Values.at(offset);
    }
    double sum = 0;
    for (size_t i = 0; i < weights[dimension].size(); ++i)
    {
        if (weights[dimension][i] != 0)
        {
            sum += weights[dimension][i] * Sum(in, weights, dimension + 1, offset * weights[dimension].size() + i);
        }
    }
    return sum;
}

OpCase MakeCase(const InterpolateDescriptor& descriptor, const Sizes& input, const Sizes& output,
                DataType type = DataType::Float32)
{
    const TensorInfo out = MakeInfo(MakeShape(output), type);
    OpCase op{MakeShape(input).ToString() + " to " + out.ToString() + " mode " +
                  std::to_string(static_cast<int>(descriptor.m_Mode)) + " coordinates " +
                  std::to_string(static_cast<int>(descriptor.m_Coordinates)),
              LayerType::Interpolate,
              MakeDescriptor(descriptor),
              {Random(MakeInfo(MakeShape(input), type), 8)},
              out,
              [=](const std::vector<RealTensor>& in)
              {
                  const std::vector<Axis> axes = FindAxes(descriptor, input, output);
                  std::vector<double> values(out.GetNumElements());
                  for (size_t element = 0; element < values.size(); ++element)
                  {
                      std::vector<std::vector<double>> weights(axes.size());
                      size_t rest = element;
                      bool isOutside = false;
                      for (size_t i = axes.size(); i-- > 0;)
                      {
                          weights[i] = FindWeights(descriptor, axes[i], static_cast<double>(rest % output[i]));
                          rest /= output[i];
                          isOutside = isOutside || weights[i].empty();
                      }
                      const double value =
                          isOutside ? static_cast<double>(descriptor.m_ExtrapolationValue) : Sum(in[0], weights, 0, 0);
                      const bool isInteger = !IsQuantizedType(type) && type != DataType::Float32 &&
                                             type != DataType::Float64 && type != DataType::Float16 &&
                                             type != DataType::BFloat16;
                      values[element] = isInteger ? std::nearbyint(value) : value;
                  }
                  return values;
              }};
    op.m_Absolute = type == DataType::Float16 ? 1e-3 : type == DataType::BFloat16 ? 1e-2 : 3e-6;
    op.m_Relative = type == DataType::Float16 ? 1e-3 : type == DataType::BFloat16 ? 1e-2 : 1e-5;
    return op;
}

struct Shapes
{
    Sizes m_Input;
    Sizes m_Output;
};

/// Images of both layouts, and some with more or fewer dimensions.
const std::vector<Shapes>& GetShapes()
{
    static const std::vector<Shapes> shapes = {{{1, 3, 4, 6}, {1, 3, 8, 12}},
                                               {{2, 2, 5, 7}, {2, 2, 3, 4}},
                                               {{1, 5, 4, 3}, {1, 8, 8, 3}},
                                               {{2, 8, 6, 17}, {2, 4, 9, 17}},
                                               {{7}, {10}},
                                               {{3, 5, 2}, {3, 1, 2}},
                                               {{1, 2, 3, 4, 5}, {1, 2, 6, 5, 3}},
                                               {{2, 3, 4, 3, 2}, {3, 3, 2, 3, 5}},
                                               {{2, 3}, {2, 3}}};
    return shapes;
}

} // namespace

ISA_TEST(Interpolate, ModesAndCoordinates)
{
    for (const Shapes& shapes : GetShapes())
    {
        for (const Mode mode : Modes)
        {
            for (const Coordinate coordinates : AllCoordinates)
            {
                InterpolateDescriptor descriptor;
                descriptor.m_Mode = mode;
                descriptor.m_Coordinates = coordinates;
                CheckOp(MakeCase(descriptor, shapes.m_Input, shapes.m_Output));
            }
        }
    }
}

ISA_TEST(Interpolate, RoundingsOfTheNearestElementOfAnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const NearestRounding rounding : Roundings)
        {
            InterpolateDescriptor descriptor;
            descriptor.m_Rounding = rounding;
            CheckOp(MakeCase(descriptor, {1, 2, 4, 4}, {1, 2, 8, 6}, type));
            descriptor.m_Coordinates = Coordinate::Asymmetric;
            CheckOp(MakeCase(descriptor, {1, 4, 4, 3}, {1, 8, 12, 3}, type)); // whole factors
            CheckOp(MakeCase(descriptor, {2, 2, 2, 3, 3}, {4, 2, 3, 3, 2}, type));
        }
    }
}

ISA_TEST(Interpolate, ScalesAsTheyAreGiven)
{
    for (const Mode mode : Modes)
    {
        for (const Coordinate coordinates :
             {Coordinate::HalfPixel, Coordinate::HalfPixelSymmetric, Coordinate::Asymmetric})
        {
            InterpolateDescriptor descriptor;
            descriptor.m_Mode = mode;
            descriptor.m_Coordinates = coordinates;
            descriptor.m_Axes = {2, 3};
            descriptor.m_Scales = {2.75f, 0.625f}; // 4 becomes 11, 9 becomes 5.625
            CheckOp(MakeCase(descriptor, {1, 2, 4, 9}, {1, 2, 11, 5}));
            descriptor.m_Axes = {3, 2}; // in any order
            CheckOp(MakeCase(descriptor, {1, 2, 9, 4}, {1, 2, 5, 11}));
            descriptor.m_Axes = {};
            descriptor.m_Scales = {1, 2.75f, 0.625f, 1};
            CheckOp(MakeCase(descriptor, {1, 4, 9, 6}, {1, 11, 5, 6}));
        }
    }
}

// 3 / 0.3f is above 9.99 and below 10, but in float it is 10.
TEST(Interpolate, AQuotientOfFloatsIsRoundedBeforeTheFloor)
{
    InterpolateDescriptor descriptor;
    descriptor.m_Scales = {0.3f};
    descriptor.m_Coordinates = Coordinate::Asymmetric;
    descriptor.m_Rounding = NearestRounding::Floor;
    std::vector<double> numbers(30);
    for (size_t i = 0; i < numbers.size(); ++i)
    {
        numbers[i] = static_cast<double>(i);
    }
    ExpectLayer([&](INetwork& network) { return network.AddInterpolateLayer(descriptor); },
                {Numbers({30}, DataType::Signed32, numbers)},
                {Numbers({9}, DataType::Signed32, {0, 3, 6, 10, 13, 16, 20, 23, 26})});
}

ISA_TEST(Interpolate, FiltersOfCubicAndShrunkDimensions)
{
    for (const bool excludes : {false, true})
    {
        for (const bool antialias : {false, true})
        {
            for (const Mode mode : {Mode::Linear, Mode::Cubic})
            {
                InterpolateDescriptor descriptor;
                descriptor.m_Mode = mode;
                descriptor.m_ExcludeOutside = excludes;
                descriptor.m_Antialias = antialias;
                descriptor.m_CubicCoefficient = -0.5f;
                CheckOp(MakeCase(descriptor, {1, 2, 4, 4}, {1, 2, 9, 8}));
                CheckOp(MakeCase(descriptor, {1, 2, 12, 10}, {1, 2, 5, 3}));
                CheckOp(MakeCase(descriptor, {1, 12, 10, 5}, {1, 4, 7, 5}));
                CheckOp(MakeCase(descriptor, {40}, {2}));
            }
        }
    }
}

ISA_TEST(Interpolate, RegionsAndWhatIsOutside)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::QAsymmU8, DataType::Signed8})
    {
        for (const Mode mode : Modes)
        {
            InterpolateDescriptor descriptor;
            descriptor.m_Mode = mode;
            descriptor.m_Coordinates = Coordinate::TfCropAndResize;
            descriptor.m_ExtrapolationValue = 5;
            descriptor.m_Axes = {1, 2};
            descriptor.m_RegionStarts = {0.25f, 0.125f};
            descriptor.m_RegionEnds = {0.75f, 0.875f};
            CheckOp(MakeCase(descriptor, {1, 5, 9, 3}, {1, 4, 6, 3}, type));
            descriptor.m_RegionEnds = {1.5f, -0.25f};
            CheckOp(MakeCase(descriptor, {1, 5, 9, 3}, {1, 6, 7, 3}, type));
            CheckOp(MakeCase(descriptor, {1, 5, 9, 3}, {1, 1, 1, 3}, type));
        }
    }
}

ISA_TEST(Interpolate, TypesOfNumbers)
{
    for (const DataType type :
         {DataType::Float64, DataType::Float16, DataType::BFloat16, DataType::QAsymmS8, DataType::QAsymmU8,
          DataType::QSymmS8, DataType::QSymmS16, DataType::Signed8, DataType::Signed16, DataType::Signed32,
          DataType::Signed64, DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64})
    {
        for (const Mode mode : {Mode::Linear, Mode::Cubic})
        {
            InterpolateDescriptor descriptor;
            descriptor.m_Mode = mode;
            // With these factors all weights are exact, so that halves are, too.
            CheckOp(MakeCase(descriptor, {1, 2, 4, 5}, {1, 2, 8, 10}, type));
            CheckOp(MakeCase(descriptor, {1, 4, 5, 3}, {1, 2, 10, 3}, type));
        }
    }
}

ISA_TEST(Interpolate, LargeImagesInPieces)
{
    for (const Mode mode : Modes)
    {
        InterpolateDescriptor descriptor;
        descriptor.m_Mode = mode;
        descriptor.m_Coordinates = Coordinate::Asymmetric;
        CheckOp(MakeCase(descriptor, {2, 6, 32, 40}, {2, 6, 64, 80}));
        CheckOp(MakeCase(descriptor, {2, 32, 40, 20}, {2, 16, 100, 20}));
    }
}

ISA_TEST(Interpolate, EmptyTensorsAndScalars)
{
    CheckOp(MakeCase({}, {0, 3}, {0, 5}));
    CheckOp(MakeCase({}, {2, 3}, {2, 0}));
    CheckOp(MakeCase({}, {}, {}));
}

// What lies beside an infinite element does not take it in where it has no weight.
ISA_TEST(Interpolate, InfiniteElementsWithoutWeightAreLeftOut)
{
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    for (const Sizes& input : {Sizes{1, 1, 1, 3}, Sizes{1, 3, 1, 1}, Sizes{1, 1, 3, 2}})
    {
        InterpolateDescriptor descriptor;
        descriptor.m_Mode = Mode::Linear;
        descriptor.m_Coordinates = Coordinate::AlignCorners;
        Sizes output = input;
        *std::find(output.begin(), output.end(), 3U) = 5;
        const bool isPair = input.back() == 2;
        OpCase op = MakeCase(descriptor, input, output);
        op.m_Inputs = {Values(TensorInfo(MakeShape(input), DataType::Float32),
                              isPair ? std::vector<double>{1, 1, 2, 2, -Infinity, -Infinity}
                                     : std::vector<double>{1, 2, -Infinity})};
        op.m_Oracle = [isPair](const auto&)
        {
            return isPair ? std::vector<double>{1, 1, 1.5, 1.5, 2, 2, -Infinity, -Infinity, -Infinity, -Infinity}
                          : std::vector<double>{1, 1.5, 2, -Infinity, -Infinity};
        };
        CheckOp(op);
    }
}

TEST(Interpolate, SizesScalesAndRegionsThatComeAsInputs)
{
    const auto make = [](const InterpolateDescriptor& descriptor)
    { return [descriptor](INetwork& network) { return network.AddInterpolateLayer(descriptor, "interpolate"); }; };
    const TestTensor image = Numbers({1, 2, 3}, DataType::Float32, {1, 2, 3, 4, 5, 6});
    InterpolateDescriptor descriptor;
    descriptor.m_Axes = {2};
    descriptor.m_Coordinates = Coordinate::Asymmetric;
    descriptor.m_Rounding = NearestRounding::Floor;
    descriptor.m_ParametersAsInputs = true;
    const std::vector<TestTensor> doubled = {
        Numbers({1, 2, 6}, DataType::Float32, {1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6})};
    ExpectLayer(make(descriptor), {image, Constant(Numbers({1}, DataType::Signed64, {6}))}, doubled);
    ExpectLayer(make(descriptor), {image, Constant(Numbers({1}, DataType::Float32, {2}))}, doubled);
    descriptor.m_Coordinates = Coordinate::TfCropAndResize;
    descriptor.m_RegionAsInput = true;
    ExpectLayer(
        make(descriptor),
        {image, Constant(Numbers({1}, DataType::Signed32, {2})), Constant(Numbers({2}, DataType::Float32, {0.5, 1}))},
        {Numbers({1, 2, 2}, DataType::Float32, {2, 3, 5, 6})});
}

TEST(Interpolate, AspectRatiosAreKept)
{
    InterpolateDescriptor descriptor;
    descriptor.m_Axes = {1, 0};
    descriptor.m_Sizes = {8, 7}; // a factor of 2, and of 3.5
    const TestTensor image = Numbers({2, 4}, DataType::Signed32, {1, 2, 3, 4, 5, 6, 7, 8});
    const auto shapeOf = [&](AspectRatioPolicy policy)
    {
        descriptor.m_AspectRatioPolicy = policy;
        return RunLayer([&](INetwork& network) { return network.AddInterpolateLayer(descriptor); }, {image})[0]
            .m_Info.GetShape()
            .ToString();
    };
    EXPECT_EQ(shapeOf(AspectRatioPolicy::Stretch), "[7,8]");
    EXPECT_EQ(shapeOf(AspectRatioPolicy::NotLarger), "[4,8]");
    EXPECT_EQ(shapeOf(AspectRatioPolicy::NotSmaller), "[7,14]");
}

ISA_TEST(Interpolate, RefusesWhatDoesNotFit)
{
    OpCase rank = MakeCase({}, {2, 3}, {2, 6});
    rank.m_Output.SetShape(TensorShape({2, 6, 1}));
    CheckRejectsShapes(rank, "only these may differ");

    InterpolateDescriptor one;
    one.m_Axes = {1};
    OpCase other = MakeCase(one, {2, 3}, {2, 6});
    other.m_Output.SetShape(TensorShape({3, 6}));
    CheckRejectsShapes(other, "only these may differ");

    InterpolateDescriptor thin;
    thin.m_Scales = {1, 1e-30f};
    thin.m_Mode = Mode::Linear;
    thin.m_Antialias = true;
    CheckRejectsShapes(MakeCase(thin, {2, 3}, {2, 6}), "only these may differ");

    OpCase wide = MakeCase({}, {2, 3}, {2, 3});
    wide.m_Inputs[0] = Random(TensorInfo(TensorShape({1, 1}), DataType::Signed8), 1);
    wide.m_Output = TensorInfo(TensorShape({1, (1U << 26) + 1}), DataType::Signed8);
    CheckRejectsShapes(wide, "more than 2^26 entries");

    InterpolateDescriptor scales;
    scales.m_Scales = {2};
    CheckRejectsShapes(MakeCase(scales, {2, 3}, {2, 6}), "a value for each resized dimension");

    OpCase nothing = MakeCase({}, {2, 3}, {2, 6});
    nothing.m_Inputs[0] = Random(TensorInfo(TensorShape({2, 0}), DataType::Float32), 1);
    CheckRejectsShapes(nothing, "Interpolate of [2,0]");

    InterpolateDescriptor linear;
    linear.m_Mode = Mode::Linear;
    CheckUnsupported(MakeCase(linear, {2, 3}, {2, 6}, DataType::Boolean), SupportCode::UnsupportedType, "Boolean");
}

static InferCases MakeInterpolateCases()
{
    constexpr LayerType type = LayerType::Interpolate;
    const auto sized = [](std::vector<uint32_t> axes, std::vector<uint32_t> sizes)
    {
        InterpolateDescriptor descriptor;
        descriptor.m_Axes = std::move(axes);
        descriptor.m_Sizes = std::move(sizes);
        return descriptor;
    };
    const auto scaled = [](std::vector<uint32_t> axes, std::vector<float> scales)
    {
        InterpolateDescriptor descriptor;
        descriptor.m_Axes = std::move(axes);
        descriptor.m_Scales = std::move(scales);
        return descriptor;
    };
    const auto byInput =
        Made<InterpolateDescriptor>([](auto& d) { d.m_ParametersAsInputs = true; }, sized({1}, {7, 7, 7}));
    const auto scales = [](std::initializer_list<float> values)
    { return Shaped<float>({static_cast<unsigned int>(values.size())}, values, DataType::Float32); };
    const auto region = Made<InterpolateDescriptor>([](auto& d) { d.m_RegionAsInput = true; }, sized({1}, {4}));
    const auto larger = Made<InterpolateDescriptor>(
        [](auto& d) { d.m_AspectRatioPolicy = AspectRatioPolicy::NotLarger; }, sized({0, 1}, {9, 5}));
    return {
        Case(type, "sizes", sized({}, {4, 5}), {T({2, 3})}).Gives({"[4,5]"}),
        Case(type, "sizes of axes", sized({1, 0}, {4, 5}), {T({2, 3})}).Gives({"[5,4]"}),
        Case(type, "scales", scaled({}, {0.5f, 0.7f}), {T({3, 10})}).Gives({"[1,7]"}),
        Case(type, "both", Made<InterpolateDescriptor>([](auto& d) { d.m_Scales = {1.9f}; }, sized({1}, {5})),
             {T({2, 3})})
            .Gives({"[2,5]"}),
        Case(type, "scalar", InterpolateDescriptor(), {T({})}).Gives({"[]"}),
        Case(type, "ratio", larger, {T({2, 2})})
            .Gives({"[5,5]"})
            .Resolves(Made<InterpolateDescriptor>(
                [](auto& d) {
                    d.m_Scales = {2.5f, 2.5f};
                },
                sized({0, 1}, {5, 5}))),
        Case(type, "sizes by input", byInput, {T({2, 3}), P64({6})}).Gives({"[2,6]"}).Resolves(sized({1}, {6})),
        Case(type, "scales by input", byInput, {T({2, 3}), scales({3.5f})})
            .Gives({"[2,10]"})
            .Resolves(scaled({1}, {3.5f})),
        Case(type, "region by input", region, {T({2, 3}), Absent(), scales({0.25f, 0.5f})})
            .Gives({"[2,4]"})
            .Resolves(Made<InterpolateDescriptor>(
                [](auto& d)
                {
                    d.m_RegionStarts = {0.25f};
                    d.m_RegionEnds = {0.5f};
                },
                sized({1}, {4}))),
        Case(type, "empty", sized({}, {0, 5}), {T({0, 3})}).Gives({"[0,5]"}),
        Case(type, "too few sizes", sized({}, {4}), {T({2, 3})}).Rejects("1 sizes are given for 2"),
        Case(type, "too many scales", scaled({1}, {2, 2}), {T({2, 3})}).Rejects("2 scales are given for 1"),
        Case(type, "nothing", InterpolateDescriptor(), {T({2, 3})}).Rejects("neither sizes nor scales"),
        Case(type, "axis", sized({2}, {4}), {T({2, 3})}).Rejects("axis 2"),
        Case(type, "axis twice", sized({1, 1}, {4, 4}), {T({2, 3})}).Rejects("twice"),
        Case(type, "a scale that does not fit",
             Made<InterpolateDescriptor>([](auto& d) { d.m_Scales = {1.2f}; }, sized({1}, {5})), {T({2, 3})})
            .Rejects("the size 5, but 3 elements times"),
        Case(type, "a scale of nearly nothing",
             Made<InterpolateDescriptor>([](auto& d) { d.m_Scales = {1e-30f}; }, sized({1}, {1})), {T({2, 3})})
            .Rejects("the size 1, but"),
        Case(type, "scale 0", scaled({1}, {0}), {T({2, 3})}).Rejects("above 0"),
        Case(type, "huge", scaled({1}, {1e10f}), {T({2, 3})}).Rejects("32 bits"),
        Case(type, "from nothing", sized({1}, {4}), {T({2, 0})}).Rejects("no elements"),
        Case(type, "ratio of nothing", larger, {T({2, 0})}).Rejects("no ratio"),
        Case(type, "region",
             Made<InterpolateDescriptor>(
                 [](auto& d) {
                     d.m_RegionEnds = {1, 1};
                 },
                 sized({1}, {4})),
             {T({2, 3})})
            .Rejects("region's ends"),
        Case(type, "odd region", region, {T({2, 3}), Absent(), scales({0.25f})}).Rejects("starts, then as many ends"),
        Case(type, "region of integers", region, {T({2, 3}), Absent(), P({0, 1})}).Rejects("must be Float32"),
        Case(type, "antialias", Made<InterpolateDescriptor>([](auto& d) { d.m_Antialias = true; }, sized({1}, {4})),
             {T({2, 3})})
            .Rejects("antialiasing"),
    };
}
static const InferTable interpolate(MakeInterpolateCases);

} // namespace tenon::test::interpolate_test
