// SPDX-License-Identifier: Apache-2.0
// Support, workload factory and workloads derived from a kernel table. AskKernel.cpp answers for one kernel.
#include "backends/common/KernelTable.hpp"

#include "backends/common/PackedCache.hpp"
#include "backends/common/PackedStore.hpp"
#include "common/BlockPool.hpp"
#include "common/OpFlags.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/descriptors/Elementwise.hpp>

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
#define TENON_OP(name, descriptor, method, runner, minInputs, maxInputs, outputs, flags, ...) HasFlag(flags, Effect),
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

/// The kernels from the first one on that takes the layer, or the last one of the list; empty where there is none.
std::span<const Kernel* const> Choose(std::span<const Kernel* const> kernels, const LayerView& layer)
{
    if (kernels.empty())
    {
        return kernels;
    }
    const auto rest = kernels.first(kernels.size() - 1);
    const auto found =
        std::find_if(rest.begin(), rest.end(), [&](const Kernel* kernel) { return bool(AskKernel(*kernel, layer)); });
    return kernels.subspan(static_cast<size_t>(found - rest.begin()));
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
        const auto kernels = Choose(m_Lookup(layer.m_Type), layer);
        return !kernels.empty() && kernels.front()->m_Fuse != nullptr
                   ? kernels.front()->m_Fuse(layer, activation)
                   : ILayerSupport::IsActivationFusable(layer, activation);
    }

    /// The answer follows from the types of the kernels.
    SupportResult AreHalfWeightsSupported(const LayerView& layer) const override { return IsLayerSupported(layer); }

private:
    KernelLookup m_Lookup;
};

/// The name of a kernel and of the layers fused into it: mostly there are none, which takes no memory.
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

class TableShapedWorkload final : public IShapedWorkload, public Pooled<TableShapedWorkload>
{
public:
    /// `declined`: see FusionHooks; empty: none.
    TableShapedWorkload(Prepared&& prepared, KernelLabel&& label, const std::shared_ptr<const PackedWeights>& packed,
                        bool writesPitched = false, std::string&& declined = {})
        : m_Run(std::move(prepared.m_Run)), m_ScratchBytes(prepared.m_ScratchBytes), m_Label(std::move(label)),
          m_Packed(packed), m_IsCopy(prepared.m_IsCopy)
    {
        m_Fusion.m_KernelName = m_Label.Get();
        m_Fusion.m_MaxTileThreads = UINT_MAX;
        m_Fusion.m_WritesPitched = writesPitched;
        m_Fusion.m_ElementLoop = std::move(prepared.m_ElementLoop);
        if (prepared.m_AddTensor != nullptr || prepared.m_MakeAttention != nullptr || !prepared.m_Aliases.Empty() ||
            !declined.empty() || !prepared.m_Variant.empty())
        {
            m_Offers = std::make_unique<Offers>();
            Offer(prepared, std::move(declined));
        }
    }

    size_t GetScratchBytes() const override { return m_ScratchBytes; }
    bool IsCopy() const override { return m_IsCopy; }
    const FusionHooks& GetFusion() const override { return m_Fusion; }
    void Execute(const ExecuteArgs& args) const override { m_Run(args); }

private:
    /// The objects behind hooks that few workloads have.
    struct Offers
    {
        const char* m_KernelName = nullptr;
        TensorAliases m_Aliases;
        std::shared_ptr<const std::function<Prepared(const ActivationDescriptor*)>> m_AddTensor;
        std::shared_ptr<const std::function<Prepared(const AttentionRest&)>> m_MakeAttention;
        std::string m_Declined;
        std::string m_Variant;
    };

    void Offer(Prepared& prepared, std::string&& declined)
    {
        m_Offers->m_KernelName = prepared.m_KernelName;
        m_Offers->m_Aliases = std::move(prepared.m_Aliases);
        m_Offers->m_AddTensor = std::move(prepared.m_AddTensor);
        m_Offers->m_MakeAttention = std::move(prepared.m_MakeAttention);
        m_Offers->m_Declined = std::move(declined);
        m_Offers->m_Variant = std::move(prepared.m_Variant);
        m_Fusion.m_Aliases = m_Offers->m_Aliases.Empty() ? nullptr : &m_Offers->m_Aliases;
        m_Fusion.m_Declined = m_Offers->m_Declined.empty() ? nullptr : m_Offers->m_Declined.c_str();
        m_Fusion.m_Variant = m_Offers->m_Variant.empty() ? nullptr : m_Offers->m_Variant.c_str();
        if (m_Offers->m_AddTensor != nullptr)
        {
            m_Fusion.m_AddTensor = [this](const ActivationDescriptor* activation) { return AddTensor(activation); };
        }
        if (m_Offers->m_MakeAttention != nullptr)
        {
            m_Fusion.m_MakeAttention = [this](const AttentionRest& rest) { return MakeAttention(rest); };
        }
    }

