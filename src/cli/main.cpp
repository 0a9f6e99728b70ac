// SPDX-License-Identifier: Apache-2.0
// ExecuteNetwork: runs a model file on input files. See Options.cpp for what it takes and Run.cpp for what it does.
#include "cli/App.hpp"
#include "cli/Process.hpp"

int main(int argc, char** argv)
{
    tenon::cli::IgnoreWriteSignals();
    tenon::cli::LimitMemory();
    return static_cast<int>(tenon::cli::RunApp(argc, argv));
}
