// SPDX-License-Identifier: Apache-2.0
// Support, workload factory and workloads derived from a kernel table. What one kernel takes is in AskKernel.cpp.
#include "backends/common/KernelTable.hpp"

#include "backends/common/KernelWorkload.hpp"
#include "backends/common/PackedCache.hpp"
#include "common/BlockPool.hpp"
#include "common/OpFlags.hpp"
#include "common/WritesPitched.hpp"

#include <tenon/Exceptions.hpp>

#include <climits>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

namespace tenon::backends
{

namespace
{

/// Whether a layer type has the flag Effect in ops.def: its execution matters even if it writes nothing.
bool HasEffect(LayerType type)
{
    using enum OpFlags;
    static constexpr bool effects[] = {
#define TENON_OP(name, descriptor, minInputs, maxInputs, outputs, flags, values) HasFlag(flags, Effect),
#include <tenon/ops.def>
    };
    const auto index = static_cast<size_t>(type);
    return index >= std::size(effects) || effects[index];
}

/// All outputs are there, are known and have no elements: no element of an input can show anywhere. A kernel would at
/// best do nothing, at worst walk over huge outer dimensions of an empty tensor.
bool GivesNothing(const ReshapeArgs& args)
{
    return !args.m_Outputs.empty() && std::all_of(args.m_Outputs.begin(), args.m_Outputs.end(),
                                                  [](const TensorInfo* output) {
                                                      return output->GetShape().AreAllDimensionsSpecified() &&
                                                             output->GetShape().GetNumElements64() == 0;
                                                  });
}

/// The first kernel that takes the layer, or the last one of the list; null where there is none.
const Kernel* Choose(std::span<const Kernel* const> kernels, const LayerView& layer)
{
    if (kernels.empty())
    {
        return nullptr;
    }
    const auto rest = kernels.first(kernels.size() - 1);
    const auto found =
        std::find_if(rest.begin(), rest.end(), [&](const Kernel* kernel) { return bool(AskKernel(*kernel, layer)); });
    return found != rest.end() ? *found : kernels.back();
}

class TableLayerSupport final : public ILayerSupport
{
public:
    explicit TableLayerSupport(KernelLookup lookup) : m_Lookup(lookup) {}

    SupportResult IsLayerSupported(const LayerView& layer) const override
    {
        SupportResult result =
            SupportResult::No(SupportCode::UnknownLayer,
                              std::string("has no kernel for ") + GetLayerTypeAsCString(layer.m_Type) + " layers");
        for (const Kernel* kernel : m_Lookup(layer.m_Type))
        {
            result = AskKernel(*kernel, layer);
            if (result)
            {
                break;
            }
        }
        return result;
    }

    SupportResult IsActivationFusable(const LayerView& layer, const ActivationDescriptor& activation) const override
    {
        const Kernel* kernel = Choose(m_Lookup(layer.m_Type), layer);
        return kernel != nullptr && kernel->m_Fuse != nullptr ? kernel->m_Fuse(layer, activation)
                                                              : ILayerSupport::IsActivationFusable(layer, activation);
    }

    /// As the types of the kernels say.
    SupportResult AreHalfWeightsSupported(const LayerView& layer) const override { return IsLayerSupported(layer); }

private:
    KernelLookup m_Lookup;
};

/// The name of a kernel and of what is fused: mostly nothing, which takes no memory.
class KernelLabel
{
public:
    KernelLabel(const char* kernel, bool isFused, bool addsTensor = false)
        : m_Kernel(kernel),
          m_Fused(isFused || addsTensor
                      ? std::make_unique<const std::string>(std::string(kernel) + (addsTensor ? "+Add" : "") +
                                                            (isFused ? "+Activation" : ""))
                      : nullptr)
    {
    }

    const char* Get() const { return m_Fused != nullptr ? m_Fused->c_str() : m_Kernel; }

private:
    const char* m_Kernel;
    std::unique_ptr<const std::string> m_Fused;
};

class TableShapedWorkload final : public IKernelWorkload, public Pooled<TableShapedWorkload>
{
public:
    TableShapedWorkload(Prepared prepared, KernelLabel label, std::shared_ptr<const PackedWeights> packed)
        : m_Prepared(std::move(prepared)), m_Label(std::move(label)), m_Packed(std::move(packed))
    {
    }

