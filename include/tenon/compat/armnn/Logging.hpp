// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: logging. A logger for each severity gives messages to sinks of its own.
#pragma once

#include <tenon/Exceptions.hpp>
#include <tenon/Logging.hpp>

#include <algorithm>
#include <armnn/Exceptions.hpp>
#include <armnn/Namespace.hpp>
#include <armnn/Utils.hpp>
#include <cctype>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{

inline std::string LevelToString(LogSeverity level)
{
    return GetLogSeverityAsCString(level);
}

/// The severity of that name, in upper or lower case. Throws InvalidArgumentException for another name.
inline LogSeverity StringToLogLevel(std::string level)
{
    std::transform(level.begin(), level.end(), level.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const char* const names[] = {"trace", "debug", "info", "warning", "error", "fatal"};
    for (int i = 0; i < 6; ++i)
    {
        if (level == names[i])
        {
            return static_cast<LogSeverity>(i);
        }
    }
    throw InvalidArgumentException("'" + level + "' is no severity of log messages; there are trace, debug, info, " +
                                   "warning, error and fatal");
}

/// Writes each message as a line to standard output.
class StandardOutputSink : public LogSink
{
public:
    using LogSink::Consume;
    void Consume(const std::string& message) override { std::cout << message << std::endl; }
};

/// The logger of one severity. The one of Get() is the library's: it gives messages of this severity, be they the
/// library's or of ARMNN_LOG, to the sinks that are added here as "<severity>: <message>", and to the library's other
/// sinks. One that a program makes has sinks of its own, standard output at first, for the messages that
/// StartNewRecord() collects. A logger is set up by one thread at a time.
template <LogSeverity Level>
class SimpleLogger
{
public:
    SimpleLogger() : m_Sinks{std::make_shared<StandardOutputSink>()} {}

    static SimpleLogger& Get()
    {
        static SimpleLogger logger{IsLibrarys()};
        return logger;
    }

    /// Lets messages pass or drops them; SetLogFilter() does so for all severities.
    void Enable(bool enable = true)
    {
        m_Enabled = enable;
        if (m_IsLibrarys)
        {
            EnableLogSeverity(Level, enable);
        }
    }

    ScopedRecord StartNewRecord()
    {
        return m_IsLibrarys ? ScopedRecord(Level) : ScopedRecord(m_Sinks, Level, m_Enabled);
    }

    /// Removes the sinks that AddSink added, and the built-in ones until the next SetAllLoggingSinks().
    void RemoveAllSinks()
    {
        if (m_IsLibrarys)
        {
            for (const std::shared_ptr<LogSink>& sink : m_Sinks)
            {
                RemoveLogSink(sink);
            }
            MuteBuiltInSinks(Level);
        }
        m_Sinks.clear();
    }

    /// Throws NullPointerException for no sink.
    void AddSink(std::shared_ptr<LogSink> sink)
    {
        if (m_IsLibrarys)
        {
            ConditionalThrow<NullPointerException>(sink != nullptr, "SimpleLogger::AddSink: the sink is null");
            sink = std::make_shared<OfSeverity>(std::move(sink));
            AddLogSink(sink);
        }
        m_Sinks.push_back(std::move(sink));
    }

private:
    struct IsLibrarys
    {
    };
    explicit SimpleLogger(IsLibrarys) : m_IsLibrarys(true) {}

    /// Passes on messages of this severity alone.
    class OfSeverity : public LogSink
    {
    public:
        explicit OfSeverity(std::shared_ptr<LogSink> target) : m_Target(std::move(target)) {}
        using LogSink::Consume;
        void Consume(LogSeverity severity, const std::string& message) override
        {
            if (severity == Level)
            {
                m_Target->Consume(severity, message);
            }
        }

    private:
        std::shared_ptr<LogSink> m_Target;
    };

    std::vector<std::shared_ptr<LogSink>> m_Sinks; ///< of the library's logger: the sinks that AddSink added
    bool m_Enabled = true;
    bool m_IsLibrarys = false;
};

/// The names that ARMNN_LOG takes.
enum class BoostLogSeverityMapping
{
    trace,
    debug,
    info,
    warning,
    error,
    fatal
};

constexpr LogSeverity ConvertLogSeverity(BoostLogSeverityMapping severity)
{
    return static_cast<LogSeverity>(severity);
}

} // namespace tenon

/// ARMNN_LOG(info) << "text";  severities: trace debug info warning error fatal
#define ARMNN_LOG(severity) TENON_LOG(severity)
