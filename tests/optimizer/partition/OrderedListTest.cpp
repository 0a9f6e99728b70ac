// SPDX-License-Identifier: Apache-2.0
// OrderedList against a plain vector, with moves that leave no room between labels.
#include "optimizer/partition/OrderedList.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tenon::test::ordered_list_test
{

namespace
{

/// Whether labels ascend in the order that the vector has.
bool HasOrder(const OrderedList& list, const std::vector<uint32_t>& order)
{
    return std::adjacent_find(order.begin(), order.end(),
                              [&](uint32_t a, uint32_t b) { return list.Label(a) >= list.Label(b); }) == order.end();
}

} // namespace

TEST(OrderedList, KeepsTheOrderUnderRandomMoves)
{
    constexpr uint32_t size = 50;
    std::mt19937 random(1);
    OrderedList list;
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < size; ++i)
    {
        list.Append(i);
        order.push_back(i);
    }
    for (int step = 0; step < 20000; ++step)
    {
        const size_t place = random() % order.size();
        const uint32_t at = order[place];
        std::vector<uint32_t> items;
        for (const uint32_t item : order)
        {
            if (item != at && random() % 10 == 0)
            {
                items.push_back(item);
            }
        }
        std::erase_if(order, [&](uint32_t item) { return std::find(items.begin(), items.end(), item) != items.end(); });
        const bool isAfter = random() % 2 == 0;
        order.insert(std::find(order.begin(), order.end(), at) + (isAfter ? 1 : 0), items.begin(), items.end());
        isAfter ? list.MoveAfter(items, at) : list.MoveBefore(items, at);
        ASSERT_TRUE(HasOrder(list, order)) << step;
    }
}

TEST(OrderedList, MakesRoomWhereThereIsNone)
{
    constexpr uint32_t size = 1000;
    OrderedList list;
    for (uint32_t i = 0; i < size; ++i)
    {
        list.Append(i);
    }
    const uint64_t before = list.NumLabels();
    // Each goes right before the one that went before it, all of them after 0: that halves the room every time.
    for (uint32_t i = 2; i < size; ++i)
    {
        list.MoveBefore({&i, 1}, i - 1);
        ASSERT_LT(list.Label(i), list.Label(i - 1));
        ASSERT_GT(list.Label(i), list.Label(0));
    }
    EXPECT_GT(list.NumLabels() - before, size * 2) << "labels were not given out anew, so this tests nothing";
    list.Remove(500);
    list.Append(500);
    EXPECT_GT(list.Label(500), list.Label(1));
}

} // namespace tenon::test::ordered_list_test
