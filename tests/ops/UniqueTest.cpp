// SPDX-License-Identifier: Apache-2.0
// Unique: every type, both index types, sorted or not, slices along an axis, NaN and negative zero.
#include "harness/LayerRun.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon::test::unique_test
{

namespace
{

LayerMaker Make(DataType indexType = DataType::Signed32)
{
    return [indexType](INetwork& network)
    {
        UniqueDescriptor descriptor;
        descriptor.m_IndexType = indexType;
        return network.AddUniqueLayer(descriptor, "unique");
    };
}

void Check(const TestTensor& input, DataType indexType)
{
    SCOPED_TRACE(input.m_Info.ToString());
    std::vector<double> values;
    std::vector<double> indices;
    for (const double value : GetStored(input.m_Info, input.m_Bytes.data()))
    {
        auto found = std::find(values.begin(), values.end(), value);
        if (found == values.end())
        {
            found = values.insert(values.end(), value);
        }
        indices.push_back(static_cast<double>(found - values.begin()));
    }
    TensorInfo info = input.m_Info;
    info.SetShape(TensorShape({static_cast<unsigned int>(values.size())}));
    ExpectLayer(Make(indexType), {input},
                {Stored(info, values), Numbers({static_cast<unsigned int>(indices.size())}, indexType, indices)});
}

} // namespace

TEST(Unique, AnyType)
{
    for (const DataType type :
         {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64, DataType::Signed8,
          DataType::Unsigned8, DataType::Signed16, DataType::Signed32, DataType::Signed64, DataType::Unsigned16})
    {
        for (const DataType indexType : {DataType::Signed32, DataType::Signed64})
        {
            Check(Random(TensorInfo({50}, type), 3, 0, 9), indexType);
        }
    }
}

/// With all four outputs, of the slices along an axis, by comparing each with those before it.
void CheckSlices(const TestTensor& input, unsigned int axis, bool sorted, DataType indexType)
{
    SCOPED_TRACE(input.m_Info.ToString() + " along " + std::to_string(axis) + (sorted ? " sorted" : ""));
    const TensorShape& shape = input.m_Info.GetShape();
    const std::vector<double> in = GetStored(input.m_Info, input.m_Bytes.data());
    size_t inner = 1;
    for (unsigned int i = axis + 1; i < shape.GetNumDimensions(); ++i)
    {
        inner *= shape[i];
    }
    const size_t count = shape[axis];
    const size_t outer = count * inner == 0 ? 0 : in.size() / (count * inner);
    using Slice = std::vector<double>;
    std::vector<Slice> slices(count);
    for (size_t i = 0; i < in.size(); ++i)
    {
        slices[i / inner % count].push_back(in[i]);
    }
    std::vector<Slice> values;
    for (const Slice& slice : slices)
    {
        if (std::find(values.begin(), values.end(), slice) == values.end())
        {
            values.push_back(slice);
        }
    }
    if (sorted)
    {
        std::sort(values.begin(), values.end());
    }
    std::vector<double> numbers;
    std::vector<double> firsts(values.size(), -1);
    std::vector<double> counts(values.size());
    for (size_t i = 0; i < count; ++i)
    {
        const auto value = static_cast<size_t>(std::find(values.begin(), values.end(), slices[i]) - values.begin());
        numbers.push_back(static_cast<double>(value));
        firsts[value] = firsts[value] < 0 ? static_cast<double>(i) : firsts[value];
        counts[value] += 1;
    }
    std::vector<double> joined;
    for (size_t i = 0; i < outer * values.size() * inner; ++i)
    {
        const size_t value = i / inner % values.size();
        joined.push_back(values[value][i / (inner * values.size()) * inner + i % inner]);
    }
    TensorInfo info = input.m_Info;
    TensorShape valuesShape = shape;
    valuesShape.SetDimensionSize(axis, static_cast<unsigned int>(values.size()));
    info.SetShape(valuesShape);
    const TensorShape distinct({static_cast<unsigned int>(values.size())});
    const auto make = [&](INetwork& network)
    {
        UniqueDescriptor descriptor;
        descriptor.m_IndexType = indexType;
        descriptor.m_Sorted = sorted;
        descriptor.m_AxisEnabled = shape.GetNumDimensions() != 1;
        descriptor.m_Axis = static_cast<int32_t>(axis) - static_cast<int32_t>(shape.GetNumDimensions());
        descriptor.m_FirstsAndCounts = true;
        return network.AddUniqueLayer(descriptor, "unique");
    };
    ExpectLayer(make, {input},
                {Stored(info, joined), Numbers({static_cast<unsigned int>(count)}, indexType, numbers),
                 Numbers(distinct, indexType, firsts), Numbers(distinct, indexType, counts)});
}

TEST(Unique, SortedFirstsAndCounts)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64,
                                DataType::Signed8, DataType::Signed32, DataType::Signed64, DataType::Boolean})
    {
        for (const bool sorted : {false, true})
        {
            const double high = type == DataType::Boolean ? 1 : 9;
            CheckSlices(Random(TensorInfo({50}, type), 3, 0, high), 0, sorted, DataType::Signed64);
            CheckSlices(Random(TensorInfo({50}, type), 4, 0, high), 0, sorted, DataType::Signed32);
        }
    }
    CheckSlices(Numbers({0}, DataType::Float32, {}), 0, true, DataType::Signed64);
}

