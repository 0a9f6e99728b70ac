// SPDX-License-Identifier: Apache-2.0
// Names that armnn/Logging.hpp, Exceptions.hpp and Optional.hpp have for programs written for Arm NN.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/Exceptions.hpp>
#include <armnn/Logging.hpp>
#include <armnn/Optional.hpp>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

namespace
{

using namespace armnn;
using testing::ElementsAre;
using testing::HasSubstr;

/// A sink as programs for Arm NN write it.
class Recorder : public LogSink
{
public:
    void Consume(const std::string& s) override { m_Lines.push_back(s); }

    std::vector<std::string> m_Lines;
};

/// Each test begins and ends with the defaults.
class ArmnnLogging : public testing::Test
{
protected:
    void SetUp() override { SetAllLoggingSinks(false, false, false); }
    void TearDown() override
    {
        SimpleLogger<LogSeverity::Info>::Get().RemoveAllSinks();
        SimpleLogger<LogSeverity::Warning>::Get().RemoveAllSinks();
        SetAllLoggingSinks(false, true, false);
        SetLogFilter(LogSeverity::Warning);
    }

    std::shared_ptr<Recorder> m_Recorder = std::make_shared<Recorder>();
};

TEST_F(ArmnnLogging, SinksOfALoggerGetItsSeverityAlone)
{
    SimpleLogger<LogSeverity::Info>::Get().AddSink(m_Recorder);
    SetLogFilter(LogSeverity::Debug);
    ARMNN_LOG(info) << "one " << 1;
    ARMNN_LOG(warning) << "not this";
    SimpleLogger<LogSeverity::Info>::Get().StartNewRecord() << "two";
    EXPECT_THAT(m_Recorder->m_Lines, ElementsAre("Info: one 1", "Info: two"));

    SimpleLogger<LogSeverity::Info>::Get().RemoveAllSinks();
    ARMNN_LOG(info) << "three";
    EXPECT_EQ(m_Recorder->m_Lines.size(), 2U);
    EXPECT_THROW(SimpleLogger<LogSeverity::Info>::Get().AddSink(nullptr), NullPointerException);
}

TEST_F(ArmnnLogging, EachSeverityIsEnabledByItself)
{
    SimpleLogger<LogSeverity::Info>::Get().AddSink(m_Recorder);
    SimpleLogger<LogSeverity::Warning>::Get().AddSink(m_Recorder);
    SetLogFilter(LogSeverity::Warning);
    SimpleLogger<LogSeverity::Info>::Get().Enable();
    SimpleLogger<LogSeverity::Warning>::Get().Enable(false);
    ARMNN_LOG(info) << "info";
    ARMNN_LOG(warning) << "warning";
    EXPECT_THAT(m_Recorder->m_Lines, ElementsAre("Info: info"));
    SetLogFilter(LogSeverity::Warning);
    ARMNN_LOG(info) << "info";
    ARMNN_LOG(warning) << "warning";
    EXPECT_THAT(m_Recorder->m_Lines, ElementsAre("Info: info", "Warning: warning"));
}

TEST_F(ArmnnLogging, BuiltInSinksAreRemovedForOneSeverity)
{
    SetAllLoggingSinks(false, true, false);
    SimpleLogger<LogSeverity::Warning>::Get().RemoveAllSinks();
    testing::internal::CaptureStderr();
    ARMNN_LOG(warning) << "kept away";
    ARMNN_LOG(error) << "seen";
    const std::string written = testing::internal::GetCapturedStderr();
    EXPECT_THAT(written, HasSubstr("seen"));
    EXPECT_THAT(written, testing::Not(HasSubstr("kept away")));
    SetAllLoggingSinks(false, true, false);
    testing::internal::CaptureStderr();
    ARMNN_LOG(warning) << "seen again";
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("seen again"));
}

TEST_F(ArmnnLogging, ALoggerOfAProgramHasItsOwnSinks)
{
    SimpleLogger<LogSeverity::Error> logger;
    testing::internal::CaptureStdout();
    logger.StartNewRecord() << "to standard output";
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "Error: to standard output\n");
    logger.RemoveAllSinks();
    logger.AddSink(m_Recorder);
    logger.StartNewRecord() << "recorded";
    ARMNN_LOG(error) << "not this";
    logger.Enable(false);
    logger.StartNewRecord() << "nor this";
    EXPECT_THAT(m_Recorder->m_Lines, ElementsAre("Error: recorded"));
    testing::internal::CaptureStdout();
    StandardOutputSink().Consume("a line");
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "a line\n");
}

