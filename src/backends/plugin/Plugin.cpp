// SPDX-License-Identifier: Apache-2.0
// Plugin: see Plugin.hpp.
#include "backends/plugin/Plugin.hpp"

#include "backends/plugin/CStructs.hpp"
#include "common/Log.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Version.hpp>

#include <algorithm>

namespace tenon::plugin
{

namespace
{

void LogForPlugin(void* self, tenon_severity severity, const char* text)
{
    const auto level = static_cast<LogSeverity>(std::clamp<tenon_severity>(severity, TENON_TRACE, TENON_FATAL));
    if (text != nullptr)
    {
        LogFormatted(level, "{}: {}", fmt::make_format_args(static_cast<const Plugin*>(self)->Id(), text));
    }
}

template <typename T>
T KnownOrNone(const T* foreign)
{
    return foreign == nullptr ? T{} : Known(*foreign);
}

} // namespace

Plugin::Plugin(const std::string& file, std::shared_ptr<void> library, const tenon_plugin_table& table,
               const std::vector<BackendOptions>& options)
    : m_Library(std::move(library)), m_Who("plugin " + file)
{
    if (table.major != TENON_PLUGIN_MAJOR)
    {
        throw InvalidArgumentException("it is made for version " + std::to_string(table.major) + "." +
                                       std::to_string(table.minor) + " of plugin.h, this Tenon takes " +
                                       std::to_string(TENON_PLUGIN_MAJOR) + ".x; build it anew");
    }
    m_Table = Known(table);
    m_Device = KnownOrNone(m_Table.device);
    m_Hooks = KnownOrNone(m_Table.hooks);
    CheckTable();
    m_Id = m_Table.id;
    m_Who = "plugin " + m_Id + " (" + file + ")";
    m_Host.struct_size = sizeof(m_Host);
    m_Host.major = TENON_PLUGIN_MAJOR;
    m_Host.minor = TENON_PLUGIN_MINOR;
    m_Host.version = TENON_VERSION;
    m_Host.self = this;
    m_Host.log = &LogForPlugin;
    const CAttributes attributes(OptionAttributes(options, m_Id));
    Call("backend_create", m_Table.backend_create, &m_Host, attributes.Size(), attributes.Get(), &m_Backend);
    NotNull(m_Backend, "backend_create");
}

Plugin::~Plugin()
{
    if (m_Backend != nullptr)
    {
        m_Table.backend_destroy(m_Backend);
    }
}

void Plugin::ThrowNull(const char* call) const
{
    throw RuntimeException(m_Who + ": " + call + " reported success but gave null");
}

void Plugin::CheckTable() const
{
    const auto require = [](bool there, const char* name)
    {
        if (!there)
        {
            throw InvalidArgumentException(std::string("its table has no ") + name + ", which is required");
        }
    };
    require(m_Table.id != nullptr && *m_Table.id != '\0', "id");
    require(m_Table.backend_create != nullptr, "backend_create");
    require(m_Table.backend_destroy != nullptr, "backend_destroy");
    require(m_Table.model_create != nullptr, "model_create");
    require(m_Table.model_destroy != nullptr, "model_destroy");
    require(m_Table.is_supported != nullptr, "is_supported");
    require(m_Table.workload_create != nullptr, "workload_create");
    require(m_Table.workload_destroy != nullptr, "workload_destroy");
    require(m_Table.workload_name != nullptr, "workload_name");
    require(m_Table.workload_reshape != nullptr, "workload_reshape");
    require(m_Table.shaped_destroy != nullptr, "shaped_destroy");
    require(m_Table.shaped_execute != nullptr, "shaped_execute");
    require((m_Table.blob_save == nullptr && m_Table.blob_load == nullptr) || m_Table.blob_destroy != nullptr,
            "blob_destroy beside blob_save and blob_load");
    if (!HasDevice())
    {
        return;
    }
    require(m_Device.memory_id != nullptr && *m_Device.memory_id != '\0', "device.memory_id");
    constexpr size_t maxAlignment = size_t{1} << 20U;
    require(m_Device.alignment != 0 && (m_Device.alignment & (m_Device.alignment - 1)) == 0 &&
                m_Device.alignment <= maxAlignment,
            "device.alignment that is a power of two up to 1 MiB");
    require(m_Device.memory_allocate != nullptr, "device.memory_allocate");
    require(m_Device.memory_free != nullptr, "device.memory_free");
    require(m_Device.import_flags == 0 || m_Device.memory_import != nullptr,
            "device.memory_import beside its import_flags");
    require(m_Device.queue_create != nullptr, "device.queue_create");
    require(m_Device.queue_destroy != nullptr, "device.queue_destroy");
    require(m_Device.queue_write != nullptr, "device.queue_write");
    require(m_Device.queue_read != nullptr, "device.queue_read");
    require(m_Device.queue_copy != nullptr, "device.queue_copy");
    require((m_Device.queue_map == nullptr) == (m_Device.queue_unmap == nullptr),
            "device.queue_map and device.queue_unmap together (it has one of them)");
    require(m_Device.queue_signal != nullptr, "device.queue_signal");
    require(m_Device.queue_wait != nullptr, "device.queue_wait");
}

} // namespace tenon::plugin