TEST(Unique, SlicesAlongAnAxis)
{
    for (const DataType type : {DataType::Float32, DataType::Signed64, DataType::Unsigned8})
    {
        for (const bool sorted : {false, true})
        {
            for (unsigned int axis = 0; axis < 3; ++axis)
            {
                // Few values, so that slices are equal.
                CheckSlices(Random(TensorInfo({12, 2, 3}, type), 3, 0, 1), axis, sorted, DataType::Signed64);
                CheckSlices(Random(TensorInfo({2, 12, 1}, type), 3, 0, 1), axis, sorted, DataType::Signed32);
                CheckSlices(Random(TensorInfo({1, 2, 12}, type), 3, 0, 1), axis, sorted, DataType::Signed64);
            }
            CheckSlices(Numbers({3, 0}, type, {}), 0, sorted, DataType::Signed64);
            CheckSlices(Numbers({0, 3}, type, {}), 0, sorted, DataType::Signed64);
        }
    }
}

TEST(Unique, FewElements)
{
    Check(Numbers({0}, DataType::Float32, {}), DataType::Signed32);
    Check(Numbers({1}, DataType::Float32, {5}), DataType::Signed32);
    Check(Constant(Numbers({4}, DataType::Signed32, {7, 7, 7, 7})), DataType::Signed32);
}

TEST(Unique, FloatsThatAreSpecial)
{
    const double nan = std::nan("");
    const std::vector<TestTensor> got =
        RunLayer(Make(), {Numbers({6}, DataType::Float32, {nan, 0.0, -0.0, nan, 1, 1})});
    EXPECT_EQ(got[0].m_Info.GetShape(), TensorShape({4}));
    EXPECT_EQ(GetStored(got[1].m_Info, got[1].m_Bytes.data()), (std::vector<double>{0, 1, 1, 2, 3, 3}));
    const auto sorted = [](INetwork& network)
    {
        UniqueDescriptor descriptor;
        descriptor.m_Sorted = true;
        return network.AddUniqueLayer(descriptor, "sorted");
    };
    const std::vector<TestTensor> last =
        RunLayer(sorted, {Numbers({6}, DataType::Float32, {nan, 0.0, -0.0, nan, 1, 1})});
    EXPECT_EQ(last[0].m_Info.GetShape(), TensorShape({4}));
    EXPECT_EQ(GetStored(last[1].m_Info, last[1].m_Bytes.data()), (std::vector<double>{2, 0, 0, 3, 1, 1}));
}

TEST(Unique, RefusesOtherAxes)
{
    const auto along = [](int32_t axis)
    {
        return [axis](INetwork& network)
        {
            UniqueDescriptor descriptor;
            descriptor.m_AxisEnabled = true;
            descriptor.m_Axis = axis;
            return network.AddUniqueLayer(descriptor, "unique");
        };
    };
    EXPECT_THROW(RunLayer(along(2), {Numbers({1, 1}, DataType::Float32, {5})}), LayerValidationException);
    EXPECT_THROW(RunLayer(Make(), {Numbers({1, 1}, DataType::Float32, {5})}), LayerValidationException);
}

TEST(Unique, RefusesOtherIndices)
{
    EXPECT_THROW(RunLayer(Make(DataType::Float32), {Numbers({1}, DataType::Float32, {5})}), Exception);
}

} // namespace tenon::test::unique_test
