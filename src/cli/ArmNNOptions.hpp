// SPDX-License-Identifier: Apache-2.0
// Options of Arm NN's ExecuteNetwork that ask for what Tenon does anyway, or for parts that Tenon does not have. An
// option is taken where the run can go on with nothing lost, with a remark where that may surprise; it is refused, with
// the option to use in its place, where going on would give something else. Options.cpp declares the options that work.
// tests/package/armnn/options.tsv lists all.
#pragma once

#include "cli/Options.hpp"

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

    /// After parsing: adds remarks, each beginning with its options, about options that are taken without effect, and
    /// raises the number of iterations to that of --simultaneous-iterations. Throws UsageError for an option that asks
    /// for a part that Tenon does not have, and for wrong values.
    void Apply(const CLI::App& app, Options& options) const;

private:
    std::map<std::string, bool> m_Flags; ///< by long name
    std::map<std::string, std::string> m_Values;
};

/// Words of the command line as CLI11 understands them. Arm NN's documents give values to flags ("-q true", "-e 1"),
/// which become "--quantize-input=true" as "-q=true" does, and its older releases take several backends in a row ("-c
/// CpuAcc CpuRef"), which become "CpuAcc,CpuRef". "-v" without a value becomes "--visualize-optimized-model=true".
/// Options whose empty value is their default there ("-d ''", "--dynamic-backends-path=") are left out with it.
std::vector<std::string> JoinArmNNWords(const CLI::App& app, const std::vector<std::string>& words);

} // namespace tenon::cli
