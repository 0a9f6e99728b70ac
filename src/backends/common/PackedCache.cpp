// SPDX-License-Identifier: Apache-2.0
// PackedCache: see PackedCache.hpp.
#include "backends/common/PackedCache.hpp"

#include "common/MappedFile.hpp"

#include <tenon/Descriptors.hpp>

#include <algorithm>

namespace tenon::backends
{

namespace
{

/// Layers of one constant that differ in more ways than this are packed each for itself: looking them up stays cheap.
constexpr size_t MaxPerConstant = 8;

template <typename D>
bool IsEqual(const BaseDescriptor& a, const BaseDescriptor& b)
{
    return static_cast<const D&>(a) == static_cast<const D&>(b);
}

template <typename D>
std::unique_ptr<BaseDescriptor> Clone(const BaseDescriptor& descriptor)
{
    return std::make_unique<D>(static_cast<const D&>(descriptor));
}

struct DescriptorFunctions
{
    bool (*m_IsEqual)(const BaseDescriptor&, const BaseDescriptor&);
    std::unique_ptr<BaseDescriptor> (*m_Clone)(const BaseDescriptor&);
};

/// By layer type.
constexpr DescriptorFunctions Functions[] = {
#define TENON_OP(name, descriptor, ...) {&IsEqual<descriptor>, &Clone<descriptor>},
#include <tenon/ops.def>
};

const DescriptorFunctions& FunctionsOf(LayerType type)
{
    return Functions[static_cast<size_t>(type)];
}

/// Infos by value; an unconnected input has an empty one, as a connected one never has.
std::vector<TensorInfo> CopyInfos(Span<const TensorInfo* const> infos)
{
    std::vector<TensorInfo> copies;
    for (const TensorInfo* info : infos)
    {
        copies.push_back(info == nullptr ? TensorInfo() : *info);
    }
    return copies;
}

bool SameInfos(const std::vector<TensorInfo>& known, Span<const TensorInfo* const> infos)
{
    return std::equal(known.begin(), known.end(), infos.begin(), infos.end(),
                      [](const TensorInfo& a, const TensorInfo* b)
                      { return b == nullptr ? a == TensorInfo() : a == *b; });
}

/// Packed constants are there twice: bytes that a file can bring back need not stay in memory.
void ReleaseConstants(const LayerView& layer)
{
    constexpr size_t Min = 64 * 1024; // bytes; fewer are not worth a call of the system
    for (size_t i = 0; i < layer.m_ConstantData.size(); ++i)
    {
        if (layer.GetConstantData(i) != nullptr && layer.GetInput(i).GetNumBytes() >= Min)
        {
            MappedFile::Release(layer.GetConstantData(i), layer.GetInput(i).GetNumBytes());
        }
    }
}

const void* FirstConstant(const LayerView& layer)
{
    const auto found = std::find_if(layer.m_ConstantData.begin(), layer.m_ConstantData.end(),
                                    [](const void* data) { return data != nullptr; });
    return found == layer.m_ConstantData.end() ? nullptr : *found;
}

} // namespace

struct PackedCache::Entry
{
    LayerType m_Type;
    std::unique_ptr<BaseDescriptor> m_Descriptor;
    std::vector<const void*> m_Constants;
    std::vector<TensorInfo> m_Inputs;
    std::vector<TensorInfo> m_Outputs;
    Future m_Packed; ///< of whoever packs it

    bool Fits(const LayerView& layer) const
    {
        return m_Type == layer.m_Type &&
               std::equal(m_Constants.begin(), m_Constants.end(), layer.m_ConstantData.begin(),
                          layer.m_ConstantData.end()) &&
               FunctionsOf(m_Type).m_IsEqual(*m_Descriptor, *layer.m_Descriptor) &&
               SameInfos(m_Inputs, layer.m_Inputs) && SameInfos(m_Outputs, layer.m_Outputs);
    }
};

PackedCache::PackedCache(std::shared_ptr<PackedArchive> archive) : m_Archive(std::move(archive)) {}
PackedCache::~PackedCache() = default;

void PackedCache::Finish()
{
    m_Slabs.Trim();
    if (m_Archive != nullptr)
    {
        m_Archive->Finish();
    }
}

PackedCache::Result PackedCache::PackAnew(const Kernel& kernel, const LayerView& layer)
{
    Result packed;
    if (m_Archive != nullptr)
    {
        packed = kernel.m_Pack(layer, *m_Archive->OpenStore(kernel, layer));
    }
    else
    {
        SlabStore store(m_Slabs);
        packed = kernel.m_Pack(layer, store);
    }
    if (packed != nullptr && !packed->RefersToConstants())
    {
        ReleaseConstants(layer);
    }
    return packed;
}

PackedCache::Result PackedCache::Pack(const Kernel& kernel, const LayerView& layer)
{
    const void* const constant = FirstConstant(layer);
    if (constant == nullptr || layer.m_Type == LayerType::Custom) // a custom operator has a workload for each layer
    {
        FillingStore store;
        return kernel.m_Pack(layer, store);
    }
    std::promise<Result> promise;
    if (const Future there = FindOrPromise(kernel, constant, layer, promise); there.valid())
    {
        return there.get(); // of a thread that packs, and waits for nobody
    }
    try
    {
        Result packed = PackAnew(kernel, layer);
        promise.set_value(packed);
        return packed;
    }
    catch (...)
    {
        promise.set_exception(std::current_exception());
        throw;
    }
}

PackedCache::Future PackedCache::FindOrPromise(const Kernel& kernel, const void* constant, const LayerView& layer,
                                               std::promise<Result>& promise)
{
    const std::lock_guard lock(m_Mutex);
    std::vector<Entry>& entries = m_Entries[Key(&kernel, constant)];
    const auto found =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.Fits(layer); });
    if (found != entries.end())
    {
        return found->m_Packed;
    }
    if (entries.size() < MaxPerConstant)
    {
        entries.push_back({layer.m_Type, FunctionsOf(layer.m_Type).m_Clone(*layer.m_Descriptor),
                           std::vector<const void*>(layer.m_ConstantData.begin(), layer.m_ConstantData.end()),
                           CopyInfos(layer.m_Inputs), CopyInfos(layer.m_Outputs), promise.get_future().share()});
    }
    return {};
}

} // namespace tenon::backends
