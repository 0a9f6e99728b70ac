// SPDX-License-Identifier: Apache-2.0
// NetworkHooks: calls the backends' contexts around the life of one loaded network and around its runs.
#pragma once

#include "graph/Graph.hpp"

#include <tenon/backend/IBackendContext.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tenon
{

/// A runtime's contexts by backend.
using BackendContexts = std::map<std::string, std::unique_ptr<IBackendContext>>;

class NetworkHooks
{
public:
    /// Calls BeforeLoadNetwork of the contexts whose backends have layers in the graph or in networks nested in it.
    NetworkHooks(const BackendContexts& contexts, const Graph& graph, NetworkId network);
    /// Calls AfterUnloadNetwork.
    ~NetworkHooks();
    NetworkHooks(const NetworkHooks&) = delete;
    NetworkHooks& operator=(const NetworkHooks&) = delete;

    void AfterLoad() const;
    void BeforeUnload() const;

    bool IsEmpty() const { return m_Contexts.empty(); }

    /// Calls BeforeEnqueueWorkload, then `run`, then AfterEnqueueWorkload, also if `run` throws; its exception takes
    /// precedence over an exception of the hooks.
    template <typename Run>
    void AroundRun(Run run) const
    {
        if (m_Contexts.empty())
        {
            run();
            return;
        }
        size_t begun = 0;
        try
        {
            BeginRun(begun);
            run();
        }
        catch (...)
        {
            EndFailedRun(begun);
            throw;
        }
        EndRun(begun);
    }

private:
    /// Counts the contexts whose hook has returned.
    void BeginRun(size_t& begun) const;
    void EndRun(size_t begun) const;
    void EndFailedRun(size_t begun) const noexcept;

    NetworkId m_Network;
    std::vector<IBackendContext*> m_Contexts;
};

} // namespace tenon
