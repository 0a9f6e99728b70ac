// SPDX-License-Identifier: Apache-2.0
// NetworkHooks: see NetworkHooks.hpp.
#include "runtime/NetworkHooks.hpp"

#include "common/ErrorContext.hpp"

#include <exception>
#include <set>

namespace tenon
{

namespace
{

void CollectBackends(const Graph& graph, std::set<std::string>& backends)
{
    const BackendId* previous = nullptr; // most layers run on the backend of the previous layer
    for (const auto& layer : graph.Layers())
    {
        // Layers that the runtime binds show a neighbour's backend.
        const LayerType type = layer->GetType();
        if (type == LayerType::Input || type == LayerType::Output || type == LayerType::Constant)
        {
            continue;
        }
        if (previous == nullptr || *previous != layer->GetBackendId())
        {
            backends.insert(layer->GetBackendId().Get());
            previous = &layer->GetBackendId();
        }
        for (const auto& body : layer->Bodies())
        {
            CollectBackends(*body, backends);
        }
    }
}

} // namespace

NetworkHooks::NetworkHooks(const BackendContexts& contexts, const Graph& graph, NetworkId network) : m_Network(network)
{
    if (contexts.empty())
    {
        return;
    }
    std::set<std::string> backends;
    CollectBackends(graph, backends);
    for (const auto& [id, context] : contexts)
    {
        if (backends.count(id) == 0)
        {
            continue;
        }
        m_Contexts.push_back(context.get());
        try
        {
            context->BeforeLoadNetwork(network);
        }
        catch (...)
        {
            m_Contexts.pop_back();
            BeforeUnload();
            for (IBackendContext* begun : m_Contexts)
            {
                begun->AfterUnloadNetwork(m_Network);
            }
            RethrowWithContext("backend " + id + " before the load of a network");
        }
    }
}

NetworkHooks::~NetworkHooks()
{
    for (IBackendContext* context : m_Contexts)
    {
        context->AfterUnloadNetwork(m_Network);
    }
}

void NetworkHooks::AfterLoad() const
{
    for (IBackendContext* context : m_Contexts)
    {
        context->AfterLoadNetwork(m_Network);
    }
}

void NetworkHooks::BeforeUnload() const
{
    for (IBackendContext* context : m_Contexts)
    {
        context->BeforeUnloadNetwork(m_Network);
    }
}

void NetworkHooks::BeginRun(size_t& begun) const
{
    try
    {
        for (; begun < m_Contexts.size(); ++begun)
        {
            m_Contexts[begun]->BeforeEnqueueWorkload(m_Network);
        }
    }
    catch (...)
    {
        RethrowWithContext("a backend's hook before a run");
    }
}

void NetworkHooks::EndRun(size_t begun) const
{
    std::exception_ptr first;
    for (size_t i = 0; i < begun; ++i)
    {
        try
        {
            m_Contexts[i]->AfterEnqueueWorkload(m_Network);
        }
        catch (...)
        {
            first = first == nullptr ? std::current_exception() : first;
        }
    }
    if (first != nullptr)
    {
        try
        {
            std::rethrow_exception(first);
        }
        catch (...)
        {
            RethrowWithContext("a backend's hook after a run");
        }
    }
}

void NetworkHooks::EndFailedRun(size_t begun) const noexcept
{
    try
    {
        EndRun(begun);
    }
    catch (...) // the run's own exception is on its way
    {
        return;
    }
}

} // namespace tenon
