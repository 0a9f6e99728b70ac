// SPDX-License-Identifier: Apache-2.0
// StablehloGather and StablehloScatter: slices and windows at index vectors.
#include "ops/MovementOracle.hpp"

#include <tenon/descriptors/Indexing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace tenon::test::stablehlo_gather_test
{

namespace
{

using Sizes = std::vector<unsigned int>;

bool Has(const Sizes& dims, size_t dim)
{
    return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

/// The entry of the index vector at `batch`.
double ReadEntry(const RealTensor& indices, const Coordinates& batch, size_t vectorDim, size_t entry)
{
    size_t offset = 0;
    size_t next = 0;
    for (unsigned int i = 0; i < indices.m_Shape.GetNumDimensions(); ++i)
    {
        offset = offset * indices.Dim(i) + (i == vectorDim ? entry : static_cast<size_t>(batch[next++]));
    }
    return indices.m_Values.at(offset);
}

OpCase MakeGather(const StablehloGatherDescriptor& d, const Sizes& input, TestTensor indices, const Sizes& output,
                  DataType type)
{
    const TensorInfo info = MakeInfo(MakeShape(output), type);
    OpCase op{"gather from " + MakeShape(input).ToString() + " to " + info.ToString(),
              LayerType::StablehloGather,
              MakeDescriptor(d),
              {Random(MakeInfo(MakeShape(input), type), 3), std::move(indices)},
              info,
              [=](const auto& in)
              {
                  return Move(info.GetShape(), in[0],
                              [&](const Coordinates& at)
                              {
                                  Coordinates batch;
                                  Coordinates offsets;
                                  for (size_t i = 0; i < at.size(); ++i)
                                  {
                                      (Has(d.m_OffsetDims, i) ? offsets : batch).push_back(at[i]);
                                  }
                                  Coordinates from(input.size(), 0);
                                  for (size_t i = 0; i < d.m_StartIndexMap.size(); ++i)
                                  {
                                      const size_t dim = d.m_StartIndexMap[i];
                                      from[dim] = static_cast<int64_t>(
                                          std::clamp(ReadEntry(in[1], batch, d.m_IndexVectorDim, i), 0.0,
                                                     static_cast<double>(input[dim] - d.m_SliceSizes[dim])));
                                  }
                                  size_t next = 0;
                                  for (size_t i = 0; i < input.size(); ++i)
                                  {
                                      from[i] += Has(d.m_CollapsedSliceDims, i) ? 0 : offsets[next++];
                                  }
                                  return from;
                              });
              }};
    op.m_Steps = op.m_Relative = op.m_Absolute = 0;
    return op;
}

StablehloGatherDescriptor Dimensions(Sizes offsetDims, Sizes collapsed, Sizes map, uint32_t vectorDim, Sizes sizes)
{
    StablehloGatherDescriptor d;
    d.m_OffsetDims = std::move(offsetDims);
    d.m_CollapsedSliceDims = std::move(collapsed);
    d.m_StartIndexMap = std::move(map);
    d.m_IndexVectorDim = vectorDim;
    d.m_SliceSizes = std::move(sizes);
    return d;
}

TestTensor StartIndices(const Sizes& sizes, DataType type = DataType::Signed64)
{
    return Random(TensorInfo(MakeShape(sizes), type), 9, -2, 6);
}

/// Whole numbers that all types hold.
OpCase MakeScatter(ScatterNdFunction function, const Sizes& input, TestTensor indices, const Sizes& updates,
                   const Sizes& windowDims, const Sizes& inserted, const Sizes& map, uint32_t vectorDim, DataType type)
{
    StablehloScatterDescriptor d;
    d.m_Function = function;
    d.m_UpdateWindowDims = windowDims;
    d.m_InsertedWindowDims = inserted;
    d.m_ScatterDimsToOperandDims = map;
    d.m_IndexVectorDim = vectorDim;
    const TensorInfo info(MakeShape(input), type);
    const auto step = [function](double a, double b)
    {
        switch (function)
        {
        case ScatterNdFunction::Update: return b;
        case ScatterNdFunction::Add: return a + b;
        case ScatterNdFunction::Sub: return a - b;
        case ScatterNdFunction::Max: return std::max(a, b);
        case ScatterNdFunction::Min: return std::min(a, b);
        default: return a * b;
        }
    };
    const TestTensor data = Values(info, std::vector<double>(info.GetNumElements(), 5.0));
    const TensorInfo updatesInfo(MakeShape(updates), type);
    std::vector<double> updateValues(updatesInfo.GetNumElements());
    for (size_t i = 0; i < updateValues.size(); ++i)
    {
        updateValues[i] = static_cast<double>(1 + i % 2);
    }
    return {"scatter into " + info.ToString(),
            LayerType::StablehloScatter,
            MakeDescriptor(d),
            {data, std::move(indices), Values(updatesInfo, updateValues)},
            info,
            [=](const auto& in)
            {
                std::vector<double> result = in[0].m_Values;
                for (size_t element = 0; element < in[2].m_Values.size(); ++element)
                {
                    Coordinates window;
                    Coordinates batch;
                    size_t rest = element;
                    Coordinates at(updates.size());
                    for (size_t i = updates.size(); i-- > 0; rest /= updates[i])
                    {
                        at[i] = static_cast<int64_t>(rest % updates[i]);
                    }
                    for (size_t i = 0; i < updates.size(); ++i)
                    {
                        (Has(windowDims, i) ? window : batch).push_back(at[i]);
                    }
                    size_t next = 0;
                    size_t offset = 0;
                    bool isInside = true;
                    for (size_t i = 0; i < input.size(); ++i)
                    {
                        int64_t index = Has(inserted, i) ? 0 : window[next++];
                        const auto entry = std::find(map.begin(), map.end(), i);
                        if (entry != map.end())
                        {
                            index += static_cast<int64_t>(
                                ReadEntry(in[1], batch, vectorDim, static_cast<size_t>(entry - map.begin())));
                        }
                        isInside = isInside && index >= 0 && index < static_cast<int64_t>(input[i]);
                        offset = offset * input[i] + static_cast<size_t>(isInside ? index : 0);
                    }
                    if (isInside)
                    {
                        result[offset] = step(result[offset], in[2].m_Values[element]);
                    }
                }
                return result;
            }};
}

} // namespace

ISA_TEST(StablehloGather, SlicesOfAnyType)
{
    for (const DataType type : GetMovedTypes())
    {
        for (const DataType index : {DataType::Signed32, DataType::Signed64})
        {
            CheckOp(MakeGather(Dimensions({2, 3}, {0}, {1, 0}, 2, {1, 2, 2}), {3, 4, 2}, StartIndices({2, 3, 2}, index),
                               {2, 3, 2, 2}, type));
        }
        CheckOp(MakeGather(Dimensions({0, 2}, {0}, {1, 0}, 2, {1, 2, 2}), {3, 4, 2}, StartIndices({2, 3, 2}),
                           {2, 2, 2, 3}, type));
        CheckOp(MakeGather(Dimensions({1}, {0}, {1, 0}, 0, {1, 5}), {3, 6}, StartIndices({2, 7}), {7, 5}, type));
        CheckOp(MakeGather(Dimensions({0, 3}, {1}, {0, 1, 2}, 1, {2, 1, 3}), {4, 3, 5}, StartIndices({2, 3, 2}),
                           {2, 2, 2, 3}, type));
        CheckOp(MakeGather(Dimensions({1}, {0}, {0}, 1, {1, 5}), {3, 5}, StartIndices({7}), {7, 5}, type));
        CheckOp(MakeGather(Dimensions({}, {0, 1}, {0, 1}, 1, {1, 1}), {3, 5}, StartIndices({7, 2}), {7}, type));
        CheckOp(MakeGather(Dimensions({0, 1}, {}, {1}, 0, {3, 2}), {3, 5}, StartIndices({1}), {3, 2}, type));
        CheckOp(MakeGather(Dimensions({0, 1}, {}, {}, 0, {3, 2}), {3, 5}, StartIndices({0}), {3, 2}, type));
    }
}

ISA_TEST(StablehloGather, StartsAreMovedInside)
{
    constexpr double Largest = 9e18;
    const TensorInfo info(TensorShape({4}), DataType::Signed64);
    OpCase op = MakeGather(Dimensions({1}, {}, {0}, 1, {2}), {5}, Values(info, {-Largest, -1, 4, Largest}), {4, 2},
                           DataType::Float32);
    op.m_Inputs[0] = Values(op.m_Inputs[0].m_Info, {1, 2, 3, 4, 5});
    op.m_Oracle = Expect(op.m_Output, {1, 2, 1, 2, 4, 5, 4, 5});
    CheckOp(op);
}

ISA_TEST(StablehloGather, ZeroSizedTensors)
{
    CheckOp(MakeGather(Dimensions({1}, {0}, {0}, 1, {1, 5}), {3, 5}, StartIndices({0}), {0, 5}, DataType::Float32));
    CheckOp(MakeGather(Dimensions({1}, {0}, {0}, 1, {1, 0}), {3, 0}, StartIndices({4}), {4, 0}, DataType::Float32));
}

ISA_TEST(StablehloGather, RefusesOtherIndexTypes)
{
    OpCase op = MakeGather(Dimensions({1}, {0}, {0}, 1, {1, 5}), {3, 5}, StartIndices({7}, DataType::Float32), {7, 5},
                           DataType::Float32);
    CheckUnsupported(op, SupportCode::UnsupportedType, "");
}

ISA_TEST(StablehloScatter, AllFunctionsAndTypes)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::BFloat16,
                                DataType::Signed8, DataType::Signed16, DataType::Signed32, DataType::Signed64,
                                DataType::Unsigned8, DataType::Unsigned16, DataType::Unsigned32, DataType::Unsigned64})
    {
        for (const ScatterNdFunction function :
             {ScatterNdFunction::Update, ScatterNdFunction::Add, ScatterNdFunction::Sub, ScatterNdFunction::Max,
              ScatterNdFunction::Min, ScatterNdFunction::Mul})
        {
            // Each window once, at [0, 1], [1, 3] and, partly outside, [2, 4].
            const TensorInfo info(TensorShape({3, 2}), DataType::Signed32);
            const TestTensor once = Values(info, {0, 1, 1, 3, 2, 4});
            CheckOp(MakeScatter(function, {3, 5}, once, {3, 2}, {1}, {0}, {0, 1}, 1, type));
            CheckOp(MakeScatter(function, {3, 5}, once, {2, 3}, {0}, {0}, {0, 1}, 1, type));
        }
    }
}

