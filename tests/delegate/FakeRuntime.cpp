// SPDX-License-Identifier: Apache-2.0
#include "delegate/FakeRuntime.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace tenon::test
{

FakeRuntime::FakeRuntime(FakeRuntimeOptions options, int32_t subgraphs) : m_Options(std::move(options))
{
    for (int32_t i = 0; i < subgraphs; ++i)
    {
        m_Graphs.push_back(std::make_unique<FakeGraph>(*this, i));
    }
}

FakeRuntime::~FakeRuntime()
{
    m_Graphs.clear();
    for (const std::string& violation : m_Violations)
    {
        ADD_FAILURE() << violation;
    }
}

TfLiteStatus FakeRuntime::ModifyGraphWithDelegate(TfLiteDelegate* delegate)
{
    for (const std::unique_ptr<FakeGraph>& graph : m_Graphs)
    {
        const TfLiteStatus status = graph->ModifyGraphWithDelegate(delegate);
        if (status == kTfLiteDelegateError)
        {
            for (const std::unique_ptr<FakeGraph>& other : m_Graphs)
            {
                other->RemoveAllDelegates();
            }
        }
        if (status != kTfLiteOk)
        {
            return status;
        }
    }
    return kTfLiteOk;
}

std::string FakeRuntime::TakeErrors()
{
    return std::exchange(m_Errors, {});
}

std::vector<std::string> FakeRuntime::TakeDelegateTexts()
{
    return std::exchange(m_DelegateTexts, {});
}

std::vector<std::string> FakeRuntime::TakeViolations()
{
    return std::exchange(m_Violations, {});
}

} // namespace tenon::test
