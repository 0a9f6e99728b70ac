// SPDX-License-Identifier: Apache-2.0
// Options of Arm NN's ExecuteNetwork that ask for nothing here, because Tenon does so anyway, or for parts that Tenon
// does not have: the first are taken, and the others are answered with the option to use in their place. Options.cpp
// declares those that work. tests/package/armnn/options.tsv lists all.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

namespace tenon::cli
{

class ArmNNOptions
{
public:
    /// Adds the options to `app`, which must not outlive this object.
    void Declare(CLI::App& app);

    /// After parsing: remarks, each beginning with its option, about options that are taken without effect. Throws
    /// UsageError for an option that asks for a part that Tenon does not have, and for wrong values.
    std::vector<std::string> CheckAndRemark(const CLI::App& app) const;

private:
    std::map<std::string, bool> m_Flags; ///< by long name
    std::map<std::string, std::string> m_Values;
};

/// Words of the command line as CLI11 understands them. Arm NN's documents give values to flags ("-q true"), which
/// become "--quantize-input=true" as "-q=true" does, and its older releases take several backends in a row ("-c CpuAcc
/// CpuRef"), which become "CpuAcc,CpuRef". "-v" without a value becomes "--visualize-optimized-model=true".
std::vector<std::string> JoinArmNNWords(const CLI::App& app, const std::vector<std::string>& words);

} // namespace tenon::cli
