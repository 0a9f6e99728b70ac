// SPDX-License-Identifier: Apache-2.0
// WithModelFile: the error handling of front ends around the reading of a file.
#pragma once

#include <tenon/Exceptions.hpp>

#include <fmt/format.h>

#include <string>

namespace tenon::parsers
{

/// Returns read(path); the texts of its exceptions get the path in front. Throws InvalidArgumentException for a null
/// path.
template <typename Function>
auto WithModelFile(const char* path, Function read)
{
    if (path == nullptr)
    {
        throw InvalidArgumentException("CreateNetworkFromBinaryFile: the path is null");
    }
    try
    {
        return read(std::string(path));
    }
    catch (Exception& error) // an InvalidArgumentException is about an option, and stays one
    {
        error.AddContext(fmt::format("model '{}'", path));
        throw;
    }
}

} // namespace tenon::parsers
