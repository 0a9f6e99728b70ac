// SPDX-License-Identifier: Apache-2.0
// GridSample: all modes and paddings in one to three spatial dimensions, against the definitions.
#include "ops/ElementwiseOracle.hpp"
#include "ops/InferCases.hpp"

#include <tenon/descriptors/Vision.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::test::grid_sample_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

constexpr InterpolationMode Modes[] = {InterpolationMode::Nearest, InterpolationMode::Linear, InterpolationMode::Cubic};
constexpr GridPadding Paddings[] = {GridPadding::Zeros, GridPadding::Border, GridPadding::Reflection};

/// Mirrors x at both ends until it lies between them.
double Reflect(double x, double first, double last)
{
    while (last > first && (x < first || x > last))
    {
        x = x < first ? 2 * first - x : 2 * last - x;
    }
    return last > first ? x : first;
}

double Weigh(InterpolationMode mode, double distance)
{
    const double x = std::abs(distance);
    if (mode == InterpolationMode::Linear)
    {
        return std::max(0.0, 1 - x);
    }
    constexpr double A = -0.75;
    return x <= 1 ? (A + 2) * x * x * x - (A + 3) * x * x + 1 : x < 2 ? A * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}

/// The weight of each of `size` elements at a coordinate.
std::vector<double> FindWeights(const GridSampleDescriptor& d, unsigned int size, double coordinate)
{
    const double first = d.m_AlignCorners ? 0 : -0.5;
    const double last = d.m_AlignCorners ? size - 1.0 : size - 0.5;
    double x = d.m_InPixels ? coordinate : first + (coordinate + 1) / 2 * (last - first);
    x = d.m_Mode == InterpolationMode::Nearest ? std::nearbyint(x) : x;
    const auto move = [&](double at) { return std::clamp(std::trunc(Reflect(at, first, last)), 0.0, size - 1.0); };
    if ((x < first || x > last) && (d.m_Padding != GridPadding::Border || d.m_Mode != InterpolationMode::Cubic))
    {
        x = d.m_Padding == GridPadding::Border       ? std::clamp(x, 0.0, size - 1.0)
            : d.m_Padding == GridPadding::Reflection ? Reflect(x, first, last)
                                                     : x;
    }
    std::vector<double> weights(size);
    const auto add = [&](double at, double weight)
    {
        const bool isInside = at >= 0 && at <= size - 1.0;
        if (isInside || d.m_Padding != GridPadding::Zeros)
        {
            at = isInside ? at : d.m_Padding == GridPadding::Border ? std::clamp(at, 0.0, size - 1.0) : move(at);
            weights[static_cast<size_t>(at)] += weight;
        }
    };
    if (d.m_Mode == InterpolationMode::Nearest)
    {
        add(std::floor(x), 1);
        return weights;
    }
    for (double at = std::floor(x) - 1; at <= std::floor(x) + 2; ++at)
    {
        add(at, Weigh(d.m_Mode, at - x));
    }
    return weights;
}

