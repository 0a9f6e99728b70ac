/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins that must be refused. BAD says what is wrong with this one; see CMakeLists.txt. */
#include <tenon/backend/plugin.h>

#define WRONG_MAJOR 1
#define TRUNCATED 2
#define NO_EXECUTE 3
#define CREATE_FAILS 4
#define CREATE_GIVES_NULL 5
#define NULL_TABLE 6
#define ID_OF_CPUREF 7

static tenon_status create(const tenon_host* host, size_t count, const tenon_attribute* options,
                           tenon_plugin_backend** backend, tenon_text* error)
{
    (void)host;
    (void)count;
    (void)options;
    (void)error;
    *backend = BAD == CREATE_GIVES_NULL ? 0 : (tenon_plugin_backend*)(void*)backend;
    return BAD == CREATE_FAILS ? TENON_ERROR : TENON_OK;
}
static void destroy(tenon_plugin_backend* backend)
{
    (void)backend;
}
static tenon_status create_model(tenon_plugin_backend* backend, size_t count, const tenon_attribute* options,
                                 tenon_plugin_model** model, tenon_text* error)
{
    (void)backend;
    (void)count;
    (void)options;
    (void)model;
    (void)error;
    return TENON_UNSUPPORTED;
}
static void destroy_model(tenon_plugin_model* model)
{
    (void)model;
}
static tenon_support_code is_supported(tenon_plugin_model* model, const tenon_layer* layer, tenon_text* reason)
{
    (void)model;
    (void)layer;
    (void)reason;
    return 99;
}
static tenon_status create_workload(tenon_plugin_model* model, const tenon_layer* layer,
                                    tenon_plugin_workload** workload, tenon_text* error)
{
    (void)model;
    (void)layer;
    (void)workload;
    (void)error;
    return TENON_ERROR;
}
static void destroy_workload(tenon_plugin_workload* workload)
{
    (void)workload;
}
static const char* name(tenon_plugin_workload* workload)
{
    (void)workload;
    return 0;
}
static tenon_status reshape(tenon_plugin_workload* workload, const tenon_layer* layer, tenon_plugin_shaped** shaped,
                            size_t* scratch, tenon_text* error)
{
    (void)workload;
    (void)layer;
    (void)shaped;
    (void)scratch;
    (void)error;
    return TENON_ERROR;
}
static void destroy_shaped(tenon_plugin_shaped* shaped)
{
    (void)shaped;
}
#if BAD != NO_EXECUTE
static tenon_status execute(tenon_plugin_shaped* shaped, const tenon_execute_args* args, tenon_text* error)
{
    (void)shaped;
    (void)args;
    (void)error;
    return TENON_ERROR;
}
#endif

static const tenon_plugin_table table = {
    .struct_size = BAD == TRUNCATED ? offsetof(tenon_plugin_table, model_create) : sizeof(tenon_plugin_table),
    .major = BAD == WRONG_MAJOR ? TENON_PLUGIN_MAJOR + 1 : TENON_PLUGIN_MAJOR,
    .minor = TENON_PLUGIN_MINOR,
    .id = BAD == ID_OF_CPUREF ? "CpuRef" : "Bad",
    .vendor_version = "test",
    .backend_create = create,
    .backend_destroy = destroy,
    .model_create = create_model,
    .model_destroy = destroy_model,
    .is_supported = is_supported,
    .workload_create = create_workload,
    .workload_destroy = destroy_workload,
    .workload_name = name,
    .workload_reshape = reshape,
    .shaped_destroy = destroy_shaped,
#if BAD != NO_EXECUTE
    .shaped_execute = execute,
#endif
};

const tenon_plugin_table* tenon_plugin_get_table(void)
{
    return BAD == NULL_TABLE ? 0 : &table;
}
