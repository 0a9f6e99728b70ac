// SPDX-License-Identifier: Apache-2.0
// The entry points of the delegate without any interpreter.
#include "delegate/SharedRuntime.hpp"
#include "delegate/TfLiteInterface.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/delegate/Delegate.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tenon
{

TEST(DelegateEntry, MakesAndDeletes)
{
    const TfLiteDelegatePtr delegate = MakeTfLiteDelegate();
    ASSERT_NE(delegate, nullptr);
    EXPECT_NE(delegate->Prepare, nullptr);
    EXPECT_EQ(delegate->flags, kTfLiteDelegateFlagsAllowDynamicTensors);
    DeleteTfLiteDelegate(nullptr);
}

TEST(DelegateEntry, RefusesBackendsThatAreNotThere)
{
    TfLiteDelegateOptions options;
    options.m_Backends = {"VsiNpu"};
    EXPECT_THROW(CreateTfLiteDelegate(options), InvalidArgumentException);
    options.m_Backends = {"VsiNpu", "CpuRef"};
    EXPECT_NE(MakeTfLiteDelegate(options), nullptr);
}

TEST(DelegateEntry, ParsesArraysOfNamesAndValues)
{
    const char* const names[] = {"num_threads", "backends"};
    const char* const values[] = {"3", "CpuRef"};
    const auto options = TfLiteDelegateOptions::Parse(names, values, 2);
    EXPECT_EQ(options.m_NumberOfThreads, 3u);
    EXPECT_EQ(options.m_Backends, std::vector<BackendId>{"CpuRef"});
    EXPECT_EQ(TfLiteDelegateOptions::Parse(nullptr, nullptr, 0).m_NumberOfThreads, 0u);
    EXPECT_THROW(TfLiteDelegateOptions::Parse(names, nullptr, 2), InvalidArgumentException);
    const char* const withoutValue[] = {"3", nullptr};
    EXPECT_THROW(TfLiteDelegateOptions::Parse(names, withoutValue, 2), InvalidArgumentException);
}

TEST(DelegateEntry, RuntimesAreSharedWhereAllOptionsAreEqual)
{
    using delegate::SharedRuntime;
    const auto runtime = SharedRuntime::Get({});
    EXPECT_EQ(SharedRuntime::Get({}), runtime);
    const auto get = [](auto change)
    {
        IRuntime::CreationOptions options;
        change(options);
        return SharedRuntime::Get(options);
    };
    EXPECT_NE(get([](auto& options) { options.m_Limits.m_MaxLayers = 7; }), runtime);
    EXPECT_NE(get([](auto& options) { options.m_Limits.m_MaxNesting = 7; }), runtime);
    EXPECT_NE(get([](auto& options) { options.m_Limits.m_MaxLoopIterations = 7; }), runtime);
    EXPECT_NE(get([](auto& options) { options.m_Limits.m_MaxTensorBytes = 7; }), runtime);
}

} // namespace tenon
