// SPDX-License-Identifier: Apache-2.0
// The reference of --compare-with: other backends, another model, or files with expected outputs.
#pragma once

#include <tenon/IRuntime.hpp>
#include <tenon/Limits.hpp>

#include <string>
#include <vector>

namespace tenon::tools
{

struct Reference
{
    /// Either of them, or both: another model may run on other backends.
    std::string m_Model;
    std::vector<std::string> m_Backends;
    /// Files or folders in place of a run; else empty.
    std::vector<std::string> m_Files;
};

/// Whether the entries have names of files of expected outputs, such as a.npy, or are standard input.
bool NamesOutputFiles(const std::vector<std::string>& entries);

/// The reference that the entries of --compare-with name: a model by its content, backends by those of the runtime, and
/// other files and folders. Throws UsageError, which names all forms, for an entry that is none of them, and for
/// entries that do not go together; InputError if a file cannot be read.
Reference ChooseReference(const std::vector<std::string>& entries, const IRuntime& runtime, const Limits& limits);

} // namespace tenon::tools
