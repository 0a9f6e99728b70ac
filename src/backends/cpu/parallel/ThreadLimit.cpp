// SPDX-License-Identifier: Apache-2.0
// Workloads with a limit of threads: each execution hands the kernel a narrowed IParallelFor.
#include "backends/cpu/parallel/ThreadLimit.hpp"

#include <algorithm>
#include <utility>

namespace tenon::cpu
{

namespace
{

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

} // namespace

std::unique_ptr<IWorkloadFactory> LimitThreads(std::unique_ptr<IWorkloadFactory> inner, unsigned int threads)
{
    return std::make_unique<LimitedFactory>(std::move(inner), threads);
}

} // namespace tenon::cpu
