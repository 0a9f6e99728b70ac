// SPDX-License-Identifier: Apache-2.0
// PoolingNd: windows over one to four spatial dimensions, against the definitions.
#include "harness/LayerRun.hpp"
#include "ops/ElementwiseOracle.hpp"
#include "ops/InferCases.hpp"
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::test::pooling_nd_test
{

namespace
{

using Sizes = std::vector<unsigned int>;
using enum PoolingNdFunction;

/// A descriptor as shape inference resolves it.
PoolingNdDescriptor MakePool(PoolingNdFunction function, const Sizes& sizes, const Sizes& strides,
                             const Sizes& dilations, const Sizes& before, const Sizes& after)
{
    PoolingNdDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_PoolSizes = sizes;
    descriptor.m_Strides = strides;
    descriptor.m_Dilations = dilations;
    descriptor.m_PadsBefore = before;
    descriptor.m_PadsAfter = after;
    return descriptor;
}

/// What the oracle finds in a window.
struct Window
{
    std::vector<size_t> m_Elements; ///< of the plane
    std::vector<double> m_Column;   ///< the same, counted with the first spatial dimension fastest
    size_t m_Counted = 0;           ///< with those in declared paddings
};

Window FindWindow(const PoolingNdDescriptor& d, const Sizes& input, const Sizes& output, size_t element)
{
    const size_t spatial = d.m_PoolSizes.size();
    std::vector<int64_t> start(spatial);
    for (size_t i = spatial; i-- > 0;)
    {
        start[i] = static_cast<int64_t>(element % output[i + 2] * d.m_Strides[i]) - d.m_PadsBefore[i];
        element /= output[i + 2];
    }
    size_t taps = 1;
    for (unsigned int size : d.m_PoolSizes)
    {
        taps *= size;
    }
    Window window;
    for (size_t tap = 0; tap < taps; ++tap)
    {
        size_t rest = tap;
        bool isInside = true;
        bool isCounted = true;
        std::vector<int64_t> at(spatial);
        for (size_t i = spatial; i-- > 0;)
        {
            at[i] = start[i] + static_cast<int64_t>(rest % d.m_PoolSizes[i] * d.m_Dilations[i]);
            rest /= d.m_PoolSizes[i];
            isInside = isInside && at[i] >= 0 && at[i] < input[i + 2];
            isCounted = isCounted && at[i] < int64_t{input[i + 2]} + d.m_PadsAfter[i];
        }
        window.m_Counted += isCounted ? 1 : 0;
        if (isInside)
        {
            int64_t row = 0;
            int64_t column = 0;
            for (size_t i = 0; i < spatial; ++i)
            {
                row = row * input[i + 2] + at[i];
                column = column * input[spatial - 1 - i + 2] + at[spatial - 1 - i];
            }
            window.m_Elements.push_back(static_cast<size_t>(row));
            window.m_Column.push_back(static_cast<double>(column));
        }
    }
    return window;
}

OpCase MakeCase(const PoolingNdDescriptor& descriptor, const Sizes& input, const Sizes& spatial,
                DataType type = DataType::Float32)
{
    Sizes output = {input[0], input[1]};
    output.insert(output.end(), spatial.begin(), spatial.end());
    const TensorInfo out = MakeInfo(ShapeOf(output), type);
    OpCase op{"function " + std::to_string(static_cast<int>(descriptor.m_Function)) + " of " +
                  ShapeOf(input).ToString() + " to " + out.ToString(),
              LayerType::PoolingNd,
              MakeDescriptor(descriptor),
              {Random(MakeInfo(ShapeOf(input), type), 11)},
              out,
              [=](const std::vector<RealTensor>& in)
              {
                  size_t inputPlane = 1;
                  for (size_t i = 2; i < input.size(); ++i)
                  {
                      inputPlane *= input[i];
                  }
                  const size_t outputPlane =
                      out.GetNumElements() == 0 ? 1 : out.GetNumElements() / (size_t{input[0]} * input[1]);
                  std::vector<double> values;
                  std::vector<double> indices;
                  for (size_t element = 0; element < out.GetNumElements(); ++element)
                  {
                      const size_t plane = element / outputPlane * inputPlane;
                      const Window window = FindWindow(descriptor, input, output, element % outputPlane);
                      double best = -std::numeric_limits<double>::infinity();
                      double sum = 0;
                      double index = 0;
                      for (size_t k = 0; k < window.m_Elements.size(); ++k)
                      {
                          const double x = in[0].m_Values.at(plane + window.m_Elements[k]);
                          sum += descriptor.m_Function == Lp ? std::pow(std::abs(x), double{1} * descriptor.m_P) : x;
                          if (x > best)
                          {
                              best = x;
                              index = static_cast<double>(plane) + (descriptor.m_IndicesColumnMajor
                                                                        ? window.m_Column[k]
                                                                        : static_cast<double>(window.m_Elements[k]));
                          }
                      }
                      const size_t count = descriptor.m_PaddingMethod == PaddingMethod::IgnoreValue
                                               ? window.m_Counted
                                               : window.m_Elements.size();
                      values.push_back(descriptor.m_Function == Max       ? best
                                       : descriptor.m_Function == Average ? sum / static_cast<double>(count)
                                                                          : std::pow(sum, 1.0 / descriptor.m_P));
                      indices.push_back(index);
                  }
                  if (descriptor.m_IndicesEnabled)
                  {
                      values.insert(values.end(), indices.begin(), indices.end());
                  }
                  return values;
              }};
    if (descriptor.m_IndicesEnabled)
    {
        op.m_MoreOutputs = {TensorInfo(ShapeOf(output), DataType::Signed64)};
    }
    op.m_Relative = op.m_Absolute = 3 * GetRounding(type);
    op.m_Steps = 0;
    return op;
}

} // namespace

ISA_TEST(PoolingNd, FunctionsAndDimensions)
{
    for (const PoolingNdFunction function : {Max, Average, Lp})
    {
        for (const PaddingMethod method : {PaddingMethod::Exclude, PaddingMethod::IgnoreValue})
        {
            for (const uint32_t p : {1U, 2U, 3U})
            {
                const auto check = [&](PoolingNdDescriptor pool, const Sizes& input, const Sizes& output)
                {
                    pool.m_PaddingMethod = method;
                    pool.m_P = p;
                    CheckOp(MakeCase(pool, input, output));
                };
                check(MakePool(function, {3}, {2}, {1}, {1}, {1}), {2, 3, 9}, {5});
                check(MakePool(function, {3, 2}, {1, 1}, {2, 3}, {0, 0}, {0, 0}), {1, 2, 8, 7}, {4, 4});
                check(MakePool(function, {2, 3}, {2, 2}, {1, 2}, {1, 2}, {0, 1}), {2, 2, 6, 7}, {3, 3});
                check(MakePool(function, {2, 2, 2}, {2, 1, 2}, {1, 2, 1}, {0, 1, 0}, {1, 0, 0}), {1, 2, 4, 5, 6},
                      {2, 4, 3});
                check(MakePool(function, {1, 2, 1, 2}, {1, 1, 2, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}),
                      {1, 2, 2, 3, 4, 3}, {2, 2, 2, 2});
                // The last windows hang over the declared paddings.
                check(MakePool(function, {3, 3}, {2, 2}, {1, 1}, {0, 1}, {0, 1}), {1, 1, 6, 6}, {3, 4});
            }
        }
    }
}

ISA_TEST(PoolingNd, TypesAndIndices)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16,
                                DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64,
                                DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64,
                                DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS8, DataType::QSymmS16})
    {
        for (const bool isColumnMajor : {false, true})
        {
            PoolingNdDescriptor pool = MakePool(Max, {3, 2}, {1, 2}, {1, 2}, {1, 0}, {1, 0});
            CheckOp(MakeCase(pool, {2, 2, 5, 6}, {5, 2}, type));
            pool.m_IndicesEnabled = true;
            pool.m_IndicesColumnMajor = isColumnMajor;
            CheckOp(MakeCase(pool, {2, 2, 5, 6}, {5, 2}, type));
            PoolingNdDescriptor volume = MakePool(Max, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0});
            volume.m_IndicesEnabled = true;
            volume.m_IndicesColumnMajor = isColumnMajor;
            CheckOp(MakeCase(volume, {1, 2, 3, 4, 3}, {2, 3, 2}, type));
        }
    }
    for (const DataType type : {DataType::Float64, DataType::Float16, DataType::BFloat16})
    {
        CheckOp(MakeCase(MakePool(Average, {3}, {1}, {1}, {1}, {1}), {2, 2, 5}, {5}, type));
        CheckOp(MakeCase(MakePool(Lp, {3}, {1}, {1}, {1}, {1}), {2, 2, 5}, {5}, type));
    }
}

