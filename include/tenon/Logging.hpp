// SPDX-License-Identifier: Apache-2.0
// Logging as an application sees it: severities, sinks, a filter. Messages go to stderr unless told otherwise.
#pragma once

#include <tenon/Export.hpp>

#include <memory>
#include <sstream>
#include <string>

namespace tenon
{

enum class LogSeverity
{
    Trace,
    Debug,
    Info,
    Warning,
    Error,
    Fatal
};

/// Receives each message that passes the filter. Consume may be called from several threads, one at a time.
class TENON_API LogSink
{
public:
    virtual ~LogSink();
    virtual void Consume(LogSeverity severity, const std::string& message) = 0;
};

/// Messages below `level` are dropped. The default is Warning.
TENON_API void SetLogFilter(LogSeverity level);
TENON_API LogSeverity GetLogFilter();

/// Switches the built-in sinks: standard output, the debugger's output (stderr here). Colour is never written.
TENON_API void SetAllLoggingSinks(bool standardOut, bool debugOut, bool coloured);

/// Adds a sink of the application's own. It is kept until RemoveLogSink.
TENON_API void AddLogSink(std::shared_ptr<LogSink> sink);
TENON_API void RemoveLogSink(const std::shared_ptr<LogSink>& sink);

/// Writes one message through the sinks.
TENON_API void LogMessage(LogSeverity severity, const std::string& message);

/// Collects one message by `<<` and writes it when destroyed; what TENON_LOG makes.
class ScopedRecord
{
public:
    explicit ScopedRecord(LogSeverity severity) : m_Severity(severity), m_Enabled(severity >= GetLogFilter()) {}
    ~ScopedRecord()
    {
        if (m_Enabled)
        {
            LogMessage(m_Severity, m_Stream.str());
        }
    }
    ScopedRecord(const ScopedRecord&) = delete;
    ScopedRecord& operator=(const ScopedRecord&) = delete;

    template <typename Streamable>
    ScopedRecord& operator<<(const Streamable& value)
    {
        if (m_Enabled)
        {
            m_Stream << value;
        }
        return *this;
    }

private:
    LogSeverity m_Severity;
    bool m_Enabled;
    std::ostringstream m_Stream;
};

namespace detail
{
// The names that TENON_LOG(severity) takes, as Arm NN's ARMNN_LOG does.
constexpr LogSeverity trace = LogSeverity::Trace;
constexpr LogSeverity debug = LogSeverity::Debug;
constexpr LogSeverity info = LogSeverity::Info;
constexpr LogSeverity warning = LogSeverity::Warning;
constexpr LogSeverity error = LogSeverity::Error;
constexpr LogSeverity fatal = LogSeverity::Fatal;
} // namespace detail

} // namespace tenon

/// TENON_LOG(info) << "text";  severities: trace debug info warning error fatal
#define TENON_LOG(severity) ::tenon::ScopedRecord(::tenon::detail::severity)
