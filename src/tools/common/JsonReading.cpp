// SPDX-License-Identifier: Apache-2.0
// See JsonReading.hpp. The parser's own callback for parts to keep takes time by the square of their number.
#include "tools/common/JsonReading.hpp"

#include "tools/common/Errors.hpp"
#include "tools/common/Strings.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tenon::tools
{
namespace
{

/// The depth of values in valid files is below 10.
constexpr size_t MaxDepth = 64;
/// A profile of 5,000 layers has a tenth of it.
constexpr size_t MaxValues = size_t{1} << 22;

class DocumentBuilder final : public JsonHandler
{
public:
    explicit DocumentBuilder(std::string_view member) : m_Member(member) {}

    bool null() override { return Take(nullptr); }
    bool boolean(bool value) override { return Take(value); }
    bool number_integer(number_integer_t value) override { return Take(value); }
    bool number_unsigned(number_unsigned_t value) override { return Take(value); }
    bool number_float(number_float_t value, const string_t&) override { return Take(value); }
    bool string(string_t& value) override { return Take(std::move(value)); }
    bool binary(binary_t&) override { return true; } // of other formats
    bool start_object(size_t) override { return Begin(nlohmann::json::object()); }
    bool start_array(size_t) override { return Begin(nlohmann::json::array()); }
    bool end_object() override { return End(); }
    bool end_array() override { return End(); }

    bool key(string_t& name) override
    {
        m_IsKept = Depth() == 1 ? m_Member.empty() || name == m_Member : m_IsKept;
        m_Key = std::move(name);
        return true;
    }

    nlohmann::json Finish() { return std::move(m_Root); }

private:
    nlohmann::json* Add(nlohmann::json value)
    {
        if (++m_NumValues > MaxValues)
        {
            throw InputError(fmt::format("it has more than {} values", MaxValues));
        }
        if (m_Open.empty())
        {
            m_Root = std::move(value);
            return &m_Root;
        }
        nlohmann::json& parent = *m_Open.back();
        if (parent.is_array())
        {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        return &(parent[m_Key] = std::move(value));
    }

    bool Take(nlohmann::json value)
    {
        if (m_IsKept)
        {
            Add(std::move(value));
        }
        return true;
    }

    bool Begin(nlohmann::json value)
    {
        Enter();
        m_Open.push_back(m_IsKept ? Add(std::move(value)) : nullptr);
        return true;
    }

    bool End()
    {
        Leave();
        m_Open.pop_back();
        return true;
    }

    std::string_view m_Member;
    bool m_IsKept = true; ///< the member under way
    std::string m_Key;
    size_t m_NumValues = 0;
    nlohmann::json m_Root;
    std::vector<nlohmann::json*> m_Open; ///< from the outermost object or array to that under way; null if not kept
};

} // namespace

bool JsonHandler::parse_error(size_t byte, const std::string&, const nlohmann::detail::exception& error)
{
    std::string_view message = error.what();
    const size_t name = message.find("] ");
    message.remove_prefix(name == std::string_view::npos ? 0 : name + 2);
    const std::string place = message.starts_with("parse error at ") ? "" : fmt::format(" at byte {}", byte);
    throw InputError(fmt::format("it is no valid JSON: {}{}", Printable(message, 200), place));
}

void JsonHandler::Enter()
{
    if (++m_Depth > MaxDepth)
    {
        throw InputError(fmt::format("its values are nested in more than {} others", MaxDepth));
    }
}

nlohmann::json ReadJson(std::string_view document, std::string_view member)
{
    DocumentBuilder builder(member);
    nlohmann::json::sax_parse(document, &builder);
    return builder.Finish();
}

} // namespace tenon::tools
