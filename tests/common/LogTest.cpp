// SPDX-License-Identifier: Apache-2.0
// Logging through the public functions and the internal templates: filter, sinks, threads, misbehaving sinks.
#include "common/Log.hpp"

#include <tenon/Exceptions.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenon::log_test
{
namespace
{

using Messages = std::vector<std::pair<LogSeverity, std::string>>;

class Recorder : public LogSink
{
public:
    void Consume(LogSeverity severity, const std::string& message) override
    {
        messages.emplace_back(severity, message); // no lock: one call at a time is promised
    }

    Messages messages;
};

// Every test begins and ends with the defaults, and with a recorder added.
class LogTest : public testing::Test
{
protected:
    void SetUp() override
    {
        SetAllLoggingSinks(false, false, false);
        AddLogSink(m_Recorder);
    }

    void TearDown() override
    {
        RemoveLogSink(m_Recorder);
        SetAllLoggingSinks(false, true, false);
        SetLogFilter(LogSeverity::Warning);
    }

    std::shared_ptr<Recorder> m_Recorder = std::make_shared<Recorder>();
};

TEST_F(LogTest, DefaultFilterLetsWarningsPass)
{
    EXPECT_EQ(GetLogFilter(), LogSeverity::Warning);
    LogInfo("not {}", "this");
    LogWarning("layer '{}' of {}", "conv1", 3);
    LogMessage(LogSeverity::Debug, "nor this");
    Log(LogSeverity::Error, "{} stays as it is");
    EXPECT_EQ(m_Recorder->messages,
              (Messages{{LogSeverity::Warning, "layer 'conv1' of 3"}, {LogSeverity::Error, "{} stays as it is"}}));
}

TEST_F(LogTest, ASeverityIsLetPassOrDroppedByItself)
{
    EnableLogSeverity(LogSeverity::Info, true);
    EnableLogSeverity(LogSeverity::Error, false);
    EXPECT_TRUE(IsLogSeverityEnabled(LogSeverity::Info) && IsLogSeverityEnabled(LogSeverity::Fatal));
    EXPECT_FALSE(IsLogSeverityEnabled(LogSeverity::Debug) || IsLogSeverityEnabled(LogSeverity::Error));
    LogInfo("passes");
    TENON_LOG(error) << "dropped";
    EXPECT_EQ(m_Recorder->messages, (Messages{{LogSeverity::Info, "passes"}}));
    EXPECT_EQ(GetLogFilter(), LogSeverity::Warning);
    SetLogFilter(LogSeverity::Error); // for all severities anew
    EXPECT_TRUE(IsLogSeverityEnabled(LogSeverity::Error));
    EXPECT_FALSE(IsLogSeverityEnabled(LogSeverity::Info) || IsLogSeverityEnabled(LogSeverity::Warning));
}

TEST_F(LogTest, BuiltInSinksAreMutedForOneSeverity)
{
    SetAllLoggingSinks(false, true, false);
    MuteBuiltInSinks(LogSeverity::Warning);
    testing::internal::CaptureStderr();
    LogWarning("muted");
    Log(LogSeverity::Error, "written");
    SetAllLoggingSinks(false, true, false);
    LogWarning("written again");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "tenon: error: written\ntenon: warning: written again\n");
    EXPECT_EQ(m_Recorder->messages.size(), 3U); // sinks that were added get all
}

/// A sink of whole lines, as Arm NN's are.
class Lines : public LogSink
{
public:
    void Consume(const std::string& message) override { text += message + "\n"; }

    std::string text;
};

TEST_F(LogTest, ASinkMayTakeLines)
{
    const auto lines = std::make_shared<Lines>();
    AddLogSink(lines);
    LogWarning("one");
    Log(LogSeverity::Fatal, "two");
    RemoveLogSink(lines);
    LogWarning("three");
    EXPECT_EQ(lines->text, "Warning: one\nFatal: two\n");
}

TEST_F(LogTest, EverySeverityArrivesAsItself)
{
    SetLogFilter(LogSeverity::Trace);
    Log(LogSeverity::Trace, "t");
    LogDebug("d");
    LogInfo("i");
    LogWarning("w");
    Log(LogSeverity::Error, "e");
    Log(LogSeverity::Fatal, "f");
    TENON_LOG(info) << "streamed " << 7;
    EXPECT_EQ(m_Recorder->messages, (Messages{{LogSeverity::Trace, "t"},
                                              {LogSeverity::Debug, "d"},
                                              {LogSeverity::Info, "i"},
                                              {LogSeverity::Warning, "w"},
                                              {LogSeverity::Error, "e"},
                                              {LogSeverity::Fatal, "f"},
                                              {LogSeverity::Info, "streamed 7"}}));
    SetLogFilter(LogSeverity::Fatal);
    EXPECT_FALSE(IsLogged(LogSeverity::Error));
    EXPECT_TRUE(IsLogged(LogSeverity::Fatal));
}

TEST_F(LogTest, BuiltInSinksAreSwitched)
{
    const auto captured = [](bool out, bool err)
    {
        SetAllLoggingSinks(out, err, true);
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        Log(LogSeverity::Fatal, "text 1");
        std::string fromOut = testing::internal::GetCapturedStdout();
        return std::pair(std::move(fromOut), testing::internal::GetCapturedStderr());
    };
    const std::string line = "tenon: fatal: text 1\n";
    EXPECT_EQ(captured(false, true), std::pair(std::string(), line));
    EXPECT_EQ(captured(true, false), std::pair(line, std::string()));
    EXPECT_EQ(captured(true, true), std::pair(line, line));
    EXPECT_EQ(captured(false, false), std::pair(std::string(), std::string()));
    EXPECT_EQ(m_Recorder->messages.size(), 4u) << "an application's sinks stay whatever the built-in ones do";
}

TEST_F(LogTest, SinksAreAddedOnceAndRemoved)
{
    AddLogSink(m_Recorder);
    Log(LogSeverity::Error, "once");
    EXPECT_EQ(m_Recorder->messages.size(), 1u);
    RemoveLogSink(m_Recorder);
    Log(LogSeverity::Error, "gone");
    EXPECT_EQ(m_Recorder->messages.size(), 1u);
    EXPECT_EQ(m_Recorder.use_count(), 1) << "a removed sink is let go";
    RemoveLogSink(m_Recorder);
    RemoveLogSink(nullptr);
    EXPECT_THROW(AddLogSink(nullptr), NullPointerException);
}

TEST_F(LogTest, MessagesOfManyThreadsArriveOneAtATime)
{
    constexpr int Threads = 4;
    constexpr int Each = 200;
    std::vector<std::thread> threads;
    for (int t = 0; t < Threads; ++t)
    {
        threads.emplace_back(
            [t]
            {
                for (int i = 0; i < Each; ++i)
                {
                    const auto passing = std::make_shared<Recorder>();
                    AddLogSink(passing);
                    LogWarning("{}/{}", t, i);
                    RemoveLogSink(passing);
                    EXPECT_FALSE(passing->messages.empty());
                }
            });
    }
    for (std::thread& thread : threads)
    {
        thread.join();
    }
    EXPECT_EQ(m_Recorder->messages.size(), static_cast<std::size_t>(Threads * Each));
}

TEST_F(LogTest, ThrowingSinkHarmsNobody)
{
    class Thrower : public LogSink
    {
    public:
        void Consume(LogSeverity, const std::string&) override { throw std::runtime_error("disk full"); }
    };
    RemoveLogSink(m_Recorder);
    const auto thrower = std::make_shared<Thrower>();
    AddLogSink(thrower);
    AddLogSink(m_Recorder);
    testing::internal::CaptureStderr();
    EXPECT_NO_THROW(LogMessage(LogSeverity::Error, "kept"));
    EXPECT_NE(testing::internal::GetCapturedStderr().find("a log sink threw"), std::string::npos);
    RemoveLogSink(thrower);
    EXPECT_EQ(m_Recorder->messages, (Messages{{LogSeverity::Error, "kept"}}));
}

TEST_F(LogTest, SinkMayLogAndChangeSinksWhileItConsumes)
{
    class Meddler : public LogSink, public std::enable_shared_from_this<Meddler>
    {
    public:
        void Consume(LogSeverity, const std::string&) override
        {
            ++calls;
            Log(LogSeverity::Error, "about the message");
            RemoveLogSink(shared_from_this());
        }

        int calls = 0;
    };
    const auto meddler = std::make_shared<Meddler>();
    AddLogSink(meddler);
    Log(LogSeverity::Error, "first");
    Log(LogSeverity::Error, "second");
    EXPECT_EQ(meddler->calls, 1);
    EXPECT_EQ(m_Recorder->messages, (Messages{{LogSeverity::Error, "first"}, {LogSeverity::Error, "second"}}));
}

TEST_F(LogTest, FormattingThatThrowsLosesTheMessageOnly)
{
    testing::internal::CaptureStderr();
    LogWarning("{:.{}f}", 1.0, -1); // a precision below zero is only found at run time
    EXPECT_NE(testing::internal::GetCapturedStderr().find("could not be put together"), std::string::npos);
    EXPECT_TRUE(m_Recorder->messages.empty());
}

} // namespace
} // namespace tenon::log_test
