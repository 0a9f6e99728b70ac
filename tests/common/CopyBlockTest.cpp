// SPDX-License-Identifier: Apache-2.0
// Copies of blocks that lie anywhere in a page.
#include "common/CopyBlock.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace tenon::test::copy_block_test
{

TEST(CopyBlock, AnyPlaceAndSize)
{
    constexpr size_t PageBytes = 4096;
    constexpr size_t Max = 5000;
    std::vector<unsigned char> from(Max);
    for (size_t i = 0; i < Max; ++i)
    {
        from[i] = static_cast<unsigned char>(i * 31 + 1);
    }
    const size_t place = reinterpret_cast<size_t>(from.data()) % PageBytes;
    for (const size_t behind : {0U, 1U, 16U, 48U, 63U, 64U, 2000U, 4095U})
    {
        for (const size_t bytes : {1U, 64U, 2047U, 2048U, 2049U, 4097U, 5000U})
        {
            std::vector<unsigned char> to(Max + 3 * PageBytes, 0xEE);
            const size_t own = reinterpret_cast<size_t>(to.data()) % PageBytes;
            const size_t begin = (place + behind + PageBytes - own) % PageBytes + 1 * PageBytes;
            CopyBlock(to.data() + begin, from.data(), bytes);
            for (size_t i = 0; i < to.size(); ++i)
            {
                const unsigned char want = i >= begin && i < begin + bytes ? from[i - begin] : 0xEE;
                ASSERT_EQ(to[i], want) << behind << " bytes behind, of " << bytes << " the one at " << i;
            }
        }
    }
    CopyBlock(nullptr, nullptr, 0);
}

} // namespace tenon::test::copy_block_test
