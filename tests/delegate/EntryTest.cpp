// SPDX-License-Identifier: Apache-2.0
// The entry points of the delegate without any interpreter.
#include "delegate/TfLiteInterface.hpp"

#include <tenon/Exceptions.hpp>
#include <tenon/delegate/Delegate.hpp>

#include <gtest/gtest.h>

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

} // namespace tenon
