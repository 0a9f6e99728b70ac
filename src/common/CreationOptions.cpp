// SPDX-License-Identifier: Apache-2.0
// CreationOptions: see CreationOptions.hpp.
#include "common/CreationOptions.hpp"

#include <atomic>

namespace tenon
{

namespace
{

// Libraries set them while static variables are made.
constinit std::atomic<CreationOptionsHook> TheHook{nullptr};
constinit std::atomic<BackendLookup> TheLookup{nullptr};

} // namespace

CreationOptionsHook SetCreationOptionsHook(CreationOptionsHook hook)
{
    return TheHook.exchange(hook);
}

BackendLookup SetBackendLookup(BackendLookup lookup)
{
    return TheLookup.exchange(lookup);
}

std::shared_ptr<const backend::IBackend> LookUpBackend(const BackendId& id)
{
    const BackendLookup lookup = TheLookup;
    return lookup != nullptr ? lookup(id) : nullptr;
}

void CompleteCreationOptions(const IRuntime::CreationOptions& options, const CreationOptionsUse& use)
{
    const CreationOptionsHook hook = TheHook;
    if (hook != nullptr)
    {
        hook(options, use);
    }
    else
    {
        use(options);
    }
}

} // namespace tenon