    size_t GetScratchBytes() const override { return m_Prepared.m_ScratchBytes; }
    bool IsCopy() const override { return m_Prepared.m_IsCopy; }
    void Execute(const ExecuteArgs& args) const override { m_Prepared.m_Run(args); }
    const char* GetKernelName() const override { return m_Label.Get(); }
    const SharedParts* GetSharedParts() const override
    {
        return m_Prepared.m_Parts.Empty() ? nullptr : &m_Prepared.m_Parts;
    }
    bool CanAddTensor() const override { return m_Prepared.m_AddTensor != nullptr; }
    std::unique_ptr<IShapedWorkload> AddTensor(const ActivationDescriptor* activation) const override
    {
        if (!CanAddTensor())
        {
            return nullptr;
        }
        return std::make_unique<TableShapedWorkload>((*m_Prepared.m_AddTensor)(activation),
                                                     KernelLabel(m_Prepared.m_KernelName, activation != nullptr, true),
                                                     m_Packed);
    }
    std::unique_ptr<IShapedWorkload> MakeAttention(const AttentionRest& rest) const override
    {
        Prepared attention = m_Prepared.m_MakeAttention != nullptr ? (*m_Prepared.m_MakeAttention)(rest) : Prepared();
        if (attention.m_Run == nullptr)
        {
            return nullptr;
        }
        KernelLabel label(attention.m_KernelName, false);
        return std::make_unique<TableShapedWorkload>(std::move(attention), std::move(label), m_Packed);
    }
    ElementLoop MakeElementLoop() const override { return m_Prepared.m_ElementLoop; }
    unsigned int GetMostStripThreads() const override { return UINT_MAX; }

private:
    Prepared m_Prepared;
    KernelLabel m_Label;
    std::shared_ptr<const PackedWeights> m_Packed; ///< kept alive: m_Prepared points into it
};

class TableWorkload final : public IWorkload, public IWritesPitched, public Pooled<TableWorkload>
{
public:
    TableWorkload(const Kernel& kernel, const LayerView& layer, std::shared_ptr<const PackedWeights> packed)
        : m_Kernel(kernel), m_IsFused(layer.m_FusedActivation != nullptr), m_Label(kernel.m_Name, m_IsFused),
          m_HasEffect(HasEffect(layer.m_Type)), m_Packed(std::move(packed))
    {
    }

    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override { return ReshapePitched(args, 0); }
    std::unique_ptr<IShapedWorkload> ReshapePitched(const ReshapeArgs& args, size_t outputPitch) const override
    {
        Prepared prepared = m_Kernel.Prepare(args, m_Packed.get(), outputPitch); // in any case: it checks the shapes
        if (prepared.m_Run == nullptr)
        {
            return nullptr;
        }
        KernelLabel label(prepared.m_KernelName, m_IsFused);
        if (!m_HasEffect && GivesNothing(args))
        {
            prepared = Prepared([](const ExecuteArgs&) {});
        }
        return std::make_unique<TableShapedWorkload>(std::move(prepared), std::move(label), m_Packed);
    }
    const char* GetName() const override { return m_Label.Get(); }

private:
    const Kernel& m_Kernel;
    bool m_IsFused;
    KernelLabel m_Label;
    bool m_HasEffect;
    std::shared_ptr<const PackedWeights> m_Packed;
};

class TableWorkloadFactory final : public IWorkloadFactory
{
public:
    TableWorkloadFactory(const BackendId& id, KernelLookup lookup, std::shared_ptr<PackedArchive> archive)
        : m_Id(id), m_Lookup(lookup), m_Cache(std::move(archive))
    {
    }

    const BackendId& GetBackendId() const override { return m_Id; }
    bool IsThreadSafe() const override { return true; }

    std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
    {
        const Kernel* kernel = Choose(m_Lookup(layer.m_Type), layer);
        if (kernel == nullptr)
        {
            throw UnimplementedException(m_Id.Get() + " has no kernel for " + GetLayerTypeAsCString(layer.m_Type) +
                                         " layers; ask its layer support before making workloads");
        }
        if (layer.m_FusedActivation != nullptr && kernel->m_Fuse == nullptr)
        {
            throw UnimplementedException(std::string(kernel->m_Name) + " applies no activation to its output; ask the "
                                                                       "layer support before fusing one");
        }
        std::shared_ptr<const PackedWeights> packed;
        if (kernel->m_Pack != nullptr)
        {
            packed = m_Cache.Pack(*kernel, layer);
        }
        return std::make_unique<TableWorkload>(*kernel, layer, std::move(packed));
    }
    void AfterWorkloadsCreated() override { m_Cache.Finish(); }

private:
    BackendId m_Id;
    KernelLookup m_Lookup;
    mutable PackedCache m_Cache;
};

} // namespace

std::shared_ptr<const ILayerSupport> MakeTableLayerSupport(KernelLookup lookup)
{
    return std::make_shared<TableLayerSupport>(lookup);
}

std::unique_ptr<IWorkloadFactory> MakeTableWorkloadFactory(const BackendId& id, KernelLookup lookup,
                                                           std::shared_ptr<PackedArchive> archive)
{
    return std::make_unique<TableWorkloadFactory>(id, lookup, std::move(archive));
}

} // namespace tenon::backends
