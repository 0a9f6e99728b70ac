// SPDX-License-Identifier: Apache-2.0
// HookBackend: CpuRef under another name, with functions of the test that are called before each step of a workload, in
// order to delay a run, to throw, or to inspect a workload's arguments.
#pragma once

#include "backends/reference/CpuRefBackend.hpp"

#include <tenon/backend/IBackend.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace tenon::test
{

/// Unset functions do nothing.
struct Hooks
{
    std::function<void(const LayerView&)> m_OnCreate = {};
    std::function<void(const ReshapeArgs&)> m_OnReshape = {};
    std::function<void(const ExecuteArgs&)> m_OnExecute = {};
    bool m_IsThreadSafe = false; ///< see IWorkloadFactory
    size_t m_ScratchBytes = 0;   ///< scratch memory of each workload, if the kernel needs less
};

class HookBackend final : public IBackend
{
public:
    explicit HookBackend(Hooks hooks) : m_Hooks(std::make_shared<const Hooks>(std::move(hooks))) {}

    const BackendId& GetId() const override { return m_Id; }

    std::shared_ptr<const ILayerSupport> GetLayerSupport(const ModelOptions& options) const override
    {
        return m_Reference->GetLayerSupport(options);
    }
    std::unique_ptr<IWorkloadFactory> CreateWorkloadFactory(const ModelOptions& options) const override
    {
        return std::make_unique<Factory>(m_Id, m_Hooks, m_Reference->CreateWorkloadFactory(options));
    }

private:
    template <typename F, typename Arg>
    static void Call(const F& function, const Arg& arg)
    {
        if (function)
        {
            function(arg);
        }
    }

    class Shaped final : public IShapedWorkload
    {
    public:
        Shaped(std::shared_ptr<const Hooks> hooks, std::unique_ptr<IShapedWorkload> inner)
            : m_Hooks(std::move(hooks)), m_Inner(std::move(inner))
        {
        }
        size_t GetScratchBytes() const override
        {
            return m_Hooks->m_ScratchBytes != 0 ? m_Hooks->m_ScratchBytes : m_Inner->GetScratchBytes();
        }
        void Execute(const ExecuteArgs& args) const override
        {
            Call(m_Hooks->m_OnExecute, args);
            m_Inner->Execute(args);
        }

    private:
        std::shared_ptr<const Hooks> m_Hooks;
        std::unique_ptr<IShapedWorkload> m_Inner;
    };

    class Workload final : public IWorkload
    {
    public:
        Workload(std::shared_ptr<const Hooks> hooks, std::unique_ptr<IWorkload> inner)
            : m_Hooks(std::move(hooks)), m_Inner(std::move(inner))
        {
        }
        std::unique_ptr<IShapedWorkload> Reshape(const ReshapeArgs& args) const override
        {
            Call(m_Hooks->m_OnReshape, args);
            return std::make_unique<Shaped>(m_Hooks, m_Inner->Reshape(args));
        }
        const char* GetName() const override { return "Hook"; }

    private:
        std::shared_ptr<const Hooks> m_Hooks;
        std::unique_ptr<IWorkload> m_Inner;
    };

    class Factory final : public IWorkloadFactory
    {
    public:
        Factory(BackendId id, std::shared_ptr<const Hooks> hooks, std::unique_ptr<IWorkloadFactory> inner)
            : m_Id(std::move(id)), m_Hooks(std::move(hooks)), m_Inner(std::move(inner))
        {
        }
        const BackendId& GetBackendId() const override { return m_Id; }
        bool IsThreadSafe() const override { return m_Hooks->m_IsThreadSafe; }
        std::unique_ptr<IWorkload> CreateWorkload(const LayerView& layer) const override
        {
            Call(m_Hooks->m_OnCreate, layer);
            return std::make_unique<Workload>(m_Hooks, m_Inner->CreateWorkload(layer));
        }

    private:
        BackendId m_Id;
        std::shared_ptr<const Hooks> m_Hooks;
        std::unique_ptr<IWorkloadFactory> m_Inner;
    };

    BackendId m_Id{"Hook"};
    std::shared_ptr<const Hooks> m_Hooks;
    std::shared_ptr<const IBackend> m_Reference = ref::MakeCpuRefBackend();
};

} // namespace tenon::test
