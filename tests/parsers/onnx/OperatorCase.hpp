// SPDX-License-Identifier: Apache-2.0
// OperatorCase: a node with its inputs and the outputs that it must give. It runs with inputs of fixed and of open
// sizes, and with all inputs stored in the model, whose results may be computed while it is read.
#pragma once

#include "OnnxRun.hpp"
#include "parsers/onnx/TensorReader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test::operator_case
{

using namespace model;

struct Operand
{
    Data m_Data;
    bool m_IsStored = false; ///< in the model, in every case
    bool m_IsAbsent = false;
    ElementType m_StoredType = ElementType::Undefined; ///< of a stored one, where it is not that of m_Data
};

inline TensorShape ShapeOf(const std::vector<unsigned int>& sizes)
{
    return sizes.empty() ? TensorShape(Dimensionality::Scalar)
                         : TensorShape(static_cast<unsigned int>(sizes.size()), sizes.data());
}

template <typename T>
Operand Of(const std::vector<unsigned int>& sizes, const std::vector<T>& values)
{
    return {Data::Of(ShapeOf(sizes), values), false, false, ElementType::Undefined};
}

inline Operand F(const std::vector<unsigned int>& sizes, const std::vector<float>& values)
{
    return Of(sizes, values);
}

inline Operand I(const std::vector<unsigned int>& sizes, const std::vector<int64_t>& values)
{
    return Of(sizes, values);
}

inline Operand B(const std::vector<unsigned int>& sizes, const std::vector<bool>& values)
{
    return Of(sizes, values);
}

/// Integers of 4 bits, `type`, which only the model can have: two a byte, the first in the low half.
inline Operand FourBits(ElementType type, const std::vector<unsigned int>& sizes, const std::vector<int>& values)
{
    std::vector<uint8_t> packed(values.size() / 2 + values.size() % 2);
    for (size_t i = 0; i < values.size(); ++i)
    {
        const unsigned int half = static_cast<unsigned int>(values[i]) & 0x0FU;
        packed[i / 2] = static_cast<uint8_t>(packed[i / 2] | half << (i % 2 * 4));
    }
    return {{TensorInfo(ShapeOf(sizes), DataType::Unsigned8), packed}, true, false, type};
}

/// An input that the model has.
inline Operand Kept(Operand operand)
{
    operand.m_IsStored = true;
    return operand;
}

inline Operand None()
{
    return {{}, false, true, ElementType::Undefined};
}

inline ElementType ElementTypeOf(DataType type)
{
    for (int i = 1; i < 17; ++i)
    {
        const auto element = static_cast<ElementType>(i);
        if (element != ElementType::String && onnx::ToDataType(element) == type)
        {
            return element;
        }
    }
    return ElementType::Undefined;
}

/// How inputs are given.
enum class Given
{
    Fixed,
    Open,
    Stored
};

struct Case
{
    const char* m_Operator;
    int64_t m_Version;
    std::vector<Operand> m_Inputs;
    std::vector<Wire> m_Attributes;
    std::vector<Operand> m_Outputs; ///< absent ones are not asked for
    bool m_NeedsSizes = false;      ///< it cannot run where the sizes of its inputs are open
    std::string m_Domain = {};      ///< empty: ai.onnx; another one is not imported, and m_Version is ai.onnx's
};

constexpr bool NeedsSizes = true;

/// The model, and what it is fed with.
inline Wire Build(const Case& c, Given sizes, std::vector<Data>& fed)
{
    Graph graph;
    Names inputs;
    for (const Operand& operand : c.m_Inputs)
    {
        inputs.push_back(operand.m_IsAbsent ? "" : "in" + std::to_string(inputs.size()));
        if (operand.m_IsAbsent)
        {
            continue;
        }
        const TensorInfo& info = operand.m_Data.m_Info;
        // How many sizes, axes or indices there are is known in most models.
        const bool isList = info.GetNumDimensions() == 1 && info.GetDataType() == DataType::Signed64;
        const bool isOpen = sizes == Given::Open && (!isList || inputs.size() == 1);
        model::Sizes dims;
        Dims shape;
        for (unsigned int i = 0; i < info.GetNumDimensions(); ++i)
        {
            dims.push_back(info.GetShape()[i]);
            isOpen ? shape.emplace_back("") : shape.emplace_back(dims.back());
        }
        const ElementType type =
            operand.m_StoredType != ElementType::Undefined ? operand.m_StoredType : ElementTypeOf(info.GetDataType());
        if (operand.m_IsStored || sizes == Given::Stored)
        {
            const Wire bytes(operand.m_Data.m_Bytes.begin(), operand.m_Data.m_Bytes.end());
            graph.Store(TensorOf(inputs.back(), type, dims, Message(9, bytes)));
            continue;
        }
        graph.Input(inputs.back(), type, shape);
        fed.push_back(operand.m_Data);
    }
    Names outputs;
    for (const Operand& output : c.m_Outputs)
    {
        outputs.push_back(output.m_IsAbsent ? "" : "out" + std::to_string(outputs.size()));
        if (!output.m_IsAbsent)
        {
            graph.Output(outputs.back());
        }
    }
    return Model(graph.Add(c.m_Operator, inputs, outputs, c.m_Attributes, c.m_Domain), c.m_Version);
}

inline void ExpectEqual(const Data& actual, const Data& expected)
{
    EXPECT_EQ(actual.m_Info.GetShape().ToString(), expected.m_Info.GetShape().ToString());
    ASSERT_EQ(GetDataTypeName(actual.m_Info.GetDataType()),
              std::string(GetDataTypeName(expected.m_Info.GetDataType())));
    if (expected.m_Info.GetDataType() != DataType::Float32)
    {
        EXPECT_EQ(actual.m_Bytes, expected.m_Bytes);
        return;
    }
    EXPECT_THAT(actual.Floats(), testing::Pointwise(testing::NanSensitiveFloatNear(1e-5f), expected.Floats()));
}

inline void Check(const Case& c)
{
    for (const Given sizes : {Given::Fixed, Given::Open, Given::Stored})
    {
        SCOPED_TRACE(std::string(c.m_Operator) + " of version " + std::to_string(c.m_Version) +
                     (sizes == Given::Fixed  ? ", fixed sizes"
                      : sizes == Given::Open ? ", open sizes"
                                             : ", stored"));
        std::vector<Data> fed;
        const Wire model = Build(c, sizes, fed);
        if (sizes == Given::Open && c.m_NeedsSizes)
        {
            const std::string error = MessageOf<Exception>([&] { RunModel(model, fed); });
            EXPECT_NE(error, "no exception");
            EXPECT_THAT(error, testing::Not(testing::HasSubstr("another exception")));
            continue;
        }
        try
        {
            const std::vector<Data> results = RunModel(model, fed);
            size_t next = 0;
            for (const Operand& output : c.m_Outputs)
            {
                if (!output.m_IsAbsent)
                {
                    ExpectEqual(results.at(next++), output.m_Data);
                }
            }
        }
        catch (const std::exception& error)
        {
            ADD_FAILURE() << error.what();
        }
    }
}

inline void Check(const std::vector<Case>& cases)
{
    for (const Case& c : cases)
    {
        Check(c);
    }
}

} // namespace tenon::test::operator_case
