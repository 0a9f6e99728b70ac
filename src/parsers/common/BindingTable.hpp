// SPDX-License-Identifier: Apache-2.0
// BindingTable: the inputs or the outputs of the network that a front end made last, by name.
#pragma once

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::parsers
{

/// "'a', 'b' and 3 more", or "none".
std::string Quote(const std::vector<std::string>& names);

/// Names are unique. Each has an info once Set() was called.
class BindingTable
{
public:
    /// Appends a name and returns it: `base`, followed by a number if the name exists.
    std::string AddName(const std::string& base);
    /// Makes `alias` a second name of the last name, unless it is a name or alias already.
    void AddAlias(const std::string& alias);
    void Set(const std::string& name, const BindingPointInfo& info) { m_Infos.emplace(name, info); }

    /// The names in the order of AddName().
    const std::vector<std::string>& Names() const { return m_Names; }
    /// The id of the name that is added next.
    LayerBindingId NextId() const { return static_cast<LayerBindingId>(m_Names.size()); }
    /// The binding of a name. Throws ParseException, which lists the known names. `kind`: "input".
    const BindingPointInfo& Find(const std::string& name, const char* kind) const;

    /// Throws InvalidArgumentException unless the table, which is of inputs, has all names of `shapes`.
    void CheckShapes(const std::map<std::string, TensorShape>& shapes) const;

private:
    std::vector<std::string> m_Names;
    std::unordered_map<std::string, BindingPointInfo> m_Infos;
    std::unordered_map<std::string, size_t> m_LastSuffix; ///< last number of names that occur more than once
    std::unordered_map<std::string, std::string> m_Aliases;
};

} // namespace tenon::parsers