OpCase MakeCase(const GridSampleDescriptor& descriptor, const Sizes& input, const Sizes& places,
                DataType type = DataType::Float32, DataType pointType = DataType::Float32)
{
    const auto spatial = static_cast<unsigned int>(places.size());
    Sizes grid = {input[0]};
    Sizes output = {input[0], input[1]};
    unsigned int points = 1;
    for (unsigned int size : places)
    {
        grid.push_back(size);
        output.push_back(size);
        points *= size;
    }
    grid.push_back(spatial);
    // Multiples of 1/64 are exact in all types of points.
    std::vector<double> coordinates(size_t{input[0]} * points * spatial);
    for (size_t i = 0; i < coordinates.size(); ++i)
    {
        coordinates[i] = (static_cast<double>(i * 37 % 229) - 114) / 64;
    }
    const TensorInfo out(ShapeOf(output), type);
    const bool isReal = type == DataType::Float32 || type == DataType::Float64 || type == DataType::Float16 ||
                        type == DataType::BFloat16;
    OpCase op{"mode " + std::to_string(static_cast<int>(descriptor.m_Mode)) + " padding " +
                  std::to_string(static_cast<int>(descriptor.m_Padding)) + " of " + ShapeOf(input).ToString() + " to " +
                  out.ToString(),
              LayerType::GridSample,
              MakeDescriptor(descriptor),
              {Random(TensorInfo(ShapeOf(input), type), 3), Values(TensorInfo(ShapeOf(grid), pointType), coordinates)},
              out,
              [=](const std::vector<RealTensor>& in)
              {
                  unsigned int plane = 1;
                  for (unsigned int i = 2; i < input.size(); ++i)
                  {
                      plane *= input[i];
                  }
                  std::vector<double> values;
                  for (unsigned int i = 0; i < input[0] * input[1]; ++i)
                  {
                      for (unsigned int point = 0; point < points; ++point)
                      {
                          std::vector<std::vector<double>> weights;
                          for (unsigned int axis = 0; axis < spatial; ++axis)
                          {
                              const size_t at = (size_t{i / input[1]} * points + point + 1) * spatial - 1 - axis;
                              weights.push_back(FindWeights(descriptor, input[axis + 2], in[1].m_Values.at(at)));
                          }
                          double sum = 0;
                          for (unsigned int element = 0; element < plane; ++element)
                          {
                              double weight = 1;
                              unsigned int rest = element;
                              for (unsigned int axis = spatial; axis-- > 0;)
                              {
                                  weight *= weights[axis][rest % input[axis + 2]];
                                  rest /= input[axis + 2];
                              }
                              sum += weight == 0 ? 0 : weight * in[0].m_Values.at(size_t{i} * plane + element);
                          }
                          values.push_back(isReal ? sum : std::nearbyint(sum));
                      }
                  }
                  return values;
              }};
    op.m_Relative = op.m_Absolute = std::max(1e-5, 2 * GetRounding(type));
    return op;
}

} // namespace

ISA_TEST(GridSample, ModesAndPaddings)
{
    for (const InterpolationMode mode : Modes)
    {
        for (const GridPadding padding : Paddings)
        {
            for (const bool align : {false, true})
            {
                GridSampleDescriptor descriptor;
                descriptor.m_Mode = mode;
                descriptor.m_Padding = padding;
                descriptor.m_AlignCorners = align;
                CheckOp(MakeCase(descriptor, {2, 3, 5, 4}, {6, 7}));
                CheckOp(MakeCase(descriptor, {1, 2, 1, 3}, {3, 5}));
                CheckOp(MakeCase(descriptor, {1, 2, 3, 4, 2}, {3, 2, 5}));
                CheckOp(MakeCase(descriptor, {2, 1, 6}, {40}));
                CheckOp(MakeCase(descriptor, {1, 1, 2, 2, 2, 3}, {2, 1, 2, 3}));
            }
        }
    }
}

ISA_TEST(GridSample, CoordinatesInPixels)
{
    for (const InterpolationMode mode : Modes)
    {
        for (const GridPadding padding : Paddings)
        {
            GridSampleDescriptor descriptor;
            descriptor.m_Mode = mode;
            descriptor.m_Padding = padding;
            descriptor.m_InPixels = true;
            CheckOp(MakeCase(descriptor, {2, 3, 3, 2}, {6, 7}));
            CheckOp(MakeCase(descriptor, {2, 1, 2}, {40}));
            descriptor.m_AlignCorners = true;
            CheckOp(MakeCase(descriptor, {1, 2, 3, 2}, {4, 5}));
        }
    }
}

