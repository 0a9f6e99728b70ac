// SPDX-License-Identifier: Apache-2.0
// CpuRef as a plugin, "CpuRefPlugin": proves that the table carries every operator.
#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/backend/PluginAdapter.hpp>

namespace
{

std::shared_ptr<const tenon::IBackend> Make(const std::vector<tenon::BackendOptions>&)
{
    return tenon::ref::MakeCpuRefBackend();
}

const char* Id()
{
    return "CpuRefPlugin";
}

} // namespace

extern "C" __attribute__((visibility("default"))) const tenon_plugin_table* tenon_plugin_get_table()
{
    return tenon::GetPluginTable<&Make, &Id>("test");
}
