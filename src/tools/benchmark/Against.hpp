// SPDX-License-Identifier: Apache-2.0
// The value of --against: another model, other backends or another build of the library.
#pragma once

#include <string>
#include <vector>

namespace tenon::tools
{

struct Against
{
    enum class Kind
    {
        Model,
        Backends,
        Library
    };

    Kind m_Kind = Kind::Model;
    std::vector<std::string> m_Backends; ///< in order of preference, if it is backends
};

/// "model", "backends" or "library"
const char* GetName(Against::Kind kind);

/// A file with ELF's first bytes is a library, a list of names of `backends` is backends, and any other file of a known
/// format is a model. Throws UsageError for anything else, with the three forms, and for a value that is a list of
/// backends and a file at once; InputError if the file cannot be read.
Against FindAgainst(const std::string& value, const std::vector<std::string>& backends);

} // namespace tenon::tools