ISA_TEST(GridSample, Types)
{
    for (const InterpolationMode mode : Modes)
    {
        GridSampleDescriptor descriptor;
        descriptor.m_Mode = mode;
        for (const DataType type : {DataType::Float64, DataType::Float16, DataType::BFloat16, DataType::Signed8,
                                    DataType::Signed16, DataType::Signed32, DataType::Signed64, DataType::Unsigned8,
                                    DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64})
        {
            CheckOp(MakeCase(descriptor, {1, 2, 4, 5}, {3, 4}, type));
        }
        for (const DataType type : {DataType::Float64, DataType::Float16, DataType::BFloat16})
        {
            CheckOp(MakeCase(descriptor, {1, 2, 4, 5}, {3, 4}, DataType::Float32, type));
        }
    }
}

ISA_TEST(GridSample, LargeGridsInPieces)
{
    CheckOp(MakeCase({}, {2, 5, 20, 24}, {40, 41}));
}

ISA_TEST(GridSample, EmptyTensors)
{
    CheckOp(MakeCase({}, {0, 2, 3, 3}, {4, 4}));
    CheckOp(MakeCase({}, {1, 2, 3, 3}, {0, 4}));
}

// Points far outside, at infinity, and none at all.
ISA_TEST(GridSample, PointsThatAreNoPlaces)
{
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> points = {1e30, -1e30, Infinity, -Infinity, std::nan("")};
    for (const InterpolationMode mode : Modes)
    {
        GridSampleDescriptor descriptor;
        descriptor.m_Mode = mode;
        OpCase op = MakeCase(descriptor, {1, 1, 3}, {5});
        op.m_Inputs[1] = Values(TensorInfo(TensorShape({1, 5, 1}), DataType::Float32), points);
        op.m_Oracle = [](const auto&) { return std::vector<double>(5, 0.0); };
        CheckOp(op);
        descriptor.m_Padding = GridPadding::Border;
        op.m_Descriptor = MakeDescriptor(descriptor);
        op.m_Oracle = [](const auto& in)
        {
            const std::vector<double>& x = in[0].m_Values;
            return std::vector<double>{x[2], x[0], x[2], x[0], x[0]};
        };
        CheckOp(op);
    }
}

ISA_TEST(GridSample, RefusesWhatDoesNotFit)
{
    OpCase channels = MakeCase({}, {1, 2, 3, 3}, {4, 4});
    channels.m_Output.SetShape(TensorShape({1, 3, 4, 4}));
    CheckRejectsShapes(channels, "each output element has one point");

    OpCase nothing = MakeCase({}, {1, 2, 3, 3}, {4, 4});
    nothing.m_Inputs[0] = Random(TensorInfo(TensorShape({1, 2, 0, 3}), DataType::Float32), 1);
    CheckRejectsShapes(nothing, "[1,2,0,3]");

    CheckUnsupported(MakeCase({}, {1, 2, 3, 3}, {4, 4}, DataType::Float32, DataType::Signed32),
                     SupportCode::UnsupportedType, "the points");
}

static InferCases MakeGridSampleCases()
{
    constexpr LayerType type = LayerType::GridSample;
    const GridSampleDescriptor none;
    return {
        Case(type, "images", none, {T({2, 3, 4, 5}), T({2, 6, 7, 2})}).Gives({"[2,3,6,7]"}),
        Case(type, "volumes", none, {T({2, 3, 4, 5, 6}), T({2, 7, 8, 9, 3})}).Gives({"[2,3,7,8,9]"}),
        Case(type, "flat", none, {T({2, 3}), T({2, 3})}).Rejects("[N, C, spatial...]"),
        Case(type, "coordinates", none, {T({2, 3, 4, 5}), T({2, 6, 7, 3})}).Rejects("2 as the last one"),
        Case(type, "batches", none, {T({2, 3, 4, 5}), T({1, 6, 7, 2})}).Rejects("2 as the first size"),
        Case(type, "no elements", none, {T({2, 3, 0, 5}), T({2, 6, 7, 2})}).Rejects("no elements"),
    };
}
static const InferTable gridSample(MakeGridSampleCases);

} // namespace tenon::test::grid_sample_test
