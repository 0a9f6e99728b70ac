// SPDX-License-Identifier: Apache-2.0
// CpuAcc behind interfaces that say less than its own do.
#include "WithoutSubgraphs.hpp"

#include "backends/cpu/CpuAccBackend.hpp"
#include "common/KernelName.hpp"

#include <string>
#include <utility>

namespace tenon::bench
{

namespace
{

/// Says nothing of parts, see ISharesParts.
class Copying final : public IShapedWorkload, public INamesKernel
{
public:
    Copying(std::unique_ptr<IShapedWorkload> inner, const char* name) : m_Inner(std::move(inner)), m_Name(name) {}
    size_t GetScratchBytes() const override { return m_Inner->GetScratchBytes(); }
    bool IsCopy() const override { return m_Inner->IsCopy(); }
    void Execute(const ExecuteArgs& args) const override { m_Inner->Execute(args); }
    const char* GetKernelName() const override { return m_Name; }

private:
    std::unique_ptr<IShapedWorkload> m_Inner;
    const char* m_Name;
};

class CopyingWorkload final : public IWorkload
{
public:
    explicit CopyingWorkload(std::unique_ptr<IWorkload> inner) : m_Inner(std::move(inner)) {}
    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        std::unique_ptr<IShapedWorkload> shaped = m_Inner->Reshape(args);
        const char* name = tenon::GetKernelName(*m_Inner, *shaped);
        return std::make_unique<Copying>(std::move(shaped), name);
    }
    const char* GetName() const override { return m_Inner->GetName(); }

private:
    std::unique_ptr<IWorkload> m_Inner;
};

class CopyingFactory final : public IWorkloadFactory
{
public:
    explicit CopyingFactory(std::unique_ptr<IWorkloadFactory> inner) : m_Inner(std::move(inner)) {}
    const BackendId& GetBackendId() const override { return m_Inner->GetBackendId(); }
    std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
    {
        return std::make_unique<CopyingWorkload>(m_Inner->CreateWorkload(layer));
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

class Without final : public IBackend
{
public:
    Without(const char* id, bool fuses, bool sharesParts) : m_Id(id), m_Fuses(fuses), m_SharesParts(sharesParts) {}

    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        auto support = m_Inner->GetLayerSupport(options);
        return m_Fuses ? std::move(support) : std::make_shared<Support>(std::move(support));
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        auto factory = m_Inner->CreateWorkloadFactory(options);
        return m_SharesParts ? std::move(factory) : std::make_unique<CopyingFactory>(std::move(factory));
    }
    BackendCapabilities GetCapabilities() const override { return m_Inner->GetCapabilities(); }

private:
    BackendId m_Id;
    bool m_Fuses;
    bool m_SharesParts;
    std::shared_ptr<const IBackend> m_Inner = cpu::MakeCpuAccBackend();
};

} // namespace

std::shared_ptr<const IBackend> MakeWithoutFusing()
{
    return std::make_shared<Without>("WithoutFusing", false, true);
}

std::shared_ptr<const IBackend> MakeWithoutParts()
{
    return std::make_shared<Without>("WithoutParts", true, false);
}

} // namespace tenon::bench
