// SPDX-License-Identifier: Apache-2.0
// JSON files of users, read by nlohmann's parser with bounds.
#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon::tools
{

/// Takes the values of a document as the parser meets them. Errors of the parser become an InputError, which has their
/// place.
class JsonHandler : public nlohmann::json_sax<nlohmann::json>
{
public:
    bool parse_error(size_t byte, const std::string& token, const nlohmann::detail::exception& error) final;

protected:
    /// At the start of an object or array. Throws InputError where these are nested deeper than valid files need.
    void Enter();
    void Leave() { --m_Depth; }
    size_t Depth() const { return m_Depth; }

private:
    size_t m_Depth = 0;
};

/// Reads a whole document. `member`: of an object, this member alone is kept. Throws InputError for other text, and for
/// more values than memory should be given to.
nlohmann::json ReadJson(std::string_view document, std::string_view member = {});

} // namespace tenon::tools
