// SPDX-License-Identifier: Apache-2.0
// The command line of bench_serve.
#pragma once

#include <tenon/Tensor.hpp>

#include <cstddef>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
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

using Shapes = std::map<std::string, TensorShape>;

struct Arguments
{
    std::string m_Model;
    std::string m_Compute = "CpuAcc,CpuRef";
    unsigned int m_Threads = 1;
    bool m_Bf16 = false;
    bool m_FastMath = false;
    bool m_SavePacked = false;
    std::string m_PackedFile; ///< file of packed weights; empty: none
    std::vector<std::string> m_Inputs;
    Shapes m_Shapes;     ///< shapes of inputs by name
    bool m_Open = false; ///< whether shapes are given with each run only
};

/// "x=1,3,96,96", an empty shape after "=" is a scalar. A name may have any characters.
inline std::pair<std::string, TensorShape> ReadShape(const std::string& text)
{
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos)
    {
        throw std::invalid_argument("--shape " + text + ": expected NAME=SIZE,SIZE,...");
    }
    std::vector<unsigned int> sizes;
    for (const std::string& size : Split(text.substr(equals + 1)))
    {
        sizes.push_back(static_cast<unsigned int>(std::stoul(size)));
    }
    return {text.substr(0, equals), sizes.empty() ? TensorShape(Dimensionality::Scalar)
                                                  : TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data())};
}

/// Throws std::invalid_argument for words that bench_serve does not know.
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
        else if (words[i] == "--shape")
        {
            arguments.m_Shapes.insert(ReadShape(value()));
        }
        else if (words[i] == "--open")
        {
            arguments.m_Open = true;
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
        throw std::invalid_argument(
            "usage: bench_serve MODEL.tflite|MODEL.onnx [--compute LIST] [--threads N] [--bf16] "
            "[--fast-math] [--save-cached-network FILE] [--cached-network FILE] "
            "[--inputs FILES] [--shape NAME=SIZES ...] [--open]");
    }
    return arguments;
}

} // namespace tenon::bench
