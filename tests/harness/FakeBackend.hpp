// SPDX-License-Identifier: Apache-2.0
// FakeBackend: a backend for tests of assignment, partitioning and loading. It takes the given layer types, runs them
// with CpuRef's kernels, and counts the workloads that its factory made. A function of the test transforms its
// subgraphs; a compiled subgraph is a function of one float.
#pragma once

#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/backend/IBackend.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>

namespace tenon::test
{

/// A PreCompiled layer's blob: out[i] = f(in[i]) for floats.
using FakeBlob = std::function<float(float)>;

inline CompiledBlobPtr CompileFake(FakeBlob function)
{
    return CompiledBlobPtr(new FakeBlob(std::move(function)),
                           [](const void* blob) { delete static_cast<const FakeBlob*>(blob); });
}

class FakeBackend final : public IBackend, public std::enable_shared_from_this<FakeBackend>
{
public:
    FakeBackend(std::string id, std::set<LayerType> takes)
        : m_Id(id), m_Takes(std::move(takes)), m_Reference(ref::MakeCpuRefBackend()), m_Capabilities(id)
    {
    }

    const BackendId& GetId() const override { return m_Id; }

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

    using Optimizer = std::function<OptimizationViews(const SubgraphView&)>;
    void SetOptimizer(Optimizer optimizer) { m_Optimizer = std::move(optimizer); }
    bool OptimizesSubgraphs() const override { return m_Optimizer != nullptr; }
    OptimizationViews OptimizeSubgraphView(const SubgraphView& subgraph, const ModelOptions&) const override
    {
        return m_Optimizer(subgraph);
    }

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

    class Compiled final : public IWorkload
    {
    public:
        explicit Compiled(const void* blob) : m_Function(*static_cast<const FakeBlob*>(blob)) {}
        std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
        {
            return std::make_unique<Shaped>(m_Function, args.GetOutput(0).GetNumElements());
        }
        const char* GetName() const override { return "FakePreCompiled"; }

    private:
        class Shaped final : public IShapedWorkload
        {
        public:
            Shaped(const FakeBlob& function, size_t count) : m_Function(function), m_Count(count) {}
            void Execute(const ExecuteArgs& args) const override
            {
                for (size_t i = 0; i < m_Count; ++i)
                {
                    args.GetOutput<float>(0)[i] = m_Function(args.GetInput<float>(0)[i]);
                }
            }

        private:
            const FakeBlob& m_Function;
            size_t m_Count;
        };

        const FakeBlob& m_Function;
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
            if (layer.m_Type == LayerType::PreCompiled)
            {
                return std::make_unique<Compiled>(layer.m_Blob);
            }
            return m_Reference->CreateWorkload(layer);
        }

    private:
        std::shared_ptr<const FakeBackend> m_Backend;
        std::unique_ptr<IWorkloadFactory> m_Reference;
    };

    BackendId m_Id;
    std::set<LayerType> m_Takes;
    std::shared_ptr<const IBackend> m_Reference;
    Optimizer m_Optimizer;
    BackendCapabilities m_Capabilities;
    mutable std::atomic<int> m_NumWorkloads{0};
};

} // namespace tenon::test
