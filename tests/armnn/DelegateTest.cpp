// SPDX-License-Identifier: Apache-2.0
// The TensorFlow Lite delegate by Arm NN's names, as programs use it that link libarmnnDelegate.so: options that are
// set, options as texts, delegates that are made and deleted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <armnn/ArmNN.hpp>
#include <armnn_delegate.hpp>
#include <memory>
#include <string>
#include <vector>

namespace
{

using armnnDelegate::DelegateOptions;
using BackendIds = std::vector<armnn::BackendId>;

TEST(Delegate, IsMadeAndDeletedAsArmNNsGuideHasIt)
{
    std::vector<armnn::BackendId> backends = {armnn::Compute::CpuAcc, armnn::Compute::CpuRef};
    armnnDelegate::DelegateOptions delegateOptions(backends);
    std::unique_ptr<TfLiteDelegate, decltype(&armnnDelegate::TfLiteArmnnDelegateDelete)> theArmnnDelegate(
        armnnDelegate::TfLiteArmnnDelegateCreate(delegateOptions), armnnDelegate::TfLiteArmnnDelegateDelete);
    EXPECT_NE(theArmnnDelegate, nullptr);
    TfLiteDelegate* const second =
        armnnDelegate::TfLiteArmnnDelegateCreate(armnnDelegate::TfLiteArmnnDelegateOptionsDefault());
    EXPECT_NE(second, nullptr);
    armnnDelegate::TfLiteArmnnDelegateDelete(second);
    armnnDelegate::TfLiteArmnnDelegateDelete(nullptr);
}

TEST(Delegate, NoBackendIsAnError)
{
    const DelegateOptions options(BackendIds{"VsiNpu"});
    EXPECT_THROW(armnnDelegate::TfLiteArmnnDelegateCreate(options), armnn::InvalidArgumentException);
}

TEST(DelegateOptions, DefaultsAreArmNNs)
{
    for (DelegateOptions options : {DelegateOptions(), armnnDelegate::TfLiteArmnnDelegateOptionsDefault()})
    {
        EXPECT_EQ(options.GetBackends(), BackendIds{armnn::Compute::CpuRef});
        EXPECT_FALSE(options.IsLoggingEnabled());
        EXPECT_THROW(options.GetLoggingSeverity(), armnn::BadOptionalAccessException);
        EXPECT_FALSE(options.GetDebugCallbackFunction().has_value());
        EXPECT_FALSE(options.GetInternalProfilingState());
        EXPECT_EQ(options.GetInternalProfilingDetail(), armnn::ProfilingDetailsMethod::DetailsWithEvents);
        EXPECT_FALSE(options.TfLiteRuntimeFallbackDisabled());
        EXPECT_FALSE(options.GetGpuProfilingState());
        EXPECT_TRUE(options.GetBackendOptions().empty());
        EXPECT_TRUE(options.GetDynamicBackendsPath().empty());
        EXPECT_TRUE(options.GetSerializeToDot().empty());
    }
}

TEST(DelegateOptions, ConstructorsTakeBackendsWithOptions)
{
    const std::vector<armnn::BackendOptions> tuning = {armnn::BackendOptions("GpuAcc", {{"TuningLevel", 2}})};
    DelegateOptions one(armnn::Compute::CpuAcc, tuning, armnn::LogSeverity::Info);
    EXPECT_EQ(one.GetBackends(), BackendIds{"CpuAcc"});
    ASSERT_EQ(one.GetBackendOptions().size(), 1U);
    EXPECT_EQ(one.GetBackendOptions()[0].GetOption(0).GetName(), "TuningLevel");
    EXPECT_EQ(one.GetLoggingSeverity(), armnn::LogSeverity::Info);

    armnn::OptimizerOptionsOpaque optimizer;
    optimizer.SetReduceFp32ToFp16(true);
    const armnn::DebugCallbackFunction callback = [](armnn::LayerGuid, unsigned int, armnn::ITensorHandle*) {};
    DelegateOptions many(BackendIds{"CpuAcc", "CpuRef"}, optimizer, armnn::LogSeverity::Error, callback);
    EXPECT_EQ(many.GetBackends(), (BackendIds{"CpuAcc", "CpuRef"}));
    EXPECT_TRUE(many.GetOptimizerOptions().GetReduceFp32ToFp16());
    EXPECT_EQ(many.GetLoggingSeverity(), armnn::LogSeverity::Error);
    EXPECT_TRUE(many.GetDebugCallbackFunction().has_value());
    EXPECT_TRUE(many.GetTenonOptions().m_DebugCallback);

    armnn::OptimizerOptions older;
    older.m_Debug = true;
    const DelegateOptions withOlder(armnn::Compute::CpuRef, older);
    EXPECT_TRUE(withOlder.GetOptimizerOptions().GetDebugEnabled());
    EXPECT_FALSE(withOlder.GetTenonOptions().m_DebugCallback);
}

TEST(DelegateOptions, SettersSetWhatTheDelegateGets)
{
    DelegateOptions options;
    options.SetBackends({"CpuAcc"});
    options.SetDynamicBackendsPath("folder");
    options.SetGpuProfilingState(true);
    options.AddBackendOption(armnn::BackendOptions("VsiNpu", {{"Device", 1}}));
    options.SetLoggingSeverity(armnn::LogSeverity::Debug);
    EXPECT_EQ(options.GetLoggingSeverity(), armnn::LogSeverity::Debug);
    options.SetLoggingSeverity("warning");
    EXPECT_EQ(options.GetLoggingSeverity(), armnn::LogSeverity::Warning);
    EXPECT_THROW(options.SetLoggingSeverity("loud"), armnn::InvalidArgumentException);
    EXPECT_TRUE(options.IsLoggingEnabled());
    armnn::OptimizerOptionsOpaque optimizer;
    optimizer.SetImportEnabled(true);
    options.SetOptimizerOptions(optimizer);
    options.SetInternalProfilingParams(true, armnn::ProfilingDetailsMethod::DetailsOnly);
    armnn::IRuntime::CreationOptions::ExternalProfilingOptions profiling;
    profiling.m_CapturePeriod = 5;
    options.SetExternalProfilingParams(profiling);
    options.SetSerializeToDot("net.dot");
    options.DisableTfLiteRuntimeFallback(true);
    EXPECT_TRUE(options.TfLiteRuntimeFallbackDisabled());
    EXPECT_TRUE(options.GetGpuProfilingState());
    EXPECT_EQ(options.GetDynamicBackendsPath(), "folder");
    EXPECT_EQ(options.GetSerializeToDot(), "net.dot");
    EXPECT_EQ(options.GetExternalProfilingParams().m_CapturePeriod, 5U);

    const DelegateOptions copy = options;
    const armnn::TfLiteDelegateOptions& given = copy.GetTenonOptions();
    EXPECT_EQ(given.m_Backends, BackendIds{"CpuAcc"});
    EXPECT_EQ(given.m_RuntimeOptions.m_DynamicBackendsPath, "folder");
    EXPECT_TRUE(given.m_RuntimeOptions.m_EnableGpuProfiling);
    EXPECT_EQ(given.m_RuntimeOptions.m_BackendOptions.size(), 1U);
    EXPECT_EQ(given.m_RuntimeOptions.m_ProfilingOptions.m_CapturePeriod, 5U);
    EXPECT_EQ(given.m_LoggingSeverity.value(), armnn::LogSeverity::Warning);
    EXPECT_TRUE(given.m_OptimizerOptions.GetImportEnabled());
    EXPECT_TRUE(given.m_ProfilingEnabled);
    EXPECT_EQ(given.m_ProfilingDetails, armnn::ProfilingDetailsMethod::DetailsOnly);
    EXPECT_EQ(given.m_SerializeToDot, "net.dot");
    EXPECT_TRUE(given.m_DisableFallback);

    options.SetRuntimeOptions(armnn::IRuntime::CreationOptions());
    EXPECT_TRUE(options.GetRuntimeOptions().m_DynamicBackendsPath.empty());
    EXPECT_TRUE(options.GetDynamicBackendsPath().empty());
}

TEST(DelegateOptions, AreReadFromTexts)
{
    const char* const keys[] = {"backends", "logging-severity", "enable-fast-math"};
    const char* const values[] = {"VsiNpu, CpuAcc, CpuRef", "info", "true"};
    DelegateOptions options(keys, values, 3, nullptr);
    EXPECT_EQ(options.GetBackends(), (BackendIds{"VsiNpu", "CpuAcc", "CpuRef"}));
    EXPECT_EQ(options.GetLoggingSeverity(), armnn::LogSeverity::Info);
    EXPECT_EQ(options.GetOptimizerOptions().GetModelOptions().size(), 1U);
    EXPECT_EQ(DelegateOptions(nullptr, nullptr, 0, nullptr).GetBackends(), (BackendIds{"CpuAcc", "CpuRef"}));

    const char* const nothing[] = {nullptr, nullptr, nullptr};
    EXPECT_THROW(DelegateOptions(keys, nothing, 1, nullptr), armnn::InvalidArgumentException);
    EXPECT_THROW(DelegateOptions(nothing, values, 1, nullptr), armnn::InvalidArgumentException);
    try
    {
        DelegateOptions unknown(values, keys, 1, nullptr);
        FAIL() << "it is no option";
    }
    catch (const armnn::Exception& error)
    {
        EXPECT_THAT(error.what(), testing::HasSubstr("there is no option 'VsiNpu, CpuAcc, CpuRef'"));
    }
}

} // namespace
