// SPDX-License-Identifier: Apache-2.0
// SeriesOutputs: the files of -w where each file of a folder or pattern in -d is an inference of its own.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::tools
{

/// The file for the input `name`, without its ending: in an entry that is a folder an .npy file, and in one with a *
/// the file where the name stands for the *.
std::string NameOutputFile(const std::string& entry, const std::string& name);

class SeriesOutputs
{
public:
    SeriesOutputs() = default;

    /// One entry of -w for each output: a folder for .npy files with the names of the inputs, or a name with one *,
    /// which stands for the name of the input without its ending. `sets` are the files of each inference, the first of
    /// which gives the name. Folders are made where they are not there. Throws UsageError for another number of entries
    /// and for an entry of another kind, if two outputs would be one file, and if an output would replace an input;
    /// RunError if a folder cannot be made.
    SeriesOutputs(const std::vector<std::string>& entries, size_t numOutputs,
                  const std::vector<std::vector<std::string>>& sets);

    /// The file of each output of an inference; none without -w.
    std::vector<std::string> FilesOf(size_t index) const;

private:
    /// Throws UsageError.
    void CheckPaths(const std::vector<std::vector<std::string>>& sets) const;

    std::vector<std::string> m_Entries;
    std::vector<std::string> m_Names; ///< of each inference
};

} // namespace tenon::tools
