// SPDX-License-Identifier: Apache-2.0
// The command line of a program: options that all programs have, options with numbers and lists, and messages that name
// each wrong word.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI
{
class App;
}

namespace tenon::tools
{

constexpr unsigned int AnyNumber = std::numeric_limits<unsigned int>::max();
/// The bound on the threads that one run of the library spreads over.
constexpr unsigned int MaxThreads = 256;

/// Numbers are parsed here, because messages of CLI11 do not name the range. They have the name `option`, or the last
/// one of `names`.
void AddNumber(CLI::App& app, const char* names, unsigned int& target, unsigned int min, unsigned int max,
               const char* description, const std::string& option = {});

/// Numbers with commas between them.
void AddNumbers(CLI::App& app, const char* option, std::vector<float>& target, bool mayBeZero, const char* description);

/// A list, which may also be given as several options.
void AddList(CLI::App& app, const char* names, std::vector<std::string>& target, const char* type,
             const std::string& description);

/// The options --help, --version and --limit of a program.
void DeclareGeneral(CLI::App& app, const std::string& program, std::string& helpTopic,
                    std::vector<std::string>& limits);

struct ParseRules
{
    std::string m_PatternOption; ///< its value may be a pattern, which the shell expands where quotes are missing
    std::map<std::string, std::string> m_AdviceIfRepeated; ///< by option
    std::function<std::string()> m_FormatHelp;             ///< called for --help
};

/// Parses the words behind the program's name. Gives the text to print in place of running, for --help and --version.
/// Throws UsageError, for unknown words before all else: an option that is missing may be the one that is misspelt.
std::optional<std::string> ParseWords(CLI::App& app, const std::vector<std::string>& words, const ParseRules& rules);

} // namespace tenon::tools
