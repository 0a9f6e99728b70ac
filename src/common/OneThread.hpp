// SPDX-License-Identifier: Apache-2.0
// OneThread: loops that the caller runs itself. For work that is small, or that is one thread's share already.
#pragma once

#include <tenon/backend/IWorkload.hpp>

#include <cstddef>
#include <functional>

namespace tenon
{

class OneThread final : public IParallelFor
{
public:
    void Run(size_t count, size_t, const std::function<void(size_t, size_t)>& body) override
    {
        if (count != 0)
        {
            body(0, count);
        }
    }
    unsigned int GetNumThreads() const override { return 1; }
};

} // namespace tenon
