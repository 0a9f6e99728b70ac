// SPDX-License-Identifier: Apache-2.0
// PackedSlabs: blocks are apart, aligned, as they were filled, and outlive the slabs' owner.
#include "backends/common/PackedSlabs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace tenon::test::packed_slabs_test
{

TEST(PackedSlabs, BlocksKeepWhatTheyWereFilledWith)
{
    auto slabs = std::make_unique<backends::PackedSlabs>();
    std::vector<backends::PackedBlock> blocks;
    // Small ones before there is a slab, ones that fill more than a slab, one that is larger, and none at all.
    const std::vector<size_t> sizes = {1, 100, 300'000,   900'000,    5'000'001, 7'000'000, 63,
                                       0, 64,  9'000'000, 20'000'000, 2,         300'000,   1'000'000};
    for (size_t i = 0; i < sizes.size(); ++i)
    {
        blocks.push_back(slabs->MakeBlock(sizes[i], [&](std::byte* to)
                                          { std::fill_n(to, sizes[i], static_cast<std::byte>(i + 1)); }));
        if (i % 3 == 0)
        {
            slabs->Trim();
        }
    }
    slabs.reset();
    for (size_t i = 0; i < sizes.size(); ++i)
    {
        const backends::PackedBlock& block = blocks[i];
        ASSERT_EQ(block.Bytes(), sizes[i]);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(block.Data()) % ArenaAlignment, 0u) << i;
        EXPECT_TRUE(std::all_of(block.Data(), block.Data() + block.Bytes(),
                                [i](std::byte byte) { return byte == static_cast<std::byte>(i + 1); }))
            << i;
    }
}

TEST(PackedSlabs, LargeOnesFollowEachOther)
{
    backends::PackedSlabs slabs;
    const auto fill = [](std::byte*) {};
    constexpr size_t Large = 2'000'001;
    const backends::PackedBlock first = slabs.MakeBlock(Large, fill);
    const backends::PackedBlock second = slabs.MakeBlock(100, fill);
    EXPECT_EQ(second.Data() - first.Data(), static_cast<std::ptrdiff_t>((Large / ArenaAlignment + 1) * ArenaAlignment));
}

} // namespace tenon::test::packed_slabs_test
