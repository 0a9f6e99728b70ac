// SPDX-License-Identifier: Apache-2.0
// Files of a command line that cannot be used together.
#include "tools/common/PathChecks.hpp"

#include "tools/common/Errors.hpp"
#include "tools/harness/Expect.hpp"
#include "tools/harness/TempFolder.hpp"

#include <gtest/gtest.h>

namespace tenon::tools
{
namespace
{

TEST(FilePaths, AreRefusedBeforeWork)
{
    const test::TempFolder folder;
    const std::string model = folder.Write("model", "m");
    const std::string report = folder.Path("report");
    EXPECT_NO_THROW(CheckFilePaths({"", model, model}, {report, "-"}));
    EXPECT_THROW_WITH(CheckFilePaths({"-", "/dev/stdin"}, {}), UsageError, "'/dev/stdin' is given twice");
    EXPECT_THROW_WITH(CheckFilePaths({}, {"-", "-"}), UsageError, "standard output is given for two files");
    EXPECT_THROW_WITH(CheckFilePaths({}, {report, report}), UsageError, "is given twice as a file to write");
    EXPECT_THROW_WITH(CheckFilePaths({model}, {model}), UsageError, "both as a file to read and as one to write");
    EXPECT_THROW_WITH(CheckFilePaths({}, {folder.Path("none/x")}), UsageError, "there is no folder");
    EXPECT_THROW_WITH(CheckFilePaths({}, {folder.Path("")}), UsageError, "it is a folder");
}

} // namespace
} // namespace tenon::tools