ISA_TEST(PoolingNd, WindowsAlongOneDimension)
{
    for (const PoolingNdFunction function : {Max, Average})
    {
        CheckOp(MakeCase(MakePool(function, {5, 1}, {1, 1}, {1, 1}, {2, 0}, {2, 0}), {2, 1, 6, 21}, {6, 21}));
        CheckOp(MakeCase(MakePool(function, {1, 4}, {1, 3}, {1, 2}, {0, 1}, {0, 1}), {2, 3, 4, 19}, {4, 5}));
        CheckOp(MakeCase(MakePool(function, {4}, {3}, {1}, {0}, {2}), {1, 5, 40}, {13}, DataType::Float16));
    }
}

ISA_TEST(PoolingNd, LargeTensorsInPieces)
{
    CheckOp(MakeCase(MakePool(Max, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}), {2, 8, 56, 60}, {28, 30}));
    CheckOp(
        MakeCase(MakePool(Max, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}), {2, 8, 56, 60}, {28, 30}, DataType::QAsymmS8));
    CheckOp(MakeCase(MakePool(Average, {2, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}), {2, 8, 5, 20, 22},
                     {4, 10, 11}));
    PoolingNdDescriptor pool = MakePool(Max, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2});
    pool.m_IndicesEnabled = true;
    CheckOp(MakeCase(pool, {2, 3, 30, 31}, {30, 31}));
}

