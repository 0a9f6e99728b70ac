// SPDX-License-Identifier: Apache-2.0
// .onnx files of one operator, for tests of users of the parser: programs and interfaces.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test
{

/// A float input. A size is digits, the name of a dimension, or empty: an open dimension without a name.
struct OnnxInput
{
    std::string m_Name;
    std::vector<std::string> m_Sizes;
};

/// Pieces of protobuf's wire format.
inline std::string OnnxVarint(uint64_t value)
{
    std::string bytes;
    for (; value >= 0x80; value >>= 7)
    {
        bytes += static_cast<char>(value | 0x80);
    }
    return bytes + static_cast<char>(value);
}

inline std::string OnnxNumber(unsigned int field, uint64_t value)
{
    return OnnxVarint(uint64_t{field} << 3) + OnnxVarint(value);
}

inline std::string OnnxBytes(unsigned int field, const std::string& bytes)
{
    return OnnxVarint(uint64_t{field} << 3 | 2) + OnnxVarint(bytes.size()) + bytes;
}

/// The fields of a ModelProto, which may come in any order.
struct TinyOnnx
{
    std::string m_Version = OnnxNumber(1, 8);
    std::string m_Producer = OnnxBytes(2, "a test");
    std::string m_Graph;
    std::string m_Opsets = OnnxBytes(8, OnnxNumber(2, 17));

    std::string Bytes() const { return m_Version + m_Producer + m_Graph + m_Opsets; }
};

/// All inputs are the operator's inputs, and its output "y" is the graph's.
inline TinyOnnx MakeTinyOnnx(const std::string& op, const std::vector<OnnxInput>& inputs,
                             const std::string& domain = {})
{
    constexpr uint64_t float32 = 1;
    std::string node;
    std::string valueInfos;
    for (const OnnxInput& input : inputs)
    {
        node += OnnxBytes(1, input.m_Name);
        std::string shape;
        for (const std::string& size : input.m_Sizes)
        {
            const bool isNumber = !size.empty() && std::isdigit(static_cast<unsigned char>(size[0])) != 0;
            shape += OnnxBytes(1, size.empty() ? "" : isNumber ? OnnxNumber(1, std::stoull(size)) : OnnxBytes(2, size));
        }
        const std::string type = OnnxBytes(1, OnnxNumber(1, float32) + OnnxBytes(2, shape));
        valueInfos += OnnxBytes(11, OnnxBytes(1, input.m_Name) + OnnxBytes(2, type));
    }
    node += OnnxBytes(2, "y") + OnnxBytes(4, op) + (domain.empty() ? "" : OnnxBytes(7, domain));
    const std::string output = OnnxBytes(1, "y") + OnnxBytes(2, OnnxBytes(1, OnnxNumber(1, float32)));
    TinyOnnx model;
    model.m_Graph = OnnxBytes(7, OnnxBytes(1, node) + OnnxBytes(2, "graph") + valueInfos + OnnxBytes(12, output));
    return model;
}

} // namespace tenon::test
