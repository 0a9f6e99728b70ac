// SPDX-License-Identifier: Apache-2.0
// The kernel table of CpuRef. It has a row for each row of ops.def that says Kernel, defined in a file under kernels/,
// and the rows of QuantizedAsFloat.cpp.
#include "backends/reference/CpuRefBackend.hpp"

#include "backends/common/HostCapabilities.hpp"
#include "backends/reference/Kernels.hpp"

#include <algorithm>
#include <array>

namespace tenon::ref
{

namespace
{

constexpr size_t NumLayerTypes = std::max({
#define TENON_OP(name, ...) static_cast<size_t>(LayerType::name) + 1,
#define TENON_DEPRECATED_OP(name) static_cast<size_t>(LayerType::name) + 1,
#define TENON_RESERVED_OP(name) static_cast<size_t>(LayerType::name) + 1,
#include <tenon/ops.def>
});

using Lookup = std::array<const backends::Kernel*, NumLayerTypes>;

constexpr Lookup MakeLookup()
{
    Lookup lookup{};
#define TENON_OP(name, ...) lookup[static_cast<size_t>(LayerType::name)] = RefKernel<LayerType::name>;
#include <tenon/ops.def>
    return lookup;
}

constexpr Lookup Kernels = MakeLookup();

class CpuRefBackend final : public IBackend
{
public:
    const BackendId& GetId() const override { return m_Id; }

    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions&) const override
    {
        return backends::MakeTableLayerSupport(FindKernels);
    }

    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions&) const override
    {
        return backends::MakeTableWorkloadFactory(m_Id, FindKernels);
    }

    BackendCapabilities GetCapabilities() const override { return backends::GetHostCapabilities(m_Id); }

private:
    BackendId m_Id = Compute::CpuRef;
};

} // namespace

const backends::Kernel* FindKernel(LayerType type)
{
    const auto index = static_cast<size_t>(type);
    return index < Kernels.size() ? Kernels[index] : nullptr;
}

std::span<const backends::Kernel* const> FindKernels(LayerType type)
{
    struct Pair
    {
        std::array<const backends::Kernel*, 2> m_Kernels{}; ///< the kernel through floats, and the kernel for the
                                                            ///< layer's own types
    };
    static const auto pairs = []
    {
        std::array<Pair, NumLayerTypes> all;
        for (size_t i = 0; i < NumLayerTypes; ++i)
        {
            all[i].m_Kernels = {FindKernelAsFloat(static_cast<LayerType>(i)), Kernels[i]};
        }
        return all;
    }();
    const auto index = static_cast<size_t>(type);
    if (FindKernel(type) == nullptr)
    {
        return {};
    }
    const std::span<const backends::Kernel* const> kernels = pairs[index].m_Kernels;
    return kernels.front() != nullptr ? kernels : kernels.last(1);
}

std::shared_ptr<const IBackend> MakeCpuRefBackend()
{
    return std::make_shared<CpuRefBackend>();
}

} // namespace tenon::ref
