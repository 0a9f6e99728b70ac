// SPDX-License-Identifier: Apache-2.0
// A program outside the tree that has Tenon's delegate: by <tenon/delegate/Delegate.hpp>, with libtenonDelegate.so
// alone. The tests of tests/package compile it by CMake and by pkg-config.
#include <tenon/delegate/Delegate.hpp>

#include <exception>
#include <iostream>
#include <string>

int main()
{
    tenon::TfLiteDelegateOptions options = tenon::TfLiteDelegateOptions::Parse({{"backends", "CpuAcc, CpuRef"}});
    options.m_NumberOfThreads = 2;
    options.m_OptimizerOptions.AddModelOption(tenon::BackendOptions("CpuAcc", {{"FastMathEnabled", true}}));
    const tenon::TfLiteDelegatePtr delegate = tenon::MakeTfLiteDelegate(options);
    tenon::DeleteTfLiteDelegate(tenon::CreateTfLiteDelegate());
    std::string refused;
    try
    {
        tenon::TfLiteDelegateOptions::Parse({{"backend", "CpuAcc"}});
    }
    catch (const std::exception& error)
    {
        refused = error.what();
    }
    const bool isOk = delegate != nullptr && refused.find("'backend'") != std::string::npos;
    std::cout << refused << "\noutside delegate: " << (isOk ? "ok" : "WRONG") << '\n';
    return isOk ? 0 : 1;
}
