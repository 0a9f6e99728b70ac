// SPDX-License-Identifier: Apache-2.0
// The command line of programs that write one table: PROGRAM [FILE [TEXT]].
#pragma once

#include <fstream>
#include <functional>
#include <iostream>
#include <string>

namespace tenon::bench
{

/// Calls write(out, text) for the file that the command line names (-, or none: standard output) and the text that rows
/// of the table contain. Returns the exit status.
inline int WriteTableFile(int argc, char** argv, const std::function<void(std::ostream&, const std::string&)>& write)
{
    const std::string path = argc > 1 ? argv[1] : "-";
    const std::string text = argc > 2 ? argv[2] : "";
    if (path.size() > 1 && path[0] == '-')
    {
        std::cerr << "usage: " << argv[0]
                  << " [FILE [TEXT]]: the table, or its rows that have the text, to a file; -: shown\n";
        return 2;
    }
    if (path == "-")
    {
        write(std::cout, text);
        return 0;
    }
    std::ofstream file(path);
    write(file, text);
    return file ? 0 : 1;
}

} // namespace tenon::bench
