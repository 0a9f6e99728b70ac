// SPDX-License-Identifier: Apache-2.0
// The files of --images.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tools::evaluate
{

class PictureList
{
public:
    /// The pictures and .npy files of a folder or pattern, by their names, in the order of the bytes of their paths. Of
    /// a folder without such files, or with `ofFolders`, those in its folders. Throws UsageError if there are none, and
    /// InputError for a folder that cannot be read.
    PictureList(const std::string& entry, bool ofFolders);

    const std::string& Entry() const { return m_Entry; }
    const std::vector<std::string>& Files() const { return m_Files; }

    /// The picture that a ground truth means: a path, a path from the folder, or a name that no other picture has.
    /// Throws InputError for a name that several have.
    std::optional<size_t> Find(const std::string& name) const;

    /// The name for people: the path from the folder of --images.
    std::string NameOf(size_t index) const;

    /// The path of a picture's counterpart in another folder, from that folder: NameOf(), of a pattern the name without
    /// folders. Throws InputError for a name that several pictures have.
    std::string CounterpartOf(size_t index) const;

    /// The name of the folder in which the picture lies.
    std::string FolderOf(size_t index) const;

    /// Whether numbers in the names count otherwise: "img10" is before "img2".
    bool HasOrderOfBytes() const { return m_HasOrderOfBytes; }

    size_t CountOthers() const { return m_NumOthers; }

private:
    void Add(const std::vector<std::string>& files);

    std::string m_Entry;
    bool m_IsFolder = false;
    std::vector<std::string> m_Files;
    std::map<std::string, size_t> m_ByPath;              ///< normal paths
    std::map<std::string, std::vector<size_t>> m_ByName; ///< names without folders
    size_t m_NumOthers = 0;                              ///< files with other names
    bool m_HasOrderOfBytes = false;
};

} // namespace tenon::tools::evaluate
