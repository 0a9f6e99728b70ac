// SPDX-License-Identifier: Apache-2.0
// Unique: every type, both index types, NaN and negative zero.
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
}

TEST(Unique, RefusesOtherIndices)
{
    EXPECT_THROW(RunLayer(Make(DataType::Float32), {Numbers({1}, DataType::Float32, {5})}), Exception);
}

} // namespace tenon::test::unique_test
