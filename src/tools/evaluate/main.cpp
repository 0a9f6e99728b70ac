// SPDX-License-Identifier: Apache-2.0
// tenon-evaluate: the accuracy of a model over many pictures. See Options.cpp for its options and Evaluate.cpp for the
// steps.
#include "tools/common/Process.hpp"
#include "tools/evaluate/App.hpp"

int main(int argc, char** argv)
{
    tenon::tools::IgnoreWriteSignals();
    tenon::tools::LimitMemory();
    return static_cast<int>(tenon::tools::evaluate::RunApp(argc, argv));
}
