// SPDX-License-Identifier: Apache-2.0
// CpuAcc behind interfaces that say less than its own do, and lists of passes without one.
#include "WithoutSubgraphs.hpp"

#include "backends/common/KernelWorkload.hpp"
#include "backends/cpu/CpuAccBackend.hpp"
#include "common/WritesPitched.hpp"
#include "optimizer/Pass.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace tenon::bench
{

namespace
{

enum class What
{
    Fusing,
    Parts,
    Strips,
    Attentions,
    Sums,
    Chains
};

/// CpuAcc's workload, which says nothing of one thing that it could do.
class WithoutShaped final : public backends::IKernelWorkload
{
public:
    WithoutShaped(std::unique_ptr<IShapedWorkload> inner, const char* name, What what)
        : m_Inner(std::move(inner)), m_Name(name), m_What(what)
    {
    }
    size_t GetScratchBytes() const override { return m_Inner->GetScratchBytes(); }
    bool IsCopy() const override { return m_Inner->IsCopy(); }
    void Execute(const ExecuteArgs& args) const override { m_Inner->Execute(args); }
    const char* GetKernelName() const override { return m_Name; }
    const SharedParts* GetSharedParts() const override
    {
        return m_What == What::Parts ? nullptr : tenon::GetSharedParts(*m_Inner);
    }
    unsigned int GetMostStripThreads() const override
    {
        return m_What == What::Strips ? 0 : tenon::GetMostStripThreads(*m_Inner);
    }
    bool CanAddTensor() const override
    {
        const auto* const adds = dynamic_cast<const IAddsTensor*>(m_Inner.get());
        return adds != nullptr && m_What != What::Sums && adds->CanAddTensor();
    }
    std::unique_ptr<IShapedWorkload> AddTensor(const ActivationDescriptor* activation) const override
    {
        return CanAddTensor() ? dynamic_cast<const IAddsTensor&>(*m_Inner).AddTensor(activation) : nullptr;
    }
    std::unique_ptr<IShapedWorkload> MakeAttention(const AttentionRest& rest) const override
    {
        const auto* const attention = dynamic_cast<const IRunsAttention*>(m_Inner.get());
        return attention != nullptr && m_What != What::Attentions ? attention->MakeAttention(rest) : nullptr;
    }
    ElementLoop MakeElementLoop() const override
    {
        const auto* const elements = dynamic_cast<const IRunsElements*>(m_Inner.get());
        return elements != nullptr && m_What != What::Chains ? elements->MakeElementLoop() : ElementLoop();
    }

private:
    std::unique_ptr<IShapedWorkload> m_Inner;
    const char* m_Name;
    What m_What;
};

class WithoutWorkload final : public IWorkload, public IWritesPitched
{
public:
    WithoutWorkload(std::unique_ptr<IWorkload> inner, What what) : m_Inner(std::move(inner)), m_What(what) {}
    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        return Wrap(m_Inner->Reshape(args));
    }
    std::unique_ptr<IShapedWorkload> ReshapePitched(const ReshapeArgs& args, size_t pitch) const override
    {
        const auto* const writes = dynamic_cast<const IWritesPitched*>(m_Inner.get());
        return Wrap(writes != nullptr ? writes->ReshapePitched(args, pitch) : nullptr);
    }
    const char* GetName() const override { return m_Inner->GetName(); }

private:
    std::unique_ptr<IShapedWorkload> Wrap(std::unique_ptr<IShapedWorkload> shaped) const
    {
        const char* const name = shaped != nullptr ? tenon::GetKernelName(*m_Inner, *shaped) : nullptr;
        return shaped != nullptr ? std::make_unique<WithoutShaped>(std::move(shaped), name, m_What) : nullptr;
    }

    std::unique_ptr<IWorkload> m_Inner;
    What m_What;
};

class WithoutFactory final : public IWorkloadFactory
{
public:
    WithoutFactory(std::unique_ptr<IWorkloadFactory> inner, What what) : m_Inner(std::move(inner)), m_What(what) {}
    const BackendId& GetBackendId() const override { return m_Inner->GetBackendId(); }
    std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
    {
        return std::make_unique<WithoutWorkload>(m_Inner->CreateWorkload(layer), m_What);
    }
    void AfterWorkloadsCreated() override { m_Inner->AfterWorkloadsCreated(); }

private:
    std::unique_ptr<IWorkloadFactory> m_Inner;
    What m_What;
};

/// Fuses no activation, which is what the interface does by itself.
class Support final : public ILayerSupport
{
public:
    explicit Support(std::shared_ptr<const ILayerSupport> inner) : m_Inner(std::move(inner)) {}
    SupportResult IsLayerSupported(const LayerView& layer) const override { return m_Inner->IsLayerSupported(layer); }

private:
    std::shared_ptr<const ILayerSupport> m_Inner;
};

class Without final : public IBackend
{
public:
    Without(const char* id, What what) : m_Id(id), m_What(what) {}

    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        auto support = m_Inner->GetLayerSupport(options);
        return m_What == What::Fusing ? std::make_shared<Support>(std::move(support)) : std::move(support);
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        auto factory = m_Inner->CreateWorkloadFactory(options);
        if (m_What != What::Fusing)
        {
            return std::make_unique<WithoutFactory>(std::move(factory), m_What);
        }
        return factory;
    }
    BackendCapabilities GetCapabilities() const override { return m_Inner->GetCapabilities(); }

private:
    BackendId m_Id;
    What m_What;
    std::shared_ptr<const IBackend> m_Inner = cpu::MakeCpuAccBackend();
};

} // namespace

std::shared_ptr<const IBackend> MakeWithoutFusing()
{
    return std::make_shared<Without>("WithoutFusing", What::Fusing);
}

std::shared_ptr<const IBackend> MakeWithoutParts()
{
    return std::make_shared<Without>("WithoutParts", What::Parts);
}

std::shared_ptr<const IBackend> MakeWithoutStrips()
{
    return std::make_shared<Without>("WithoutStrips", What::Strips);
}

std::shared_ptr<const IBackend> MakeWithoutAttentions()
{
    return std::make_shared<Without>("WithoutAttentions", What::Attentions);
}

std::shared_ptr<const IBackend> MakeWithoutSums()
{
    return std::make_shared<Without>("WithoutSums", What::Sums);
}

std::shared_ptr<const IBackend> MakeWithoutChains()
{
    return std::make_shared<Without>("WithoutChains", What::Chains);
}

IOptimizedNetworkPtr OptimizeWithout(const char* pass, const INetwork& network, const std::vector<BackendId>& backends,
                                     const IDeviceSpec& device, const OptimizerOptionsOpaque& options)
{
    std::vector<Pass> passes;
    std::copy_if(GetPasses().begin(), GetPasses().end(), std::back_inserter(passes),
                 [pass](const Pass& each) { return std::string_view(each.m_Name) != pass; });
    return OptimizeWithPasses(network, backends, device, options, EmptyOptional(), passes);
}

} // namespace tenon::bench
