// SPDX-License-Identifier: Apache-2.0
// Data in the places of a page.
#include "tools/common/PageData.hpp"

#include <gtest/gtest.h>

namespace tenon::tools
{
namespace
{

TEST(FillPage, PutsDataInItsPlaces)
{
    EXPECT_EQ(FillPage("<p>{{a}}</p>{{b}}.", {{"{{a}}", "[1]"}, {"{{b}}", ""}}), "<p>[1]</p>.");
    EXPECT_EQ(FillPage("{{a}} {{b}}", {{"{{a}}", "[\"</script>{{b}}\"]"}, {"{{b}}", "{}"}}),
              "[\"\\u003c/script>{{b}}\"] {}");
}

} // namespace
} // namespace tenon::tools
