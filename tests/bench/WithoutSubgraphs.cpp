// SPDX-License-Identifier: Apache-2.0
// CpuAcc without fused activations, and lists of passes without one.
#include "WithoutSubgraphs.hpp"

#include "backends/cpu/CpuAccBackend.hpp"
#include "optimizer/Pass.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace tenon::bench
{

namespace
{

/// Fuses no activation, which is what the interface does by itself.
class Support final : public ILayerSupport
{
public:
    explicit Support(std::shared_ptr<const ILayerSupport> inner) : m_Inner(std::move(inner)) {}
    SupportResult IsLayerSupported(const LayerView& layer) const override { return m_Inner->IsLayerSupported(layer); }

private:
    std::shared_ptr<const ILayerSupport> m_Inner;
};

class WithoutFusing final : public IBackend
{
public:
    const BackendId& GetId() const override { return m_Id; }
    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return std::make_shared<Support>(m_Inner->GetLayerSupport(options));
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        return m_Inner->CreateWorkloadFactory(options);
    }
    BackendCapabilities GetCapabilities() const override { return m_Inner->GetCapabilities(); }

private:
    BackendId m_Id = "WithoutFusing";
    std::shared_ptr<const IBackend> m_Inner = cpu::MakeCpuAccBackend();
};

} // namespace

std::shared_ptr<const IBackend> MakeWithoutFusing()
{
    return std::make_shared<WithoutFusing>();
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
