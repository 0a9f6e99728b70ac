// SPDX-License-Identifier: Apache-2.0
// FakeBackend: a backend for tests of assignment, partitioning and loading. It takes the layer types it is told to,
// runs them with CpuRef's kernels, and counts the workloads that its factory made.
#pragma once

#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/backend/IBackend.hpp>

#include <atomic>
#include <memory>
#include <set>
#include <string>

namespace tenon::test
{

class FakeBackend final : public IBackend, public std::enable_shared_from_this<FakeBackend>
{
public:
    FakeBackend(std::string id, std::set<LayerType> takes, std::string domain = "Host")
        : m_Id(id), m_Takes(std::move(takes)), m_Domain(std::move(domain)), m_Reference(ref::MakeCpuRefBackend()),
          m_Capabilities(id)
    {
    }

    const BackendId& GetId() const override { return m_Id; }
    const char* GetMemoryDomain() const override { return m_Domain.c_str(); }

    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions&) const override
    {
        return std::make_shared<Support>(shared_from_this());
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        return std::make_unique<Factory>(shared_from_this(), m_Reference->CreateWorkloadFactory(options));
    }

    BackendCapabilities GetCapabilities() const override { return m_Capabilities; }
    void SetCapabilities(const BackendCapabilities& capabilities) { m_Capabilities = capabilities; }

    int NumWorkloads() const { return m_NumWorkloads; }

private:
    class Support final : public ILayerSupport
    {
    public:
        explicit Support(std::shared_ptr<const FakeBackend> backend) : m_Backend(std::move(backend)) {}
        SupportResult IsLayerSupported(const LayerView& layer) const override
        {
            return m_Backend->m_Takes.count(layer.m_Type) != 0
                       ? SupportResult::Yes()
                       : SupportResult::No(SupportCode::UnknownLayer, "not in the fake's list");
        }

    private:
        std::shared_ptr<const FakeBackend> m_Backend;
    };

    class Factory final : public IWorkloadFactory
    {
    public:
        Factory(std::shared_ptr<const FakeBackend> backend, std::unique_ptr<IWorkloadFactory> reference)
            : m_Backend(std::move(backend)), m_Reference(std::move(reference))
        {
        }
        const BackendId& GetBackendId() const override { return m_Backend->m_Id; }
        std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
        {
            ++m_Backend->m_NumWorkloads;
            return m_Reference->CreateWorkload(layer);
        }

    private:
        std::shared_ptr<const FakeBackend> m_Backend;
        std::unique_ptr<IWorkloadFactory> m_Reference;
    };

    BackendId m_Id;
    std::set<LayerType> m_Takes;
    std::string m_Domain;
    std::shared_ptr<const IBackend> m_Reference;
    BackendCapabilities m_Capabilities;
    mutable std::atomic<int> m_NumWorkloads{0};
};

} // namespace tenon::test
