// SPDX-License-Identifier: Apache-2.0
// The file of --state: results of finished pictures, so that an interrupted run can go on.
#pragma once

#include "tools/evaluate/Task.hpp"

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace tenon::tools::evaluate
{

class State
{
public:
    /// Without a path, nothing is kept. An existing file is read and continued. Its first line has `checksum`, which
    /// stands for the model and all options on which results depend; a file with another one is refused. A last line
    /// that was not finished is removed. Throws InputError for a file that cannot be read or is damaged, and RunError
    /// for one that cannot be written.
    State(std::string path, const std::string& checksum, const Task& task);

    /// The result of a picture, by a hash of all files on which it depends.
    std::optional<Numbers> Find(const std::string& key) const;

    /// Adds a line, which is in the file afterwards. Throws RunError.
    void Append(const std::string& key, const Numbers& result);

private:
    void Read(const std::string& checksum, const Task& task);
    void Write(const std::string& line);

    struct Closer
    {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string m_Path;
    std::map<std::string, Numbers> m_Results;
    std::unique_ptr<std::FILE, Closer> m_File; ///< null without a path
};

} // namespace tenon::tools::evaluate
