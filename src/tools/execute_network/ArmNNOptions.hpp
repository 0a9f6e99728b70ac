// SPDX-License-Identifier: Apache-2.0
// Options of Arm NN's ExecuteNetwork that ask for Tenon's normal behaviour, or for parts that Tenon does not have. An
// option is accepted if the run can continue without loss, with a remark if that may surprise. If the result would be
// another, it is refused, and the message names the option to use in its place. Options.cpp declares the options that
// work. tests/package/armnn/options.tsv lists all.
#pragma once

#include "tools/execute_network/Options.hpp"

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

namespace tenon::tools
{

class ArmNNOptions
{
public:
    /// The long names of the options.
    static std::vector<std::string> GetNames();

    /// Adds the options to `app`, which must not outlive this object.
    void Declare(CLI::App& app);

    /// Must be called after parsing. Adds remarks about options that are accepted without effect, each beginning with
    /// its options, and raises the number of iterations to the value of --simultaneous-iterations. Throws UsageError
    /// for an option that asks for a part that Tenon does not have, and for wrong values. `isConcurrent`: whether
    /// --concurrent is given as the flag that it is in Arm NN.
    void Apply(const CLI::App& app, bool isConcurrent, Options& options) const;

private:
    std::map<std::string, bool> m_Flags; ///< by long name
    std::map<std::string, std::string> m_Values;
};

/// The words of the command line in a form that CLI11 understands. Arm NN's documents give values to flags ("-q true",
/// "-e 1"), which become "--quantize-input=true" as "-q=true" does, and its older releases take several backends in a
/// row ("-c CpuAcc CpuRef"), which become "CpuAcc,CpuRef". "-v" without a value becomes
/// "--visualize-optimized-model=true". Options whose empty value is the default in Arm NN ("-d ''",
/// "--dynamic-backends-path=") are left out together with the value.
std::vector<std::string> JoinArmNNWords(const CLI::App& app, const std::vector<std::string>& words);

} // namespace tenon::tools