    std::unique_ptr<IShapedWorkload> AddTensor(const ActivationDescriptor* activation) const
    {
        return Make((*m_Offers->m_AddTensor)(activation), m_Offers->m_KernelName, activation != nullptr, true);
    }
    std::unique_ptr<IShapedWorkload> MakeAttention(const AttentionRest& rest) const
    {
        Prepared attention = (*m_Offers->m_MakeAttention)(rest);
        const char* const kernel = attention.m_KernelName;
        return Make(std::move(attention), kernel, false, false);
    }
    std::unique_ptr<IShapedWorkload> Make(Prepared&& prepared, const char* kernel, bool isFused, bool addsTensor) const
    {
        return prepared.IsDeclined() ? nullptr
                                     : std::make_unique<TableShapedWorkload>(
                                           std::move(prepared), KernelLabel(kernel, isFused, addsTensor), m_Packed);
    }

    Executor m_Run;
    size_t m_ScratchBytes;
    KernelLabel m_Label;
    std::shared_ptr<const PackedWeights> m_Packed; ///< kept alive: m_Run points into it
    std::unique_ptr<Offers> m_Offers;              ///< null: none
    bool m_IsCopy;
    FusionHooks m_Fusion;
};

class TableWorkload final : public IWorkload, public Pooled<TableWorkload>
{
public:
    /// `kernels`: the one that the layer was created for, then the ones to try where it declines.
    TableWorkload(std::span<const Kernel* const> kernels, const LayerView& layer,
                  std::shared_ptr<const PackedWeights> packed)
        : m_Kernels(kernels), m_Type(layer.m_Type), m_IsFused(layer.m_FusedActivation != nullptr),
          m_Label(kernels.front()->m_Name, m_IsFused), m_Packed(std::move(packed))
    {
    }

    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        const Kernel& first = *m_Kernels.front();
        if (args.m_OutputPitch != 0 && !first.m_WritesPitched)
        {
            return TryOthers(args, "writes no outputs with a pitch");
        }
        Prepared prepared = first.Prepare(args, m_Packed.get()); // of empty outputs, too: it checks the shapes
        if (prepared.IsDeclined())
        {
            return TryOthers(args, prepared.m_Declined);
        }
        return Make(args, prepared, m_Packed, first, {});
    }
    const char* GetName() const override { return m_Label.Get(); }

