// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz files: zip archives of .npy files, which are stored or deflated. Inputs.cpp reads them for -d. A file is
// hostile input: claims of its directory are checked before memory is taken, and checksums are looked at.
#pragma once

#include "tools/common/File.hpp"
#include "tools/common/Model.hpp"
#include "zip/ZipArchive.hpp"

#include <tenon/Limits.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tools
{

/// The bytes that tell an .npz file.
constexpr size_t NpzStartBytes = 4;

/// Whether a file is an .npz file by its name or, but for raw files (.bin, .raw), by its start.
bool IsNpz(const std::string& path, std::string_view start);

/// All functions throw InputError, which does not name the file.
class NpzFile
{
public:
    /// Reads all of the file, but inflates nothing.
    NpzFile(const InputSource& source, const Limits& limits);
    NpzFile(const NpzFile&) = delete; // entries point into the bytes
    NpzFile& operator=(const NpzFile&) = delete;

    /// The names of the arrays, without ".npy", in their order in the file.
    std::vector<std::string> GetNames() const;

    /// The array of this name as an .npy file in memory, whose path is "file.npz/name.npy".
    InputSource Open(const std::string& name) const;

private:
    std::string m_Path;
    Limits m_Limits;
    std::string m_Text;                   ///< the bytes of a regular file
    InputSource m_Source;                 ///< or those of a stream, which it keeps
    std::vector<zip::ZipEntry> m_Entries; ///< of .npy files
};

/// The array of each input: those with the names of the inputs, or else arr_0, arr_1 and so on in the order of the
/// inputs. The same for outputs, if `kind` is "output". Throws InputError for one without an array, with the names that
/// there are.
std::vector<std::string> ChooseArrays(const std::vector<std::string>& arrays, const std::vector<Binding>& bindings,
                                      const char* kind = "input");

} // namespace tenon::tools
