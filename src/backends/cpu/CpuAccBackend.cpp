// SPDX-License-Identifier: Apache-2.0
// CpuAcc: its kernel table and options. The option NumberOfThreads is a decorator of the workload factory, whose
// workloads hand the kernels a narrowed IParallelFor.
#include "backends/cpu/CpuAccBackend.hpp"

#include "backends/common/HostCapabilities.hpp"
#include "backends/common/PackedArchive.hpp"
#include "backends/cpu/simd/Isa.hpp"
#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/Version.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::cpu
{

#define TENON_KERNEL(type, name) extern const backends::Kernel Cpu##name##Kernel;
#include "backends/cpu/Kernels.def"

namespace
{

using KernelList = std::vector<const backends::Kernel*>;

/// Lists of kernels by layer type: the fast kernels, then CpuRef's, which run all layers that the fast ones decline.
/// With `fastMath`, kernels for fast arithmetic are included.
std::vector<KernelList> MakeLists(bool fastMath)
{
    std::vector<KernelList> lists;
    const auto listOf = [&lists](LayerType type) -> KernelList&
    {
        const auto index = static_cast<size_t>(type);
        lists.resize(std::max(lists.size(), index + 1));
        return lists[index];
    };
#define TENON_KERNEL(type, name)                                                                                       \
    if (fastMath || !Cpu##name##Kernel.m_IsFastMath)                                                                   \
    {                                                                                                                  \
        listOf(LayerType::type).push_back(&Cpu##name##Kernel);                                                         \
    }
#include "backends/cpu/Kernels.def"
    static constexpr LayerType types[] = {
#define TENON_OP(name, ...) LayerType::name,
#include <tenon/ops.def>
    };
    for (const LayerType type : types)
    {
        for (const backends::Kernel* kernel : ref::FindKernels(type))
        {
            listOf(type).push_back(kernel);
        }
    }
    return lists;
}

/// The kernels of a layer type that the processor can run. The fast kernels need vectors.
std::span<const backends::Kernel* const> FindIn(const std::vector<KernelList>& lists, LayerType type)
{
    const auto index = static_cast<size_t>(type);
    if (index >= lists.size())
    {
        return {};
    }
    const std::span<const backends::Kernel* const> list = lists[index];
    return GetCpuFeatures().m_Simd ? list : list.last(ref::FindKernels(type).size());
}

} // namespace

std::span<const backends::Kernel* const> FindKernels(LayerType type)
{
    static const std::vector<KernelList> lists = MakeLists(false);
    return FindIn(lists, type);
}

std::span<const backends::Kernel* const> FindFastMathKernels(LayerType type)
{
    static const std::vector<KernelList> lists = MakeLists(true);
    return FindIn(lists, type);
}

namespace
{

struct CpuAccOptions
{
    unsigned int m_NumberOfThreads = 0; ///< 0: all threads that the caller allows
    bool m_FastMath = false;
    bool m_SaveCachedNetwork = false;
    std::string m_CachedNetworkFilePath; ///< empty: no file

    backends::KernelLookup GetKernels() const { return m_FastMath ? FindFastMathKernels : FindKernels; }
};

unsigned int ReadThreads(const BackendOptions::Var& value)
{
    if (value.IsUnsignedInt())
    {
        return value.AsUnsignedInt();
    }
    if (!value.IsInt() || value.AsInt() < 0)
    {
        throw InvalidArgumentException("option NumberOfThreads of CpuAcc is '" + value.ToString() +
                                       "'; it must be a number of threads, or 0 for all");
    }
    return static_cast<unsigned int>(value.AsInt());
}

bool ReadBool(const std::string& name, const BackendOptions::Var& value)
{
    if (!value.IsBool())
    {
        throw InvalidArgumentException("option " + name + " of CpuAcc is " + value.ToString() + "; it must be a bool");
    }
    return value.AsBool();
}

std::string ReadPath(const BackendOptions::Var& value)
{
    if (!value.IsString())
    {
        throw InvalidArgumentException("option CachedNetworkFilePath of CpuAcc is " + value.ToString() +
                                       "; it must be a string");
    }
    return value.AsString();
}

CpuAccOptions ReadOptions(const ModelOptions& modelOptions, const BackendId& id)
{
    CpuAccOptions options;
    ParseOptions(modelOptions, id,
                 [&options](const std::string& name, const BackendOptions::Var& value)
                 {
                     if (name == "NumberOfThreads")
                     {
                         options.m_NumberOfThreads = ReadThreads(value);
                     }
                     else if (name == "FastMathEnabled")
                     {
                         options.m_FastMath = ReadBool(name, value);
                     }
                     else if (name == "SaveCachedNetwork")
                     {
                         options.m_SaveCachedNetwork = ReadBool(name, value);
                     }
                     else if (name == "CachedNetworkFilePath")
                     {
                         options.m_CachedNetworkFilePath = ReadPath(value);
                     }
                     else
                     {
                         throw InvalidArgumentException("CpuAcc has no option '" + name +
                                                        "'; it knows NumberOfThreads, FastMathEnabled, "
                                                        "SaveCachedNetwork and CachedNetworkFilePath");
                     }
                 });
    if (options.m_SaveCachedNetwork && options.m_CachedNetworkFilePath.empty())
    {
        throw InvalidArgumentException("option SaveCachedNetwork of CpuAcc needs CachedNetworkFilePath, the file that "
                                       "is to be written");
    }
    return options;
}

/// The file of packed weights that the options name; null if there is none.
std::shared_ptr<backends::PackedArchive> OpenArchive(const CpuAccOptions& options)
{
    if (options.m_CachedNetworkFilePath.empty())
    {
        return nullptr;
    }
    const backends::PackedFor here = {std::string(TENON_VERSION) + ", sources " + GetPackingSources(), GetIsaFeatures(),
                                      options.m_FastMath ? "FastMathEnabled" : "no FastMathEnabled"};
    return options.m_SaveCachedNetwork ? backends::MakePackedWriter(options.m_CachedNetworkFilePath, here)
                                       : backends::OpenPackedFile(options.m_CachedNetworkFilePath, here);
}

// The option NumberOfThreads: each execution hands the kernel an IParallelFor with at most this many threads (at least
// 1) of the caller's.

class LimitedParallelFor final : public IParallelFor
{
public:
    LimitedParallelFor(IParallelFor& inner, unsigned int threads)
        : m_Inner(inner), m_Threads(std::min(threads, inner.GetNumThreads()))
    {
    }

    void Run(size_t count, size_t grain, const std::function<void(size_t begin, size_t end)>& body) override
    {
        if (m_Threads <= 1)
        {
            if (count != 0)
            {
                body(0, count);
            }
            return;
        }
        // A grain so large that there are at most as many ranges as threads.
        m_Inner.Run(count, std::max(grain, count / m_Threads + (count % m_Threads != 0 ? 1 : 0)), body);
    }
    unsigned int GetNumThreads() const override { return m_Threads; }

private:
    IParallelFor& m_Inner;
    unsigned int m_Threads;
};

class LimitedShapedWorkload final : public IShapedWorkload
{
public:
    LimitedShapedWorkload(std::unique_ptr<IShapedWorkload> inner, unsigned int threads)
        : m_Inner(std::move(inner)), m_Threads(threads),
          m_Fusion(WrapFusion(m_Inner->GetFusion(), [threads](std::unique_ptr<IShapedWorkload> made)
                              { return std::make_unique<LimitedShapedWorkload>(std::move(made), threads); }))
    {
        m_Fusion.m_MaxTileThreads = std::min(m_Fusion.m_MaxTileThreads, threads);
    }

    size_t GetScratchBytes() const override { return m_Inner->GetScratchBytes(); }
    bool IsCopy() const override { return m_Inner->IsCopy(); }
    const FusionHooks& GetFusion() const override { return m_Fusion; }
    void Execute(const ExecuteArgs& args) const override
    {
        LimitedParallelFor parallel(*args.m_Parallel, m_Threads);
        ExecuteArgs limited = args;
        limited.m_Parallel = &parallel;
        m_Inner->Execute(limited);
    }

private:
    std::unique_ptr<IShapedWorkload> m_Inner;
    unsigned int m_Threads;
    FusionHooks m_Fusion;
};

class LimitedWorkload final : public IWorkload
{
public:
    LimitedWorkload(std::unique_ptr<IWorkload> inner, unsigned int threads)
        : m_Inner(std::move(inner)), m_Threads(threads)
    {
    }

    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        ReshapeArgs limited = args;
        limited.m_MaxThreads = std::min(args.m_MaxThreads, m_Threads);
        auto shaped = m_Inner->Reshape(limited);
        return shaped != nullptr ? std::make_unique<LimitedShapedWorkload>(std::move(shaped), m_Threads) : nullptr;
    }
    const char* GetName() const override { return m_Inner->GetName(); }

private:
    std::unique_ptr<IWorkload> m_Inner;
    unsigned int m_Threads;
};

class LimitedFactory final : public IWorkloadFactory
{
public:
    LimitedFactory(std::unique_ptr<IWorkloadFactory> inner, unsigned int threads)
        : m_Inner(std::move(inner)), m_Threads(threads)
    {
    }

    const BackendId& GetBackendId() const override { return m_Inner->GetBackendId(); }
    bool IsThreadSafe() const override { return m_Threads != 1 && m_Inner->IsThreadSafe(); }
    std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
    {
        return std::make_unique<LimitedWorkload>(m_Inner->CreateWorkload(layer), m_Threads);
    }
    void AfterWorkloadsCreated() override { m_Inner->AfterWorkloadsCreated(); }

private:
    std::unique_ptr<IWorkloadFactory> m_Inner;
    unsigned int m_Threads;
};

class CpuAccBackend final : public IBackend
{
public:
    const BackendId& GetId() const override { return m_Id; }

    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        // Options are read here as well, so that a wrong option is reported before layers are assigned.
        return backends::MakeTableLayerSupport(ReadOptions(options, m_Id).GetKernels());
    }

    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& modelOptions) const override
    {
        const CpuAccOptions options = ReadOptions(modelOptions, m_Id);
        auto factory = backends::MakeTableWorkloadFactory(m_Id, options.GetKernels(), OpenArchive(options));
        if (options.m_NumberOfThreads != 0)
        {
            factory = std::make_unique<LimitedFactory>(std::move(factory), options.m_NumberOfThreads);
        }
        return factory;
    }

    BackendCapabilities GetCapabilities() const override
    {
        BackendCapabilities capabilities = backends::GetHostCapabilities(m_Id);
        capabilities.AddOption({"NumberOfCacheFiles", 1U}); // one file of packed weights
        // Its bits, because capabilities choose no kernel: see Feature.
        capabilities.AddOption({"FastBFloat16", GetCpuFeatures().m_UsesBf16Dots.GetBits() != 0});
        return capabilities;
    }

private:
    BackendId m_Id = Compute::CpuAcc;
};

} // namespace

std::shared_ptr<const IBackend> MakeCpuAccBackend()
{
    GetCpuFeatures(); // so that a wrong TENON_FORCE_ISA is reported here, and not as an error of the first network
    return std::make_shared<CpuAccBackend>();
}

} // namespace tenon::cpu
