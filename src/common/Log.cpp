// SPDX-License-Identifier: Apache-2.0
// The one file that knows spdlog: the functions of <tenon/Logging.hpp> for applications and those of common/Log.hpp for
// Tenon itself. One spdlog logger of our own, not in spdlog's registry, so an application's use of spdlog stays
// untouched.
#include "common/Log.hpp"

#include <tenon/Exceptions.hpp>

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tenon
{
namespace
{

/// The bit of a severity in a set of them.
constexpr unsigned int BitOf(LogSeverity severity) noexcept
{
    return 1U << static_cast<unsigned int>(severity);
}

/// This severity and all above.
constexpr unsigned int From(LogSeverity severity) noexcept
{
    return ~(BitOf(severity) - 1U);
}

// Constant-initialized: good before main, and after.
std::atomic<LogSeverity> g_Filter{LogSeverity::Warning};
std::atomic<unsigned int> g_Enabled{From(LogSeverity::Warning)}; // severities that pass

spdlog::level::level_enum ToSpdlog(LogSeverity severity) noexcept
{
    switch (severity)
    {
    case LogSeverity::Trace: return spdlog::level::trace;
    case LogSeverity::Debug: return spdlog::level::debug;
    case LogSeverity::Info: return spdlog::level::info;
    case LogSeverity::Warning: return spdlog::level::warn;
    case LogSeverity::Error: return spdlog::level::err;
    case LogSeverity::Fatal: break;
    }
    return spdlog::level::critical;
}

LogSeverity FromSpdlog(spdlog::level::level_enum level) noexcept
{
    switch (level)
    {
    case spdlog::level::trace: return LogSeverity::Trace;
    case spdlog::level::debug: return LogSeverity::Debug;
    case spdlog::level::info: return LogSeverity::Info;
    case spdlog::level::warn: return LogSeverity::Warning;
    case spdlog::level::err: return LogSeverity::Error;
    default: return LogSeverity::Fatal;
    }
}

// Writes the severity's own name in a line: spdlog calls our fatal "critical".
class SeverityFlag final : public spdlog::custom_flag_formatter
{
public:
    void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& out) override
    {
        static constexpr std::string_view Names[] = {"trace", "debug", "info", "warning", "error", "fatal"};
        const std::string_view name = Names[static_cast<std::size_t>(FromSpdlog(message.level))];
        out.append(name.data(), name.data() + name.size());
    }
    std::unique_ptr<spdlog::custom_flag_formatter> clone() const override { return std::make_unique<SeverityFlag>(); }
};

// "tenon: warning: text"
spdlog::sink_ptr WithLineFormat(spdlog::sink_ptr sink)
{
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<SeverityFlag>('*').set_pattern("tenon: %*: %v");
    sink->set_formatter(std::move(formatter));
    return sink;
}

// Hands each message to all sinks, one message at a time. A sink may add and remove sinks while it consumes (hence the
// recursive mutex and the copied list); messages that it logs itself are dropped, as they would come back to it for
// ever.
class FanOut final : public spdlog::sinks::sink
{
public:
    FanOut() : m_BuiltIn{WithLineFormat(std::make_shared<spdlog::sinks::stderr_sink_mt>())} {}

    void log(const spdlog::details::log_msg& message) override
    {
        const std::lock_guard lock(m_Mutex);
        if (m_Delivering)
        {
            return;
        }
        const std::vector<spdlog::sink_ptr> builtIn = m_BuiltIn;
        const std::vector<std::shared_ptr<LogSink>> added = m_Added;
        struct Delivering
        {
            bool& flag;
            explicit Delivering(bool& f) : flag(f) { flag = true; }
            ~Delivering() { flag = false; }
        } const delivering(m_Delivering);
        if ((m_Muted & BitOf(FromSpdlog(message.level))) == 0)
        {
            for (const spdlog::sink_ptr& target : builtIn)
            {
                Deliver([&] { target->log(message); });
            }
        }
        const std::string text(message.payload.data(), message.payload.size());
        for (const std::shared_ptr<LogSink>& target : added)
        {
            Deliver([&] { target->Consume(FromSpdlog(message.level), text); });
        }
    }

    void flush() override {} // the built-in sinks flush after each message
    void set_pattern(const std::string&) override {}
    void set_formatter(std::unique_ptr<spdlog::formatter>) override {}

    void SetBuiltIn(std::vector<spdlog::sink_ptr> sinks)
    {
        const std::lock_guard lock(m_Mutex);
        m_BuiltIn = std::move(sinks);
        m_Muted = 0;
    }

    void Mute(LogSeverity severity)
    {
        const std::lock_guard lock(m_Mutex);
        m_Muted |= BitOf(severity);
    }

    void Add(std::shared_ptr<LogSink> target)
    {
        const std::lock_guard lock(m_Mutex);
        if (std::find(m_Added.begin(), m_Added.end(), target) == m_Added.end())
        {
            m_Added.push_back(std::move(target));
        }
    }

    // Once this returns, the sink is not called again; but for the case that it removes itself while it consumes.
    void Remove(const std::shared_ptr<LogSink>& target)
    {
        const std::lock_guard lock(m_Mutex);
        m_Added.erase(std::remove(m_Added.begin(), m_Added.end(), target), m_Added.end());
    }

private:
    // One sink's failure must neither keep the message from the others nor reach whoever logs.
    template <typename Call>
    static void Deliver(Call call) noexcept
    {
        try
        {
            call();
        }
        catch (...)
        {
            std::fputs("tenon: error: a log sink threw an exception; its message is lost\n", stderr);
        }
    }

    std::recursive_mutex m_Mutex;
    bool m_Delivering = false;
    unsigned int m_Muted = 0; ///< severities that do not go to the built-in sinks
    std::vector<spdlog::sink_ptr> m_BuiltIn;
    std::vector<std::shared_ptr<LogSink>> m_Added;
};

struct Logger
{
    std::shared_ptr<FanOut> sinks = std::make_shared<FanOut>();
    spdlog::logger logger{"tenon", sinks};

    Logger() { logger.set_level(spdlog::level::trace); } // g_Filter decides
};

// Never destroyed: destructors of an application's static objects may still log.
Logger& TheLogger()
{
    static Logger& logger = *new Logger;
    return logger;
}

void WriteUnfiltered(LogSeverity severity, std::string_view message)
{
    TheLogger().logger.log(ToSpdlog(severity), spdlog::string_view_t(message.data(), message.size()));
}

} // namespace

