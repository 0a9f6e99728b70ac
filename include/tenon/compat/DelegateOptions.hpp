// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: the options of its TensorFlow Lite delegate. It brings along what Arm NN's header of
// this name brings along.
#pragma once

#include <tenon/delegate/Delegate.hpp>

#include <armnn/ArmNN.hpp>
#include <armnn/BackendId.hpp>
#include <armnn/Logging.hpp>
#include <armnn/Optional.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace armnnDelegate
{

/// Without backends it is CpuRef, as Arm NN has it; tenon::TfLiteDelegateOptions has CpuAcc before it.
class DelegateOptions
{
public:
    using BackendIds = std::vector<tenon::BackendId>;
    using ExternalProfilingOptions = tenon::IRuntime::CreationOptions::ExternalProfilingOptions;

    DelegateOptions()
    {
        m_Options.m_Backends = {tenon::Compute::CpuRef};
        m_Options.m_ProfilingDetails = tenon::ProfilingDetailsMethod::DetailsWithEvents;
    }
    /// `backendOptions` are those of the runtime; options of a network are in OptimizerOptionsOpaque.
    DelegateOptions(tenon::Compute computeDevice, const std::vector<tenon::BackendOptions>& backendOptions = {},
                    tenon::Optional<tenon::LogSeverity> logSeverityLevel = tenon::EmptyOptional())
        : DelegateOptions(BackendIds{computeDevice}, backendOptions, logSeverityLevel)
    {
    }
    DelegateOptions(const BackendIds& backends, const std::vector<tenon::BackendOptions>& backendOptions = {},
                    tenon::Optional<tenon::LogSeverity> logSeverityLevel = tenon::EmptyOptional())
        : DelegateOptions()
    {
        m_Options.m_Backends = backends;
        m_Options.m_RuntimeOptions.m_BackendOptions = backendOptions;
        m_Options.m_LoggingSeverity = logSeverityLevel;
    }
    DelegateOptions(tenon::Compute computeDevice, const tenon::OptimizerOptionsOpaque& optimizerOptions,
                    const tenon::Optional<tenon::LogSeverity>& logSeverityLevel = tenon::EmptyOptional(),
                    const tenon::Optional<tenon::DebugCallbackFunction>& func = tenon::EmptyOptional())
        : DelegateOptions(BackendIds{computeDevice}, optimizerOptions, logSeverityLevel, func)
    {
    }
    DelegateOptions(const BackendIds& backends, const tenon::OptimizerOptionsOpaque& optimizerOptions,
                    const tenon::Optional<tenon::LogSeverity>& logSeverityLevel = tenon::EmptyOptional(),
                    const tenon::Optional<tenon::DebugCallbackFunction>& func = tenon::EmptyOptional())
        : DelegateOptions()
    {
        m_Options.m_Backends = backends;
        m_Options.m_OptimizerOptions = optimizerOptions;
        m_Options.m_LoggingSeverity = logSeverityLevel;
        SetDebugCallbackFunction(func);
    }
    /// As TfLiteDelegateOptions::Parse: backends are CpuAcc and CpuRef where they are not named. Errors are thrown, and
    /// not reported, as of Arm NN.
    DelegateOptions(const char* const* optionKeys, const char* const* optionValues, size_t numOptions,
                    void (* /*reportError*/)(const char*))
        : m_Options(tenon::TfLiteDelegateOptions::Parse(optionKeys, optionValues, numOptions))
    {
    }

    const BackendIds& GetBackends() const { return m_Options.m_Backends; }
    void SetBackends(const BackendIds& backends) { m_Options.m_Backends = backends; }

    void SetDynamicBackendsPath(const std::string& path) { m_Options.m_RuntimeOptions.m_DynamicBackendsPath = path; }
    const std::string& GetDynamicBackendsPath() const { return m_Options.m_RuntimeOptions.m_DynamicBackendsPath; }

    void SetGpuProfilingState(bool state) { m_Options.m_RuntimeOptions.m_EnableGpuProfiling = state; }
    bool GetGpuProfilingState() { return m_Options.m_RuntimeOptions.m_EnableGpuProfiling; }

    const std::vector<tenon::BackendOptions>& GetBackendOptions() const
    {
        return m_Options.m_RuntimeOptions.m_BackendOptions;
    }
    void AddBackendOption(const tenon::BackendOptions& option)
    {
        m_Options.m_RuntimeOptions.m_BackendOptions.push_back(option);
    }

    void SetLoggingSeverity(const tenon::LogSeverity& level) { m_Options.m_LoggingSeverity = level; }
    /// Throws InvalidArgumentException for a name that is none.
    void SetLoggingSeverity(const std::string& level) { m_Options.m_LoggingSeverity = tenon::StringToLogLevel(level); }
    /// Throws BadOptionalAccessException unless IsLoggingEnabled().
    tenon::LogSeverity GetLoggingSeverity() { return m_Options.m_LoggingSeverity.value(); }
    bool IsLoggingEnabled() { return m_Options.m_LoggingSeverity.has_value(); }

    const tenon::OptimizerOptionsOpaque& GetOptimizerOptions() const { return m_Options.m_OptimizerOptions; }
    void SetOptimizerOptions(const tenon::OptimizerOptionsOpaque& options) { m_Options.m_OptimizerOptions = options; }

    const tenon::Optional<tenon::DebugCallbackFunction>& GetDebugCallbackFunction() const { return m_DebugCallback; }
    void SetDebugCallbackFunction(const tenon::Optional<tenon::DebugCallbackFunction>& func)
    {
        m_DebugCallback = func;
        m_Options.m_DebugCallback = func.has_value() ? func.value() : tenon::DebugCallbackFunction();
    }

    void SetInternalProfilingParams(bool state, const tenon::ProfilingDetailsMethod& detail)
    {
        m_Options.m_ProfilingEnabled = state;
        m_Options.m_ProfilingDetails = detail;
    }
    bool GetInternalProfilingState() const { return m_Options.m_ProfilingEnabled; }
    const tenon::ProfilingDetailsMethod& GetInternalProfilingDetail() const { return m_Options.m_ProfilingDetails; }

    void SetExternalProfilingParams(const ExternalProfilingOptions& options)
    {
        m_Options.m_RuntimeOptions.m_ProfilingOptions = options;
    }
    const ExternalProfilingOptions& GetExternalProfilingParams() const
    {
        return m_Options.m_RuntimeOptions.m_ProfilingOptions;
    }

    void SetSerializeToDot(const std::string& file) { m_Options.m_SerializeToDot = file; }
    const std::string& GetSerializeToDot() const { return m_Options.m_SerializeToDot; }

    /// Replaces what SetDynamicBackendsPath, SetGpuProfilingState, AddBackendOption and SetExternalProfilingParams set.
    void SetRuntimeOptions(const tenon::IRuntime::CreationOptions& options) { m_Options.m_RuntimeOptions = options; }
    const tenon::IRuntime::CreationOptions& GetRuntimeOptions() { return m_Options.m_RuntimeOptions; }

    /// True: a node that is left to TensorFlow Lite is an error.
    void DisableTfLiteRuntimeFallback(bool isDisabled) { m_Options.m_DisableFallback = isDisabled; }
    bool TfLiteRuntimeFallbackDisabled() { return m_Options.m_DisableFallback; }

    /// The same as Tenon's own (Tenon).
    const tenon::TfLiteDelegateOptions& GetTenonOptions() const { return m_Options; }

private:
    tenon::TfLiteDelegateOptions m_Options;
    tenon::Optional<tenon::DebugCallbackFunction> m_DebugCallback;
};

} // namespace armnnDelegate
