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

/// "'a', 'b'", or "none".
std::string Quote(const std::vector<std::string>& names);

/// Names are unique. Each has an info once Set() was called.
class BindingTable
{
public:
    /// Appends a name and returns it: `base`, with a number behind it if there is such a name.
    std::string AddName(const std::string& base);
    /// The last name is found as `alias`, too, unless a name or an earlier alias is called so.
    void AddAlias(const std::string& alias);
    void Set(const std::string& name, const BindingPointInfo& info) { m_Infos.emplace(name, info); }

    /// In the order of AddName().
    const std::vector<std::string>& Names() const { return m_Names; }
    /// The id of the name that is added next.
    LayerBindingId NextId() const { return static_cast<LayerBindingId>(m_Names.size()); }
    /// Throws ParseException that lists the names there are. `kind`: "input".
    const BindingPointInfo& Find(const std::string& name, const char* kind) const;

    /// For a table of inputs: throws InvalidArgumentException unless it has all that shapes are given for.
    void CheckShapes(const std::map<std::string, TensorShape>& shapes) const;

private:
    std::vector<std::string> m_Names;
    std::unordered_map<std::string, BindingPointInfo> m_Infos;
    std::unordered_map<std::string, size_t> m_LastSuffix; ///< of names that occur more than once
    std::unordered_map<std::string, std::string> m_Aliases;
};

} // namespace tenon::parsers