LogSink::~LogSink() = default;

void LogSink::Consume(LogSeverity severity, const std::string& message)
{
    Consume(std::string(GetLogSeverityAsCString(severity)) + ": " + message);
}

void LogSink::Consume(const std::string& /*message*/) {}

void SetLogFilter(LogSeverity level)
{
    g_Filter.store(level, std::memory_order_relaxed);
    g_Enabled.store(From(level), std::memory_order_relaxed);
}

void EnableLogSeverity(LogSeverity severity, bool enable)
{
    if (enable)
    {
        g_Enabled.fetch_or(BitOf(severity), std::memory_order_relaxed);
    }
    else
    {
        g_Enabled.fetch_and(~BitOf(severity), std::memory_order_relaxed);
    }
}

bool IsLogSeverityEnabled(LogSeverity severity)
{
    return IsLogged(severity);
}

void MuteBuiltInSinks(LogSeverity severity)
{
    TheLogger().sinks->Mute(severity);
}

LogSeverity GetLogFilter()
{
    return g_Filter.load(std::memory_order_relaxed);
}

void SetAllLoggingSinks(bool standardOut, bool debugOut,
                        bool /*coloured: kept for callers' sake, no sink writes colours*/)
{
    std::vector<spdlog::sink_ptr> sinks;
    if (standardOut)
    {
        sinks.push_back(WithLineFormat(std::make_shared<spdlog::sinks::stdout_sink_mt>()));
    }
    if (debugOut)
    {
        sinks.push_back(WithLineFormat(std::make_shared<spdlog::sinks::stderr_sink_mt>()));
    }
    TheLogger().sinks->SetBuiltIn(std::move(sinks));
}

void AddLogSink(std::shared_ptr<LogSink> sink)
{
    if (sink == nullptr)
    {
        throw NullPointerException("AddLogSink: the sink is null");
    }
    TheLogger().sinks->Add(std::move(sink));
}

void RemoveLogSink(const std::shared_ptr<LogSink>& sink)
{
    TheLogger().sinks->Remove(sink);
}

void LogMessage(LogSeverity severity, const std::string& message)
{
    Log(severity, message);
}

bool IsLogged(LogSeverity severity) noexcept
{
    return (g_Enabled.load(std::memory_order_relaxed) & BitOf(severity)) != 0;
}

void Log(LogSeverity severity, std::string_view message) noexcept
{
    if (!IsLogged(severity))
    {
        return;
    }
    try
    {
        WriteUnfiltered(severity, message);
    }
    catch (...)
    {
        std::fputs("tenon: error: out of memory while logging; a message is lost\n", stderr);
    }
}

void LogFormatted(LogSeverity severity, fmt::string_view format, fmt::format_args args) noexcept
{
    if (!IsLogged(severity))
    {
        return;
    }
    try
    {
        WriteUnfiltered(severity, fmt::vformat(format, args));
    }
    catch (...)
    {
        std::fputs("tenon: error: a log message could not be put together\n", stderr);
    }
}

} // namespace tenon
