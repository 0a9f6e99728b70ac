// SPDX-License-Identifier: Apache-2.0
// Workloads that see fewer threads than there are: each execution hands the kernel a narrowed IParallelFor.
#include "backends/cpu/ThreadLimit.hpp"

#include "backends/common/KernelWorkload.hpp"
#include "common/PlannedThreads.hpp"
#include "common/WritesPitched.hpp"

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
        // Pieces so large that there are no more of them than threads.
        m_Inner.Run(count, std::max(grain, count / m_Threads + (count % m_Threads != 0 ? 1 : 0)), body);
    }
    unsigned int GetNumThreads() const override { return m_Threads; }

private:
    IParallelFor& m_Inner;
    unsigned int m_Threads;
};

/// Forwards every interface that a plan looks for in a kernel's workload.
class LimitedShapedWorkload final : public backends::IKernelWorkload
{
public:
    /// `name`: of the kernel, see GetKernelName; it lives as long as `inner`.
    LimitedShapedWorkload(std::unique_ptr<IShapedWorkload> inner, const char* name, unsigned int threads)
        : m_Inner(std::move(inner)), m_Name(name), m_Threads(threads)
    {
    }

    size_t GetScratchBytes() const override { return m_Inner->GetScratchBytes(); }
    bool IsCopy() const override { return m_Inner->IsCopy(); }
    const char* GetKernelName() const override { return m_Name; }
    const SharedParts* GetSharedParts() const override { return tenon::GetSharedParts(*m_Inner); }
    unsigned int GetMostStripThreads() const override
    {
        return std::min(m_Threads, tenon::GetMostStripThreads(*m_Inner));
    }
    bool CanAddTensor() const override
    {
        const auto* const adds = dynamic_cast<const IAddsTensor*>(m_Inner.get());
        return adds != nullptr && adds->CanAddTensor();
    }
    std::unique_ptr<IShapedWorkload> AddTensor(const ActivationDescriptor* activation) const override
    {
        const PlannedThreads planned(m_Threads);
        const auto* const adds = dynamic_cast<const IAddsTensor*>(m_Inner.get());
        return adds == nullptr ? nullptr : Limit(adds->AddTensor(activation));
    }
    std::unique_ptr<IShapedWorkload> MakeAttention(const AttentionRest& rest) const override
    {
        const PlannedThreads planned(m_Threads);
        const auto* const attention = dynamic_cast<const IRunsAttention*>(m_Inner.get());
        return attention == nullptr ? nullptr : Limit(attention->MakeAttention(rest));
    }
    ElementLoop MakeElementLoop() const override
    {
        const auto* const elements = dynamic_cast<const IRunsElements*>(m_Inner.get());
        return elements == nullptr ? ElementLoop() : elements->MakeElementLoop();
    }
    void Execute(const ExecuteArgs& args) const override
    {
        LimitedParallelFor parallel(*args.m_Parallel, m_Threads);
        ExecuteArgs limited = args;
        limited.m_Parallel = &parallel;
        m_Inner->Execute(limited);
    }

private:
    /// What the inner workload makes of itself and of others.
    std::unique_ptr<IShapedWorkload> Limit(std::unique_ptr<IShapedWorkload> made) const
    {
        if (made == nullptr)
        {
            return nullptr;
        }
        const auto* const named = dynamic_cast<const INamesKernel*>(made.get());
        const char* const name = named == nullptr ? m_Name : named->GetKernelName();
        return std::make_unique<LimitedShapedWorkload>(std::move(made), name, m_Threads);
    }

    std::unique_ptr<IShapedWorkload> m_Inner;
    const char* m_Name;
    unsigned int m_Threads;
};

class LimitedWorkload final : public IWorkload, public IWritesPitched
{
public:
    LimitedWorkload(std::unique_ptr<IWorkload> inner, unsigned int threads)
        : m_Inner(std::move(inner)), m_Threads(threads)
    {
    }

    std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
    {
        const PlannedThreads planned(m_Threads);
        return Limit(m_Inner->Reshape(args));
    }
    std::unique_ptr<IShapedWorkload> ReshapePitched(const ReshapeArgs& args, size_t outputPitch) const override
    {
        const PlannedThreads planned(m_Threads);
        const auto* const writes = dynamic_cast<const IWritesPitched*>(m_Inner.get());
        std::unique_ptr<IShapedWorkload> shaped =
            writes != nullptr ? writes->ReshapePitched(args, outputPitch) : nullptr;
        return shaped != nullptr ? Limit(std::move(shaped)) : nullptr;
    }
    const char* GetName() const override { return m_Inner->GetName(); }

private:
    std::unique_ptr<IShapedWorkload> Limit(std::unique_ptr<IShapedWorkload> shaped) const
    {
        const char* name = tenon::GetKernelName(*m_Inner, *shaped);
        return std::make_unique<LimitedShapedWorkload>(std::move(shaped), name, m_Threads);
    }

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
