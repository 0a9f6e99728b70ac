// SPDX-License-Identifier: Apache-2.0
// .tflite files of one operator, for tests of the program: what the command line does with inputs, outputs and errors.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenon::tools::test
{

struct TinyTensor
{
    std::string m_Name;
    std::vector<int32_t> m_Shape;
    int8_t m_Type = 0; ///< the file format's number; 0: float32
};

/// Numbers of operators in the file format.
constexpr int8_t Add = 0;
constexpr int8_t Relu = 19;
constexpr int8_t Custom = 32;
constexpr int8_t AddN = 106;

/// All bytes of the file. Its tables are spelled by field number, so that this needs no header that the build makes. A
/// name that is there twice in a list is one tensor, which the list of the graph has twice and the operator's once.
inline std::string TinyModel(int8_t operatorCode, const std::vector<TinyTensor>& inputs,
                             const std::vector<TinyTensor>& outputs)
{
    using flatbuffers::FieldIndexToOffset;
    flatbuffers::FlatBufferBuilder builder;
    const auto makeTable = [&](auto addFields)
    {
        const flatbuffers::uoffset_t start = builder.StartTable();
        addFields();
        return flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(start));
    };

    std::vector<flatbuffers::Offset<flatbuffers::Table>> tensors;
    std::map<std::string, int32_t> indices;
    std::vector<int32_t> inputIndices;
    std::vector<int32_t> outputIndices;
    std::vector<int32_t> operands;
    std::vector<int32_t> results;
    for (const auto* list : {&inputs, &outputs})
    {
        for (const TinyTensor& tensor : *list)
        {
            const auto [found, isNew] = indices.emplace(tensor.m_Name, static_cast<int32_t>(tensors.size()));
            (list == &inputs ? inputIndices : outputIndices).push_back(found->second);
            if (!isNew)
            {
                continue;
            }
            (list == &inputs ? operands : results).push_back(found->second);
            const auto shape = builder.CreateVector(tensor.m_Shape);
            const auto name = builder.CreateString(tensor.m_Name);
            tensors.push_back(makeTable(
                [&]
                {
                    builder.AddOffset(FieldIndexToOffset(0), shape);
                    builder.AddElement<int8_t>(FieldIndexToOffset(1), tensor.m_Type, 0);
                    builder.AddOffset(FieldIndexToOffset(3), name);
                }));
        }
    }
    const auto tensorVector = builder.CreateVector(tensors);
    const auto inputVector = builder.CreateVector(inputIndices);
    const auto outputVector = builder.CreateVector(outputIndices);
    const auto operandVector = builder.CreateVector(operands);
    const auto resultVector = builder.CreateVector(results);
    const auto operation = makeTable(
        [&]
        {
            builder.AddOffset(FieldIndexToOffset(1), operandVector);
            builder.AddOffset(FieldIndexToOffset(2), resultVector);
        });
    const auto operations = builder.CreateVector(std::vector{operation});
    const auto graph = makeTable(
        [&]
        {
            builder.AddOffset(FieldIndexToOffset(0), tensorVector);
            builder.AddOffset(FieldIndexToOffset(1), inputVector);
            builder.AddOffset(FieldIndexToOffset(2), outputVector);
            builder.AddOffset(FieldIndexToOffset(3), operations);
        });
    const auto graphs = builder.CreateVector(std::vector{graph});
    const auto customCode = builder.CreateString("NobodyKnowsThis");
    const auto code = makeTable(
        [&]
        {
            builder.AddElement<int8_t>(FieldIndexToOffset(0), operatorCode, 0);
            builder.AddOffset(FieldIndexToOffset(1), customCode);
            builder.AddElement<int32_t>(FieldIndexToOffset(3), operatorCode, 0);
        });
    const auto codes = builder.CreateVector(std::vector{code});
    const auto noData = makeTable([] {});
    const auto buffers = builder.CreateVector(std::vector{noData});
    const auto model = makeTable(
        [&]
        {
            builder.AddElement<uint32_t>(FieldIndexToOffset(0), 3, 0);
            builder.AddOffset(FieldIndexToOffset(1), codes);
            builder.AddOffset(FieldIndexToOffset(2), graphs);
            builder.AddOffset(FieldIndexToOffset(4), buffers);
        });
    builder.Finish(model, "TFL3");
    return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

} // namespace tenon::tools::test
