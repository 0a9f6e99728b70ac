// SPDX-License-Identifier: Apache-2.0
// CpuAcc behind interfaces that say less than its own do, and the list of passes without FoldPad.
#include "WithoutSubgraphs.hpp"

#include "backends/cpu/CpuAccBackend.hpp"
#include "common/AddsTensor.hpp"
#include "common/KernelName.hpp"
#include "common/RunsInStrips.hpp"
#include "common/SharedParts.hpp"
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

/// What the interfaces of a workload do not say is not done.
class Inner : public IShapedWorkload, public INamesKernel
{
public:
    Inner(std::unique_ptr<IShapedWorkload> inner, const char* name) : m_Inner(std::move(inner)), m_Name(name) {}
    size_t GetScratchBytes() const override { return m_Inner->GetScratchBytes(); }
    bool IsCopy() const override { return m_Inner->IsCopy(); }
    void Execute(const ExecuteArgs& args) const override { m_Inner->Execute(args); }
    const char* GetKernelName() const override { return m_Name; }

protected:
    std::unique_ptr<IShapedWorkload> m_Inner;

private:
    const char* m_Name;
};

/// What a sum runs as with the layer before it.
class Adds : public Inner, public IAddsTensor
{
public:
    using Inner::Inner;
    std::unique_ptr<IShapedWorkload> AddTensor(const ActivationDescriptor* activation) const override
    {
        const auto* const adds = dynamic_cast<const IAddsTensor*>(m_Inner.get());
        return adds != nullptr ? adds->AddTensor(activation) : nullptr;
    }
};

class WithoutPartsShaped final : public Adds, public IRunsInStrips
{
public:
    using Adds::Adds;
};

class WithoutStripsShaped final : public Adds, public ISharesParts
{
public:
    using Adds::Adds;
    const SharedParts* GetSharedParts() const override { return tenon::GetSharedParts(*m_Inner); }
};

class WithoutSumsShaped final : public Inner, public ISharesParts, public IRunsInStrips
{
public:
    using Inner::Inner;
    const SharedParts* GetSharedParts() const override { return tenon::GetSharedParts(*m_Inner); }
};

template <typename Shaped>
class WithoutWorkload final : public IWorkload, public IWritesPitched
{
public:
    explicit WithoutWorkload(std::unique_ptr<IWorkload> inner) : m_Inner(std::move(inner)) {}
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
        return shaped != nullptr ? std::make_unique<Shaped>(std::move(shaped), name) : nullptr;
    }

    std::unique_ptr<IWorkload> m_Inner;
};

template <typename Shaped>
class WithoutFactory final : public IWorkloadFactory
{
public:
    explicit WithoutFactory(std::unique_ptr<IWorkloadFactory> inner) : m_Inner(std::move(inner)) {}
    const BackendId& GetBackendId() const override { return m_Inner->GetBackendId(); }
    std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
    {
        return std::make_unique<WithoutWorkload<Shaped>>(m_Inner->CreateWorkload(layer));
    }
    void AfterWorkloadsCreated() override { m_Inner->AfterWorkloadsCreated(); }

private:
    std::unique_ptr<IWorkloadFactory> m_Inner;
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

enum class What
{
    Fusing,
    Parts,
    Strips,
    Sums
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
        if (m_What == What::Parts)
        {
            return std::make_unique<WithoutFactory<WithoutPartsShaped>>(std::move(factory));
        }
        if (m_What == What::Strips)
        {
            return std::make_unique<WithoutFactory<WithoutStripsShaped>>(std::move(factory));
        }
        if (m_What == What::Sums)
        {
            return std::make_unique<WithoutFactory<WithoutSumsShaped>>(std::move(factory));
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

std::shared_ptr<const IBackend> MakeWithoutSums()
{
    return std::make_shared<Without>("WithoutSums", What::Sums);
}

IOptimizedNetworkPtr OptimizeWithPads(const INetwork& network, const std::vector<BackendId>& backends,
                                      const IDeviceSpec& device, const OptimizerOptionsOpaque& options)
{
    std::vector<Pass> passes;
    std::copy_if(GetPasses().begin(), GetPasses().end(), std::back_inserter(passes),
                 [](const Pass& pass) { return std::string_view(pass.m_Name) != "FoldPad"; });
    return OptimizeWithPasses(network, backends, device, options, EmptyOptional(), passes);
}

} // namespace tenon::bench
