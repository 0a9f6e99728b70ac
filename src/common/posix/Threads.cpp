// SPDX-License-Identifier: Apache-2.0
// See Threads.hpp.
#include "common/Threads.hpp"

#include <pthread.h>

namespace tenon
{

void NameThread(const char* name) noexcept
{
#if defined(__APPLE__)
    pthread_setname_np(name);
#else
    pthread_setname_np(pthread_self(), name);
#endif
}

void CallAroundForks(void (*before)(), void (*after)())
{
    pthread_atfork(before, after, after);
}

} // namespace tenon