ISA_TEST(PoolingNd, EmptyTensorsAndWindows)
{
    CheckOp(MakeCase(MakePool(Max, {2}, {1}, {1}, {0}, {0}), {0, 2, 5}, {4}));
    CheckOp(MakeCase(MakePool(Average, {2}, {1}, {1}, {0}, {0}), {1, 2, 0}, {0}));
    // Windows that lie in the padding.
    OpCase op = MakeCase(MakePool(Average, {1}, {1}, {1}, {1}, {1}), {1, 1, 2}, {4});
    op.m_Inputs = {Values(TensorInfo(TensorShape({1, 1, 2}), DataType::Float32), {3, 4})};
    op.m_Oracle = [](const auto&) { return std::vector<double>{0, 3, 4, 0}; };
    CheckOp(op);
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    op.m_Descriptor = MakeDescriptor(MakePool(Max, {1}, {1}, {1}, {1}, {1}));
    op.m_Oracle = [](const auto&) { return std::vector<double>{-Infinity, 3, 4, -Infinity}; };
    CheckOp(op);
}

ISA_TEST(PoolingNd, TheFirstOfEqualElementsAndNoNaN)
{
    PoolingNdDescriptor pool = MakePool(Max, {3}, {3}, {1}, {0}, {0});
    pool.m_IndicesEnabled = true;
    OpCase op = MakeCase(pool, {1, 1, 12}, {4});
    constexpr double Infinity = std::numeric_limits<double>::infinity();
    const double nan = std::nan("");
    op.m_Inputs = {Values(TensorInfo(TensorShape({1, 1, 12}), DataType::Float32),
                          {1, 5, 5, 2, nan, 7, nan, -3, nan, nan, nan, nan})};
    op.m_Oracle = [](const auto&) { return std::vector<double>{5, 7, -3, -Infinity, 1, 5, 7, 9}; };
    CheckOp(op);
}

