// SPDX-License-Identifier: Apache-2.0
// Logging as an application sees it: severities, sinks, a filter. Messages go to stderr unless told otherwise.
#pragma once

#include <tenon/Export.hpp>

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

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

/// "Trace" to "Fatal".
inline const char* GetLogSeverityAsCString(LogSeverity severity)
{
    switch (severity)
    {
    case LogSeverity::Trace: return "Trace";
    case LogSeverity::Debug: return "Debug";
    case LogSeverity::Info: return "Info";
    case LogSeverity::Warning: return "Warning";
    case LogSeverity::Error: return "Error";
    case LogSeverity::Fatal: return "Fatal";
    }
    return "Log";
}

/// Receives each message that passes the filter. Consume may be called from several threads, one at a time. A sink
/// overrides one of the two methods.
class TENON_API LogSink
{
public:
    virtual ~LogSink();
    /// By default calls the other method with "<severity>: <message>", e.g. "Warning: text".
    virtual void Consume(LogSeverity severity, const std::string& message);
    /// The method of Arm NN's sinks. By default it does nothing.
    virtual void Consume(const std::string& message);
};

/// Messages below `level` are dropped, those of `level` and above pass. The default is Warning.
TENON_API void SetLogFilter(LogSeverity level);
/// The lowest severity that passes, as SetLogFilter set it.
TENON_API LogSeverity GetLogFilter();
/// Lets messages of one severity pass, or drops them, until the next SetLogFilter.
TENON_API void EnableLogSeverity(LogSeverity severity, bool enable);
/// Whether messages of this severity pass.
TENON_API bool IsLogSeverityEnabled(LogSeverity severity);

/// Switches the built-in sinks: standard output, the debugger's output (stderr here). Colour is never written.
TENON_API void SetAllLoggingSinks(bool standardOut, bool debugOut, bool coloured);
/// Keeps messages of one severity from the built-in sinks, until the next SetAllLoggingSinks.
TENON_API void MuteBuiltInSinks(LogSeverity severity);

/// Adds a sink of the application's own. It is kept until RemoveLogSink.
TENON_API void AddLogSink(std::shared_ptr<LogSink> sink);
TENON_API void RemoveLogSink(const std::shared_ptr<LogSink>& sink);

/// Writes one message through the sinks.
TENON_API void LogMessage(LogSeverity severity, const std::string& message);

/// Collects one message by `<<` and writes it when destroyed. TENON_LOG makes objects of this class.
class ScopedRecord
{
public:
    explicit ScopedRecord(LogSeverity severity) : m_Severity(severity), m_Enabled(IsLogSeverityEnabled(severity)) {}
    /// Writes to these sinks alone, which must outlive the record; null ones are skipped.
    ScopedRecord(const std::vector<std::shared_ptr<LogSink>>& sinks, LogSeverity level, bool enabled)
        : m_Sinks(&sinks), m_Severity(level), m_Enabled(enabled)
    {
    }
    /// The other record then writes nothing.
    ScopedRecord(ScopedRecord&& other)
        : m_Sinks(other.m_Sinks), m_Severity(other.m_Severity), m_Enabled(other.m_Enabled),
          m_Stream(std::move(other.m_Stream))
    {
        other.m_Enabled = false;
    }
    ~ScopedRecord()
    {
        if (m_Enabled && m_Sinks == nullptr)
        {
            LogMessage(m_Severity, m_Stream.str());
        }
        else if (m_Enabled)
        {
            for (const std::shared_ptr<LogSink>& sink : *m_Sinks)
            {
                try
                {
                    if (sink != nullptr)
                    {
                        sink->Consume(m_Severity, m_Stream.str());
                    }
                }
                catch (...) // NOLINT: a destructor cannot tell, and the other sinks get the message
                {
                }
            }
        }
    }
    ScopedRecord& operator=(ScopedRecord&&) = delete;

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
    const std::vector<std::shared_ptr<LogSink>>* m_Sinks = nullptr; ///< null: those of the library
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
