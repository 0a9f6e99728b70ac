// SPDX-License-Identifier: Apache-2.0
// ReduceWindow: windows over every dimension.
#include "ops/ElementwiseOracle.hpp"

#include <tenon/descriptors/Pooling.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::test::reduce_window_test
{

namespace
{

using Sizes = std::vector<unsigned int>;
using enum ReduceWindowFunction;

constexpr ReduceWindowFunction Functions[] = {Add, Mul, Min, Max, All, Any};

double Apply(ReduceWindowFunction function, double a, double b)
{
    switch (function)
    {
    case Add: return a + b;
    case Mul: return a * b;
    case Min: return std::min(a, b);
    case Max: return std::max(a, b);
    case All: return a != 0 && b != 0 ? 1 : 0;
    case Any: return a != 0 || b != 0 ? 1 : 0;
    }
    return 0;
}

struct Windows
{
    Sizes m_Sizes;
    Sizes m_Strides;
    Sizes m_Dilations;
};

OpCase MakeCase(ReduceWindowFunction function, const Sizes& input, const Windows& windows, DataType type, double init)
{
    ReduceWindowDescriptor descriptor;
    descriptor.m_Function = function;
    descriptor.m_WindowSizes = windows.m_Sizes;
    descriptor.m_Strides = windows.m_Strides;
    descriptor.m_Dilations = windows.m_Dilations;
    Sizes output;
    size_t windowElements = 1;
    for (size_t i = 0; i < input.size(); ++i)
    {
        const unsigned int extent = (windows.m_Sizes[i] - 1) * windows.m_Dilations[i] + 1;
        output.push_back(extent > input[i] ? 0 : (input[i] - extent) / windows.m_Strides[i] + 1);
        windowElements *= windows.m_Sizes[i];
    }
    const TensorInfo in(ShapeOf(input), type);
    const TensorInfo out(ShapeOf(output), type);
    const double low = function == Mul ? 1 : 0;
    OpCase op{"function " + std::to_string(static_cast<int>(function)) + " of " + in.ToString() + " to " +
                  out.ToString(),
              LayerType::ReduceWindow,
              MakeDescriptor(descriptor),
              {Random(in, 4, low, 2), Values(TensorInfo(ShapeOf({}), type), {init})},
              out,
              [=](const std::vector<RealTensor>& tensors)
              {
                  std::vector<double> values(out.GetNumElements(), tensors[1].m_Values[0]);
                  for (size_t element = 0; element < values.size(); ++element)
                  {
                      for (size_t within = 0; within < windowElements; ++within)
                      {
                          size_t restOut = element;
                          size_t restWindow = within;
                          size_t offset = 0;
                          size_t stride = 1;
                          for (size_t i = input.size(); i-- > 0;)
                          {
                              const size_t at = restOut % output[i] * windows.m_Strides[i] +
                                                restWindow % windows.m_Sizes[i] * windows.m_Dilations[i];
                              offset += at * stride;
                              stride *= input[i];
                              restOut /= output[i];
                              restWindow /= windows.m_Sizes[i];
                          }
                          values[element] = Apply(function, values[element], tensors[0].m_Values.at(offset));
                      }
                  }
                  return values;
              }};
    op.m_Relative = op.m_Absolute = 10 * GetRounding(type);
    op.m_Steps = 0;
    return op;
}

} // namespace

ISA_TEST(ReduceWindow, FunctionsAndTypes)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16,
                                DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64,
                                DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64})
    {
        for (const ReduceWindowFunction function : Functions)
        {
            CheckOp(MakeCase(function, {4, 5}, {{2, 3}, {1, 1}, {1, 1}}, type, 1));
            CheckOp(MakeCase(function, {5, 5}, {{2, 2}, {2, 1}, {2, 3}}, type, 0));
        }
    }
}

ISA_TEST(ReduceWindow, AnyRank)
{
    CheckOp(MakeCase(Add, {}, {}, DataType::Float32, 3));
    CheckOp(MakeCase(Max, {9}, {{3}, {2}, {3}}, DataType::Float32, -1));
    CheckOp(MakeCase(Add, {1, 3, 20, 20}, {{1, 1, 3, 3}, {1, 1, 2, 2}, {1, 1, 1, 1}}, DataType::Signed32, 0));
    CheckOp(MakeCase(Add, {2, 1, 2, 3, 1, 2, 2, 3},
                     {{1, 1, 2, 2, 1, 1, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}}, DataType::Signed32,
                     0));
}

ISA_TEST(ReduceWindow, EmptyTensors)
{
    CheckOp(MakeCase(Add, {0, 3}, {{1, 1}, {1, 1}, {1, 1}}, DataType::Float32, 3));
    CheckOp(MakeCase(Add, {2, 3}, {{3, 1}, {1, 1}, {1, 1}}, DataType::Float32, 3)); // the window is too large
    // Steps that nobody makes may be as large as they like.
    CheckOp(MakeCase(Add, {2, 3}, {{1, 3}, {4294967295U, 4294967295U}, {4294967295U, 1}}, DataType::Float32, 3));
}

ISA_TEST(ReduceWindow, LargeTensorsInPieces)
{
    CheckOp(MakeCase(Max, {60, 70}, {{3, 3}, {1, 1}, {1, 1}}, DataType::Float32, -5));
    CheckOp(MakeCase(Add, {200, 300}, {{20, 40}, {20, 20}, {1, 1}}, DataType::Signed32, 0));
}

ISA_TEST(ReduceWindow, BooleansAndStoredValues)
{
    const TensorInfo in(TensorShape({4}), DataType::Boolean);
    const TensorInfo out(TensorShape({3}), DataType::Boolean);
    for (const ReduceWindowFunction function : Functions)
    {
        const bool isAnd = function == Mul || function == Min || function == All;
        OpCase op = MakeCase(function, {4}, {{2}, {1}, {1}}, DataType::Boolean, isAnd ? 1 : 0);
        op.m_Inputs[0] = Stored(in, {0, 1, 2, 0}); // anything but 0 is true
        op.m_Oracle = isAnd ? Expect(out, {0, 1, 0}) : Expect(out, {1, 1, 1});
        CheckOp(op);
    }
    const TensorInfo bytes(TensorShape({3}), DataType::QAsymmS8, 0.5f, 3);
    OpCase op = MakeCase(Add, {3}, {{3}, {1}, {1}}, DataType::Signed8, 0);
    op.m_Inputs = {Stored(bytes, {100, 20, 9}), Stored(TensorInfo(TensorShape({1}), DataType::QAsymmS8, 0.5f, 3), {1})};
    op.m_Output = TensorInfo(TensorShape({1}), DataType::QAsymmS8, 0.5f, 3);
    op.m_Oracle = Expect(op.m_Output, {-126}); // wraps
    CheckOp(op);
}

ISA_TEST(ReduceWindow, RefusesWindowsThatStickOut)
{
    OpCase op = MakeCase(Add, {5}, {{2}, {1}, {1}}, DataType::Float32, 0);
    op.m_Output.SetShape(TensorShape({5}));
    CheckRejectsShapes(op, "inside the input");
    op = MakeCase(Add, {5}, {{2}, {1}, {1}}, DataType::Float32, 0);
    op.m_Inputs[1] = Random(TensorInfo(TensorShape({2}), DataType::Float32), 1);
    CheckRejectsShapes(op, "one element");
}

} // namespace tenon::test::reduce_window_test