ISA_TEST(PoolingNd, SumsOfManyElementsStayAccurate)
{
    for (const PoolingNdFunction function : {Average, Lp})
    {
        PoolingNdDescriptor pool = MakePool(function, {300, 400}, {1, 1}, {1, 1}, {0, 0}, {0, 0});
        pool.m_P = 1;
        OpCase op = MakeCase(pool, {1, 1, 300, 400}, {1, 1});
        op.m_Relative = 4 * std::ldexp(1.0, -24);
        op.m_Absolute = 0;
        op.m_Inputs = {Random(TensorInfo(TensorShape({1, 1, 300, 400}), DataType::Float32), 7, 0.05, 0.15)};
        CheckOp(op);
    }
}

ISA_TEST(PoolingNd, RefusesWhatDoesNotFit)
{
    OpCase channels = MakeCase(MakePool(Max, {2}, {1}, {1}, {0}, {0}), {1, 2, 5}, {4});
    channels.m_Output.SetShape(TensorShape({1, 3, 4}));
    CheckRejectsShapes(channels, "differ in spatial dimensions only");
    CheckUnsupported(MakeCase(MakePool(Average, {2}, {1}, {1}, {0}, {0}), {1, 2, 5}, {4}, DataType::Signed32),
                     SupportCode::UnsupportedType, "Average and Lp are of floats");
    PoolingNdDescriptor pool = MakePool(Max, {2}, {1}, {1}, {0}, {0});
    pool.m_IndicesEnabled = true;
    OpCase indices = MakeCase(pool, {1, 2, 5}, {4});
    indices.m_MoreOutputs[0].SetDataType(DataType::Signed32);
    CheckUnsupported(indices, SupportCode::UnsupportedType, "output 1");
}

