// SPDX-License-Identifier: Apache-2.0
// Plugin: a loaded shared object and the backend that it made for one runtime. Every object that came out of it keeps
// it alive, so that nothing of it is unloaded while it is in use.
#pragma once

#include "backends/plugin/Status.hpp"

#include <tenon/BackendOptions.hpp>
#include <tenon/backend/plugin.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tenon::plugin
{

/// A struct of the other side as this side knows it: members beyond its struct_size are 0.
template <typename T>
T Known(const T& foreign)
{
    T known{};
    const size_t size = foreign.struct_size < sizeof(T) ? foreign.struct_size : sizeof(T);
    std::memcpy(static_cast<void*>(&known), static_cast<const void*>(&foreign), size);
    return known;
}

class Plugin
{
public:
    /// Checks the table and makes the backend. `file` names it in messages; `library` keeps the code loaded.
    /// Throws InvalidArgumentException for a table that cannot be used, and the exception that the plugin's
    /// backend_create reports.
    Plugin(const std::string& file, std::shared_ptr<void> library, const tenon_plugin_table& table,
           const std::vector<BackendOptions>& options);
    ~Plugin();
    Plugin(const Plugin&) = delete;
    Plugin& operator=(const Plugin&) = delete;

    const tenon_plugin_table& Table() const { return m_Table; }
    bool HasDevice() const { return m_Table.device != nullptr; }
    const tenon_device& Device() const { return m_Device; }
    bool HasHooks() const { return m_Table.hooks != nullptr; }
    const tenon_hooks& Hooks() const { return m_Hooks; }
    tenon_plugin_backend* Backend() const { return m_Backend; }
    const std::string& Id() const { return m_Id; }
    /// "plugin VendorNpu (/opt/vendor/npu_backend.so)"
    const std::string& Who() const { return m_Who; }

    /// Calls a function of the table whose last argument is the error text, and throws the exception that it reports.
    template <typename F, typename... Args>
    void Call(const char* name, F function, Args... args) const
    {
        ErrorText text;
        ThrowUnlessOk(function(args..., text.Get()), text, m_Who, name);
    }
    /// Throws RuntimeException: the call succeeded but gave null.
    template <typename T>
    T* NotNull(T* made, const char* call) const
    {
        if (made == nullptr)
        {
            ThrowNull(call);
        }
        return made;
    }

private:
    [[noreturn]] void ThrowNull(const char* call) const;
    void CheckTable() const;

    std::shared_ptr<void> m_Library;
    std::string m_Id;
    std::string m_Who;
    tenon_plugin_table m_Table{};
    tenon_device m_Device{};
    tenon_hooks m_Hooks{};
    tenon_host m_Host{};
    tenon_plugin_backend* m_Backend = nullptr;
};

} // namespace tenon::plugin