private:
    /// Moves from `prepared`.
    std::unique_ptr<IShapedWorkload> Make(const ReshapeArgs& args, Prepared& prepared,
                                          const std::shared_ptr<const PackedWeights>& packed, const Kernel& kernel,
                                          std::string&& declined) const
    {
        if (prepared.m_Declined != nullptr) // the reference in place of the row that refines it
        {
            declined += std::string(declined.empty() ? "" : "; ") + kernel.m_Name + ": " + prepared.m_Declined;
        }
        const bool writesPitched = kernel.m_WritesPitched && prepared.m_Declined == nullptr;
        KernelLabel label(prepared.m_KernelName, m_IsFused);
        if (!HasEffect(m_Type) && GivesNothing(args))
        {
            prepared = Prepared([](const ExecuteArgs&) {});
        }
        return std::make_unique<TableShapedWorkload>(std::move(prepared), std::move(label), packed, writesPitched,
                                                     std::move(declined));
    }

    /// The rows after the first one, which declined. Weights that one of them packs are packed for these shapes alone.
    std::unique_ptr<IShapedWorkload> TryOthers(const ReshapeArgs& args, const char* reason) const
    {
        LayerView layer;
        layer.m_Type = m_Type;
        layer.m_Name = args.m_Name;
        layer.m_Descriptor = args.m_Descriptor;
        layer.m_FusedActivation = args.m_FusedActivation;
        layer.m_Inputs = args.m_Inputs;
        layer.m_Outputs = args.m_Outputs;
        layer.m_ConstantData = args.m_ConstantData;
        std::string declined = std::string(m_Kernels.front()->m_Name) + ": " + reason;
        for (const Kernel* kernel : m_Kernels.subspan(1))
        {
            if ((args.m_OutputPitch != 0 && !kernel->m_WritesPitched) || !Takes(*kernel, layer))
            {
                continue;
            }
            std::shared_ptr<const PackedWeights> packed;
            if (kernel->m_Pack != nullptr)
            {
                FillingStore store;
                packed = kernel->m_Pack(layer, store);
            }
            Prepared prepared = kernel->Prepare(args, packed.get());
            if (!prepared.IsDeclined())
            {
                return Make(args, prepared, packed, *kernel, std::move(declined));
            }
            declined += std::string("; ") + kernel->m_Name + ": " + prepared.m_Declined;
        }
        if (args.m_OutputPitch != 0)
        {
            return nullptr;
        }
        m_Kernels.back()->Prepare(args, nullptr); // it throws for shapes that do not fit together
        throw LayerValidationException(std::string("no kernel runs ") + GetLayerTypeAsCString(m_Type) +
                                       " with these shapes (" + declined + "); prefer another backend for the layer");
    }

    /// Whether a further row runs the layer, with the activation that is fused into it. The last row is not asked: it
    /// takes all that the others do.
    bool Takes(const Kernel& kernel, const LayerView& layer) const
    {
        const bool fuses = layer.m_FusedActivation == nullptr ||
                           (kernel.m_Fuse != nullptr && bool(kernel.m_Fuse(layer, *layer.m_FusedActivation)));
        return fuses && (&kernel == m_Kernels.back() || bool(AskKernel(kernel, layer)));
    }

    std::span<const Kernel* const> m_Kernels;
    LayerType m_Type;
    bool m_IsFused;
    KernelLabel m_Label;
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
        const auto kernels = Choose(m_Lookup(layer.m_Type), layer);
        if (kernels.empty())
        {
            throw UnimplementedException(m_Id.Get() + " has no kernel for " + GetLayerTypeAsCString(layer.m_Type) +
                                         " layers; ask its layer support before making workloads");
        }
        const Kernel& kernel = *kernels.front();
        if (layer.m_FusedActivation != nullptr && kernel.m_Fuse == nullptr)
        {
            throw UnimplementedException(std::string(kernel.m_Name) + " applies no activation to its output; ask the "
                                                                      "layer support before fusing one");
        }
        std::shared_ptr<const PackedWeights> packed;
        if (kernel.m_Pack != nullptr)
        {
            packed = m_Cache.Pack(kernel, layer);
        }
        return std::make_unique<TableWorkload>(kernels, layer, std::move(packed));
    }
    void AfterWorkloadsCreated() override { m_Cache.Finish(); }

private:
    BackendId m_Id;
    KernelLookup m_Lookup;
    mutable PackedCache m_Cache;
};

} // namespace

Prepared Kernel::Prepare(const ReshapeArgs& args, const PackedWeights* packed) const
{
    if (m_Refine == nullptr)
    {
        Prepared prepared = m_Prepare(args, packed);
        prepared.m_KernelName = prepared.m_KernelName == nullptr ? m_Name : prepared.m_KernelName;
        return prepared;
    }
    Prepared reference = m_Reference->Prepare(args, nullptr);
    Prepared refined = m_Refine(args, packed, reference);
    if (!refined.IsDeclined())
    {
        refined.m_KernelName = refined.m_KernelName == nullptr ? m_Name : refined.m_KernelName;
        return refined;
    }
    if (args.m_OutputPitch != 0) // which the reference does not write with
    {
        return refined;
    }
    reference.m_Declined = refined.m_Declined;
    return reference;
}

Prepared Kernel::PrepareOrReference(const ReshapeArgs& args, const PackedWeights* packed) const
{
    Prepared prepared = Prepare(args, packed);
    if (!prepared.IsDeclined())
    {
        return prepared;
    }
    Prepared reference = m_Reference->Prepare(args, nullptr);
    reference.m_Declined = prepared.m_Declined;
    return reference;
}

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
