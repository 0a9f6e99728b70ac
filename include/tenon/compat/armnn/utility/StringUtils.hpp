// SPDX-License-Identifier: Apache-2.0
// For programs written for Arm NN: splitting, trimming and joining of strings.
#pragma once

#include <algorithm>
#include <armnn/Exceptions.hpp>
#include <armnn/Namespace.hpp>
#include <cctype>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace tenon
{
namespace stringUtils
{

/// The parts of each line of `str` between characters of `delimiters`. Empty parts are left out; without
/// `tokenCompression` only one at the end of a line is.
inline std::vector<std::string> StringTokenizer(const std::string& str, const char* delimiters,
                                                bool tokenCompression = true)
{
    std::vector<std::string> tokens;
    std::istringstream lines(str);
    for (std::string line; std::getline(lines, line);)
    {
        size_t begin = 0;
        for (size_t end = line.find_first_of(delimiters); end != std::string::npos;
             end = line.find_first_of(delimiters, begin))
        {
            if (end > begin || !tokenCompression)
            {
                tokens.push_back(line.substr(begin, end - begin));
            }
            begin = end + 1;
        }
        if (begin < line.size())
        {
            tokens.push_back(line.substr(begin));
        }
    }
    return tokens;
}

/// Remove `chars` from the start, the end, or both, of `str`, which they return.
inline std::string& StringStartTrim(std::string& str, const std::string& chars = "\t\n\v\f\r ")
{
    return str.erase(0, str.find_first_not_of(chars));
}
inline std::string& StringEndTrim(std::string& str, const std::string& chars = "\t\n\v\f\r ")
{
    return str.erase(str.find_last_not_of(chars) + 1);
}
inline std::string& StringTrim(std::string& str, const std::string& chars = "\t\n\v\f\r ")
{
    return StringStartTrim(StringEndTrim(str, chars), chars);
}
/// The same for a copy.
inline std::string StringTrimCopy(const std::string& str, const std::string& chars = "\t\n\v\f\r ")
{
    std::string copy = str;
    return StringTrim(copy, chars);
}

/// The strings one after the other, each with the separator behind it, the last one too.
inline std::string StringConcat(const std::vector<std::string>& strings, std::string separator = "")
{
    std::string joined;
    for (const std::string& each : strings)
    {
        joined += each + separator;
    }
    return joined;
}

/// Puts `newStr` in place of each `oldStr`, from left to right. An empty `oldStr` changes nothing.
inline void StringReplaceAll(std::string& str, const std::string& oldStr, const std::string& newStr)
{
    for (size_t at = str.find(oldStr); at != std::string::npos && !oldStr.empty();
         at = str.find(oldStr, at + newStr.size()))
    {
        str.replace(at, oldStr.size(), newStr);
    }
}

/// The truth value of "true", "false" (in any case), "1" and "0", with anything behind them. For other texts throws
/// InvalidArgumentException, or gives false without `throw_on_error`.
inline bool StringToBool(const std::string& s, bool throw_on_error = true)
{
    bool result = false;
    std::istringstream number(s);
    if (number >> result)
    {
        return result;
    }
    std::string lower = s;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::istringstream word(lower);
    if (word >> std::boolalpha >> result)
    {
        return result;
    }
    if (throw_on_error)
    {
        throw InvalidArgumentException("'" + s + "' is neither true nor false; write true, false, 1 or 0");
    }
    return false;
}

} // namespace stringUtils
} // namespace tenon