TEST_F(ArmnnLogging, ARecordGoesToTheSinksThatItIsGiven)
{
    const std::vector<std::shared_ptr<LogSink>> sinks = {nullptr, m_Recorder};
    {
        ScopedRecord record(sinks, LogSeverity::Fatal, true);
        record << "moved ";
        ScopedRecord other(std::move(record));
        other << 5;
        ScopedRecord(sinks, LogSeverity::Fatal, false) << "dropped";
    }
    EXPECT_THAT(m_Recorder->m_Lines, ElementsAre("Fatal: moved 5"));
}

TEST_F(ArmnnLogging, SeveritiesHaveNames)
{
    EXPECT_EQ(StringToLogLevel("WARNING"), LogSeverity::Warning);
    EXPECT_EQ(StringToLogLevel("fatal"), LogSeverity::Fatal);
    EXPECT_THROW(StringToLogLevel("loud"), Exception);
    EXPECT_EQ(LevelToString(LogSeverity::Trace), "Trace");
    EXPECT_EQ(LevelToString(static_cast<LogSeverity>(9)), "Log");
    static_assert(ConvertLogSeverity(BoostLogSeverityMapping::error) == LogSeverity::Error, "");
}

TEST(ArmnnExceptions, HaveLocationsAndContext)
{
    const CheckLocation here("F", "a.cpp", 7);
    EXPECT_EQ(here.AsString(), " at function F [a.cpp:7]");
    EXPECT_EQ(here.FileLine(), " [a.cpp:7]");
    EXPECT_STREQ(RuntimeException("inner", here).what(), "inner at function F [a.cpp:7]");
    EXPECT_STREQ(RuntimeException(ParseException("inner"), "outer", here).what(),
                 "inner\nouter at function F [a.cpp:7]");
    EXPECT_THAT(Exception("x", CHECK_LOCATION()).what(), HasSubstr("LoggingTest.cpp"));
    EXPECT_STRNE(UnimplementedException().what(), "");
}

TEST(ArmnnExceptions, AreThrownWhereAConditionDoesNotHold)
{
    ConditionalThrow<ParseException>(true, "fine");
    ConditionalThrowIfNotEqual<ParseException>("equal", 3, 3);
    EXPECT_THROW(ConditionalThrow<ParseException>(false, "text"), ParseException);
    EXPECT_THROW(ConditionalThrow<UnimplementedException>(false), UnimplementedException);
    EXPECT_THROW(ConditionalThrow<NullPointerException>(false), NullPointerException);
    EXPECT_THROW(ConditionalThrow<std::bad_cast>(false), std::bad_cast);
    try
    {
        ConditionalThrowIfNotEqual<GraphValidationException>("sizes", 3, 4);
        FAIL();
    }
    catch (const GraphValidationException& error)
    {
        EXPECT_STREQ(error.what(), "sizes : 3 != 4");
    }
}

TEST(ArmnnOptional, IsMadeOfBases)
{
    Optional<int> number(CONSTRUCT_IN_PLACE, 4);
    const OptionalBase& base = number;
    EXPECT_TRUE(base.has_value() && static_cast<bool>(base));
    const OptionalReferenceSwitch<false, int>& held = number;
    EXPECT_EQ(held.value(), 4);
    number = EmptyOptional();
    EXPECT_FALSE(base.has_value());
    EXPECT_THROW(held.value(), BadOptionalAccessException);
    std::string text = "a";
    OptionalReferenceSwitch<true, std::string&> reference(text);
    reference.value() += "b";
    EXPECT_EQ(text, "ab");
    reference.reset();
    EXPECT_THROW(reference.value(), BadOptionalAccessException);
    const Optional<std::string> copied = OptionalReferenceSwitch<false, std::string>("c");
    EXPECT_EQ(copied.value(), "c");
}

} // namespace
