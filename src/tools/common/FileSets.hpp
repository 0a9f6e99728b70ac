// SPDX-License-Identifier: Apache-2.0
// Folders and patterns in place of files: each file is an inference, or each set of files for a network of several
// inputs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::tools
{

/// Whether the entry of a list stands for many files: a folder, or a pattern that is no file's name itself.
bool StandsForMany(const std::string& entry);

/// The files of a folder, else those of a pattern; see ListFolder and ExpandGlob.
std::vector<std::string> ExpandEntry(const std::string& entry);

/// The files of an entry.
struct FileList
{
    std::string m_Entry;
    std::vector<std::string> m_Files; ///< in natural order
};

/// Lists the files of entries that each stand for many; no lists if none does. `option` is for messages. Throws
/// UsageError for an entry without files, and if one stands for many and another one does not; InputError for a folder
/// that cannot be read.
std::vector<FileList> ListFiles(const std::vector<std::string>& entries, const char* option);

struct FileSets
{
    std::vector<std::vector<std::string>> m_Sets; ///< the files of each inference
    std::string m_Remark;                         ///< for people; may be empty
};

/// The files of each inference: one of each list, in their order, if there are as many lists as inputs; files of one
/// input, list after list; and of one list for several inputs a file that holds all of them. Throws UsageError for
/// another number of lists, and for lists of different lengths.
FileSets MakeFileSets(const std::vector<FileList>& lists, size_t numInputs, const char* option);

} // namespace tenon::tools
