// SPDX-License-Identifier: Apache-2.0
// The command line of bench_serve.
#pragma once

#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tenon::bench
{

/// The parts between commas.
inline std::vector<std::string> Split(const std::string& list)
{
    std::vector<std::string> parts;
    std::istringstream stream(list);
    for (std::string part; std::getline(stream, part, ',');)
    {
        parts.push_back(part);
    }
    return parts;
}

struct Arguments
{
    std::string m_Model;
    std::string m_Compute = "CpuAcc,CpuRef";
    unsigned int m_Threads = 1;
    bool m_Bf16 = false;
    bool m_FastMath = false;
    bool m_SavePacked = false;
    std::string m_PackedFile; ///< of packed weights; empty: none
    std::vector<std::string> m_Inputs;
};

/// Throws std::invalid_argument for what bench_serve does not know.
inline Arguments Read(const std::vector<std::string>& words)
{
    Arguments arguments;
    for (size_t i = 0; i < words.size(); ++i)
    {
        const auto value = [&]() -> const std::string&
        {
            if (i + 1 >= words.size())
            {
                throw std::invalid_argument(words[i] + " needs a value");
            }
            return words[++i];
        };
        if (words[i] == "--compute")
        {
            arguments.m_Compute = value();
        }
        else if (words[i] == "--threads")
        {
            arguments.m_Threads = static_cast<unsigned int>(std::stoul(value()));
        }
        else if (words[i] == "--inputs")
        {
            arguments.m_Inputs = Split(value());
        }
        else if (words[i] == "--bf16")
        {
            arguments.m_Bf16 = true;
        }
        else if (words[i] == "--fast-math")
        {
            arguments.m_FastMath = true;
        }
        else if (words[i] == "--save-cached-network" || words[i] == "--cached-network")
        {
            arguments.m_SavePacked = words[i] == "--save-cached-network";
            arguments.m_PackedFile = value();
        }
        else if (arguments.m_Model.empty() && words[i].rfind("--", 0) != 0)
        {
            arguments.m_Model = words[i];
        }
        else
        {
            throw std::invalid_argument("unknown argument " + words[i]);
        }
    }
    if (arguments.m_Model.empty())
    {
        throw std::invalid_argument("usage: bench_serve MODEL.tflite [--compute LIST] [--threads N] [--bf16] "
                                    "[--fast-math] [--save-cached-network FILE] [--cached-network FILE] "
                                    "[--inputs FILES]");
    }
    return arguments;
}

} // namespace tenon::bench
