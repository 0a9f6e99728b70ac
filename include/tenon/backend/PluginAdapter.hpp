// SPDX-License-Identifier: Apache-2.0
// PluginAdapter: makes the table of plugin.h out of an IBackend, for plugins that are written in C++ with Tenon's
// classes and link libtenon. A plugin that links nothing of Tenon fills the table itself.
#pragma once

#include <tenon/BackendOptions.hpp>
#include <tenon/Export.hpp>
#include <tenon/backend/IBackend.hpp>
#include <tenon/backend/plugin.h>

#include <memory>
#include <vector>

namespace tenon
{

/// Makes a plugin's backend; `options` are those that the host's runtime was created with. May throw.
using PluginBackendMaker = std::shared_ptr<const backend::IBackend> (*)(const std::vector<BackendOptions>& options);

namespace detail
{
/// The table but for backend_create, which knows the maker.
TENON_API tenon_plugin_table MakePluginTable(const char* id, const char* version);
TENON_API tenon_status CreatePluginBackend(PluginBackendMaker maker, const char* id, size_t numOptions,
                                           const tenon_attribute* options, tenon_plugin_backend** backend,
                                           tenon_text* error);
} // namespace detail

/// The table of a plugin whose backend `Make` makes and which hosts know as Id():
///   static const char* Id() { return "VendorCpu"; }
///   extern "C" const tenon_plugin_table* tenon_plugin_get_table() { return tenon::GetPluginTable<&Make, &Id>("1.0"); }
/// The table passes on support, workloads with late outputs and their FusionHooks, capabilities and options. A backend
/// that has a device, compiles subgraphs or wants to be told of loads and runs needs a table that is written by hand:
/// backend_create refuses a backend with a device, and the other two abilities stay unused.
template <PluginBackendMaker Make, const char* (*Id)()>
const tenon_plugin_table* GetPluginTable(const char* version)
{
    static const tenon_plugin_table table = [version]
    {
        tenon_plugin_table made = detail::MakePluginTable(Id(), version);
        made.backend_create = [](const tenon_host*, size_t numOptions, const tenon_attribute* options,
                                 tenon_plugin_backend** backend, tenon_text* error)
        { return detail::CreatePluginBackend(Make, Id(), numOptions, options, backend, error); };
        return made;
    }();
    return &table;
}

} // namespace tenon
