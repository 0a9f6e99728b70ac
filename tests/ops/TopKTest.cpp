// SPDX-License-Identifier: Apache-2.0
// TopK: values and indices of every type, ties, NaN, and what is refused.
#include "harness/LayerRun.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tenon::test::top_k_test
{

namespace
{

IConnectableLayer* Make(INetwork& network)
{
    return network.AddTopKLayer("top");
}

TestTensor Count(double k, DataType type = DataType::Signed32)
{
    return Constant(Numbers(TensorShape(Dimensionality::Scalar), type, {k}));
}

/// By a stable sort of each row.
void Check(const TestTensor& input, unsigned int k)
{
    SCOPED_TRACE(input.m_Info.ToString());
    const std::vector<double> in = GetStored(input.m_Info, input.m_Bytes.data());
    TensorShape shape = input.m_Info.GetShape();
    const unsigned int length = shape[shape.GetNumDimensions() - 1];
    shape.SetDimensionSize(shape.GetNumDimensions() - 1, k);
    std::vector<double> values;
    std::vector<double> indices;
    for (size_t row = 0; row < in.size(); row += length)
    {
        std::vector<size_t> order(length);
        std::iota(order.begin(), order.end(), size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return in[row + a] > in[row + b]; });
        for (unsigned int i = 0; i < k; ++i)
        {
            values.push_back(in[row + order[i]]);
            indices.push_back(static_cast<double>(order[i]));
        }
    }
    TensorInfo info = input.m_Info;
    info.SetShape(shape);
    ExpectLayer(Make, {input, Count(k)}, {Stored(info, values), Numbers(shape, DataType::Signed32, indices)});
}

} // namespace

TEST(TopK, AnyType)
{
    for (const DataType type : {DataType::Float32, DataType::Float16, DataType::BFloat16, DataType::Float64,
                                DataType::QAsymmU8, DataType::QAsymmS8, DataType::QSymmS16, DataType::Signed8,
                                DataType::Signed16, DataType::Signed32, DataType::Signed64, DataType::Unsigned8})
    {
        const TensorShape shape({3, 2, 40});
        const TensorInfo info = IsQuantizedType(type) ? TensorInfo(shape, type, 1.0f) : TensorInfo(shape, type);
        // Few values, so that there are ties.
        for (const unsigned int k : {0U, 1U, 7U, 40U})
        {
            Check(Random(info, 5, type == DataType::Unsigned8 ? 0 : -9, 9), k);
        }
    }
}

TEST(TopK, AnyAxisSmallestAndIndexType)
{
    for (const DataType type : {DataType::Float32, DataType::Float64, DataType::Float16, DataType::Signed64,
                                DataType::Unsigned64, DataType::Unsigned32, DataType::Unsigned8})
    {
        for (const int32_t axis : {0, 1, -1})
        {
            for (const bool largest : {false, true})
            {
                const TensorInfo info({4, 5, 3}, type);
                const TestTensor input = Random(info, 5, 0, 4);
                const std::vector<double> in = GetStored(info, input.m_Bytes.data());
                const auto along = static_cast<unsigned int>(axis < 0 ? axis + 3 : axis);
                const size_t length = info.GetShape()[along];
                const size_t inner = along == 0 ? 15 : along == 1 ? 3 : 1;
                TensorShape shape = info.GetShape();
                shape.SetDimensionSize(along, 2);
                std::vector<double> values(shape.GetNumElements());
                std::vector<double> indices(values.size());
                for (size_t line = 0; line < in.size() / length; ++line)
                {
                    const size_t first = line / inner * length * inner + line % inner;
                    std::vector<size_t> order(length);
                    std::iota(order.begin(), order.end(), size_t{0});
                    std::stable_sort(order.begin(), order.end(),
                                     [&](size_t a, size_t b)
                                     {
                                         const double left = in[first + a * inner];
                                         const double right = in[first + b * inner];
                                         return largest ? left > right : left < right;
                                     });
                    for (size_t i = 0; i < 2; ++i)
                    {
                        const size_t to = (line / inner * 2 + i) * inner + line % inner;
                        values[to] = in[first + order[i] * inner];
                        indices[to] = static_cast<double>(order[i]);
                    }
                }
                const auto make = [&](INetwork& network)
                {
                    TopKDescriptor descriptor;
                    descriptor.m_Axis = axis;
                    descriptor.m_Largest = largest;
                    descriptor.m_IndexType = DataType::Signed64;
                    return network.AddTopKLayer(descriptor, "top");
                };
                ExpectLayer(make, {input, Count(2, DataType::Signed64)},
                            {Stored(TensorInfo(shape, type), values), Numbers(shape, DataType::Signed64, indices)});
            }
        }
    }
}

TEST(TopK, NoDescriptorIsTheDefault)
{
    const TestTensor input = Numbers({4}, DataType::Float32, {1, 4, 2, 3});
    ExpectLayer([](INetwork& network) { return network.AddLayer(LayerType::TopK, NullDescriptor(), "top"); },
                {input, Count(2)}, {Numbers({2}, DataType::Float32, {4, 3}), Numbers({2}, DataType::Signed32, {1, 3})});
}

TEST(TopK, NaNComesLast)
{
    const double nan = std::nan("");
    const double infinity = std::numeric_limits<double>::infinity();
    const std::vector<TestTensor> got =
        RunLayer(Make, {Numbers({6}, DataType::Float32, {nan, -infinity, 2, nan, infinity, 2}), Count(6)});
    EXPECT_EQ(GetStored(got[1].m_Info, got[1].m_Bytes.data()), (std::vector<double>{4, 2, 5, 1, 0, 3}));
    const auto smallest = [](INetwork& network)
    {
        TopKDescriptor descriptor;
        descriptor.m_Largest = false;
        return network.AddTopKLayer(descriptor, "smallest");
    };
    const std::vector<TestTensor> small =
        RunLayer(smallest, {Numbers({6}, DataType::Float32, {nan, -infinity, 2, nan, infinity, 2}), Count(6)});
    EXPECT_EQ(GetStored(small[1].m_Info, small[1].m_Bytes.data()), (std::vector<double>{1, 2, 5, 4, 0, 3}));
}

TEST(TopK, SmallIndices)
{
    const TestTensor input = Numbers({4}, DataType::Float32, {1, 4, 2, 3});
    const std::vector<TensorInfo> declared = {TensorInfo({2}, DataType::Float32), TensorInfo({2}, DataType::Signed16)};
    const std::vector<TestTensor> got = RunLayer(Make, {input, Count(2, DataType::Signed16)}, declared);
    EXPECT_EQ(GetStored(got[1].m_Info, got[1].m_Bytes.data()), (std::vector<double>{1, 3}));
    const TestTensor long_ = Random(TensorInfo({32769}, DataType::Float32), 1);
    EXPECT_THROW(RunLayer(Make, {long_, Count(2)}, declared), LayerValidationException);
}

TEST(TopK, RefusesWhatDoesNotFit)
{
    const TestTensor input = Numbers({4}, DataType::Float32, {1, 4, 2, 3});
    EXPECT_THROW(RunLayer(Make, {input, Count(5)}), LayerValidationException);
    const TestTensor scalar = Numbers(TensorShape(Dimensionality::Scalar), DataType::Float32, {1});
    EXPECT_THROW(RunLayer(Make, {scalar, Count(1)}), LayerValidationException);
}

} // namespace tenon::test::top_k_test
