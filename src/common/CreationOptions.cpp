// SPDX-License-Identifier: Apache-2.0
// CreationOptions: see CreationOptions.hpp.
#include "common/CreationOptions.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/backend/BackendRegistry.hpp>

#include <algorithm>
#include <mutex>
#include <vector>

namespace tenon
{

namespace
{

struct Hooks
{
    std::mutex m_Mutex;
    std::vector<CreationOptionsHook> m_Hooks;
};

/// Made at the first use: libraries add hooks while static variables are made.
Hooks& GetHooks()
{
    static Hooks hooks;
    return hooks;
}

} // namespace

void AddCreationOptionsHook(CreationOptionsHook hook)
{
    if (hook == nullptr)
    {
        throw NullPointerException("a hook for creation options is null");
    }
    Hooks& hooks = GetHooks();
    const std::lock_guard lock(hooks.m_Mutex);
    if (std::find(hooks.m_Hooks.begin(), hooks.m_Hooks.end(), hook) == hooks.m_Hooks.end())
    {
        hooks.m_Hooks.push_back(hook);
    }
}

IRuntime::CreationOptions CompleteCreationOptions(IRuntime::CreationOptions options)
{
    std::vector<CreationOptionsHook> added;
    {
        Hooks& hooks = GetHooks();
        const std::lock_guard lock(hooks.m_Mutex);
        added = hooks.m_Hooks; // which may make runtimes themselves
    }
    for (const CreationOptionsHook hook : added)
    {
        hook(options);
    }
    return options;
}

} // namespace tenon
