// SPDX-License-Identifier: Apache-2.0
// See LibraryProcess.hpp. Libraries here have no ELF, and a program takes those of its own folder before any other.
#include "tools/benchmark/LibraryProcess.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

namespace tenon::tools
{

class LibraryProcess::Child
{
};

LibraryProcess::LibraryProcess(const std::string& library, const std::vector<std::string>&)
{
    throw UsageError(
        fmt::format("--against: '{}' is a library, which only a Linux system lets this program use in place "
                    "of its own; give a model or backends",
                    OneLine(library)));
}

LibraryProcess::~LibraryProcess() = default;

std::string LibraryProcess::Ask(const std::string&)
{
    return {};
}

std::string GetLibraryFile()
{
    return {};
}

} // namespace tenon::tools
