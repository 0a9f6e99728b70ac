// SPDX-License-Identifier: Apache-2.0
// LibraryProcess: a further process of this program with another build of the library, which answers lines by lines.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace tenon::tools
{

class LibraryProcess
{
public:
    /// Starts this program with the file `library` in place of its libtenon.so. `words` are its arguments; they let it
    /// answer lines on its standard input with lines on its standard output, the line "library" with GetLibraryFile().
    /// Throws UsageError where it does not start with that library, with the last line of its standard error.
    LibraryProcess(const std::string& library, const std::vector<std::string>& words);
    /// Ends the process, whatever it does.
    ~LibraryProcess();
    LibraryProcess(const LibraryProcess&) = delete;
    LibraryProcess& operator=(const LibraryProcess&) = delete;

    /// The line that the process answers. Throws RunError if it has ended, with the last line of its standard error.
    std::string Ask(const std::string& line);

private:
    class Child;

    std::string m_Library;
    std::unique_ptr<Child> m_Child;
};

/// The file of the library that this process uses; empty if that is not known.
std::string GetLibraryFile();

} // namespace tenon::tools