static InferCases MakePoolingNdCases()
{
    using enum LayerType;
    const auto pool = [](auto&& set)
    {
        return Made<PoolingNdDescriptor>(
            [&](auto& d)
            {
                d.m_PoolSizes = {3, 2};
                set(d);
            });
    };
    const auto plain = pool([](auto&) {});
    const auto same = pool(
        [](auto& d)
        {
            d.m_PaddingScheme = PaddingScheme::Same;
            d.m_Strides = {1, 2};
        });
    const auto resolved = [](std::vector<uint32_t> strides, std::vector<uint32_t> dilations,
                             std::vector<uint32_t> before, std::vector<uint32_t> after) {
        return MakePool(PoolingNdFunction::Max, {3, 2}, strides, dilations, before, after);
    };
    const auto rounded = [&](std::vector<uint32_t> strides, std::vector<uint32_t> after)
    {
        return Made<PoolingNdDescriptor>([](auto& d) { d.m_OutputShapeRounding = OutputShapeRounding::Ceiling; },
                                         resolved(std::move(strides), {1, 1}, {0, 0}, std::move(after)));
    };
    const auto ceiling = [&](std::vector<uint32_t> strides, std::vector<uint32_t> after)
    {
        return pool(
            [&](auto& d)
            {
                d.m_Strides = strides;
                d.m_PadsAfter = after;
                d.m_OutputShapeRounding = OutputShapeRounding::Ceiling;
            });
    };
    return {
        Case(PoolingNd, "plain", plain, {T({1, 2, 5, 6})})
            .Gives({"[1,2,3,5]"})
            .Resolves(resolved({1, 1}, {1, 1}, {0, 0}, {0, 0})),
        Case(PoolingNd, "same", same, {T({1, 2, 5, 5})})
            .Gives({"[1,2,5,3]"})
            .Resolves(resolved({1, 2}, {1, 1}, {1, 0}, {1, 1})),
        Case(PoolingNd, "odd padding before", Made<PoolingNdDescriptor>([](auto& d) { d.m_OddPadBefore = true; }, same),
             {T({1, 2, 5, 5})})
            .Gives({"[1,2,5,3]"})
            .Resolves(Made<PoolingNdDescriptor>([](auto& d) { d.m_OddPadBefore = true; },
                                                resolved({1, 2}, {1, 1}, {1, 1}, {1, 0}))),
        Case(PoolingNd, "valid", pool([](auto& d) { d.m_PaddingScheme = PaddingScheme::Valid; }), {T({1, 2, 5, 6})})
            .Gives({"[1,2,3,5]"})
            .Resolves(resolved({1, 1}, {1, 1}, {0, 0}, {0, 0})),
        Case(PoolingNd, "dilated",
             pool(
                 [](auto& d) {
                     d.m_Dilations = {2, 3};
                 }),
             {T({1, 2, 5, 6})})
            .Gives({"[1,2,1,3]"})
            .Resolves(resolved({1, 1}, {2, 3}, {0, 0}, {0, 0})),
        Case(PoolingNd, "floor",
             pool(
                 [](auto& d) {
                     d.m_Strides = {3, 3};
                 }),
             {T({1, 2, 7, 6})})
            .Gives({"[1,2,2,2]"})
            .Resolves(resolved({3, 3}, {1, 1}, {0, 0}, {0, 0})),
        Case(PoolingNd, "ceiling", ceiling({3, 3}, {0, 0}), {T({1, 2, 7, 6})})
            .Gives({"[1,2,3,2]"})
            .Resolves(rounded({3, 3}, {0, 0})),
        // A window along the first dimension would start at 6, in the padding.
        Case(PoolingNd, "ceiling without what starts behind", ceiling({2, 3}, {2, 0}), {T({1, 2, 6, 6})})
            .Gives({"[1,2,3,2]"})
            .Resolves(rounded({2, 3}, {2, 0})),
        Case(PoolingNd, "indices", pool([](auto& d) { d.m_IndicesEnabled = true; }), {T({1, 2, 5, 6})})
            .Gives({"[1,2,3,5]", "[1,2,3,5]"})
            .Resolves(Made<PoolingNdDescriptor>([](auto& d) { d.m_IndicesEnabled = true; },
                                                resolved({1, 1}, {1, 1}, {0, 0}, {0, 0}))),
        Case(PoolingNd, "too large", plain, {T({1, 2, 2, 6})}).Rejects("covers 3 elements"),
        Case(PoolingNd, "flat", plain, {T({1, 2})}).Rejects("[N, C, spatial...]"),
        Case(PoolingNd, "sizes", plain, {T({1, 2, 5})}).Rejects("2 pool sizes"),
        Case(PoolingNd, "size 0", pool([](auto& d) { d.m_PoolSizes[0] = 0; }), {T({1, 2, 5, 6})})
            .Rejects("pool sizes is 0"),
        Case(PoolingNd, "stride 0",
             pool(
                 [](auto& d) {
                     d.m_Strides = {0, 1};
                 }),
             {T({1, 2, 5, 6})})
            .Rejects("strides is 0"),
        Case(PoolingNd, "dilations", pool([](auto& d) { d.m_Dilations = {1}; }), {T({1, 2, 5, 6})})
            .Rejects("1 dilations"),
        Case(PoolingNd, "paddings",
             pool(
                 [](auto& d) {
                     d.m_PadsAfter = {1, 1, 1};
                 }),
             {T({1, 2, 5, 6})})
            .Rejects("3 paddings after"),
        Case(PoolingNd, "p",
             pool(
                 [](auto& d)
                 {
                     d.m_Function = PoolingNdFunction::Lp;
                     d.m_P = 0;
                 }),
             {T({1, 2, 5, 6})})
            .Rejects("p of an Lp pool"),
        Case(PoolingNd, "indices of averages",
             pool(
                 [](auto& d)
                 {
                     d.m_Function = PoolingNdFunction::Average;
                     d.m_IndicesEnabled = true;
                 }),
             {T({1, 2, 5, 6})})
            .Rejects("but for Max"),
    };
}
static const InferTable poolingNd(MakePoolingNdCases);

} // namespace tenon::test::pooling_nd_test
