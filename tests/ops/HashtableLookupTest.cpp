// SPDX-License-Identifier: Apache-2.0
// HashtableLookup: slices by key, and keys that are not there.
#include "harness/LayerRun.hpp"

#include <gtest/gtest.h>

namespace tenon::test::hashtable_lookup_test
{

namespace
{

IConnectableLayer* Make(INetwork& network)
{
    return network.AddHashtableLookupLayer("table");
}

} // namespace

TEST(HashtableLookup, FindsKeys)
{
    for (const DataType keys : {DataType::Signed32, DataType::Signed64})
    {
        for (const DataType type : {DataType::Float32, DataType::Signed8, DataType::Signed64, DataType::Float16})
        {
            ExpectLayer(Make,
                        {Numbers({5}, keys, {7, -3, 8, 100, -4}), Constant(Numbers({3}, keys, {-3, 7, 100})),
                         Constant(Numbers({3, 2}, type, {1, 2, 3, 4, 5, 6}))},
                        {Numbers({5, 2}, type, {3, 4, 1, 2, 0, 0, 5, 6, 0, 0}),
                         Numbers({5}, DataType::Unsigned8, {1, 1, 0, 1, 0})});
        }
    }
}

TEST(HashtableLookup, NothingToFind)
{
    ExpectLayer(Make,
                {Numbers({2}, DataType::Signed32, {1, 2}), Numbers({0}, DataType::Signed32, {}),
                 Numbers({0, 3}, DataType::Float32, {})},
                {Numbers({2, 3}, DataType::Float32, {0, 0, 0, 0, 0, 0}), Numbers({2}, DataType::Unsigned8, {0, 0})});
    ExpectLayer(Make,
                {Numbers({0}, DataType::Signed32, {}), Numbers({1}, DataType::Signed32, {5}),
                 Numbers({1}, DataType::Float32, {6})},
                {Numbers({0}, DataType::Float32, {}), Numbers({0}, DataType::Unsigned8, {})});
}

TEST(HashtableLookup, RefusesWhatDoesNotFit)
{
    EXPECT_THROW(RunLayer(Make, {Numbers({1}, DataType::Signed32, {1}), Numbers({2}, DataType::Signed32, {1, 2}),
                                 Numbers({1}, DataType::Float32, {6})}),
                 LayerValidationException);
    EXPECT_THROW(RunLayer(Make, {Numbers({1}, DataType::Signed32, {1}), Numbers({1}, DataType::Signed64, {1}),
                                 Numbers({1}, DataType::Float32, {6})}),
                 Exception);
}

} // namespace tenon::test::hashtable_lookup_test
