// SPDX-License-Identifier: Apache-2.0
// tenon_runtime.
#include "c_api/Handles.hpp"
#include "json/JsonWriter.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Version.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <utility>

using namespace tenon::c_api;

tenon_status tenon_runtime_create(const tenon_runtime_options* options, tenon_runtime** runtime, tenon_error** error)
{
    return GuardMaking(runtime, error,
                       [&]
                       {
                           const tenon_runtime_options given = Complete(options, "tenon_runtime_options");
                           tenon::IRuntime::CreationOptions creation;
                           creation.m_DynamicBackendsPath = given.plugins == nullptr ? "" : given.plugins;
                           for (const tenon_option& option : ListOf(given.options, given.num_options, "options"))
                           {
                               creation.m_BackendOptions.push_back(ToBackendOptions(option));
                           }
                           creation.m_Limits = ToLimits(given.limits);
                           auto made = std::make_unique<tenon_runtime>();
                           made->m_Runtime = tenon::IRuntime::Create(creation);
                           made->m_Limits = creation.m_Limits;
                           return made.release();
                       });
}

void tenon_runtime_destroy(tenon_runtime* runtime)
{
    delete runtime;
}

tenon_status tenon_runtime_report(const tenon_runtime* runtime, char** json, tenon_error** error)
{
    return GuardMaking(json, error,
                       [&]
                       {
                           const tenon::IRuntime& made = *Deref(runtime, "the runtime").m_Runtime;
                           tenon::JsonWriter writer;
                           writer.BeginObject();
                           writer.Member("version", std::string_view(TENON_VERSION));
                           writer.Key("backends");
                           writer.BeginArray();
                           for (const tenon::BackendId& id : made.GetDeviceSpec().GetSupportedBackends())
                           {
                               writer.String(id.Get());
                           }
                           writer.EndArray();
                           writer.Key("plugins");
                           writer.BeginArray();
                           for (const tenon::DynamicBackendReport& report : made.GetDynamicBackendReports())
                           {
                               writer.BeginObject();
                               writer.Member("path", report.m_Path);
                               writer.Member("is_loaded", report.m_IsLoaded);
                               writer.Member("backend", report.m_BackendId.Get());
                               writer.Member("reason", report.m_Reason);
                               writer.EndObject();
                           }
                           writer.EndArray();
                           writer.EndObject();
                           return MakeText(writer.Text() + "\n");
                       });
}
