// SPDX-License-Identifier: Apache-2.0
// ExecuteNetwork: runs a model file on input files. See Options.cpp for what it takes and Run.cpp for what it does.
#include "tools/common/Process.hpp"
#include "tools/execute_network/App.hpp"

int main(int argc, char** argv)
{
    tenon::tools::IgnoreWriteSignals();
    tenon::tools::LimitMemory();
    return static_cast<int>(tenon::tools::RunApp(argc, argv));
}
