// SPDX-License-Identifier: Apache-2.0
// CreationOptions: see CreationOptions.hpp.
#include "common/CreationOptions.hpp"

#include <atomic>

namespace tenon
{

namespace
{

/// Libraries set it while static variables are made.
constinit std::atomic<CreationOptionsHook> TheHook{nullptr};

} // namespace

CreationOptionsHook SetCreationOptionsHook(CreationOptionsHook hook)
{
    return TheHook.exchange(hook);
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