ISA_TEST(StablehloScatter, IndicesMeetInTheOrderOfUpdates)
{
    for (const DataType index : {DataType::Signed32, DataType::Signed64})
    {
        for (const ScatterNdFunction function : {ScatterNdFunction::Update, ScatterNdFunction::Add})
        {
            CheckOp(MakeScatter(function, {3, 4, 2}, StartIndices({2, 3, 2}, index), {2, 3, 2, 2}, {2, 3}, {0}, {1, 0},
                                2, DataType::Float32));
            CheckOp(MakeScatter(function, {3, 4, 2}, StartIndices({2, 2, 3}, index), {2, 2, 2, 3}, {0, 1}, {0}, {1, 0},
                                1, DataType::Float32));
            CheckOp(MakeScatter(function, {5}, StartIndices({7}, index), {7}, {}, {0}, {0}, 1, DataType::Float32));
            CheckOp(MakeScatter(function, {5}, StartIndices({0}, index), {3}, {0}, {}, {}, 0, DataType::Float32));
        }
    }
    constexpr double Largest = 9e18;
    const TensorInfo info(TensorShape({3}), DataType::Signed64);
    CheckOp(MakeScatter(ScatterNdFunction::Update, {5}, Values(info, {-Largest, Largest, -1}), {3, 2}, {1}, {}, {0}, 1,
                        DataType::Float32));
}

} // namespace tenon::test::stablehlo_gather_test
